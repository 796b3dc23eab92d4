# SPDX-License-Identifier: GPL-2.0-only
"""The dispatcher: finds the subcommands, parses the command line, runs one."""
from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence
from typing import Protocol, cast

import tactus
from tactus import commands
from tactus.errors import ToolError, reason
from tactus.machine import Machine

VERSION_FILE = "/sys/module/tactus/version"
# Commands that ask the modules nothing, or are the way out.
ANY_VERSION = {"analyze", "check", "completion", "doctor", "tap-report", "unload"}
INTERRUPTED = 130  # exit status: by ^C, before there was anything to end in order


class Command(Protocol):
    """What a module in tactus.commands offers."""

    HELP: str
    __doc__: str | None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace, machine: Machine) -> int: ...


def find_commands() -> dict[str, Command]:
    """Name -> module; a name may have a `-` where its module has a `_`."""
    return {info.name.replace("_", "-"):
            cast(Command, importlib.import_module(f"{commands.__name__}.{info.name}"))
            for info in pkgutil.iter_modules(commands.__path__)}


def build_parser(found: dict[str, Command]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tactus", description="Load, unload and look at the Tactus real-time executive.")
    parser.add_argument("--version", action="store_true",
                        help="print this tool's version and that of the loaded modules")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, command in sorted(found.items()):
        sub = subparsers.add_parser(
            name, help=command.HELP, description=command.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter)
        command.add_arguments(sub)
        sub.set_defaults(parser=sub)
    return parser


def loaded_version(machine: Machine) -> str | None:
    """Of the loaded executive; None: there is none, or it does not say."""
    try:
        return machine.path(VERSION_FILE).read_text().strip()
    except OSError:
        return None


def say_version(machine: Machine) -> int:
    modules = loaded_version(machine) or "none loaded"
    print(f"tactus {tactus.__version__} (modules: {modules})")
    return 0


def refuse_mismatch(command: str, machine: Machine) -> None:
    """What the modules say is read by the files' names and columns, which change with versions."""
    modules = loaded_version(machine)
    if command not in ANY_VERSION and modules not in (None, tactus.__version__):
        raise ToolError(f"this is tactus {tactus.__version__}, and the loaded modules are "
                        f"{modules}: tactus unload, then load those of this version")


def main(argv: Sequence[str] | None = None, machine: Machine | None = None) -> int:
    found = find_commands()
    parser = build_parser(found)
    args, unknown = parser.parse_known_args(argv)
    if unknown:  # with the usage of the command that does not know them
        getattr(args, "parser", parser).error(f"unrecognized arguments: {' '.join(unknown)}")
    machine = machine or Machine()
    if args.version:
        return say_version(machine)
    if not args.command:
        parser.error("the following arguments are required: COMMAND")
    try:
        refuse_mismatch(args.command, machine)
        return found[args.command].run(args, machine)
    except ToolError as problem:
        print(f"tactus: {problem}", file=sys.stderr)
        return problem.exit_status
    except KeyboardInterrupt:
        print("tactus: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # `tactus status | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as problem:
        where = f"{problem.filename}: " if problem.filename else ""
        print(f"tactus: {where}{reason(problem)}", file=sys.stderr)
        return 1
