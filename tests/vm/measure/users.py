# SPDX-License-Identifier: GPL-2.0-only
"""How late a loop of an ordinary program is: in RT mode, and as Linux runs it at its best.

The program is examples/user_latency, which measures itself, by the clock that it reads first after
its wait. The conditions are those of lateness.py.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from harness import programs

from . import figures
from .figures import MeasureError
from .lateness import CONTROL_NS, SECTIONS_PER_S, Condition

Who = Literal["rt", "linux"]

# The promise: max lateness in ring 3, under every condition.
LIMIT_NS = 2000
_MARK = "MEASURE "


@dataclass(frozen=True)
class Case:
    """One measurement: in RT mode or by Linux, under what, for how many virtual seconds."""

    who: Who
    condition: Condition
    seconds: float = 3.0
    period_us: int = 1000


@dataclass(frozen=True)
class UserLateness(figures.Result):
    """The outcome of one case; all times in ns. `missed`: jobs a period late or more."""

    case: Case
    jobs: int
    min_ns: int
    mean_ns: float
    max_ns: int
    missed: int


def _script(cases: Sequence[Case]) -> str:
    lines = ["set -e"]
    for number, case in enumerate(cases):
        # The load lasts longer than the loop.
        if case.condition == "idle":
            beside = "true"
        else:
            beside = f"./load --json --disk=/dev/ram0 --seconds={case.seconds + 1:g}"
            if case.condition != "load":
                beside += (" --irqoff=process,timer,tasklet"
                           f" --min-sections={int(SECTIONS_PER_S * case.seconds)}")
        linux = " --linux" if case.who == "linux" else ""
        lines += [f"{beside} > load.{number} & pid=$!", "sleep 0.1", f"echo {_MARK}{number}",
                  f"./user_latency --json --seconds={case.seconds:g} "
                  f"--period={case.period_us}{linux}",
                  "wait $pid"]
    return "\n".join(lines)


def measure_all(cases: Sequence[Case], *, kernel: str = "6.1",
                flavour: str = "cloud") -> list[UserLateness]:
    """Make the measurements in one boot, in order; MeasureError when one cannot be made."""
    text = figures.boot(
        _script(cases), "--icount",
        f"--timeout={60 + sum(case.seconds + 1 for case in cases) * 30:g}",
        f"--modules={figures.RAM_DISK} hog tactus_core tactus rtfifo tactus_user",
        *(f"--put={programs.build(name)}" for name in ("load", "user_latency")),
        f"--qemu={figures.UART}", kernel=kernel, flavour=flavour)
    found = {}
    for part in text.replace("\r", "").split(_MARK)[1:]:
        number, _, rest = part.partition("\n")
        found[int(number)] = json.loads(rest.splitlines()[0])
    if len(found) != len(cases):
        raise MeasureError(f"{len(cases)} measurements, {len(found)} results:\n{text}")
    return [UserLateness(case=case, **found[number]) for number, case in enumerate(cases)]


def judge(results: Sequence[UserLateness]) -> list[str]:
    """All that is wrong: RT mode late, or Linux on time where it cannot be."""
    trouble = []
    for result in results:
        where = f"{result.case.who}, {result.case.condition}"
        if result.case.who == "rt":
            if result.max_ns > LIMIT_NS or result.min_ns < -100:
                trouble.append(f"{where}: {result.min_ns} to {result.max_ns} ns late, {LIMIT_NS} "
                               f"allowed")
            if result.missed or result.jobs < result.case.seconds * 1e6 / result.case.period_us - 1:
                trouble.append(f"{where}: {result.jobs} jobs, {result.missed} missed")
        elif result.case.condition == "irqoff" and result.max_ns < CONTROL_NS:
            trouble.append(f"{where}: not late, so nothing kept interrupts off")
    return trouble


def table(results: Sequence[UserLateness]) -> str:
    """The results as lines for people."""
    lines = [f"{'who':<6} {'condition':<15} {'jobs':>8} {'missed':>7} {'min ns':>8} "
             f"{'mean ns':>9} {'max ns':>10}"]
    lines += [f"{r.case.who:<6} {r.case.condition:<15} {r.jobs:>8} {r.missed:>7} {r.min_ns:>8} "
              f"{r.mean_ns:>9.0f} {r.max_ns:>10}" for r in results]
    return "\n".join(lines)


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    conditions: tuple[Condition, ...] = ("idle", "load", "irqoff")
    cases = [Case(who, condition, options.seconds, options.period_us)
             for who in ("rt", "linux") for condition in conditions]
    yield figures.outcome(measure_all(cases, kernel=options.kernel, flavour=options.flavour), table,
                          judge)


def _add_options(parser: argparse.ArgumentParser) -> None:
    figures.add_seconds(parser, 3, "of each")
    parser.add_argument("--period-us", type=int, default=1000)


MEASUREMENTS = (figures.Measurement(
    "users", "how late a program's loop is in RT mode, and as Linux runs it", _run, _add_options,
    {"seconds": 10}),)
