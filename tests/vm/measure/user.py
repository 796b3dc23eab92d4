# SPDX-License-Identifier: GPL-2.0-only
"""What RT mode costs: to enter and leave it, its calls, a job; and a system call of Linux's.

The program user_costs measures itself. Under ``--icount`` a nanosecond is an instruction. The goals
are what the design wants; a goal that is not reached is said and is no error.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness import programs

from . import figures
from .figures import MeasureError
from .users import Case, UserLateness, judge, measure_all
from .users import table as lateness_table

# What is measured, and the goal: instructions.
COSTS: dict[str, tuple[str, float | None]] = {
    "promotion": ("to RT mode, the first time, a program of 300 pages", 100_000),
    "promotion-again": ("to RT mode, the memory unchanged", None),
    "demotion": ("back, by a system call", 50_000),
    "round": ("a job: what it takes from Linux", None),
    "wait": ("rt_wait() when the next release is past", 400),
    "now": ("rt_now()", None),
    "sleep-past": ("rt_sleep_until() of a moment that is past", None),
    "put": ("rt_fifo_put() of 8 bytes", 250),
    "sem": ("rt_sem_post() and rt_sem_wait_until()", None),
    "port": ("a port written to, of those that ioperm() allows", None),
    "mtx": ("rt_mtx_lock_until() and rt_mtx_unlock()", None),
}
GATE_GOAL = 3
LATENESS_GOAL_NS = 1400


@dataclass(frozen=True)
class Cost(figures.Result):
    """One figure; instructions. `goal`: None if there is none."""

    name: str
    what: str
    instructions: float
    goal: float | None


# In all: the program itself has some, all of which are locked and pinned.
WITH_300_PAGES = """own=$(./user_costs pages) && own=${own#* } && own=${own%.*} || exit 1
DATA_PAGES=$((300 - own)) ./user_costs """
_SCRIPT = f"""
set -e
./user_costs syscall | sed s/syscall/off/
modprobe tactus
./user_costs syscall | sed s/syscall/on/
modprobe rtfifo
modprobe tactus_user
{WITH_300_PAGES}promotion
./user_costs {' '.join(name for name in COSTS if name != 'promotion')}
"""


def measure(*, kernel: str = "6.1", flavour: str = "cloud") -> list[Cost]:
    """All costs, in one boot; MeasureError if it fails."""
    text = figures.boot(_SCRIPT, "--icount", "--with-modules=tactus rtfifo tactus_user",
                        "--timeout=180", f"--put={programs.build('user_costs')}",
                        kernel=kernel, flavour=flavour)
    found = {name: float(value) for name, value in
             (line.split() for line in text.splitlines() if len(line.split()) == 2)}
    if missing := {*COSTS, "off", "on"} - set(found):
        raise MeasureError(f"no figures of {', '.join(sorted(missing))}:\n{text}")
    gate = Cost("gate", "a system call of Linux's with tactus on, more than off",
                found["on"] - found["off"], GATE_GOAL)
    return [gate, *(Cost(name, what, found[name], goal) for name, (what, goal) in COSTS.items())]


def table(costs: Sequence[Cost]) -> str:
    """The figures as lines for people."""
    lines = [f"{'instructions':>12} {'goal':>8}  what"]
    for cost in costs:
        goal = "" if cost.goal is None else f"{cost.goal:g}"
        missed = cost.goal is not None and cost.instructions > cost.goal
        verdict = " (not reached)" if missed else ""
        lines.append(f"{cost.instructions:>12.1f} {goal:>8}  {cost.what}{verdict}")
    return "\n".join(lines)


def goals(results: Sequence[UserLateness]) -> str:
    """The lateness as lines, and whether it is what the design wants."""
    worst = max(result.max_ns for result in results)
    said = "reached" if worst <= LATENESS_GOAL_NS else "not reached"
    periods = ", ".join(str(result.case.period_us) for result in results)
    return (f"{lateness_table(results)}\n"
            f"periods {periods} us; max {worst} ns, goal {LATENESS_GOAL_NS} ns: {said}")


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    yield figures.outcome(measure(kernel=options.kernel, flavour=options.flavour), table,
                          lambda _: [])
    cases = [Case("rt", "irqoff", options.seconds, period_us) for period_us in (1000, 100)]
    yield figures.outcome(measure_all(cases, kernel=options.kernel, flavour=options.flavour), goals,
                          judge)


MEASUREMENTS = (figures.Measurement(
    "user", "what RT mode costs a program and its system calls, and lateness at 1 and 10 kHz", _run,
    lambda parser: figures.add_seconds(parser, 1, "of each lateness"), {"seconds": 10}),)
