# SPDX-License-Identifier: GPL-2.0-only
"""Unload the RT-FIFOs, the policies and the executive, in this order.

Nothing is taken from under its users: who they are is said instead, and what has
not been reached yet stays loaded. The small module tactus_core is resident until
the next boot, because a task of Linux may be asleep in its code.
"""
from __future__ import annotations

import argparse
import json

from tactus import modules
from tactus.errors import ToolError
from tactus.machine import Machine

HELP = "unload all of it but the resident core"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object, for programs")


def check_unused(machine: Machine, name: str, going: list[str]) -> None:
    """Raise, naming the users, unless only @going uses @name."""
    module = machine.modules()[name]
    if users := [user for user in module.users if user not in going]:
        raise ToolError(f"{name} is used by {', '.join(users)}: unload that first "
                        f"(rmmod {' '.join(users)})")
    if module.refcount > len(module.users):
        openers = machine.openers("/dev/rtf") if name == modules.FIFOS else []
        who = f" by {', '.join(openers)}" if openers else ""
        raise ToolError(f"{name} is in use{who}")


def run(args: argparse.Namespace, machine: Machine) -> int:
    order = modules.unload_order(list(machine.modules()))
    if not order:
        print(json.dumps({"unloaded": [], "resident": []}) if args.json else
              "tactus is not loaded")
        return 0
    if not machine.is_root():
        raise ToolError("unloading modules needs root: try sudo tactus unload")
    for done, name in enumerate(order):
        check_unused(machine, name, order[:done])
        modules.remove(machine, name)
        if not args.json:
            print(f"{name}: unloaded")
    resident = modules.CORE in machine.modules()
    if args.json:
        print(json.dumps({"unloaded": order, "resident": [modules.CORE] if resident else []}))
    elif resident:
        print(f"{modules.CORE}: stays resident until the next boot")
    return 0
