# SPDX-License-Identifier: GPL-2.0-only
"""Random promotions, faults, signals, changes of memory, fork, exec, kill -9, all at once: Linux
and the kernel's RT tasks have to go on, and nothing may be left behind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import mutant, programs
from harness.fixtures import have
from harness.vmrun import Result, Vm

# A task of the kernel's beside them, on one CPU; 2,242 is the most that has been seen.
LATE_NS = 3000
# The emulator carries out `rep stosb` byte by byte, and each is an instruction, so that to zero
# pages takes half of the guest's time. Without it Linux zeroes by words.
QUICK = "clearcpuid=erms,fsrm"
MODULES = "tactus rtfifo {user} rt_latency"
RUN = """
echo 1 > /proc/rt_latency/running
./user_races {seed} {seconds} || {{ dmesg | tail -n 20 >&2; exit 1; }}
echo 0 > /proc/rt_latency/running
echo 1 > /proc/sys/vm/stat_refresh
cat /proc/rt_latency/summary
tail -qn +2 /sys/kernel/tactus/users /sys/kernel/tactus/tasks
grep ^nr_foll_pin /proc/vmstat
rmmod rt_latency tactus_user rtfifo tactus && echo unloaded
"""


def run(vm: Vm, smp: int, seed: int, seconds: int, user: str = "tactus_user", **options) -> Result:
    """Several CPUs take turns, and none can be trusted with the time."""
    return vm(RUN.format(seed=seed, seconds=seconds), smp=smp, icount=True,
              modules=MODULES.format(user=user), put=[programs.build("user_races")], **options)


def judge(done: Result, smp: int, late_ns: int = LATE_NS) -> None:
    """Everything was done, and all of it is over."""
    lines = done.stdout.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("period_ns="))
    acts = {name: int(count) for name, count in map(str.split, lines[:first])}
    assert acts.pop("stale") == 0, "RT code wrote to memory that is no more"
    assert len(acts) > 20 and all(acts.values()), acts
    beside = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", lines[first])}
    assert beside["releases"] == beside["expected"] and not beside["skipped"], beside
    assert smp > 1 or beside["max_ns"] < late_ns, beside
    pinned, released, *rest = lines[first + 1:]
    assert rest == ["unloaded"]
    assert pinned.split()[1] == released.split()[1] != "0"


@pytest.mark.parametrize("smp", [1, 2])
def test_briefly(vm: Vm, smp: int) -> None:
    judge(run(vm, smp, seed=1, seconds=2), smp)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 112))
@pytest.mark.parametrize("smp", [1, 2, 4])
def test_for_an_hour(vm: Vm, smp: int, seed: int) -> None:
    """With QUICK a second has a tenth more races (on two CPUs 1,000 entries into RT mode, not 905),
    for less than half of the host's work on two and four CPUs, and seven tenths of it on one."""
    judge(run(vm, smp, seed, seconds=100, timeout=3600, append=QUICK), smp)


@pytest.mark.long
@pytest.mark.parametrize("append", ["", "pti=on"])
@pytest.mark.parametrize("kernel", ["6.1", "6.12", "7"])
def test_on_other_kernels(vm: Vm, kernel: str, append: str) -> None:
    judge(run(vm, 2, seed=3, seconds=20, kernel=kernel, append=f"{QUICK} {append}".strip(),
              timeout=900), 2)


@pytest.mark.long
def test_on_a_checking_kernel(vm: Vm) -> None:
    """KASAN, lockdep and the rest have nothing to say, and the executive's assertions hold."""
    have("debug")
    judge(run(vm, 2, seed=5, seconds=10, kernel="debug", timeout=1800, extra=["--memory=1G"]), 2)


@pytest.mark.long
@pytest.mark.parametrize("name", ["shadow_leaks", "tasks_stay", "fill_deaf"])
def test_a_mutant_is_seen(vm: Vm, tmp_path: Path, name: str) -> None:
    """The controls: pages that stay pinned; tasks that nobody deletes; pages that were thrown away
    before they were entered."""
    module = str(mutant.build_one(tmp_path, "tactus_user", name))
    done = run(vm, 1, seed=1, seconds=3, user=module, timeout=60, check=False)
    with pytest.raises((AssertionError, ValueError, StopIteration)):
        assert done.status == 0
        judge(done, 1)
