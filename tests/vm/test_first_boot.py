# SPDX-License-Identifier: GPL-2.0
"""A first boot that cannot hurt: the dry run, and the life on trial."""

from __future__ import annotations

import pytest
from harness import programs
from harness.vmrun import Vm, skip_without_chroot

slow = pytest.mark.slow
each_kernel = pytest.mark.parametrize("kernel", [
    ("6.1", "cloud"), pytest.param(("6.12", "cloud"), marks=slow),
    pytest.param(("7", "cloud"), marks=slow)], ids="-".join)

DRY = """
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


def test_a_dry_run_is_refused_as_loading_is(vm: Vm) -> None:
    done = vm("modprobe tactus dry_run=1 timer=tsc-deadline; ls /sys/kernel/tactus; "
              "modprobe tactus dry_run=1 mode=hosted && cat /sys/kernel/tactus/state",
              with_modules="tactus", icount=True)
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


@pytest.mark.parametrize("mode", ["", pytest.param("mode=hosted", marks=slow)],
                         ids=["pipeline", "hosted"])
def test_a_trial_ends_by_itself(vm: Vm, mode: str) -> None:
    """With an RT task: that makes no more releases; its module can go; then no task can be made. Said
    in time, keep keeps; said late, or of no trial, it is an error."""
    done = vm(TRIAL.format(mode=mode, user="rt_hello"), with_modules="tactus rtfifo rt_hello",
              icount=True)
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
