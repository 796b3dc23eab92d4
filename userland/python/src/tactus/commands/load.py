# SPDX-License-Identifier: GPL-2.0-only
"""Load the executive, a scheduling policy and the RT-FIFOs, in this order.

What is loaded already stays as it is. If a module is refused, those that this call
has loaded are taken out again, and the kernel's own sentence is shown.

--dry-run has the executive find and check everything and say what it would write; nothing
is changed, and nothing stays loaded. --trial has it switch itself off after so many
seconds unless `tactus keep` is said.
"""
from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from tactus import dryrun, modules
from tactus.errors import ToolError
from tactus.machine import Machine

TRIAL_MAX_S = 86400  # RT_TRIAL_MAX_S in kernel/trial.h
HELP = "load the executive, a policy and the RT-FIFOs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--policy", default="rm", metavar="NAME",
                        help="scheduling policy: the module tactus_NAME, or "
                        f"'{modules.BUILT_IN_POLICY}' for the built-in one (default: rm)")
    parser.add_argument("--dir", type=Path, metavar="DIR",
                        help="take the modules from this build folder, not from /lib/modules")
    parser.add_argument("--param", action="append", default=[], metavar="MODULE.NAME=VALUE",
                        help="a module parameter, such as rtfifo.nfifos=128; may be repeated")
    parser.add_argument("--dry-run", action="store_true",
                        help="find and check everything, say what would be written, change nothing")
    parser.add_argument("--trial", type=seconds, metavar="SECONDS",
                        help="switch off again after so long unless `tactus keep` is said")
    parser.add_argument("--json", action="store_true",
                        help="one JSON object at the end, for programs")


def seconds(word: str) -> int:
    if not word.isdecimal() or not 1 <= int(word) <= TRIAL_MAX_S:
        raise argparse.ArgumentTypeError(f"not a whole number of seconds, 1 to {TRIAL_MAX_S}")
    return int(word)


def parse_parameters(words: list[str], order: list[str]) -> dict[str, list[str]]:
    """["rtfifo.nfifos=128"] -> {"rtfifo": ["nfifos=128"]}."""
    parameters: dict[str, list[str]] = {name: [] for name in order}
    for word in words:
        match = re.fullmatch(r"(\w+)\.(\w+=\S*)", word)
        if not match or match[1] not in parameters:
            raise ToolError(f"--param {word}: not MODULE.NAME=VALUE with a MODULE of "
                            + ", ".join(order), 2)
        parameters[match[1]].append(match[2])
    return parameters


def run(args: argparse.Namespace, machine: Machine) -> int:
    order = modules.load_order(args.policy)
    parameters = parse_parameters(args.param, order)
    if args.dry_run and args.trial:
        raise ToolError("--dry-run and --trial exclude each other", 2)
    if not machine.is_root():
        raise ToolError("loading modules needs root: try sudo tactus load")
    if args.dry_run:
        return dry_run(args, machine, parameters)
    if args.trial:
        parameters[modules.EXECUTIVE].append(f"trial_s={args.trial}")
    present = machine.modules()
    done: list[str] = []
    try:
        for name in order:
            if name in present:
                say(args, f"{name}: already loaded")
                if parameters[name]:
                    raise ToolError(f"{name} is loaded already: its parameters cannot be set now")
                continue
            modules.insert(machine, name, args.dir, parameters[name])
            done.append(name)
            say(args, f"{name}: loaded")
    except ToolError:
        take_out(machine, done)
        raise
    if args.trial:
        say(args, f"on trial for {args.trial} s: say `tactus keep` to go on after that")
    if args.json:
        print(json.dumps({"loaded": done, "present": [name for name in order if name in present],
                          "trial_s": args.trial}))
    return 0


def say(args: argparse.Namespace, line: str) -> None:
    if not args.json:
        print(line)


def dry_run(args: argparse.Namespace, machine: Machine,
            parameters: dict[str, list[str]]) -> int:
    """Load the executive inert, read what it found, unload it."""
    present = machine.modules()
    if modules.EXECUTIVE in present:
        raise ToolError("tactus is loaded already: a dry run begins with `tactus unload`")
    done: list[str] = []
    try:
        for name, more in ((modules.CORE, []), (modules.EXECUTIVE, ["dry_run=1"])):
            if name not in present:
                modules.insert(machine, name, args.dir, parameters[name] + more)
                done.append(name)
        report = dryrun.read(machine.root)
    finally:
        for name in reversed(done):
            modules.remove(machine, name)
    print(json.dumps(report.as_dict(), indent=2) if args.json else dryrun.human(report))
    return 0


def take_out(machine: Machine, done: list[str]) -> None:
    """Undo a load that failed half-way; never hide why it failed."""
    for name in reversed(done):
        if name == modules.CORE:  # resident for good once it is in use
            continue
        try:
            modules.remove(machine, name)
        except ToolError as problem:
            print(f"tactus: {problem}", file=sys.stderr)
