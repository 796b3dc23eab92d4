# SPDX-License-Identifier: GPL-2.0-only
"""Look at this machine before loading, and say what speaks for and against it.

Each line says fine, advice, blocks or unknown, why, and the command that mends it. No root is
needed; a few lines say more with it. Nothing is changed.

Exit status: 0 nothing blocks, 2 a wrong command line, 5 something blocks the pipeline.
"""
from __future__ import annotations

import argparse
import json
import time

from tactus import health
from tactus.errors import ToolError
from tactus.machine import Machine

HELP = "check this machine before loading"
BLOCKED = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object, for programs")
    parser.add_argument("--seconds", type=float, default=0.0, metavar="S",
                        help="also count SMIs and search for gaps for so long (root; for example "
                             "10)")
    parser.add_argument("--quiet", action="store_true", help="leave out what is fine")


def run(args: argparse.Namespace, machine: Machine) -> int:
    if not 0 <= args.seconds <= 3600:
        raise ToolError("--seconds must be 0 to 3600", 2)
    findings = health.examine(machine)
    if args.seconds:
        findings += health.watch(machine, args.seconds, time.sleep)
    blocked = [finding for finding in findings if finding.level == "blocks"]
    if args.json:
        print(json.dumps({"blocks": len(blocked),
                          "findings": [finding.as_dict() for finding in findings]}, indent=2))
        return BLOCKED if blocked else 0
    for finding in findings:
        if args.quiet and finding.level == "fine":
            continue
        print(f"{finding.level:<8} {finding.subject:<12} {finding.text}")
        if finding.mend:
            print(f"{'':<21} -> {finding.mend}")
    count = {level: sum(finding.level == level for finding in findings) for level in health.LEVELS}
    print(f"{count['fine']} fine, {count['advice']} with advice, {count['unknown']} unknown, "
          f"{count['blocks']} that block: "
          + ("tactus will not switch its pipeline on here" if blocked else "go on with "
             "`tactus load --dry-run`, then `tactus load --trial 30`"))
    return BLOCKED if blocked else 0
