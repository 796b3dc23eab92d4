# SPDX-License-Identifier: GPL-2.0-only
"""Watch tasks, CPUs, RT interrupts and FIFOs, refreshed once a second.

Exit status: 0 ended by ^C or --count, 3 tactus is not loaded.
"""
from __future__ import annotations

import argparse
import json
import sys
import time
from collections import deque

from tactus import sysfs
from tactus.commands.status import strays, table
from tactus.errors import ToolError, reason
from tactus.machine import Machine
from tactus.sysfs import Row, Status

HELP = "watch tasks, CPUs and FIFOs live"
BLOCKS = "▁▂▃▄▅▆▇█"
HISTORY = 24
DEMOTIONS = 8  # of the last ones, so many are shown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--interval", type=float, default=1.0, metavar="S",
                        help="seconds between two looks, 0.1 to 60 (default 1)")
    parser.add_argument("--count", type=int, default=0, metavar="N",
                        help="so many looks; 0: until ^C")
    parser.add_argument("--json", action="store_true", help="one JSON object a line, for programs")


def sparkline(values: deque[int]) -> str:
    """The values as blocks, the largest the highest."""
    top = max(values, default=0)
    return "".join(BLOCKS[min(len(BLOCKS) - 1, value * (len(BLOCKS) - 1) // top) if top else 0]
                   for value in values)


class View:
    """What is shown: rates between two looks, and how each task's releases went."""

    def __init__(self) -> None:
        self.before: Status | None = None
        self.timing: dict[str, Row] = {}
        self.rates: dict[str, deque[int]] = {}

    def rows(self, status: Status, timing: list[Row], seconds: float) -> list[Row]:
        """One row a task: what the files say, and releases a second."""
        old = {str(row["name"]): row for row in self.before.tasks} if self.before else {}
        more = {str(row["name"]): row for row in timing}
        found = []
        for task in status.tasks:
            name = str(task["name"])
            done = int(task["releases"]) - int(old.get(name, task)["releases"])
            rate = round(done / seconds) if seconds else 0
            history = self.rates.setdefault(name, deque(maxlen=HISTORY))
            if self.before:
                history.append(rate)
            extra = more.get(name, {})
            found.append({
                "task": name, "cpu": task["cpu"], "state": task["state"],
                "period_us": int(task["period_ns"]) // 1000,
                "budget_us": int(extra.get("budget_ns", 0)) // 1000,
                "releases/s": rate, "max_late_ns": task["max_late_ns"],
                "max_exec_ns": extra.get("max_exec_ns", 0), "overruns": task["overruns"],
                "misses": extra.get("misses", 0), "": sparkline(history)})
        self.before = status
        return found


def verdict(status: Status, rows: list[Row]) -> str:
    """The first line: is all well?"""
    if status.state != "active":
        return f"tactus is {status.state}"
    bad = [str(row["task"]) for row in rows if int(row["overruns"]) or int(row["misses"])]
    worst = max((int(row["max_late_ns"]) for row in rows), default=0)
    if bad:
        return f"MISSED: {', '.join(bad)}; worst {worst / 1000:.2f} us late"
    if names := strays(status):
        return (f"DEMOTED: {', '.join(names)}: see the last demotions; worst "
                f"{worst / 1000:.2f} us late")
    return f"OK: {len(rows)} tasks, nothing missed, worst {worst / 1000:.2f} us late"


def screen(status: Status, rows: list[Row]) -> str:
    fifos = [{"fifo": row["fifo"], "fill %": 100 * int(row["used_out"]) // max(int(row["size"]), 1),
              **{name: row[name] for name in ("used_in", "used_out", "drops") if name in row}}
             for row in status.fifos or []]
    lines = [verdict(status, rows),
             f"{status.kernel}  policy {status.policy}  timer {status.timer}  CPUs {status.cpus}"]
    lines += table("tasks", rows) + table("CPUs, interrupts", status.pipeline)
    lines += table("RT interrupts", status.irqs) + table("FIFOs", fifos)
    if status.users is not None:
        lines += table("programs' threads", status.users)
        lines += table("demotions", status.demotions[-DEMOTIONS:])
    return "\n".join(lines)


def run(args: argparse.Namespace, machine: Machine) -> int:
    if not 0.1 <= args.interval <= 60:
        raise ToolError("--interval must be 0.1 to 60", 2)
    view, looks, last = View(), 0, time.monotonic()
    clear = "\x1b[H\x1b[J" if sys.stdout.isatty() and not args.json else ""
    try:
        while True:
            try:
                status = sysfs.read(machine.root)
                timing = sysfs.parse_table(
                    machine.path(f"{sysfs.FOLDER}/timing").read_text()) if status.tasks else []
            except (OSError, ValueError) as problem:
                raise ToolError(f"{sysfs.FOLDER} cannot be read: {reason(problem)}") from problem
            if status.state == "not loaded":
                raise ToolError("tactus is not loaded: tactus load", 3)
            now = time.monotonic()
            rows = view.rows(status, timing, now - last)
            last = now
            if args.json:
                print(json.dumps({"verdict": verdict(status, rows), "tasks": [
                    {name: value for name, value in row.items() if name} for row in rows],
                    "cpus": status.pipeline, "irqs": status.irqs, "fifos": status.fifos,
                    "users": status.users, "demotions": status.demotions}),
                    flush=True)
            else:
                print(clear + screen(status, rows), flush=True)
            looks += 1
            if looks == args.count:
                return 0
            time.sleep(args.interval)
    except KeyboardInterrupt:
        return 0
