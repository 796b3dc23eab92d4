# SPDX-License-Identifier: GPL-2.0-only
"""Draws how late jobs were: one line for each system, on one logarithmic scale of time."""
from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

LOW_NS, HIGH_NS = 100, 100_000_000
SHADES = "·░▒▓█"        # all in the font of a text mode
LABEL, WIDTH = 22, 42
# From ns, up to ns (None: open), count.
Bin = tuple[int, int | None, int]


@dataclass(frozen=True)
class Row:
    """What was measured of one system under one load; times in ns."""

    system: str
    load: str
    count: int
    missed: int
    max_ns: int
    bins: tuple[Bin, ...]

    @property
    def label(self) -> str:
        return f"{self.system}, {self.load}"

    def as_dict(self) -> dict[str, object]:
        return {"system": self.system, "load": self.load, "count": self.count,
                "missed": self.missed, "max_ns": self.max_ns,
                "bins": [list(bin_) for bin_ in self.bins]}

    @staticmethod
    def from_dict(data: dict[str, object]) -> Row:
        """Raises KeyError, TypeError or ValueError for what is no row."""
        bins = tuple((int(a), None if b is None else int(b), int(n))
                     for a, b, n in data["bins"])  # type: ignore[attr-defined]
        return Row(str(data["system"]), str(data["load"]), int(str(data["count"])),
                   int(str(data["missed"])), int(str(data["max_ns"])), bins)


def place(ns: float, width: int = WIDTH) -> int:
    """The column of a time; what is off the scale goes to its ends."""
    if ns <= LOW_NS:
        return 0
    share = math.log(ns / LOW_NS) / math.log(HIGH_NS / LOW_NS)
    return min(int(share * width), width - 1)


def strip(row: Row, width: int = WIDTH) -> str:
    """A character for each class of lateness: the darker, the more jobs; a decade a shade."""
    counts = [0] * width
    for low, high, count in row.bins:
        top = row.max_ns if high is None else min(high, row.max_ns)
        counts[place((max(low, 0) + max(top, low, 0)) / 2, width)] += count
    total = sum(counts)
    if not total:
        return " " * width
    last = len(SHADES) - 1
    return "".join(SHADES[max(0, last + math.floor(math.log10(count / total) + 0.3))]
                   if count else " " for count in counts)


def time_text(ns: int) -> str:
    """Three figures and a unit."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 1000)):
        if ns >= size:
            value = ns / size
            return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"
    return f"{ns} ns"


def axis(width: int = WIDTH) -> str:
    line = [" "] * (width + 8)
    for ns, text in ((100, "0.1 us"), (1000, "1 us"), (10_000, "10 us"), (100_000, "0.1 ms"),
                     (1_000_000, "1 ms"), (10_000_000, "10 ms")):
        at = place(ns, width)
        line[at:at + len(text)] = text
    return " " * LABEL + "".join(line).rstrip()


def graph(rows: Iterable[Row]) -> str:
    """All rows below one scale, each with its latest job; no line is longer than 79."""
    lines = [axis()]
    for row in rows:
        lines.append(f"{row.label[:LABEL - 1]:{LABEL}}{strip(row)}|{time_text(row.max_ns):>9}"
                     + (f" {row.missed}" if row.missed else ""))
    return "\n".join(lines) + "\n"
