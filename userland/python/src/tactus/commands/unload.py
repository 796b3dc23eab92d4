# SPDX-License-Identifier: GPL-2.0-only
"""Unload the RT-FIFOs, the policies and the executive, in this order.

Nothing is taken from under its users: who they are is said instead, and what has
not been reached yet stays loaded. The small module tactus_core is resident until
the next boot, because a task of Linux may be asleep in its code.
"""
from __future__ import annotations

import argparse

from tactus import modules
from tactus.errors import ToolError
from tactus.machine import Machine

HELP = "unload all of it but the resident core"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    del parser  # there is nothing to choose


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
    del args
    order = modules.unload_order(list(machine.modules()))
    if not order:
        print("tactus is not loaded")
        return 0
    if not machine.is_root():
        raise ToolError("unloading modules needs root: try sudo tactus unload")
    for done, name in enumerate(order):
        check_unused(machine, name, order[:done])
        modules.remove(machine, name)
        print(f"{name}: unloaded")
    if modules.CORE in machine.modules():
        print(f"{modules.CORE}: stays resident until the next boot")
    return 0
