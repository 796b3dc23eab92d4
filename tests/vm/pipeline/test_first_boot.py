# SPDX-License-Identifier: GPL-2.0-only
"""A first boot that cannot hurt: the dry run, the life on trial, the self-test."""

from __future__ import annotations

import re

import pytest

from harness import FINAL_CLOCK, programs
from harness.vmrun import Vm, skip_without_chroot

slow = pytest.mark.slow
long = pytest.mark.long
each_kernel = pytest.mark.parametrize("kernel", [
    ("6.1", "cloud"), pytest.param(("6.12", "cloud"), marks=long),
    pytest.param(("7", "cloud"), marks=slow)], ids="-".join)

DRY = FINAL_CLOCK + """
./ktext save /tmp/before; modprobe tactus dry_run=1 || exit 3
./ktext diff /tmp/before || exit 4
cd /sys/kernel/tactus; cat state trial; cat slots > /tmp/dry; wc -l < slots_list; cd /root
modprobe rt_latency 2>/dev/null && exit 5
rmmod tactus && rmmod tactus_core || exit 6
modprobe tactus || exit 7
cmp /sys/kernel/tactus/slots /tmp/dry && wc -l < /sys/kernel/tactus/slots_list
"""


@each_kernel
def test_a_dry_run_finds_what_loading_writes_and_changes_nothing(vm: Vm, kernel) -> None:
    """The text of kernel and modules stays as it is; the slots are those that a real load writes;
    a task gets ENODEV; and the core is not pinned, so that it goes as well."""
    skip_without_chroot(kernel)
    done = vm(DRY, with_modules="tactus rt_latency", kernel=kernel, icount=True,
              put=[programs.build("ktext")])
    assert done.status == 0, done.stdout + done.stderr
    text, state, trial, places, written = done.stdout.splitlines()
    assert "different=0" in text
    assert (state, trial) == ("inert", "none")
    assert places == written and int(places) > 1000
    assert "dry run: nothing speaks against mode pipeline" in done.console


@each_kernel
def test_a_dry_run_is_refused_as_loading_is(vm: Vm, kernel) -> None:
    skip_without_chroot(kernel)
    done = vm("modprobe tactus dry_run=1 timer=tsc-deadline; ls /sys/kernel/tactus; "
              "modprobe tactus dry_run=1 mode=hosted && cat /sys/kernel/tactus/state",
              with_modules="tactus", kernel=kernel, icount=True)
    assert "refused: timer=tsc-deadline, but Linux runs the APIC's timer as lapic" in done.console
    assert done.stdout == "inert\n"
    assert "dry run: nothing speaks against mode hosted" in done.console


TRIAL = """
modprobe tactus trial_s=1 {mode} || exit 3
modprobe {user} || exit 4
cd /sys/kernel/tactus; cat state trial
sleep 1.2
cat state trial
releases() {{ awk '/period/ || /task_name/ {{next}} {{print $6}}' tasks; }}
releases; sleep 0.6; releases
echo 1 > keep; cd /
rmmod {user} || exit 5
modprobe {user} 2>&1 | grep -c 'No such device'
rmmod rtfifo tactus || exit 6
modprobe tactus trial_s=1 {mode} && echo 1 > /sys/kernel/tactus/keep
echo 1 > /sys/kernel/tactus/keep || exit 7
sleep 1.5; cat /sys/kernel/tactus/state /sys/kernel/tactus/trial
rmmod tactus; modprobe tactus; echo 1 > /sys/kernel/tactus/keep
"""


@pytest.mark.parametrize("mode, kernel", [
    ("", "6.1"), pytest.param("mode=hosted", "6.1", marks=slow),
    pytest.param("", "6.12", marks=long), pytest.param("", "7", marks=long)])
def test_a_trial_ends_by_itself(vm: Vm, mode: str, kernel: str) -> None:
    """With an RT task: that makes no more releases; its module can go; then no task can be made.
    Said in time, keep keeps; said late, or of no trial, it is an error."""
    skip_without_chroot((kernel, "cloud"))
    done = vm(TRIAL.format(mode=mode, user="rt_hello"), with_modules="tactus rtfifo rt_hello",
              kernel=kernel, icount=True)
    assert done.status != 0 and "No such process" in done.stderr  # the last keep
    assert "Connection timed out" in done.stderr
    said = done.stdout.splitlines()
    assert said[:4] == ["active", "running 1", "inert", "ended"]
    assert said[4] == said[5]
    assert said[6:] == ["1", "active", "kept"]
    assert "the trial of 1 s is over and nobody said keep" in done.console


def test_a_trial_that_is_too_long_is_refused(vm: Vm) -> None:
    done = vm("modprobe tactus trial_s=86401", with_modules="tactus", icount=True)
    assert done.status != 0
    assert "refused: trial_s=86401 is too long; it must be 0 to 86400" in done.console


DEAF = """
modprobe tactus trial_s=1 || exit 3
modprobe deaf what={what} cpu={cpu} ms=800 || exit 4
sleep {seconds}; cat /sys/kernel/tactus/state /sys/kernel/tactus/trial
rmmod deaf tactus && modprobe tactus && cat /sys/kernel/tactus/state
"""
STOPPED = {
    "timer": "RT timer function spin_in_timer.* left: NMI, .* at deaf_spin",
    "task": "task .* stopped: NMI, .* at deaf_spin",
    "eoi": "",
    "stalled": "",
}


@pytest.mark.parametrize("what, cpus", [
    ("eoi", 2), pytest.param("stalled", 2, marks=slow),
    *(pytest.param(*words, marks=long) for words in [("timer", 2), ("task", 2)])])
def test_a_trial_ends_though_a_cpu_does_not_answer(vm: Vm, what: str, cpus: int) -> None:
    """RT code spins there with hardware interrupts off; an interrupt is not acknowledged; Linux is
    stalled for good. An NMI that the other CPU sends opens the way out."""
    cpu = cpus - 1
    # If an interrupt is not acknowledged, a process goes on there.
    done = vm(DEAF.format(what=what, cpu=cpu, seconds=9 if what == "stalled" else 4),
              with_modules="tactus deaf", smp=cpus, icount=True, busy=what == "eoi")
    assert done.status == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == ["inert", "ended", "active"]
    assert f"CPU {cpu} does not answer Linux: it gets an NMI" in done.console
    assert re.search(STOPPED[what], done.console)


@slow
def test_a_trial_ends_though_all_ask_at_once(vm: Vm) -> None:
    """The NMI asks that Linux be unstalled there, and before that CPU has heard of it, another one
    asks for something else."""
    done = vm("modprobe tactus_core; modprobe boot_fault what=asked cpu=1 || exit 2"
              + DEAF.format(what="stalled", cpu=1, seconds=9).replace(
                  "rmmod deaf tactus", "rmmod deaf tactus boot_fault"),
              with_modules="tactus deaf boot_fault", smp=2, icount=True)
    assert done.status == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == ["inert", "ended", "active"]
    assert "CPU 1 does not answer Linux: it gets an NMI" in done.console


FAULT = "modprobe tactus_core; modprobe boot_fault what={what} cpu={cpu} || exit 3; "
HEALTHY = ("taskset $((1 << {cpu})) sleep 0.1; rmmod boot_fault; modprobe tactus || exit 5; "
           "cat /sys/kernel/tactus/state; rmmod tactus")
MISSING = {
    "shot": "the shot of an RT timer",
    "tick": "the shot of a timer of Linux's",
    "ipi": "an RT interrupt from another CPU",
    "replay": "the replay of an interrupt that came while Linux was stalled",
}


@pytest.mark.parametrize("what, cpu, kernel", [
    ("shot", 1, "6.1"), *(pytest.param(*words, marks=slow) for words in [
        ("ipi", 1, "6.1"), ("replay", 1, "6.1")]),
    *(pytest.param(*words, marks=long) for words in [("tick", 1, "6.1"), ("ipi", 0, "6.1")]),
    *(pytest.param(what, (number + (kernel == "7")) % 2, kernel, marks=long)
      for kernel in ["6.12", "7"] for number, what in enumerate(MISSING))])
def test_what_does_not_arrive_switches_it_off_again(vm: Vm, what: str, cpu: int,
                                                    kernel: str) -> None:
    """One sentence names the CPU and what was missing, loading fails, Linux lives on, and without
    the fault it can be loaded."""
    skip_without_chroot((kernel, "cloud"))
    done = vm(FAULT.format(what=what, cpu=cpu) + "modprobe tactus && exit 4; "
              "ls /sys/kernel/tactus; " + HEALTHY.format(cpu=cpu), kernel=kernel,
              with_modules="tactus boot_fault", smp=2, icount=True)
    assert done.status == 0, done.stdout + done.stderr
    assert done.stdout == "active\n"
    assert "Input/output error" in done.stderr
    assert (f"tactus: self-test failed: CPU {cpu} did not get {MISSING[what]} within 50 ms; "
            "everything is switched off again") in done.console


@each_kernel
def test_a_cpu_that_comes_is_tested(vm: Vm, kernel) -> None:
    """It does not come, and everything is switched off; without the fault it comes."""
    skip_without_chroot(kernel)
    online = "/sys/devices/system/cpu/cpu1/online"
    done = vm(f"echo 0 > {online}; modprobe tactus_core; "
              "modprobe boot_fault what=shot cpu=1; modprobe tactus || exit 3; "
              f"echo 1 > {online}; sleep 0.1; cat {online} /sys/kernel/tactus/state; "
              "rmmod tactus boot_fault; modprobe tactus; "
              f"echo 1 > {online}; cat {online} /sys/kernel/tactus/state",
              with_modules="tactus boot_fault", kernel=kernel, smp=2, icount=True)
    assert done.stdout == "0\ninert\n1\nactive\n", done.stdout + done.stderr
    assert "self-test failed: CPU 1 did not get the shot of an RT timer" in done.console


STALL = """
modprobe tactus || exit 3
modprobe boot_fault what={what} cpu={cpu} || exit 4
echo {ms} > /sys/module/boot_fault/parameters/stall_ms
sleep 2.5; cat /sys/kernel/tactus/state; rmmod boot_fault
"""


@pytest.mark.parametrize("what, ms, cpus, kernel", [
    ("stall", 1500, 1, "6.1"), pytest.param("stall", 900, 1, "6.1", id="control"),
    pytest.param("lost", 1500, 2, "6.1", marks=slow),
    *(pytest.param("stall", 1500, 1, kernel, marks=long) for kernel in ["6.12", "7"])])
def test_interrupts_that_nobody_replays_are_told_of(vm: Vm, what: str, ms: int, cpus: int,
                                                    kernel: str) -> None:
    """Once, with CPU, vectors and the way to the place; not if Linux is stalled for less than a
    second. Interrupts that were enabled by an instruction that is no slot count as stalled."""
    skip_without_chroot((kernel, "cloud"))
    cpu = cpus - 1
    done = vm(STALL.format(what=what, cpu=cpu, ms=ms), with_modules="tactus boot_fault", smp=cpus,
              kernel=kernel, icount=True)
    assert done.status == 0 and done.stdout == "active\n", done.stdout + done.stderr
    told = [line.split("tactus: ")[1] for line in done.console.splitlines()
            if f"tactus: CPU {cpu}: " in line]
    if ms < 1000:
        assert told == []
        return
    first, *callers = told
    assert first.startswith(f"CPU {cpu}: interrupts for Linux wait for 1.0 s: vectors ")
    assert "236" in first.partition("; ")[0]  # Linux's timer, or a range with it
    assert any("called from boot_fault_stall+" in line for line in callers), told
    assert sum("interrupts for Linux wait" in line for line in told) == 1
