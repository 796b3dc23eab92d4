# SPDX-License-Identifier: GPL-2.0-only
"""All of it on kernels of our own with checkers in them, whose log must stay silent.

debug: KASAN, lockdep, DEBUG_ATOMIC_SLEEP, UBSAN, kmemleak, DEBUG_ENTRY, DEBUG_OBJECTS. kcsan: data
races, of two CPUs, and of RT code with the Linux that it interrupts. For both the modules are built
with TACTUS_DEBUG=1, and so have the executive's own assertions. The bench ends a run whose log
has a complaint with 125, which fails the test. Each checker has a control that it must complain of.
"""

from __future__ import annotations

import re

import pytest

from harness import ownkernel, programs
from harness.fixtures import have
from harness.vmrun import Result, Vm
from measure.figures import UART

# Loading and unloading twice; RT tasks, timers and interrupts, FIFOs, policies, the load.
RUN = """
modprobe task_test || exit 1
echo {group} > /proc/task_test; cat /proc/task_test
modprobe irq_test && modprobe fifo_test && modprobe rt_latency || exit 1
./fifo_check
echo 1 > /proc/rt_latency/running
./load --seconds=1 --gap-ms=10 --irqoff=process,timer,tasklet,hrtimer,spinlock || exit 2
echo 0 > /proc/rt_latency/running; sed 's/^/latency: /' /proc/rt_latency/summary
for policy in tactus_rm tactus_edf; do modprobe $policy && rmmod $policy || exit 3; done
# RT code that faults on an idle CPU: its tables of modules are searched where RCU must watch.
modprobe fault_test; sleep 0.1; echo timer > /sys/module/fault_test/parameters/run; sleep 0.1
rmmod fault_test
rmmod rt_latency irq_test task_test fifo_test rtfifo tactus || exit 4
modprobe rtfifo && rmmod rtfifo tactus || exit 5
if [ -e /sys/kernel/debug/kmemleak ]; then
    {leaks}
    # Once lockdep has complained of anything it is off.
    grep -q "debug_locks: *1" /proc/lockdep_stats || exit 6
fi
echo all done
"""
# What bounds durations more tightly than a kernel that checks each access of memory can keep to.
TOO_SLOW = {"budget_stop", "sleep"}


def failures(result: Result) -> set[str]:
    """The cases of task_test and fifo_check that failed."""
    return set(re.findall(r"^(?:FAIL|not ok) (\w+)", result.stdout, re.M))


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "smp", "leaks"), [
    pytest.param("debug", 1, "leaks", marks=pytest.mark.long), ("debug", 2, ""),
    pytest.param("debug", 2, "leaks", marks=pytest.mark.long),
    pytest.param("kcsan", 2, "", marks=pytest.mark.long)],
    ids=["debug-1", "debug-2", "debug-2 with leaks", "kcsan-2"])
def test_the_log_stays_silent(vm: Vm, kernel: str, smp: int, leaks: str) -> None:
    """Everything that can be loaded, used and unloaded. On two CPUs what takes too long is no
    failure here: it is one in the other tests."""
    have(kernel)
    run = RUN.format(group="one-cpu" if smp == 1 else "two-cpus",
                     leaks=leaks and ownkernel.LOOK_FOR_LEAKS)
    done = vm(run, kernel=kernel, smp=smp, icount=True, modules="hog tactus_core", qemu=UART,
              timeout=900, put=[programs.build("load"), programs.build("fifo_check")],
              allow=[ownkernel.LINUX_RACES])
    assert done.status == 0, f"{done.status}: {done.stdout[-2000:]}{done.stderr}"
    assert done.stdout.endswith("all done\n")
    assert "unreferenced object" not in done.stdout, done.stdout
    assert done.stdout.count("\nok ") > 40
    assert re.search(r"RT timer function fail_in_timer.* left: #PF", done.console)
    latency = dict(re.findall(r"(\w+)=(\d+)", done.stdout.split("latency: ")[1].splitlines()[0]))
    if smp == 1:
        assert failures(done) <= TOO_SLOW, done.stdout
        assert int(latency["releases"]) > 500
    else:
        # Fewer if the other CPU's turns took so long that the watchdog stopped the task.
        assert int(latency["releases"]) > 0


@pytest.mark.parametrize(("title", "ours"), [
    ("hrtimer_wakeup / schedule_hrtimeout_range_clock", False),
    ("ktime_get_mono_fast_ns+0xaf/0x110", False),
    ("0x0", True),
    ("count+0x3d/0x60 [race]", True),
    ("ring_put [rtfifo] / do_read", True),
    ("do_read / ring_put [rtfifo]", True),
])
def test_whose_race_it_is(title: str, ours: bool) -> None:
    """Races of Linux alone are let pass, those with a module or RT code in it are not."""
    assert (re.search(ownkernel.LINUX_RACES, f"BUG: KCSAN: data-race in {title}") is None) == ours


COMPLAINTS = {"order": "possible circular locking dependency",
              "sleep": "sleeping function called from invalid",
              "shift": "UBSAN: shift-out-of-bounds", "beyond": "KASAN: slab-out-of-bounds"}


@pytest.mark.slow
@pytest.mark.parametrize(("complaints", "after"), [
    (COMPLAINTS, ""),
    pytest.param({"leak": "new suspected memory leaks"}, ownkernel.LOOK_FOR_LEAKS,
                 marks=pytest.mark.long)],
    ids=["at once", "leak"])
def test_the_debug_kernel_complains(vm: Vm, complaints: dict[str, str], after: str) -> None:
    """The control: each injected fault is reported. Lockdep's comes first, since KASAN's
    switches it off."""
    have("debug")
    done = vm(f"for what in {' '.join(complaints)}; do modprobe trouble what=$what; "
              f"rmmod trouble; done; {after}",
              kernel="debug", icount=True, with_modules="trouble", timeout=300, check=False)
    assert done.status == 125
    for words in complaints.values():
        assert words in done.console, words


@pytest.mark.slow
def test_the_executive_complains_of_a_lock_not_held(vm: Vm) -> None:
    """The control: a release build says nothing of the same call."""
    have("debug")
    run = "modprobe unlocked; sleep 0.1; rmmod unlocked tactus"
    done = vm(run, kernel="debug", icount=True, modules="tactus", with_modules="unlocked",
              timeout=300, check=False)
    assert done.status == 125
    assert "tactus: in rt_rq_first: not so: the rq's lock is held" in done.console
    vm(run, icount=True, modules="tactus", with_modules="unlocked")


@pytest.mark.long
@pytest.mark.parametrize("marked", [False, True])
def test_kcsan_sees_races_of_rt_code(vm: Vm, marked: bool) -> None:
    """The control: RT code and the Linux under it count in one variable; marked accesses are
    no race, and then the log is silent."""
    have("kcsan")
    done = vm("modprobe race marked=$MARKED; cat /sys/module/race/parameters/shared; rmmod race"
              .replace("$MARKED", str(int(marked))),
              kernel="kcsan", icount=True, modules="tactus", with_modules="race", timeout=300,
              check=False)
    assert int(done.stdout) > 1000
    if marked:
        assert done.status == 0, done.stderr
    else:
        assert done.status == 125
        assert re.search(r"BUG: KCSAN: data-race in .*count", done.console), done.console[-3000:]
