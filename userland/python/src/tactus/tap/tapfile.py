# SPDX-License-Identifier: GPL-2.0-only
"""A trial's parameter file, read by the tap loop's own code (examples/tap/host,
docs/tap-language.md)."""
from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tactus import hostprogram
from tactus.errors import ToolError, reason

PROGRAM = "tactus-tapfile"


@dataclass(frozen=True)
class Trigger:
    """One TRIGGER line: `type` is K, T or M; `count` of a T is ms; `value` of a time is ns."""

    number: int
    type: str
    count: int
    param: str
    value: int


@dataclass(frozen=True)
class TapFile:
    """What a file says; values that are times are ns."""

    path: Path
    strings: dict[str, str]
    values: dict[str, int]
    """every single number, by its name, defaults too"""
    arrays: dict[str, list[int]]
    set: list[str]
    """the names that the file sets itself"""
    triggers: list[Trigger]
    commands: bytes
    """struct tap_command after struct tap_command, TAP_RESET first, without TAP_START"""
    warnings: str
    """a line each, or empty"""


def _run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    program = hostprogram.find(PROGRAM, "TACTUS_TAPFILE", "examples/tap/host/main.c", "tapfile")
    try:
        return subprocess.run([program, *arguments], capture_output=True, check=False,
                              stdin=subprocess.DEVNULL)
    except OSError as problem:
        raise ToolError(f"{PROGRAM} could not be run: {reason(problem)}") from problem


def _text(output: bytes) -> str:
    """What the program said. Its own name is left out: the command says who speaks."""
    lines = output.decode(errors="backslashreplace").rstrip("\n").split("\n")
    return "\n".join(line.removeprefix(f"{PROGRAM}: ") for line in lines)


def read(path: Path) -> TapFile:
    """What is in a file; a ToolError with all complaints about it if it is wrong."""
    name = str(path) if not str(path).startswith("-") else f"./{path}"
    done = _run("--json", name)
    if done.returncode:
        raise ToolError(_text(done.stderr))
    said = json.loads(done.stdout.decode(errors="replace"))
    commands = _run("--commands", name)
    if commands.returncode:
        raise ToolError(_text(commands.stderr))
    return TapFile(path=path, strings=said["strings"], values=said["values"],
                   arrays=said["arrays"], set=said["set"],
                   triggers=[Trigger(**row) for row in said["triggers"]],
                   commands=commands.stdout, warnings=_text(done.stderr))


def describe() -> dict[str, object]:
    """The names and numbers of parameters, records and figures (`tactus-tapfile --describe`)."""
    done = _run("--describe")
    if done.returncode:
        raise ToolError(_text(done.stderr))
    found: dict[str, object] = json.loads(done.stdout)
    return found
