# SPDX-License-Identifier: GPL-2.0-only
"""End the trial that `tactus load --trial` began: the executive stays on.

Exit status: 0 kept, 1 there was no trial or it is over, 3 tactus is not loaded.
"""
from __future__ import annotations

import argparse
import errno
import json
import os

from tactus import sysfs
from tactus.errors import ToolError
from tactus.machine import Machine

HELP = "end the trial: stay on"
REASONS = {
    errno.ENOENT: "tactus is not loaded",
    errno.ESRCH: "there is no trial: nothing would switch it off",
    errno.ETIMEDOUT: "the trial is over: it has switched itself off (tactus unload, then load)",
    errno.EACCES: "ending a trial needs root: try sudo tactus keep",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object, for programs")


def run(args: argparse.Namespace, machine: Machine) -> int:
    path = machine.path(f"{sysfs.FOLDER}/keep")
    try:
        file = os.open(path, os.O_WRONLY)  # one that is not there is not made
        try:
            os.write(file, b"1\n")
        finally:
            os.close(file)
    except OSError as problem:
        reason = REASONS.get(problem.errno or 0, str(problem))
        raise ToolError(reason, 3 if problem.errno == errno.ENOENT else 1) from problem
    print(json.dumps({"trial": "kept"}) if args.json else "kept: tactus stays on")
    return 0
