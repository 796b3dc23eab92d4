# SPDX-License-Identifier: GPL-2.0-only
"""The slow ones of `make check`: kbuild with W=1 and sparse, kbuild with clang, and the kernel's
semantic patches. All but sparse over what machines install are long tests."""
from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

RUN = Path(__file__).resolve().parent / "run"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parts"), [
    pytest.param("sparse", "product", id="sparse_product"), *(
        pytest.param(name, "", id=name, marks=pytest.mark.long)
        for name in ("sparse", "clang_modules", "coccinelle", "clang_newer"))])
def test_no_complaints(name: str, parts: str) -> None:
    done = subprocess.run([RUN, name], text=True, capture_output=True,
                          env=os.environ | {"TACTUS_PARTS": parts})
    if done.returncode == 2:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
