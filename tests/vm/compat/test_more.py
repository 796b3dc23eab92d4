# SPDX-License-Identifier: GPL-2.0-only
"""What programs for RTLinux and RTAI use beside tasks and FIFOs: what each part says, compared."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import programs
from harness.vmrun import Vm

from .test_rtl import build

KERNELS = ["6.1", pytest.param("7", marks=pytest.mark.long)]
RTAI = """\
name A_B9$ found 1
too long -90
full 5
took one left 12
took two left 12
took three left 10
empty box leaves 8 of 8, if 8
broadcast left 5
broadcast to 1
state 2
passed 2
fired enough executed 99 srq 1
process said of the process 42
freed 1
freed again 0
"""
BARE = """\
flags 1, CPUs 1, fast 2 750
free 0, taken -16
1000 ticks of 119, 99733 ns, again -16
handed on 1
freed 0, again -22
5 shots, irq 0 data 99, handed on 5
not suspended
written w 1
read
"""
RTL = """\
bad names -19 -19
trylock 0 1
nothing to read 0
read 9 question
pair word
closed 0 -9 -9
soft 1 handled 1
process said of the process 42
"""

NAMES = """\
line 0
was default 1
bad line -1 22
taken -22
open 8 -19
size 0 -22 -9
room 4000
CPUs 1 0 0
affinity -1 channel 1
uname 0 Linux
time 1
rdtscl 1
magic 1
marked at step 1
open in RT -19
woken up at step 2
not suspended
woken up before
interrupts 1
given back 0
"""


def said(stdout: str, mark: str = "more") -> str:
    """The lines of the program, without their mark."""
    return "".join(f"{line}\n" for line in re.findall(rf"{mark}: (.*)", stdout))


@pytest.mark.parametrize("kernel", KERNELS)
def test_rtai_without_tasks(vm: Vm, tmp_path: Path, kernel: str) -> None:
    """A function at the bare timer, by ticks and by shots, what it hands on, RTAI 2's names."""
    module = build(tmp_path, "rtai_bare", "rtai", kernel)
    done = vm("insmod /root/rtai_bare.ko && sleep 0.1 && printf x > /dev/rtf2 && "
              "! head -c 1 /dev/rtf3 && rmmod rtai_bare || exit 1; dmesg | grep -a -o 'bare: .*'; "
              "rmmod rtai_compat && echo unloaded",
              modules="tactus rtfifo rtai_compat", icount=True, kernel=kernel, put=[module],
              timeout=120)
    assert said(done.stdout, "bare") == BARE
    assert done.stdout.endswith("unloaded\n")


@pytest.mark.parametrize("kernel", KERNELS)
def test_rtai(vm: Vm, tmp_path: Path, kernel: str) -> None:
    """Shared memory, typed mailboxes, tasklets, timers, service requests, conditions, names."""
    module = build(tmp_path, "rtai_more", "rtai", kernel)
    done = vm("insmod /root/rtai_more.ko && ./skin_shm rtai && rmmod rtai_more || exit 1; "
              "dmesg | grep -a -o 'more: .*'; cat /sys/kernel/tactus/shm; "
              "rmmod rtai_compat rtshm && echo unloaded",
              modules="tactus rtfifo rtai_compat", icount=True, kernel=kernel,
              put=[module, programs.build("skin_shm")], timeout=120)
    assert done.stdout.startswith("kernel said of the kernel\n")
    assert said(done.stdout) == RTAI
    assert done.stdout.endswith("name\tbytes\tmode\tuid\tgid\tmodules\tfiles\nunloaded\n")


@pytest.mark.parametrize("kernel", KERNELS)
def test_rtl(vm: Vm, tmp_path: Path, kernel: str) -> None:
    """mbuff, soft interrupts, read() and write() in RT code, a pair of FIFOs, RT handlers."""
    module = build(tmp_path, "rtl_more", "rtl", kernel)
    done = vm("insmod /root/rtl_more.ko && echo question > /dev/rtf1 && "
              "timeout 5 head -n 1 /dev/rtf1 && "
              "echo word > /dev/rtf5 && ./skin_shm mbuff && rmmod rtl_more || exit 1; "
              "dmesg | grep -a -o 'more: .*'; cat /sys/kernel/tactus/shm; "
              "rmmod rtl_compat rtshm && echo unloaded",
              modules="tactus rtfifo rtl_compat", icount=True, kernel=kernel,
              put=[module, programs.build("skin_shm")], timeout=120)
    assert done.stdout.startswith("answer\nkernel said of the kernel\n")
    assert said(done.stdout) == RTL
    assert done.stdout.endswith("name\tbytes\tmode\tuid\tgid\tmodules\tfiles\nunloaded\n")


@pytest.mark.parametrize("kernel", KERNELS)
def test_names_of_rtl(vm: Vm, tmp_path: Path, kernel: str) -> None:
    """What RTLinux's own examples name, by the headers that they include: rtl_schedule() after a
    mark, an interrupt as a signal, files that are made, and what says little."""
    module = build(tmp_path, "rtl_names", "rtl", kernel)
    done = vm("insmod rtl_names.ko && sleep 0.1; rmmod rtl_names && "
              "dmesg | grep -a -o 'names: .*'; "
              "rmmod rtl_compat && echo unloaded",
              modules="tactus rtfifo rtl_compat", icount=True, busy=True, kernel=kernel,
              put=[module])
    assert said(done.stdout, "names") == NAMES
    assert done.stdout.endswith("unloaded\n")
