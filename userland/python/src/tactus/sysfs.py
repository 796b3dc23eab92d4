# SPDX-License-Identifier: GPL-2.0-only
"""Read /sys/kernel/tactus: small files of text, one subject each."""
from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = "/sys/kernel/tactus"
Row = dict[str, str | int]


@dataclass(frozen=True)
class Status:
    """What the executive says about itself; None or empty where it says nothing."""

    state: str  # "active", "inert", or "not loaded"
    mode: str | None = None
    kernel: str | None = None
    since_ns: int | None = None  # time since boot, sleep included, at which it became active
    pause_ns: int | None = None  # how long the switch-over stopped Linux
    slots: dict[str, int] = field(default_factory=dict)
    cpus: str | None = None
    timer: str | None = None
    clock: str | None = None  # "tsc"; "tsc-unstable": Linux has found since that it is none
    policy: str | None = None
    trial: str | None = None  # "none", "running SECONDS", "kept", "ended"
    pipeline: list[Row] = field(default_factory=list)
    tasks: list[Row] = field(default_factory=list)
    irqs: list[Row] = field(default_factory=list)
    fifos: list[Row] | None = None  # None: rtfifo is not loaded
    users: list[Row] | None = None  # threads of programs; None: tactus_user is not loaded
    demotions: list[Row] = field(default_factory=list)  # the last ones of all, oldest first

    def as_dict(self) -> dict[str, object]:
        return dataclasses.asdict(self)


def number(cell: str) -> str | int:
    return int(cell) if cell.lstrip("-").isdigit() else cell


def parse_counts(text: str) -> dict[str, int]:
    """"cli=364 sti=420" -> {"cli": 364, "sti": 420}."""
    pairs = (word.split("=", 1) for word in text.split())
    return {name: int(value) for name, value in pairs}


def parse_table(text: str) -> list[Row]:
    """A header line and one line a row, cells separated by tabs (or blanks)."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return []

    def cells(line: str) -> list[str]:
        return line.split("\t") if "\t" in lines[0] else line.split()

    names = [name.strip() for name in cells(lines[0])]
    return [{name: number(cell.strip()) for name, cell in zip(names, cells(line), strict=True)}
            for line in lines[1:]]


def read(root: Path) -> Status:
    """The status of the machine whose files are below @root."""
    folder = root / FOLDER.lstrip("/")

    def text(name: str) -> str | None:
        try:
            return (folder / name).read_text().strip()
        except OSError:
            return None

    state = text("state")
    if state is None:
        return Status(state="not loaded")
    since, pause, fifos = text("since_ns"), text("pause_ns"), text("fifos")
    users = text("users")
    return Status(
        state=state, mode=text("mode"), kernel=text("kernel"),
        since_ns=int(since) if since else None, pause_ns=int(pause) if pause else None,
        slots=parse_counts(text("slots") or ""), cpus=text("cpus"), timer=text("timer"),
        clock=text("clock"), policy=text("policy"), trial=text("trial"),
        pipeline=parse_table(text("pipeline") or ""),
        tasks=parse_table(text("tasks") or ""), irqs=parse_table(text("irqs") or ""),
        fifos=None if fifos is None else parse_table(fifos),
        users=None if users is None else parse_table(users),
        demotions=parse_table(text("demotions") or ""),
    )
