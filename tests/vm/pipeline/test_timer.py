# SPDX-License-Identifier: GPL-2.0-only
"""The one-shot devices: chosen by parameter, taken from Linux, given back as they were.

How late the APIC's makes releases is measured in test_lateness.py.
"""

from __future__ import annotations

import re

import pytest

from harness import programs
from measure.lateness import (
    LIMIT_NS,
    MAIN_CONDITIONS,
    PIT_LIMIT_NS,
    Case,
    Kind,
    complaints,
    measure_all,
    table,
)

# By the APIC's timer no release of these few is so late.
APIC_NS = 600

# How often the interrupts 0 and LOC came during ten naps, and how long that took.
NAPS = ("irqs() { awk '/^ *0:|^LOC:/ { printf \"%d \", $2 }' /proc/interrupts; }; "
          "naps() { cut -d' ' -f1 /proc/uptime; irqs; i=0; while [ $i -lt 10 ]; do "
          "usleep 20000; i=$((i+1)); done; irqs; cut -d' ' -f1 /proc/uptime; }; ")


def naps(lines: list[str]) -> tuple[int, int, float]:
    """Counts of the interrupts 0 and LOC, and seconds, of one call of `naps`."""
    start, counts, *_ = lines
    zero, local, zero_after, local_after, end = counts.split()
    return int(zero_after) - int(zero), int(local_after) - int(local), float(end) - float(start)


def test_the_8254_is_taken_and_given_back(vm) -> None:
    """On: it makes Linux's tick. Off: its mode is that of before, the tick the APIC's again."""
    done = vm(
        NAPS +
        "./pit_mode 38; modprobe tactus timer=pit; naps; cat /sys/kernel/tactus/timer; "
        "sed -n 's/^0\t\\(.*\\)\t1/\\1/p' /sys/kernel/tactus/irqs; "
        "rmmod tactus; ./pit_mode; naps; modprobe tactus; cat /sys/kernel/tactus/timer; naps",
        with_modules="tactus", put=[programs.build("pit_mode")], icount=True)
    before, *on, taken, after = done.stdout.splitlines()[:6]
    off, lapic, *again = done.stdout.splitlines()[6:8], *done.stdout.splitlines()[8:]
    timer, by_8254 = on[2], int(taken)
    assert after == before == "38"
    assert (timer, lapic) == ("pit", "lapic")
    assert by_8254 >= 10
    for lines in (on, off, again):
        zero, local, lasted = naps(lines)
        assert zero == 0, "Linux was given an interrupt that is RT's"
        assert local >= 10, "Linux's tick did not come"
        assert 0.2 <= lasted < 0.25


@pytest.mark.parametrize("timer", ["tsc-deadline", "pit"])
def test_refused_where_it_cannot_be(vm, timer: str) -> None:
    """No emulator here has a TSC deadline; and the HPET in legacy mode displaces the 8254."""
    why = {"tsc-deadline": "timer=tsc-deadline, but Linux runs the APIC's timer as lapic",
           "pit": "timer=pit: the HPET has the 8254's place at interrupt 0"}[timer]
    done = vm(f"modprobe tactus timer={timer} 2>&1; dmesg | grep 'tactus: '; "
              "ls -d /sys/kernel/tactus", with_modules="tactus",
              append="hpet=verbose" if timer == "pit" else "")
    assert "Operation not supported" in done.stdout
    assert re.search(rf"refused: {why}.*; nothing was changed", done.stdout)
    assert "taken over" not in done.stdout
    assert done.status != 0


def test_a_count_downs_rate_is_measured_anew(vm) -> None:
    """Linux measured the APIC's timer by a TSC that it took for half a per cent faster than it is,
    and refined the TSC's rate only: by Linux's figure a wait of 1 ms ends up to 10 us late."""
    done = vm("sleep 0.3; cat /proc/rt_latency/summary; dmesg | grep 'APIC.s timer runs'",
              modules="tactus rt_latency mode=tick", append="tsc_early_khz=1005000",
              icount=True, busy=True)
    summary, said = done.stdout.splitlines()
    assert int(re.search(r"max_ns=(\d+)", summary)[1]) < LIMIT_NS["tick"]
    assert -5010 < int(re.search(r"runs (-\d+) ppm off", said)[1]) < -4940


def test_a_count_down_unlike_linuxs_is_refused(vm) -> None:
    """Linux's figure is faked, 3 % above what is measured."""
    done = vm("modprobe fake_machine as=lapic && modprobe tactus; dmesg | grep 'tactus: '; "
              "ls -d /sys/kernel/tactus", with_modules="tactus fake_machine", icount=True)
    assert re.search(r"refused: the APIC's timer runs -291\d\d ppm off the rate that Linux has for "
                     "it; nothing was changed", done.stdout)
    assert done.status != 0


def test_an_idle_isolated_cpu(vm) -> None:
    """Linux masks the timer of a nohz_full CPU that idles; it is unmasked when it is taken, and
    Linux's timers come again when it has been given back."""
    done = vm("cat /sys/devices/system/cpu/nohz_full; modprobe rt_latency cpu=1; sleep 1; "
              "cat /proc/rt_latency/summary; rmmod rt_latency tactus; "
              "taskset 2 usleep 20000 && echo slept",
              modules="tactus", with_modules="rt_latency", smp=2,
              append="nohz_full=1 isolcpus=nohz,domain,1")
    isolated, summary, slept = done.stdout.splitlines()
    assert (isolated, slept) == ("1", "slept")
    releases, skipped = re.search(r"releases=(\d+) .*skipped=(\d+)", summary).groups()
    assert int(releases) > 900
    assert skipped == "0"


@pytest.mark.slow
def test_the_8254_beside_the_apic(vm) -> None:
    """Two CPUs: tasks run on both, and the one that the 8254 interrupts stays online."""
    done = vm("echo two-cpus > /proc/task_test; cat /proc/task_test; "
              "echo 0 > /sys/devices/system/cpu/cpu1/online && echo 'cpu 1 went'; "
              "echo 1 > /sys/devices/system/cpu/cpu1/online && echo 'cpu 1 came'; "
              "rmmod task_test tactus && echo unloaded",
              modules="tactus_core tactus timer=pit task_test", smp=2)
    assert "FAIL" not in done.stdout, done.stdout
    assert done.stdout.endswith("cpu 1 went\ncpu 1 came\nunloaded\n")


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param("tick", marks=pytest.mark.long), "task"])
def test_rt_releases_on_time_by_the_8254(kind: Kind) -> None:
    """The checks of test_lateness.py with the limit for a timer whose counts last for 838 ns;
    by what no release by the APIC is late they must fail."""
    seconds = 0.5
    results = measure_all([Case(kind, c, seconds) for c in MAIN_CONDITIONS], timer="pit")
    print(table(results))
    for result in results:
        assert complaints(result, PIT_LIMIT_NS[kind]) == [], result.case.condition
        assert result.releases >= seconds * 1000
    assert any(complaints(result, APIC_NS) for result in results)
