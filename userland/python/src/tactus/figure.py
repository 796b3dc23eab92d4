# SPDX-License-Identifier: GPL-2.0-only
"""Reads the figures that tactus-measure prints; tools/measure/figure.h has the form."""
from __future__ import annotations

import math
import re
from dataclasses import dataclass

# (from ns, up to ns, count)
Bin = tuple[int, int, int]

_HEAD = re.compile(r"^FIGURE (\w+) count=(\d+) missed=(\d+) min=(-?\d+) max=(-?\d+) sum=(-?\d+) "
                   r"square=(\d+)\n((?:BIN -?\d+ -?\d+ \d+\n?)*)", re.M)


@dataclass(frozen=True)
class Figure:
    """Times in ns, and how they are spread."""

    name: str
    count: int
    missed: int
    min: int
    max: int
    sum: int
    square: int
    bins: tuple[Bin, ...]

    @property
    def mean(self) -> float:
        return self.sum / self.count

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return math.sqrt(max(0.0, self.square / self.count - self.mean * self.mean))

    def percentile(self, per_cent: float) -> int:
        """What so many per cent of the values do not exceed, to the width of a bin."""
        left = self.count * per_cent / 100
        for _, end, count in self.bins:
            left -= count
            if left <= 0:
                return min(end - 1, self.max)
        return self.max


def parse(text: str) -> Figure:
    """The one figure in `text`. Raises ValueError when there is none, or it is not whole."""
    found = _HEAD.search(text.replace("\r", ""))
    if not found:
        raise ValueError("no figure")
    name, *numbers, lines = found.groups()
    count, missed, least, most, total, square = map(int, numbers)
    bins = tuple((int(a), int(b), int(n)) for a, b, n in (
        line.split()[1:] for line in lines.splitlines()))
    if not count or sum(n for *_, n in bins) != count:
        raise ValueError(f"the histogram has not {count} values")
    return Figure(name, count, missed, least, most, total, square, bins)
