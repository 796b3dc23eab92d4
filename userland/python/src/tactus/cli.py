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
from tactus.errors import ToolError
from tactus.machine import Machine

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
    parser.add_argument("--version", action="version", version=f"tactus {tactus.__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, command in sorted(found.items()):
        sub = subparsers.add_parser(
            name, help=command.HELP, description=command.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter)
        command.add_arguments(sub)
    return parser


def main(argv: Sequence[str] | None = None, machine: Machine | None = None) -> int:
    found = find_commands()
    args = build_parser(found).parse_args(argv)
    try:
        return found[args.command].run(args, machine or Machine())
    except ToolError as problem:
        print(f"tactus: {problem}", file=sys.stderr)
        return problem.exit_status
    except KeyboardInterrupt:
        print("tactus: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # `tactus status | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
