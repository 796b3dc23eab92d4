# SPDX-License-Identifier: GPL-2.0-only
"""What a dry run of the executive found: the places in the kernel's text that it would write."""
from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from tactus import sysfs
from tactus.errors import ToolError
from tactus.sysfs import Row

HARD = "cli_hard"  # checked and listed, but never written


@dataclass(frozen=True)
class Report:
    """Empty counts and lists: mode hosted, which writes nothing."""

    kernel: str
    cpus: str
    timer: str
    idle: str
    slots: dict[str, int]  # by kind, modules included
    texts: list[Row]  # the kernel and each module with slots
    places: list[Row]  # of the kernel's own text: address (hexadecimal), kind

    @property
    def writes(self) -> int:
        return sum(count for kind, count in self.slots.items() if kind != HARD)

    def as_dict(self) -> dict[str, object]:
        return {"dry_run": "passed", "would_write": self.writes, **dataclasses.asdict(self)}


def parse_places(text: str) -> list[Row]:
    """"ffffffff81000000 cli     " -> {"address": "ffffffff81000000", "kind": "cli"}."""
    return [{"address": address, "kind": kind}
            for address, kind in (line.split() for line in text.splitlines())]


def read(root: Path) -> Report:
    """The report of the machine whose files are below @root."""
    folder = root / sysfs.FOLDER.lstrip("/")

    def text(name: str) -> str:
        return (folder / name).read_text().strip()

    try:
        slots = sysfs.parse_counts(text("slots"))
        pipeline = any(slots.values())
        return Report(
            kernel=text("kernel"), cpus=text("cpus"),
            timer=text("timer") if pipeline else "hrtimer",
            idle=text("idle") if pipeline else "unchanged", slots=slots if pipeline else {},
            texts=sysfs.parse_table(text("texts")), places=parse_places(text("slots_list")))
    except (OSError, ValueError) as problem:
        raise ToolError(f"{sysfs.FOLDER} is not as this version of the tool knows it "
                        f"({problem})") from problem


def human(report: Report) -> str:
    if not report.slots:
        return (f"dry run on {report.kernel}: mode hosted is possible, which writes nothing\n"
                "nothing was changed")
    lines = [f"dry run on {report.kernel}: nothing speaks against loading",
             f"CPUs: {report.cpus}", f"timer: {report.timer}", f"idle: {report.idle}",
             f"would write {report.writes} places: " + ", ".join(
                 f"{count} {kind}" for kind, count in report.slots.items() if kind != HARD)]
    if hard := report.slots.get(HARD):
        lines.append(f"would leave as they are: {hard} {HARD}")
    lines += [f"  {row['slots']:>6} in {row['text']}" for row in report.texts]
    lines.append("every place: --json")
    lines.append("nothing was changed")
    return "\n".join(lines)
