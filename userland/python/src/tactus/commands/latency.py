# SPDX-License-Identifier: GPL-2.0-only
"""Measure how late RT releases are on this machine: a line a second, or a histogram.

A periodic RT task (or, with --tick, a bare RT timer) reads the clock at its first instruction.
The module rt_latency is loaded for it and unloaded at the end, unless it was there already; then
it is only watched.

Exit status: 0 measured, 1 it could not be, 2 a wrong command line, 5 later than --max-us or a
release was missed.
"""
from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from tactus import lateness, modules
from tactus.errors import ToolError, reason
from tactus.lateness import Reading
from tactus.machine import Machine

HELP = "measure how late RT releases are"
MODULE = "rt_latency"
TOO_LATE = 5
FORMATS = {"bars": lateness.bars, "gnuplot": lateness.gnuplot, "cyclictest": lateness.cyclictest}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("show", nargs="?", choices=("top", "hist"), default="top",
                        help="top: a line a second (default); hist: the histogram at the end")
    parser.add_argument("--seconds", type=float, default=10.0, metavar="S",
                        help="how long; 0: until ^C (default 10)")
    parser.add_argument("--period-us", type=int, default=1000, metavar="US",
                        help="time between releases, 50 to 1000000 (default 1000)")
    parser.add_argument("--cpu", type=int, default=0, metavar="N", help="where (default 0)")
    parser.add_argument("--tick", action="store_true", help="a bare RT timer, not a task")
    parser.add_argument("--max-us", type=float, metavar="US",
                        help="exit status 5 if a release was later, or missed")
    parser.add_argument("--stop-on", type=float, metavar="US",
                        help="stop at once when a release was later; the events stay for tactus "
                             "trace")
    parser.add_argument("--format", choices=sorted(FORMATS), default="bars",
                        help="of the histogram (default bars)")
    parser.add_argument("--dir", type=Path, metavar="DIR",
                        help="take the module from this build folder")
    parser.add_argument("--json", action="store_true", help="one JSON object at the end")


def start(args: argparse.Namespace, machine: Machine) -> bool:
    """Load the module; False if it was there already."""
    present = machine.modules()
    if MODULE in present:
        return False
    if modules.EXECUTIVE not in present:
        raise ToolError("tactus is not loaded: tactus load", 3)
    if not machine.is_root():
        raise ToolError(f"loading {MODULE} needs root: try sudo tactus latency")
    modules.insert(machine, MODULE, args.dir, [
        f"period_us={args.period_us}", f"cpu={args.cpu}",
        f"mode={'tick' if args.tick else 'task'}"])
    return True


def look(machine: Machine) -> Reading:
    try:
        return lateness.read(machine.root)
    except (OSError, ValueError) as problem:
        raise ToolError(f"{lateness.FOLDER} cannot be read: {reason(problem)}") from problem


def stop(machine: Machine) -> None:
    """No job is measured any more, so that the files that are read then are of one moment."""
    try:
        machine.path(f"{lateness.FOLDER}/running").write_text("0", encoding="ascii")
    except OSError as problem:
        raise ToolError(f"{MODULE} does not stop: {reason(problem)}") from problem


HEADER = f"{'jobs':>9} {'min':>8} {'avg':>8} {'p99.9':>8} {'max':>8} | {'max ever':>9} missed  (ns)"


def line(now: Reading, ever: Reading) -> str:
    s = now.summary
    missed = ever.summary["skipped"] + ever.summary["overruns"]
    return (f"{now.jobs:>9} {s['min_ns']:>8} {s['avg_ns']:>8} {now.percentile(99.9):>8} "
            f"{s['max_ns']:>8} | {ever.summary['max_ns']:>9} {missed:>6}")


def measure(args: argparse.Namespace, machine: Machine, ours: bool) -> Reading:
    """Watch until the time is over, ^C, or a release later than --stop-on; then stop what is
    ours."""
    show = args.show == "top" and not args.json
    if show:
        print(HEADER, flush=True)
    end = time.monotonic() + args.seconds if args.seconds else float("inf")
    before = None
    step = 0.05 if args.stop_on is not None else 1.0
    shown = time.monotonic()
    try:
        while time.monotonic() < end:
            time.sleep(max(0.0, min(step, end - time.monotonic())))
            now = look(machine)
            if show and (time.monotonic() - shown >= 0.999 or time.monotonic() >= end):
                print(line(now.since(before), now), flush=True)
                before, shown = now, time.monotonic()
            if args.stop_on is not None and now.summary["max_ns"] > args.stop_on * 1000:
                break
    except KeyboardInterrupt:
        pass
    if ours:
        stop(machine)
    return look(machine)


def run(args: argparse.Namespace, machine: Machine) -> int:
    if args.seconds < 0:
        raise ToolError("--seconds must be 0 or more", 2)
    if not 50 <= args.period_us <= 1000000:
        raise ToolError("--period-us must be 50 to 1000000", 2)
    ours = start(args, machine)
    try:
        reading = measure(args, machine, ours)
    finally:
        if ours:
            modules.remove(machine, MODULE)
    limit = args.max_us if args.max_us is not None else args.stop_on
    late = limit is not None and reading.summary["max_ns"] > limit * 1000
    if args.json:
        print(json.dumps({**reading.as_dict(), "limit_us": limit,
                          "ok": not late and reading.clean}))
    elif args.show == "hist":
        sys.stdout.write(FORMATS[args.format](reading))
    if not args.json and args.format == "bars":
        missed = "none missed" if reading.clean else (
            f"{reading.summary['skipped']} skipped, {reading.summary['overruns']} overruns")
        print(f"{reading.jobs} releases, {missed}; latest {reading.summary['max_ns']} ns"
              + (f": later than {limit:g} us" if late else ""))
    return TOO_LATE if late or limit is not None and not reading.clean else 0
