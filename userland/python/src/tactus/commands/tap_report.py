# SPDX-License-Identifier: GPL-2.0-only
"""What the taps of trials were like: intervals, asynchronies, variances of timekeeper and hand.

TRIAL is an events.tsv that `tactus tap` wrote, a folder that holds one, or what its name begins
with. Brackets are 95 % confidence intervals. Wing and Kristofferson's decomposition is for taps
without tones only; a straight trend is taken out first. Pictures need Debian's
python3-matplotlib.
"""
from __future__ import annotations

import argparse
import json
from pathlib import Path

from tactus.errors import ToolError
from tactus.machine import Machine
from tactus.tap import report

HELP = "say what the taps of a trial were like"
PICTURES = (".png", ".svg", ".pdf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("trials", nargs="+", type=Path, metavar="TRIAL")
    parser.add_argument("--plot", type=Path, metavar="FILE",
                        help=f"draw them into a file: {', '.join(PICTURES)}")
    parser.add_argument("--json", action="store_true", help="a JSON array, one object a trial")


def run(args: argparse.Namespace, machine: Machine) -> int:
    if args.plot and args.plot.suffix not in PICTURES:
        raise ToolError(f"{args.plot} ends in none of {', '.join(PICTURES)}", 2)
    found = [report.analyse(path) for path in args.trials]
    if args.json:
        print(json.dumps([report.as_dict(one) for one in found], indent=2))
    else:
        print("\n".join(report.human(one) for one in found))
    if args.plot:
        report.draw(found, args.plot)
    return 0
