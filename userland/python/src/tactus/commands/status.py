# SPDX-License-Identifier: GPL-2.0-only
"""Say whether the executive is active, on which CPUs, and what it runs.

Exit status: 0 active, 3 not loaded, 4 loaded but inert (Linux owns the interrupts),
1 the status could not be read.
"""
from __future__ import annotations

import argparse
import json

from tactus import sysfs
from tactus.errors import ToolError
from tactus.machine import Machine
from tactus.sysfs import Row, Status

HELP = "say whether it is active, and what it runs"
EXIT_STATUS = {"active": 0, "not loaded": 3, "inert": 4}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object, for programs")


def table(title: str, rows: list[Row]) -> list[str]:
    """A titled table, columns lined up: names left, numbers right."""
    if not rows:
        return [f"{title}: none"]
    names = list(rows[0])
    grid = [names, *([str(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[n]) for line in grid) for n in range(len(names))]
    numeric = [all(isinstance(row[name], int) for row in rows) for name in names]
    lined_up = ["  ".join(cell.rjust(width) if right else cell.ljust(width)
                          for cell, width, right in zip(line, widths, numeric, strict=True))
                for line in grid]
    return [f"{title}:", *(f"  {line.rstrip()}" for line in lined_up)]


TRIAL = {"kept": "kept", "ended": "over without `tactus keep`: it has switched itself off"}


def left(trial: str) -> str:
    """"running 27" -> what to do about it."""
    return f"{trial.split()[-1]} s left; say `tactus keep` to go on"


# What a program did not mean to do; a signal, a debugger or the end of a program is ordinary.
STRAY = ("syscall", "trap", "memory", "stopped")


def strays(status: Status) -> list[str]:
    """Names of the programs that were demoted by what they did."""
    return sorted({str(row["task"]) for row in status.demotions if row["reason"] in STRAY})


def verdict(status: Status) -> str:
    """The first word on the first line: is all well?"""
    if status.state != "active":
        return "OFF"
    missed = [str(row["name"]) for row in status.tasks if int(row.get("overruns", 0))]
    stopped = [str(row["name"]) for row in status.tasks
               if row.get("state") in ("stopped", "faulted")]
    if stopped:
        return f"STOPPED ({', '.join(stopped)})"
    if missed:
        return f"OVERRUNS ({', '.join(missed)})"
    return f"DEMOTED ({', '.join(names)})" if (names := strays(status)) else "OK"


def human(status: Status) -> str:
    if status.state == "not loaded":
        return "tactus is not loaded"
    lines = [f"{verdict(status)}: tactus is {status.state} on {status.kernel}"]
    if status.cpus:
        lines.append(f"CPUs: {status.cpus}")
    lines += [f"{name}: {value}" for name, value in (
        ("mode", status.mode), ("timer", status.timer), ("clock", status.clock),
        ("policy", status.policy)) if value]
    if status.trial and status.trial != "none":
        lines.append(f"trial: {TRIAL.get(status.trial) or left(status.trial)}")
    if status.since_ns is not None:
        lines.append(f"since: {status.since_ns / 1e9:.3f} s after boot")
    if status.slots:
        lines.append("slots: " + ", ".join(f"{n} {name}" for name, n in status.slots.items()))
    if status.pause_ns is not None:
        lines.append(f"switching over stopped Linux for: {status.pause_ns / 1e3:.1f} us")
    if status.pipeline:
        lines += table("interrupts", status.pipeline)
    lines += table("RT tasks", status.tasks)
    lines += table("RT interrupts", status.irqs)
    if status.users is not None:
        lines += table("programs' threads", status.users)
        lines += table("demotions, the last ones", status.demotions)
    lines += ["RT-FIFOs: rtfifo is not loaded"] if status.fifos is None else table(
        "RT-FIFOs", status.fifos)
    return "\n".join(lines)


def run(args: argparse.Namespace, machine: Machine) -> int:
    try:
        status = sysfs.read(machine.root)
    except ValueError as problem:
        raise ToolError(f"{sysfs.FOLDER} is not as this version of the tool knows it "
                        f"({problem})") from problem
    if status.state not in EXIT_STATUS:
        raise ToolError(f"{sysfs.FOLDER}/state says {status.state!r}, which means nothing to me")
    print(json.dumps(status.as_dict(), indent=2) if args.json else human(status))
    return EXIT_STATUS[status.state]
