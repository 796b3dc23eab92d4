# SPDX-License-Identifier: GPL-2.0-only
"""Curves in a terminal, of Braille characters: two dots across and four down in each."""
from __future__ import annotations

from collections.abc import Sequence

# The bit of each dot, by column and row in a character.
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))


def plot(values: Sequence[float], width: int, height: int, low: float, high: float) -> list[str]:
    """`height` lines of `width` characters; the newest value is at the right edge."""
    cells = [[0] * width for _ in range(height)]
    span = (high - low) or 1.0
    shown = list(values)[-2 * width:]
    previous: int | None = None
    for x, value in enumerate(shown, 2 * width - len(shown)):
        y = round((high - min(max(value, low), high)) / span * (4 * height - 1))
        # A vertical stroke from the last one, so that steep curves hang together.
        first = y if previous is None else previous + (1 if y > previous else -1)
        for dot in range(min(first, y), max(first, y) + 1) if previous not in (None, y) else (y,):
            cells[dot // 4][x // 2] |= _DOTS[x % 2][dot % 4]
        previous = y
    return ["".join(chr(0x2800 + cell) for cell in line) for line in cells]


def frame(curves: dict[str, Sequence[float]], width: int, height: int) -> str:
    """All curves below one another, each to its own scale, with name, range and newest value."""
    each = max((height - len(curves)) // max(len(curves), 1), 1)
    lines = []
    for name, values in curves.items():
        low, high = (min(values), max(values)) if values else (0.0, 0.0)
        newest = f"{values[-1]:g}" if values else "-"
        lines.append(f"{name}  {newest}  [{low:g} … {high:g}]"[:width])
        lines += plot(values, width, each, low, high)
    return "\n".join(lines)
