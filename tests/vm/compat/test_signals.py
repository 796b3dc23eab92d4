# SPDX-License-Identifier: GPL-2.0-only
"""RTLinux's signals and POSIX timers, and pointers in an int: what programs say, compared."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.vmrun import Vm

from .test_rtl import build

SAID = """\
create -1
create 0 0 0
delete 0 -1 -1
bad -1 22 22
old is default 1
in the handler 1 nested 0
again in the handler 2
self 0
handled 2 nested after 2
slave got 0
slave got 1
slave woken up
slave has pending 4
slave got 2
slave unblocked it
slave got 0
slave slept on
settime 0 -1 -1
10 beats, off by at most 2 us 1, next in 2 ms 1, interval 2000000
disarmed: beats 10 value 0
once after 5 ms 1, beats 11
"""


@pytest.mark.parametrize("kernel", ["6.1", pytest.param("7", marks=pytest.mark.long)])
def test_signals(vm: Vm, tmp_path: Path, kernel: str) -> None:
    """Handlers, masks, suspended threads, sigsuspend(); periodic and absolute timers."""
    modules = [build(tmp_path, name, "rtl", kernel) for name in ("rtl_signals", "rtl_v1")]
    done = vm("insmod rtl_signals.ko && insmod rtl_v1.ko && sleep 0.2 && "
              "rmmod rtl_signals rtl_v1 && dmesg | grep -a -o -E '(signals|v1): .*' && "
              "rmmod rtl_compat && echo unloaded",
              modules="tactus rtfifo rtl_compat", icount=True, kernel=kernel, put=modules)
    assert done.status == 0, done.stderr
    said = re.findall(r"^signals: (.*)$", done.stdout, re.MULTILINE)
    assert "".join(f"{line}\n" for line in said) == SAID
    # A pointer in an int.
    assert done.stdout.endswith("v1: 21 23\nunloaded\n")
