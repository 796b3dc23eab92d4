# SPDX-License-Identifier: GPL-2.0-only
"""An experiment, from its file to what the companion hands over and puts down."""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tactus.errors import ToolError
from tactus.tap import tapfile
from tactus.tap.records import COMMAND, MAGIC, Command, Op
from tactus.tap.trial import Value

NS_PER_MS = 10**6


@dataclass(frozen=True)
class Experiment:
    """An experiment's file, understood."""

    source: str
    commands: list[Command]  # sets and triggers
    names: dict[int, str]  # of parameters, by number
    parameters: dict[str, Value] = field(default_factory=dict)  # those the file sets; times in ms
    task: str = "tap"
    warnings: str = ""


def _commands(data: bytes) -> list[Command]:
    """struct tap_command, without TAP_RESET: the companion sends its own."""
    found = []
    for magic, _serial, op, kind, param, index, _, value, count in COMMAND.iter_unpack(data):
        if magic != MAGIC:
            raise ToolError("tactus-tapfile is of another version than this tactus")
        if op != Op.RESET:
            found.append(Command(Op(op), kind, param, index, value, count))
    return found


def _ms(ns: int) -> int | float:
    return ns // NS_PER_MS if ns % NS_PER_MS == 0 else ns / NS_PER_MS


def read_experiment(path: Path) -> Experiment:
    """Check a file and understand it; a ToolError has the complaints, with file, line and
    column."""
    said = tapfile.read(path)
    described: Any = tapfile.describe()
    rows = described["parameters"]
    times = {row["name"] for row in rows if row["type"] == "time"}
    values: dict[str, Value] = {**said.strings, **said.arrays}
    values |= {name: _ms(value) if name in times else value for name, value in said.values.items()}
    task = said.strings.get("TASK") or "".join(
        letter for letter in path.stem if letter.isascii() and letter.isalnum())
    return Experiment(path.read_text(errors="replace"), _commands(said.commands),
                      {row["id"]: row["name"] for row in rows},
                      {name: values[name] for name in said.set}, task or "tap", said.warnings)
