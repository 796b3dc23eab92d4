# SPDX-License-Identifier: GPL-2.0-only
"""A little G-code made into positions, one a millisecond.

Known are G0, G1, G2, G3 with I and J, G21, G90, M2, M3, M5, F, X and Y; each line stands still at
its end (exact stop). A line's speed is a trapezoid.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

PERIOD_S = 0.001
ACCEL = 2500.0          # mm/s^2
RAPID = 80.0            # mm/s, of G0
_WORD = re.compile(r"([A-Z])([-+]?[\d.]+)")
_KNOWN = {"G": {0, 1, 2, 3, 21, 90}, "M": {2, 3, 5}}


class GcodeError(ValueError):
    """A line that is not understood."""


@dataclass(frozen=True)
class Position:
    """In mm; `down` says that the tool is."""

    x: float
    y: float
    down: bool


Curve = Callable[[float], tuple[float, float]]


def _straight(x0: float, y0: float, x1: float, y1: float) -> tuple[Curve, float]:
    return (lambda part: (x0 + (x1 - x0) * part, y0 + (y1 - y0) * part),
            math.hypot(x1 - x0, y1 - y0))


def _arc(x0: float, y0: float, x1: float, y1: float, i: float, j: float,
         clockwise: bool) -> tuple[Curve, float]:
    """About (x0 + i, y0 + j). Where the radius at the end is another, it changes evenly."""
    cx, cy = x0 + i, y0 + j
    begin, end = math.atan2(-j, -i), math.atan2(y1 - cy, x1 - cx)
    turn = (end - begin) % math.tau or math.tau
    if clockwise:
        turn = turn - math.tau or -math.tau
    r0, r1 = math.hypot(i, j), math.hypot(x1 - cx, y1 - cy)

    def at(part: float) -> tuple[float, float]:
        r, angle = r0 + (r1 - r0) * part, begin + turn * part
        return cx + r * math.cos(angle), cy + r * math.sin(angle)

    return at, abs(turn) * (r0 + r1) / 2


def _parts(length: float, speed: float) -> Iterator[float]:
    """Which part of the way is done after each period: 0 to 1."""
    if length == 0:
        return
    speed = min(speed, math.sqrt(length * ACCEL))
    ramp = speed / ACCEL
    total = length / speed + ramp
    for n in range(1, math.ceil(total / PERIOD_S) + 1):
        t = min(n * PERIOD_S, total)
        if t < ramp:
            done = ACCEL * t * t / 2
        elif t > total - ramp:
            done = length - ACCEL * (total - t) ** 2 / 2
        else:
            done = speed * (t - ramp / 2)
        yield done / length


def positions(text: str) -> list[Position]:
    """Where the tool is to be, each millisecond from the start at 0, 0 on."""
    x = y = 0.0
    feed = RAPID
    down = False
    result = [Position(x, y, down)]
    for number, line in enumerate(text.splitlines(), 1):
        words = re.sub(r"\([^)]*\)", "", line).strip().upper()
        if _WORD.sub("", words).strip():
            raise GcodeError(f"line {number}: {line}")
        found = [(letter, float(value)) for letter, value in _WORD.findall(words)]
        values = dict(found)
        if any(letter not in "GMXYIJF" or letter in _KNOWN and value not in _KNOWN[letter]
               for letter, value in found):
            raise GcodeError(f"line {number}: {line}")
        feed = values.get("F", feed * 60) / 60
        if values.get("M") in (3, 5):
            down = values["M"] == 3
            result += [Position(x, y, down)] * 5
        if "X" not in values and "Y" not in values:
            continue
        to = values.get("X", x), values.get("Y", y)
        way, length = (_arc(x, y, *to, values.get("I", 0), values.get("J", 0), values["G"] == 2)
                       if values.get("G") in (2, 3) else _straight(x, y, *to))
        result += [Position(*way(part), down)
                   for part in _parts(length, RAPID if values.get("G") == 0 else feed)]
        x, y = to
    return result
