# SPDX-License-Identifier: GPL-2.0-only
"""Say whether a set of periodic tasks meets its deadlines, rate-monotonic and EDF side by side.

The tests and the run are the executive's own code, compiled for this machine. A file of tasks
is TOML; durations are texts with a unit, or whole ns:

    linux_share = 5          # per cent, kept for Linux

    [[task]]
    name = "control"
    period = "5ms"
    budget = "2ms"           # the most that a job needs
    deadline = "4ms"         # after a release; the period if left out
    priority = 1             # among equal periods
    phase = "0ms"            # of the first release

Exit status: 0 one of the policies meets the set, 5 none does, 1 it could not be found out.
"""
from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tactus import sysfs
from tactus.analysis import Analysis, PolicyResult, Task, analyse, duration, read_toml
from tactus.commands.status import table
from tactus.errors import ToolError, reason
from tactus.gantt import Chart, draw
from tactus.machine import Machine
from tactus.sysfs import Row

HELP = "say whether a set of tasks meets its deadlines"
NONE_FITS = 5
PARAMETERS = "/sys/module/tactus/parameters"
TITLES = {"rm": "rate monotonic", "edf": "earliest deadline first"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("file", nargs="?", type=Path, metavar="TASKS.toml", help="the set")
    source.add_argument("--live", action="store_true", help="the periodic tasks that run now")
    parser.add_argument("--cpu", type=int, default=0, help="with --live: whose (default 0)")
    parser.add_argument("--until", metavar="TIME",
                        help='how long to run the set, such as "100ms" (default: its hyperperiod)')
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw both runs")
    parser.add_argument("--png", type=Path, metavar="FILE",
                        help="the same as PNG; needs rsvg-convert")
    parser.add_argument("--json", action="store_true", help="one JSON object, for programs")


def live_tasks(machine: Machine, cpu: int) -> tuple[list[Task], float]:
    """The periodic tasks of a CPU. The cost of one without a budget is the most it has needed."""
    folder = machine.root / sysfs.FOLDER.lstrip("/")
    try:
        rows = sysfs.parse_table((folder / "timing").read_text())
        share = float((machine.root / PARAMETERS.lstrip("/") / "linux_share").read_text())
    except OSError as problem:
        raise ToolError("tactus is not loaded, so there is no running set (tactus load)",
                        3) from problem
    tasks = []
    for row in rows:
        period, budget = int(row["period_ns"]), int(row["budget_ns"]) or int(row["max_exec_ns"])
        if int(row["cpu"]) == cpu and period and budget:
            tasks.append(Task(str(row["name"]), budget, period, int(row["deadline_ns"]) or period,
                              int(row["priority"])))
    if not tasks:
        raise ToolError(f"no periodic task on CPU {cpu} has a budget or has ended a job")
    return tasks, share


def time(ns: float) -> str:
    """A duration for people."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 1000)):
        if ns >= size:
            return f"{ns / size:.6g} {unit}"
    return f"{ns:.6g} ns"


def sentence(policy: PolicyResult, tasks: Sequence[Task]) -> str:
    name = "" if policy.task is None else tasks[policy.task].name
    if policy.verdict == "fits":
        return f"meets every deadline, at {100 * policy.figure:.2f} % of the CPU"
    if policy.verdict == "utilisation":
        return (f"does not fit: {100 * policy.figure:.2f} % of the CPU is above "
                f"{100 * policy.limit:.2f} %; the most is {name}'s")
    if policy.verdict == "response":
        return (f"does not fit: {name} would answer within {time(policy.figure)}, its deadline is "
                f"{time(policy.limit)}")
    if policy.verdict == "demand":
        return (f"does not fit: {time(policy.figure)} are due within {time(policy.limit)}, a "
                f"deadline "
                f"of {name}")
    return "was not decided: too many steps"


def human(tasks: Sequence[Task], result: Analysis) -> str:
    rows: list[Row] = []
    for n, task in enumerate(tasks):
        row: Row = {"name": task.name, "budget": time(task.budget), "period": time(task.period),
                    "deadline": time(task.deadline), "share": f"{100 * result.shares[n]:.2f} %",
                    "rm answers in": time(result.responses[n]) if result.responses[n] else "-"}
        for name, policy in result.policies.items():
            if policy.jobs:
                row[f"{name} misses"] = policy.jobs[n][1]
        rows.append(row)
    hyper = time(result.hyperperiod) if result.hyperperiod else "too long to say"
    lines = table("tasks", rows)
    lines += [f"utilisation: {100 * result.utilisation:.2f} %",
              f"Liu & Layland's bound: {100 * result.liu_layland:.2f} %, hyperbolic bound: "
              f"{'met' if result.hyperbolic else 'not met'} (deadlines not before the periods)",
              f"hyperperiod: {hyper}"]
    lines += [f"{name}: {sentence(policy, tasks)}" for name, policy in result.policies.items()]
    return "\n".join(lines)


def picture(tasks: Sequence[Task], result: Analysis) -> str:
    until = min(policy.until for policy in result.policies.values())
    if not until:
        raise ToolError("the hyperperiod is too long to draw; say how much with --until")
    return draw([Chart(f"{TITLES[name]}: {sentence(policy, tasks)}", [t.name for t in tasks],
                       [(t.phase, t.period) for t in tasks], policy.runs, policy.misses)
                 for name, policy in result.policies.items()], until)


def write(args: argparse.Namespace, svg: str) -> None:
    try:
        if args.svg:
            args.svg.write_text(svg)
        if args.png:
            subprocess.run(["rsvg-convert", "--format=png", f"--output={args.png}"], input=svg,
                           text=True, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as problem:
        raise ToolError(f"the picture could not be written: {reason(problem)}") from problem


def run(args: argparse.Namespace, machine: Machine) -> int:
    tasks, share = live_tasks(machine, args.cpu) if args.live else read_toml(args.file)
    until = duration(args.until, "--until") if args.until else 0
    result = analyse(tasks, share, until)
    if args.svg or args.png:
        write(args, picture(tasks, result))
    if args.json:
        print(json.dumps({"tasks": [dataclasses.asdict(task) for task in tasks],
                          "linux_share": share, **dataclasses.asdict(result)}, indent=2))
    else:
        print(human(tasks, result))
    fits = any(policy.verdict == "fits" for policy in result.policies.values())
    return 0 if fits else NONE_FITS
