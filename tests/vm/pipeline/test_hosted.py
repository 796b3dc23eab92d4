# SPDX-License-Identifier: GPL-2.0-only
"""Hosted mode: the same calls on a kernel that is not patched, and honest about what it is.

Everything but pre-emption of jobs and the bound on lateness is the same, so the tests are the
pipeline's own: those of modules/task_test, the examples, the lateness.
"""

from __future__ import annotations

import re

import pytest

from exec import test_task
from harness import EXACT_TIMERS
from harness.vmrun import Result, Vm, skip_without_chroot
from measure.lateness import LIMIT_NS, Case, complaints, measure_all, table

# Jobs that only an interrupt ends: they would keep the CPU for good.
ENDLESS = {"watchdog", "delete_running_from_timer", "remote_running"}
# Pre-emption is what they are about.
PREEMPTIVE = {"budget_throttle", "budget_stop", "priorities", "priority_inheritance"}

STATUS = "for f in state mode timer idle; do cat /sys/kernel/tactus/$f; done; "
LOG = "dmesg | sed -n 's/.*tactus: \\(.*\\)/\\1/p'; "


def suitable(macro: str) -> list[str]:
    return [name for name in test_task.names(macro) if name not in ENDLESS | PREEMPTIVE]


def run_tasks(vm: Vm, names: list[str], **options: object) -> Result:
    """The tests of modules/task_test in hosted mode, in one boot; then everything goes."""
    done = vm(f"for test in {' '.join(names)}; do echo $test > /proc/task_test; done; "
              "cat /proc/task_test; rmmod task_test && rmmod tactus && echo unloaded",
              modules="tactus_core tactus mode=hosted task_test", **options)
    assert "FAIL" not in done.stdout, done.stdout
    assert done.stdout.count("ok ") == len(names), done.stdout
    assert done.stdout.endswith("unloaded\n")
    return done


@pytest.mark.parametrize("kernel", [
    ("6.1", "cloud"), pytest.param(("6.12", "cloud"), marks=pytest.mark.long)], ids="-".join)
def test_tasks(vm: Vm, kernel: tuple[str, str]) -> None:
    """Exact releases, overruns, deletion, timers, policies, objects."""
    skip_without_chroot(kernel)
    run_tasks(vm, suitable("TEST"), icount=True, kernel=kernel)


@pytest.mark.slow
def test_tasks_on_two_cpus(vm: Vm) -> None:
    run_tasks(vm, suitable("TEST2"), smp=2, timeout=60)


@pytest.mark.slow
def test_cpus_go_and_come(vm: Vm) -> None:
    """A CPU with an RT task stays online, one without may go; when it is back, it has tasks
    again."""
    done = vm("cpu=/sys/devices/system/cpu/cpu1/online; echo 0 > $cpu || echo stays; "
              "rmmod rt_latency; echo 0 > $cpu && cat /sys/kernel/tactus/cpus; echo 1 > $cpu; "
              "modprobe rt_latency cpu=1; sleep 0.5; cat /proc/rt_latency/summary; "
              "rmmod rt_latency tactus && echo unloaded",
              modules="tactus_core tactus mode=hosted rt_latency cpu=1", smp=2)
    stays, cpus, summary, unloaded = done.stdout.splitlines()
    assert (stays, cpus, unloaded) == ("stays", "0", "unloaded")
    latency = dict(word.split("=") for word in summary.split())
    assert int(latency["releases"]) >= 400
    assert latency["skipped"] == "0"


@pytest.mark.slow
def test_jobs_do_not_preempt_each_other(vm: Vm) -> None:
    """The control for what test_tasks leaves out: a more urgent task waits for the job's end."""
    done = vm("echo priorities > /proc/task_test; cat /proc/task_test",
              modules="tactus_core tactus mode=hosted task_test", icount=True)
    assert "FAIL priorities" in done.stdout


@pytest.mark.parametrize("kernel", [
    ("6.1", "cloud"), pytest.param(("6.12", "cloud"), marks=pytest.mark.long)], ids="-".join)
def test_examples_and_status(vm: Vm, kernel: tuple[str, str]) -> None:
    """A FIFO's text reaches user space; a task's releases count; a device interrupt of Linux's
    becomes RT's; nothing of the kernel is patched, and all of it says "hosted"."""
    skip_without_chroot(kernel)
    done = vm(
        STATUS + LOG + "cat /sys/kernel/tactus/slots; head -n 2 /dev/rtf0; "
        "modprobe rt_latency; sleep 0.5; cat /proc/rt_latency/summary; "
        "modprobe level rt=1 2>&1 | grep -o busy; "
        "echo 00:04 > /sys/bus/pnp/drivers/rtc_cmos/unbind; modprobe level rt=1; sleep 0.2; "
        "sed -n 's/^8\\t//p' /sys/kernel/tactus/irqs; grep -c '8-edge.*tactus' /proc/interrupts; "
        "rmmod level rt_latency rt_hello rtfifo tactus && echo unloaded; "
        "ls -d /sys/kernel/tactus 2>&1 | grep -c 'No such'; modprobe tactus && " + STATUS,
        modules="tactus_core tactus mode=hosted rtfifo rt_hello",
        with_modules="rt_latency level", icount=True, kernel=kernel, qemu="-device edu")
    assert done.status == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:4] == ["active", "hosted", "hrtimer", "unchanged"]
    assert re.fullmatch(r"active: mode hosted, kernel \S+, slots cli 0 .*, CPUs 0, timer hrtimer, "
                        r".*",
                        lines[4])
    assert set(re.findall(r"=(\d+)", lines[5])) == {"0"}
    assert lines[6:8] == ["hello, world"] * 2
    latency = dict(word.split("=") for word in lines[8].split())
    assert latency["releases"] == latency["expected"]
    assert int(latency["releases"]) >= 500
    assert (latency["skipped"], latency["overruns"]) == ("0", "0")
    assert lines[9] == "busy", "a line of a Linux driver's cannot be had in hosted mode"
    count, taken = map(int, lines[10].split("\t"))
    assert count >= 100  # of 1638: QEMU does not wake a halted CPU at once
    assert taken == 0
    assert lines[11:14] == ["1", "unloaded", "1"]
    assert lines[14:16] == ["active", "pipeline"]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [
    ("6.1", "cloud"), pytest.param(("6.12", "cloud"), marks=pytest.mark.long)], ids="-".join)
def test_lateness_beside_the_pipelines(kernel: tuple[str, str],
                                       monkeypatch: pytest.MonkeyPatch) -> None:
    """Under sections with interrupts off hosted releases must be as late as the sections are long:
    the same check that the pipeline passes has to fail here."""
    skip_without_chroot(kernel)
    # 6.12 does a little less than 6.1, for which the minimums were set.
    monkeypatch.setattr("measure.lateness.LOAD_FLOORS_PER_S", {"forks": 50, "serial_irqs": 300})
    cases = [Case("task", condition, 0.5) for condition in ("idle", "load", "irqoff")]
    hosted = measure_all(cases, mode="hosted", kernel=kernel[0], flavour=kernel[1])
    print(table(hosted))
    pipeline = measure_all(cases[2:], kernel=kernel[0], flavour=kernel[1])[0]
    print(table([pipeline]))
    assert all(result.skipped == 0 for result in hosted)
    assert complaints(hosted[2], LIMIT_NS["task"]) != []
    assert 15e6 < hosted[2].max_ns < 40e6
    assert complaints(pipeline, LIMIT_NS["task"]) == []


@pytest.mark.parametrize(("append", "mode", "log"), [
    pytest.param("nolapic_timer", "hosted", [
        r"refused: CPU 0's tick is not the local APIC's one-shot timer; nothing was changed",
        r"active: mode hosted \(auto: the pipeline was refused for the reason above\), .*"],
        id="falls_back"),
    pytest.param("", "pipeline", [
        r"active: mode pipeline \(auto: nothing speaks against it\), .*"], id="pipeline",
        marks=pytest.mark.slow),
    pytest.param("highres=off nohz=off", "none", [
        r"refused: CPU 0's tick is not the local APIC's one-shot timer; nothing was changed",
        r"refused: mode=hosted needs high-resolution timers, .*; nothing was changed"],
        id="neither", marks=pytest.mark.slow),
])
def test_auto(vm: Vm, append: str, mode: str, log: list[str]) -> None:
    """mode=auto says which it took and why; where neither is possible, it says that."""
    done = vm("insmod /modules/tactus.ko mode=auto; "
              "cat /sys/kernel/tactus/mode 2> /dev/null || echo none; " + LOG,
              modules="tactus_core", with_modules="tactus", append=append, icount=True)
    taken, *said = done.stdout.splitlines()
    assert taken == mode
    # busybox tries to load a module twice.
    said = [line for number, line in enumerate(said) if line not in said[:number]
            and line.startswith(("refused: ", "active: "))]
    assert len(said) == len(log), said
    for line, pattern in zip(said, log):
        assert re.fullmatch(pattern, line)


@pytest.mark.slow
def test_the_pipelines_timer_is_refused(vm: Vm) -> None:
    done = vm("modprobe tactus mode=hosted timer=pit 2>&1; dmesg | grep 'tactus: '",
              with_modules="tactus")
    assert "Invalid argument" in done.stdout
    assert "refused: timer=pit is for the pipeline" in done.stdout


def test_two_interrupt_the_same_cpu_at_once(vm: Vm) -> None:
    """The second comes between two instructions of the first, inside of Linux's cross-CPU call:
    both tasks run, and the CPU's queue of calls is whole. (It went round for ever once.)"""
    done = vm(EXACT_TIMERS + """
        P=/sys/module/poke_race/parameters
        for round in 1 2 3; do taskset 1 sh -c "echo 1 > $P/go" || exit 3; done
        cat $P/hits $P/ran; taskset 2 echo alive
        """, modules="tactus_core tactus mode=hosted poke_race", smp=2, timeout=60)
    hits, ran, alive = done.stdout.split()
    assert (hits, ran, alive) == ("3", "3,3", "alive")
