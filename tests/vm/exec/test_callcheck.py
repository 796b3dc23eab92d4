# SPDX-License-Identifier: GPL-2.0-only
"""A debug build names RT code that calls what only Linux may call, and the function called."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import mutant
from harness.vmrun import Vm

GOOD = """
modprobe tactus_core; modprobe tactus; modprobe tactus_rm; modprobe rtfifo
modprobe rt_latency; modprobe rt_hello
head -n 2 /dev/rtf0
rmmod rt_hello rt_latency
"""
BAD = "modprobe chatter && sleep 0.1 && rmmod chatter"
OFF = "\nrmmod rtfifo tactus_rm tactus"
REST = "tactus_rm rtfifo rt_latency rt_hello chatter"


@pytest.mark.slow
def test_both_functions_are_named(vm: Vm, tmp_path: Path) -> None:
    """Not so RT code that calls what it may, nor by a release build."""
    debug = mutant.build(tmp_path / "debug", "", make=["TACTUS_DEBUG=1"])
    done = vm(GOOD + OFF, with_modules=f"{debug} {REST}", icount=True)
    assert done.status == 0 and "hello" in done.stdout, done.console
    done = vm(GOOD + BAD + OFF, with_modules=f"{debug} {REST}", icount=True, check=False)
    assert done.status == 125
    assert "tactus: RT code (body) calls Linux: ask+" in done.console
    assert "[chatter] calls ktime_get()" in done.console
    vm(GOOD + BAD + OFF, with_modules=f"tactus_core tactus {REST}", icount=True)
