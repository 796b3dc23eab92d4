# SPDX-License-Identifier: GPL-2.0
"""Load the executive, a scheduling policy and the RT-FIFOs, in this order.

What is loaded already stays as it is. If a module is refused, those that this call
has loaded are taken out again, and the kernel's own sentence is shown.
"""
from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from tactus import modules
from tactus.errors import ToolError
from tactus.machine import Machine

HELP = "load the executive, a policy and the RT-FIFOs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--policy", default="rm", metavar="NAME",
                        help="scheduling policy: the module tactus_NAME, or "
                        f"'{modules.BUILT_IN_POLICY}' for the built-in one (default: rm)")
    parser.add_argument("--dir", type=Path, metavar="DIR",
                        help="take the modules from this build folder, not from /lib/modules")
    parser.add_argument("--param", action="append", default=[], metavar="MODULE.NAME=VALUE",
                        help="a module parameter, such as rtfifo.nfifos=128; may be repeated")


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
    if not machine.is_root():
        raise ToolError("loading modules needs root: try sudo tactus load")
    present = machine.modules()
    done: list[str] = []
    try:
        for name in order:
            if name in present:
                print(f"{name}: already loaded")
                if parameters[name]:
                    raise ToolError(f"{name} is loaded already: its parameters cannot be set now")
                continue
            modules.insert(machine, name, args.dir, parameters[name])
            done.append(name)
            print(f"{name}: loaded")
    except ToolError:
        take_out(machine, done)
        raise
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
