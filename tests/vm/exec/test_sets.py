# SPDX-License-Identifier: GPL-2.0-only
"""Random sets of real tasks, just within what admission takes under rate monotonic, miss nothing.
Those that only EDF can do miss something under rate monotonic, so a miss would be seen."""

from __future__ import annotations

import random

from harness.vmrun import Vm
from tactus.analysis import Task, analyse

PERIODS_US = (2000, 2500, 4000, 5000, 8000, 10000)
# What a job costs beyond its own instructions: its release, two switches, interrupts of Linux.
OVERHEAD_NS = 5000
RUN = """
for policy in rm edf; do
    insmod /modules/tactus_$policy.ko; insmod /modules/taskset.ko
    {adds} echo 1 > $P/start; sleep 0.1; echo {number} $policy; cat $P/results
    rmmod taskset tactus_$policy
done
"""


def sets(chance: random.Random, count: int, edf_only: bool) -> list[list[Task]]:
    """Sets of four tasks: admitted by RM at 85 % of the CPU or more, or by EDF and not by RM."""
    found: list[list[Task]] = []
    while len(found) < count:
        periods = [1000 * chance.choice(PERIODS_US) for _ in range(4)]
        parts = [chance.random() for _ in periods]
        scale = (0.97 if edf_only else chance.uniform(0.85, 0.95)) / sum(parts)
        tasks = [Task(name, int(part * scale * period), period, period, n + 1)
                 for n, (name, part, period) in enumerate(zip("abcd", parts, periods, strict=True))]
        result = analyse(tasks, 2, until=1).policies
        if result["edf"].verdict == "fits" and (result["rm"].verdict == "fits") != edf_only:
            found.append(tasks)
    return found


def test_what_is_admitted_is_met(vm: Vm) -> None:
    chance = random.Random(1)
    chosen = sets(chance, 3, edf_only=False) + sets(chance, 2, edf_only=True)
    script = "P=/sys/module/taskset/parameters\n"
    for number, tasks in enumerate(chosen):
        adds = "".join(f"echo {t.name} {t.budget - OVERHEAD_NS} {t.period} 0 {t.budget} "
                       f"{t.priority} "
                       "> $P/add; " for t in tasks)
        script += RUN.format(adds=adds, number=number)
    done = vm(script, modules="tactus linux_share=2", with_modules="tactus_rm tactus_edf taskset",
              icount=True)
    misses: dict[tuple[int, str], int] = {}
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) == 2:
            where = (int(words[0]), words[1])
            misses[where] = 0
        else:
            assert int(words[1]) >= 9, f"{where}: too few releases: {line}"
            misses[where] += int(words[2])
    assert len(misses) == 2 * len(chosen)
    for (number, policy), count in misses.items():
        if policy == "rm" and number >= 3:
            assert count > 0, f"set {number} was not to fit: {chosen[number]}"
        else:
            assert count == 0, f"set {number}, {policy}: {chosen[number]}"


# As in RUN, but the tasks may leave nothing of the CPU to Linux, so they end by themselves.
SPAN_MS = 400
SPAN = """
P=/sys/module/taskset/parameters
for policy in rm edf; do
    insmod /modules/tactus_$policy.ko; insmod /modules/taskset.ko span_ms={span}
    {adds} echo 1 > $P/start; sleep 1; echo $policy; cat $P/results
    rmmod taskset tactus_$policy
done
"""
# What a job costs beyond its own instructions, rounded up: with 1500 nothing is missed, with 1000
# there is.
JOB_COST_NS = 2000


def run_span(vm: Vm, tasks: list[Task], per_job_ns: int) -> dict[str, dict[str, int]]:
    """Policy -> task -> misses, of tasks whose jobs take their budget less `per_job_ns`."""
    adds = "".join(f"echo {t.name} {t.budget - per_job_ns} {t.period} 0 0 {t.priority} > $P/add; "
                   for t in tasks)
    done = vm(SPAN.format(span=SPAN_MS, adds=adds), icount=True,
              with_modules="tactus_rm tactus_edf taskset",
              modules="tactus linux_share=0 admission=off watchdog_ms=0")
    misses: dict[str, dict[str, int]] = {}
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) == 1:
            mine = misses.setdefault(words[0], {})
        else:
            mine[words[0]] = int(words[2])
    assert set(misses) == {"rm", "edf"}
    return misses


def set_of(**parts: tuple[float, float]) -> list[Task]:
    """name=(period in ms, part of the CPU); the shortest period first."""
    return [Task(name, int(part * ms * 1_000_000), int(ms * 1_000_000), int(ms * 1_000_000), n + 1)
            for n, (name, (ms, part)) in enumerate(parts.items())]


def test_overload_takes_the_lowest_rate(vm: Vm) -> None:
    """110 % of the CPU: under rate monotonic only the lowest rate misses; under EDF others do,
    too."""
    misses = run_span(vm, set_of(a=(2, 0.4), b=(4, 0.4), c=(10, 0.3)), JOB_COST_NS)
    assert misses["rm"]["a"] == misses["rm"]["b"] == 0, misses
    assert misses["rm"]["c"] > 10, misses
    assert misses["edf"]["a"] + misses["edf"]["b"] > 0, misses


def test_the_whole_cpu(vm: Vm) -> None:
    """All of the CPU but what jobs cost beside their own instructions: EDF misses nothing, RM
    does."""
    misses = run_span(vm, set_of(a=(2, 0.3), b=(4, 0.3), c=(5, 0.4)), JOB_COST_NS)
    assert set(misses["edf"].values()) == {0}, misses
    assert sum(misses["rm"].values()) > 0, misses


def test_more_than_the_whole_cpu(vm: Vm) -> None:
    """The control: with nothing left for what jobs cost, EDF misses."""
    misses = run_span(vm, set_of(a=(2, 0.3), b=(4, 0.3), c=(5, 0.4)), 0)
    assert sum(misses["edf"].values()) > 0, misses
