# SPDX-License-Identifier: GPL-2.0-only
"""Look through the RT code of a module, or the RT loops of a program, before it runs.

RT code is found by what the module hands to rt_task_init(), request_RTirq(),
rtf_create_rt_handler() and rt_timer_start(); --rt names more. Calls through pointers are counted
and not followed. Of a program, RT loops are those that call rt_wait() or rt_sleep_until(), and
what they reach may not make system calls: these would demote it. Nothing is loaded, and no root is
needed.

Exit status: 0 nothing speaks against it, 1 it could not be read, 2 a wrong command line,
5 something speaks against it, or no RT code was found.
"""
from __future__ import annotations

import argparse
import json
from pathlib import Path

from tactus import modcheck, progcheck
from tactus.machine import Machine
from tactus.modcheck import Report

HELP = "look through the RT code of a module or program"
BAD = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("module", nargs="+", type=Path, metavar="FILE",
                        help="a module, NAME.ko, or a program")
    parser.add_argument("--rt", action="append", default=[], metavar="FUNCTION",
                        help="this function is RT code, too; may be repeated")
    parser.add_argument("--json", action="store_true", help="one JSON array, an object a module")


def human(report: Report) -> str:
    if not report.roots:
        return f"{report.module}: no RT code was found; name it with --rt FUNCTION"
    lines = []
    for complaint in report.complaints:
        lines.append(f"{report.module}: RT code {complaint.text}")
        lines.append(f"    by {' -> '.join(complaint.path)}")
        lines.append(f"    -> {complaint.mend}")
    for root in report.roots:
        if root.name not in report.stack:
            lines.append(f"{report.module}: {root.name} ({root.why})")
            continue
        need = report.stack[root.name]
        lines.append(f"{report.module}: {root.name} ({root.why}) needs "
                     + ("stack without bound" if need < 0 else f"{need} bytes of stack"))
    if report.indirect:
        lines.append(f"{report.module}: {report.indirect} calls through pointers were not followed")
    lines.append(f"{report.module}: " + (f"{len(report.complaints)} complaints"
                                         if report.complaints else "fine"))
    return "\n".join(lines)


def run(args: argparse.Namespace, machine: Machine) -> int:
    del machine
    reports = [(modcheck if path.suffix == ".ko" else progcheck).check(path, args.rt)
               for path in args.module]
    if args.json:
        print(json.dumps([report.as_dict() for report in reports], indent=2))
    else:
        print("\n".join(human(report) for report in reports))
    return 0 if all(report.roots and not report.complaints for report in reports) else BAD
