# SPDX-License-Identifier: GPL-2.0-only
"""The rarer calls of RTLinux and RTAI: what each part of a program says, compared."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from harness import VM
from harness.vmrun import Vm

from .test_rtl import build

KERNELS = ["6.1", pytest.param("7", marks=pytest.mark.long)]
RTAI = """\
numbers -1000000000000 428571428 100
turned warts
sent once
nobody receives 1 1
nobody sends 1 1
served
timed out -110
woken 1, readers 1, write 1
no letter, 4 left, task 1
written 0
again 0
read 1
unlocked 0
not mine 1
spin 0 0 0 0 -1
deleted 0
together 0
no letter, 4 left, task 0
together 0
together 0
together 3
unset 1
set 0 left 4
named 1 1 1
still 1
gone 1
heap 1 1
locked
state 8
suspended 1
box of 4 has bcd
resumed after 3 ms, deadline 2 ms
box deleted twice -22
"""

RTL = """\
sent, 3 of 3
full -1 1
long -1 1
got high of 5, priority 9
got low of 4, priority 1
got later of 6, priority 1
none -1 1
data 1
semaphore -1 1
data of the sender
barrier -1
value 4711
taken 16
woken 0
woken 2
cleaned 321, met 0
closed 0 0 0 -1
"""


def said(stdout: str) -> str:
    """The lines of the program, without their mark."""
    return "".join(f"{line}\n" for line in re.findall(r"calls: (.*)", stdout))


@pytest.mark.parametrize("kernel", KERNELS)
def test_rtai(vm: Vm, tmp_path: Path, kernel: str) -> None:
    """Extended messages, timeouts, conditions, locks, barriers, bits, names, heap, deadlines."""
    module = build(tmp_path, "rtai_calls", "rtai", kernel)
    done = vm("insmod /root/rtai_calls.ko && sleep 0.2 && rmmod rtai_calls || exit 1; "
              "dmesg | grep -a -o -E 'calls: .*|rtai_compat: .*'; "
              "rmmod rtai_compat rtshm && echo unloaded",
              modules="tactus rtfifo rtai_compat", icount=True, kernel=kernel, put=[module],
              timeout=120)
    assert said(done.stdout) == RTAI
    assert done.stdout.endswith("unloaded\n") and "rtai_compat:" not in done.stdout


@pytest.mark.parametrize("kernel", KERNELS)
def test_rtl(vm: Vm, tmp_path: Path, kernel: str) -> None:
    """Queues, barriers, data of threads, cleanup handlers, errno, signals with information."""
    module = build(tmp_path, "rtl_calls", "rtl", kernel)
    done = vm("insmod /root/rtl_calls.ko && sleep 0.2 && rmmod rtl_calls || exit 1; "
              "dmesg | grep -a -o 'calls: .*'; rmmod rtl_compat rtshm && echo unloaded",
              modules="tactus rtfifo rtl_compat", icount=True, kernel=kernel, put=[module],
              timeout=120)
    assert said(done.stdout) == RTL
    assert done.stdout.endswith("unloaded\n")


def test_v05_of_two_files(tmp_path: Path) -> None:
    """On 7, where the build wants the addresses of what only one file has."""
    (tmp_path / "Kbuild").write_text("obj-m := two.o\ntwo-y := one.o other.o\n")
    (tmp_path / "one.c").write_text(
        "#define MODULE\n#include <linux/module.h>\n#include <linux/rt_sched.h>\n"
        "extern int other(void);\nMODULE_LICENSE(\"GPL\");\n"
        "int init_module(void) { return other(); }\n")
    (tmp_path / "other.c").write_text(
        "#include <linux/rt_sched.h>\nint other(void) { return rt_get_time() < 0; }\n")
    done = subprocess.run([VM, "build", "--kernel", "7", "--v05", tmp_path], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "two.ko").is_file()
