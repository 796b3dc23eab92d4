# SPDX-License-Identifier: GPL-2.0-only
"""Run a tapping experiment on the real-time loop (rt_tap), and write down what happened.

Hands the experiment's parameters over, begins, shows taps and asynchronies, and at the end
writes text, BIDS events, a MIDI file and a certificate of how well the loop kept time. ^C ends the
trial. It cannot disturb the loop: if it dies, the trial goes on, and --attach takes it over.

With --check it only says of each file whether it is right, with line and column of what is not.
The language is in docs/tap-language.md, the files are in docs/tap.md.

Exit status: 0 all is well, 1 it could not be done or a file is wrong, 2 wrong command line, 6 the
trial was had but something was lost, 130 interrupted before a trial began.
"""
from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from tactus.errors import ToolError
from tactus.machine import Machine
from tactus.tap import session, tapfile
from tactus.tap.companion import Loop, Stopper, stop_trial
from tactus.tap.experiment import read_experiment

HELP = "run a tapping experiment"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="*", type=Path, metavar="RUN.ftap", help="the experiment")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="only say whether files are right")
    what.add_argument("--attach", action="store_true",
                      help="take over the trial that runs, or whose records nobody has read")
    what.add_argument("--stop", action="store_true", help="end the trial that runs")
    what.add_argument("--export", type=Path, metavar="RECORDS",
                      help="make the files of a trial once more from its records")
    parser.add_argument("--out", type=Path, default=Path("."), metavar="DIR",
                        help="where the files go (default: here)")
    parser.add_argument("--discard", action="store_true",
                        help="forget records that nobody has read")
    parser.add_argument("--quiet", action="store_true", help="show nothing while it runs")
    parser.add_argument("--json", action="store_true", help="the certificate as a JSON object; "
                                                            "with --check an array, one object a "
                                                            "file")


def look_at(path: Path) -> dict[str, Any]:
    """Whether one file is right, and what is said about it."""
    try:
        found = tapfile.read(path)
    except ToolError as problem:
        return {"file": str(path), "right": False, "said": str(problem)}
    return {"file": str(path), "right": True, "said": found.warnings,
            "parameters": len(found.set), "triggers": len(found.triggers)}


def check(paths: list[Path], as_json: bool) -> bool:
    """Say of files whether they are right."""
    found = [look_at(path) for path in paths]
    if as_json:
        print(json.dumps(found, indent=2))
        return all(one["right"] for one in found)
    for one in found:
        if one["said"]:
            print(one["said"], file=sys.stderr)
        if one["right"]:
            print(f"{one['file']}: right: {one['parameters']} parameters, "
                  f"{one['triggers']} triggers")
    return all(one["right"] for one in found)


def make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ToolError(f"{path} could not be made: {problem.strerror}") from problem


def run(args: argparse.Namespace, machine: Machine) -> int:
    if args.check and args.file:
        return 0 if check(args.file, args.json) else 1
    wanted = 0 if args.attach or args.stop or args.export else 1
    if len(args.file) != wanted:
        raise ToolError("name one experiment" if wanted else "that wants no experiment", 2)
    if args.stop:
        stop_trial(machine)
        return 0
    make_folder(args.out)
    if args.export:
        return session.export(args.export, args.out, args.json)
    experiment = None if args.attach else read_experiment(args.file[0])
    if experiment and experiment.warnings:
        print(experiment.warnings, file=sys.stderr)
    with Loop(machine) as loop:
        with Stopper(loop) as stopper:
            file, first = (session.take_over(machine, loop, stopper, args.out)
                           if experiment is None else
                           session.begin(machine, loop, stopper, experiment, args.out,
                                         args.discard))
            session.watch(loop, stopper, file, first, args.quiet)
        return session.finish(file, args.out, loop.port_stats(), args.json)
