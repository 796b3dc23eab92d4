# SPDX-License-Identifier: GPL-2.0-only
"""Memory that RT code and processes share; what it promises is in the C program shm_check."""

from __future__ import annotations

import re

import pytest

from harness import programs
from harness.vmrun import Vm

CASES = re.findall(r"do\((\w+)\)", programs.source("shm_check").read_text().split(
    "#define CASES(do)", 1)[1].split("\n\n", 1)[0])


@pytest.mark.parametrize("kernel", ["6.1", pytest.param("6.12", marks=pytest.mark.slow),
                                    pytest.param("7", marks=pytest.mark.slow)])
def test_shared_memory(vm: Vm, kernel: str) -> None:
    """Bad input, permissions, lifetimes, kill -9, limits, the library, modules, RT code."""
    assert len(CASES) > 6
    done = vm("./shm_check", modules="tactus rtshm",
              with_modules="shm_test", put=[programs.build("shm_check")], icount=True,
              kernel=kernel)
    assert done.stdout.splitlines() == [*(f"ok {case}" for case in CASES), "ok unloaded"]
