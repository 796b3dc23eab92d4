# SPDX-License-Identifier: GPL-2.0-only
"""What the executive costs, measured in instructions on the bench: switches, releases, and
what is left for Linux. Tests and ``make bench-long`` take their figures from here.

A switch is counted as what it adds to the call that caused it: the same call without a
switch is measured beside it (tests/vm/measure/modules/task_bench)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from harness import programs

from . import figures

# Instructions.
SWITCH_LIMIT = 120
LINUX_RT_LINUX_LIMIT = 300
RELEASE_10_LIMIT = 250
# Linux's local_irq_disable() and local_irq_enable(), which are four natively, with their calls.
IRQ_OFF_ON_LIMIT = 9
# The cost of a release with 1000 tasks ready beside that with 10.
GROWTH_LIMIT = 2.0
EVENT_LIMIT = 30
# What tactus_rm may add to a release: its key, and its supervision. With a clock that was slow to
# read it was 233.
POLICY_RELEASE_LIMIT = 140
# How long a change of policy may keep interrupts off while POLICY_WAITERS tasks wait.
POLICY_WAITERS = 1000
POLICY_LIMIT_NS = 50_000
# In per cent of the CPU: how far Linux's part may be from what admission keeps for it.
SHARE_TOLERANCE = 2.0


def _run(command: str, *options: str, kernel: str = "6.1") -> str:
    return figures.boot(command, "--icount", *options, kernel=kernel)


@dataclass(frozen=True)
class Costs:
    """In instructions, the median of some hundred rounds each."""

    raw: dict[str, int]

    @property
    def switch(self) -> int:
        """From one RT task to another."""
        return self.raw["rt_rt"] - self.raw["suspend"]

    @property
    def linux_rt_linux(self) -> int:
        """From Linux to a task that suspends itself at once, and back."""
        return self.raw["linux_rt_linux"] - self.raw["wakeup"] - self.raw["suspend"]

    @property
    def fp(self) -> int:
        """What floating point adds to that."""
        return self.raw["fp_linux"] - self.raw["linux_rt_linux"]

    @property
    def growth(self) -> float:
        """A release among 1000 ready tasks, compared with one among 10."""
        return self.raw["release_1000"] / self.raw["release_10"]

    def complaints(self) -> list[str]:
        """Which promises they break."""
        found = []
        if self.switch > SWITCH_LIMIT:
            found.append(f"switch: {self.switch} instructions, {SWITCH_LIMIT} allowed")
        if self.linux_rt_linux > LINUX_RT_LINUX_LIMIT:
            found.append(f"Linux to RT to Linux: {self.linux_rt_linux} instructions, "
                         f"{LINUX_RT_LINUX_LIMIT} allowed")
        for name, most in (("release_10", RELEASE_10_LIMIT), ("irq_off_on", IRQ_OFF_ON_LIMIT)):
            if self.raw[name] > most:
                found.append(f"{name}: {self.raw[name]} instructions, {most} allowed")
        if self.growth > GROWTH_LIMIT:
            found.append(f"release: {self.growth:.2f} times from 10 to 1000 ready")
        return found

    def table(self) -> str:
        """For people."""
        lines = [f"{'call':<16} {'instructions':>12}"]
        lines += [f"{name:<16} {value:>12}" for name, value in self.raw.items()]
        lines += [f"{'switch':<16} {self.switch:>12}",
                  f"{'Linux-RT-Linux':<16} {self.linux_rt_linux:>12}",
                  f"{'with FP, more':<16} {self.fp:>12}"]
        return "\n".join(lines)


def costs(kernel: str = "6.1", events: int = 0, policy: str = "") -> Costs:
    """One boot, with a ring of so many events, and under the policy of this module."""
    text = _run("cat /sys/module/task_bench/parameters/results",
                f"--modules=tactus events={events} {policy} task_bench", kernel=kernel)
    words = (word.split("=") for word in text.split())
    return Costs({name: int(pair.split(",")[1]) for name, pair in words})


def linux_share(kernel: str = "6.1", ms: int = 300) -> tuple[float, float]:
    """(promised, measured) part of the CPU, per cent, that a Linux program gets beside tasks that
    use all of the budgets that admission has taken with linux_share=5."""
    tasks = ("a 999000 2000000 0 1000000 1", "b 1799000 4000000 0 1800000 2")
    adds = "".join(f"echo {task} > $P/add\n" for task in tasks)
    out = _run(f"""
        set -e; P=/sys/module/taskset/parameters; ./share {ms}; {adds} echo 1 > $P/start
        sleep 0.05; ./share {ms}; cat $P/results
        """, "--modules=tactus admission=enforce linux_share=5 tactus_rm taskset",
        f"--put={programs.build('share')}", kernel=kernel).split("\n")
    alone, beside = int(out[0]), int(out[1])
    for row in out[2:4]:
        name, releases, misses = row.split()[:3]
        if int(misses) or int(releases) < ms // 5:
            raise RuntimeError(f"task {name}: {releases} releases, {misses} misses")
    return 5.0, 100 * beside / alone


def policy_change(kernel: str = "6.1") -> tuple[int, int]:
    """The greatest lateness, ns, of a timer that fires all the time: while nothing happens, and
    while a policy comes and goes beside POLICY_WAITERS tasks that wait for one semaphore."""
    text = _run("cat /sys/module/policy_bench/parameters/results",
                f"--modules=tactus policy_bench waiters={POLICY_WAITERS}", kernel=kernel)
    found = {name: int(value) for name, value in (word.split("=") for word in text.split())}
    if found["fires"] < 500:
        raise RuntimeError(f"the timer fired {found['fires']} times only")
    return found["quiet"], found["change"]


def event_cost(kernel: str = "6.1") -> float:
    """Instructions that the ring of events takes for each: a switch between two tasks without a
    period notes the one's block and the other's going on."""
    return (costs(kernel, events=64).raw["rt_rt"] - costs(kernel).raw["rt_rt"]) / 2


def policy_complaints(built_in: Costs, policy: Costs) -> list[str]:
    """Is a release under a policy that is supervised too dear?"""
    ours, theirs = built_in.raw["release_10"], policy.raw["release_10"]
    more = theirs - ours
    return [f"a release under tactus_rm: {theirs} instructions, {more} more than {ours}; "
            f"{POLICY_RELEASE_LIMIT} allowed"] * (more > POLICY_RELEASE_LIMIT)


def _run_all(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    found = costs(options.kernel)
    yield figures.Outcome([{"costs": found.raw}], found.table(), found.complaints())
    policy = costs(options.kernel, policy="tactus_rm")
    yield figures.Outcome(
        [{"tactus_rm": policy.raw}],
        f"under tactus_rm: switch {policy.switch}, Linux-RT-Linux {policy.linux_rt_linux}, "
        f"release {'/'.join(str(policy.raw[f'release_{n}']) for n in (1, 10, 100, 1000))}",
        policy_complaints(found, policy))
    event = event_cost(options.kernel)
    yield figures.Outcome(
        [{"event": event}], f"an event: {event:g} instructions",
        [f"an event: {event:g} instructions, {EVENT_LIMIT} allowed"] * (event > EVENT_LIMIT))
    promised, share = linux_share(options.kernel)
    text = f"Linux's share: {share:.2f} %, {promised:.0f} % promised"
    yield figures.Outcome([{"linux_share": share, "promised": promised}], text,
                          [text] * (abs(share - promised) > SHARE_TOLERANCE))


def _run_policy(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    quiet, change = policy_change(options.kernel)
    text = (f"a change of policy beside {POLICY_WAITERS} tasks that wait: interrupts are off for at"
            f" most {change} ns ({quiet} ns while nothing changes), {POLICY_LIMIT_NS} ns promised")
    yield figures.Outcome([{"policy_change_ns": change, "quiet_ns": quiet}], text,
                          [text] * (change > POLICY_LIMIT_NS))


MEASUREMENTS = (figures.Measurement(
    "policy", "how long a change of policy keeps interrupts off", _run_policy,
    long={}, where=("kernel",)), figures.Measurement(
    "costs", "instructions of switches, releases and events, and Linux's share", _run_all,
    long={}, where=("kernel",)),)
