# SPDX-License-Identifier: GPL-2.0-only
"""What RT mode of programs does to the kernel's own RT tasks: how late one of these is, and what
their switches and releases cost, without the module tactus_user, with it, and beside a program in
RT mode at another rate. A task of the kernel's of the same rate and work is that program's control:
whatever runs beside a task is sometimes released, or stopped, at its moment.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness import programs

from . import figures, lateness
from .costs import Costs
from .figures import MeasureError

# By how much tactus_user may change what the kernel's tasks cost, and how late they are at the
# mean; or so much: lateness is counted in steps of 10 ns, and what gravity leaves of it is little.
TOLERANCE_PERCENT, TOLERANCE_NS = 2, 10
# How much later a few releases may be: those at the load's worst moment. Where modules land moves
# its phase, and the latest of 600 by some 40 ns, with tactus_user or without.
PHASE_NS = 60
# How late a kernel's task may be beside a program in RT mode; and how much later, at the mean,
# than beside a task: the program's memory and registers are left before it runs. 1,049 is the most
# that was seen; the promise is that of a program itself.
PROGRAM_MAX_NS, PROGRAM_MORE_NS = 1400, 60
# Of the task beside, and of the program: no part of the measured task's 1,000 us, and no multiple.
PERIOD_US, WORK_US = 701, 100
SYSTEMS = {"alone": "no RT mode", "loaded": "`tactus_user` is loaded",
           "task": "beside a task of the kernel's", "program": "beside a program in RT mode"}
CONDITIONS: tuple[lateness.Condition, ...] = ("idle", "irqoff")
_MARK = "BESIDE "


@dataclass(frozen=True)
class Neighbour(figures.Result):
    """What was measured in one boot. `late`: by condition the mean, what 99.9 % do not exceed and
    the maximum, in ns. The others are instructions: see costs.py."""

    system: str
    late: dict[str, tuple[float, int, int]]
    switch: int
    linux_rt_linux: int
    release_10: int


def _program(seconds: float, out: str) -> str:
    return (f"./user_latency --json --period={PERIOD_US} --work={WORK_US} --seconds={seconds:g}"
            f" > {out} & program=$!\nsleep 0.1\n")


def _scripts(system: str, seconds: float) -> tuple[str, str]:
    """Before the cases, and after them."""
    before = after = ""
    # It is in RT mode while the costs are measured, and cannot keep its time beside 1,000 tasks.
    seen = "cut -f 4 /sys/kernel/tactus/users | tail -n +2"
    if system == "task":
        before = (f"echo t {WORK_US * 1000} {PERIOD_US * 1000} 0 0 10 > $P/add\n"
                  "echo 1 > $P/start\n")
    if system == "program":
        # The load's programs and their ends are not in the cases' seconds.
        before = _program(len(CONDITIONS) * (seconds + 1), "jobs")
        after = f"wait $program\necho {_MARK}program; cat jobs\n{_program(3600, 'more')}"
    after += f"""
        modprobe task_bench
        echo {_MARK}costs; cat /sys/module/task_bench/parameters/results
        echo {_MARK}modes; [ ! -e /sys/kernel/tactus/users ] || {seen}
        echo {_MARK}end"""
    return f"P=/sys/module/taskset/parameters\n{before}", after


def parse(system: str, text: str, cases: Sequence[lateness.Case]) -> Neighbour:
    """Make a result of what the guest printed; MeasureError if the neighbour was not there."""
    parts = {name: rest for name, _, rest in
             (part.partition("\n") for part in text.split(_MARK)[1:])}
    if system == "program":
        jobs = json.loads(parts["program"].splitlines()[0])
        if jobs["missed"] or parts["modes"].split() != ["rt"]:
            raise MeasureError(f"the program did not stay in RT mode: {jobs}, {parts['modes']}")
    costs = Costs({name: int(pair.split(",")[1]) for name, pair in
                   (word.split("=") for word in parts["costs"].split())})
    found = lateness.parse(text.split(_MARK)[0], cases)
    trouble = [f"{system}, {one.case.condition}: {what}" for one in found
               for what in lateness.complaints(one, lateness.LIMIT_NS["task"])]
    if trouble:
        raise MeasureError("; ".join(trouble))
    return Neighbour(system, {one.case.condition: (one.mean_ns, one.percentile_ns(99.9), one.max_ns)
                              for one in found},
                     costs.switch, costs.linux_rt_linux, costs.raw["release_10"])


def measure(system: str, seconds: float, *, kernel: str = "6.1", flavour: str = "cloud",
            core: str = "tactus_core tactus") -> Neighbour:
    """One of SYSTEMS, in a boot of its own; `core`: a mutant's modules."""
    cases = [lateness.Case("task", condition, seconds) for condition in CONDITIONS]
    before, after = _scripts(system, seconds)
    modules = f"{core} rt_latency"
    modules += "" if system == "alone" else " rtfifo tactus_user"
    modules += " taskset" if system == "task" else ""
    text = lateness.guest_run(
        cases, "--icount", "--with-modules=task_bench", f"--put={programs.build('user_latency')}",
        before=before, after=after, modules=modules, kernel=kernel, flavour=flavour,
        timeout_s=300 + seconds * 60)
    return parse(system, text, cases)


def judge(found: Sequence[Neighbour]) -> list[str]:
    """What tactus_user, or a program in RT mode, changes beyond what is promised."""
    by = {one.system: one for one in found}
    alone, trouble = by["alone"], []
    for name in ("loaded", "program"):
        for cost in ("switch", "linux_rt_linux", "release_10"):
            before, now = getattr(alone, cost), getattr(by[name], cost)
            if abs(now - before) * 100 > before * TOLERANCE_PERCENT:
                trouble.append(f"{name}, {cost}: {now} instructions, {before} alone")
    for condition in CONDITIONS:
        late = {one.system: one.late[condition] for one in found}
        (mean, *tail), (mean_now, *tail_now) = late["alone"], late["loaded"]
        if abs(mean_now - mean) > max(mean * TOLERANCE_PERCENT / 100, TOLERANCE_NS):
            trouble.append(f"loaded, {condition}: {mean_now:.0f} ns late, {mean:.0f} alone")
        trouble += [f"loaded, {condition}: {now_ns} ns late at most, {before_ns} alone"
                    for before_ns, now_ns in zip(tail, tail_now, strict=True)
                    if now_ns > before_ns + PHASE_NS]
        more, most = late["program"][0] - late["task"][0], late["program"][2]
        if more > PROGRAM_MORE_NS:
            trouble.append(f"program, {condition}: {more:.0f} ns later than beside a task, "
                           f"{PROGRAM_MORE_NS} allowed")
        if most > PROGRAM_MAX_NS:
            trouble.append(f"program, {condition}: {most} ns late, {PROGRAM_MAX_NS} allowed")
    return trouble


def table(found: Sequence[Neighbour]) -> str:
    """The figures as lines for people."""
    lines = [f"{'':<32} {'switch':>7} {'L-RT-L':>7} {'release':>7}" + "".join(
        f" {condition + ': ' + what:>13}" for condition in CONDITIONS
        for what in ("mean", "99.9 %", "max"))]
    lines += [f"{SYSTEMS[one.system]:<32} {one.switch:>7} {one.linux_rt_linux:>7} "
              f"{one.release_10:>7}" + "".join(
                  f" {value:>13.0f}" for condition in CONDITIONS for value in one.late[condition])
              for one in found]
    return "\n".join(lines)


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    found = [measure(system, options.seconds, kernel=options.kernel, flavour=options.flavour)
             for system in SYSTEMS]
    yield figures.outcome(found, table, judge)


MEASUREMENTS = (figures.Measurement(
    "kernel-tasks", "what the kernel's RT tasks lose by programs in RT mode", _run,
    lambda parser: figures.add_seconds(parser, 2, "of each condition"), {"seconds": 10}),)
