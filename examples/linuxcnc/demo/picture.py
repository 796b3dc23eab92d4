# SPDX-License-Identifier: GPL-2.0-only
"""The paths, one panel a run, and how late each run's steps were."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import svg

Lateness = list[tuple[int, int]]
WIDTH, HEAD, STRIP, GAP, LEFT = 1000, 44, 60, 34, 70
WANTED, DRAWN, LATE = "#e0b68a", "#2b5ea8", "#a33b3b"
DECADES = range(1, 9)       # 10 ns to 100 ms
MARKS = {1: "10 ns", 3: "1 us", 6: "1 ms", 8: "100 ms"}


class Point(Protocol):
    """In mm, and whether the tool is down."""

    @property
    def x(self) -> float: ...
    @property
    def y(self) -> float: ...
    @property
    def down(self) -> bool: ...


@dataclass(frozen=True)
class Panel:
    """Of a run. `lateness` has ns from the start on, and ns late, of each step."""

    title: str
    words: str
    way: Sequence[Point]
    lateness: Lateness


def strokes(way: Sequence[Point]) -> list[list[Point]]:
    """The parts of a way with the tool down."""
    result: list[list[Point]] = [[]]
    for point in way:
        if point.down:
            result[-1].append(point)
        elif result[-1]:
            result.append([])
    return [stroke for stroke in result if len(stroke) > 1]


@dataclass(frozen=True)
class Room:
    """Of a panel: mm at the left and top, pixels a mm and in height."""

    left: float
    top: float
    scale: float
    height: float


def rooms(wanted: Sequence[Point], ways: Sequence[Sequence[Point]]) -> list[Room]:
    """Of each of the ways, beside the wanted one: as high as it needs, all to one scale."""
    drawn = [[point for path in (wanted, way) for stroke in strokes(path) for point in stroke]
             for way in ways]
    left = min(p.x for points in drawn for p in points) - 1
    right = max(p.x for points in drawn for p in points) + 1
    scale = min((WIDTH - LEFT - 20) / (right - left), 10)
    return [Room(left, max(p.y for p in points) + 1, scale,
                 (max(p.y for p in points) - min(p.y for p in points) + 2) * scale)
            for points in drawn]


def _panel(drawing: svg.Drawing, panel: Panel, wanted: Sequence[Point], top: float, end: int,
           limits: Room) -> None:
    drawing.text(LEFT, top + 14, panel.title, size=15, bold=True)
    drawing.text(LEFT, top + 32, panel.words, size=12)

    def at(point: Point) -> tuple[float, float]:
        return (LEFT + (point.x - limits.left) * limits.scale,
                top + HEAD + (limits.top - point.y) * limits.scale)

    for way, colour, width in ((wanted, WANTED, 5.0), (panel.way, DRAWN, 1.8)):
        for stroke in strokes(way):
            drawing.path([at(point) for point in stroke], colour, width)

    def down(late: float) -> float:
        part = (math.log10(max(late, 10)) - DECADES[0]) / (DECADES[-1] - DECADES[0])
        return top + HEAD + limits.height + STRIP - min(part, 1.0) * STRIP

    for decade, mark in MARKS.items():
        y = down(10.0 ** decade)
        drawing.line(LEFT, y, WIDTH - 20, y, stroke=svg.FAINT)
        drawing.text(LEFT - 6, y + 4, mark, size=10, anchor="end")
    # Of the steps that share a pixel, the latest.
    latest: dict[int, int] = {}
    for time, late in panel.lateness:
        x = LEFT + int(time / end * (WIDTH - LEFT - 20))
        latest[x] = max(late, latest.get(x, 0))
    for x, late in latest.items():
        drawing.line(x, down(0), x, down(late), stroke=LATE)


def write(panels: Sequence[Panel], wanted: Sequence[Point], path: Path) -> None:
    """PATH.svg and PATH.png."""
    all_rooms = rooms(wanted, [panel.way for panel in panels])
    height = sum(limits.height + HEAD + STRIP + GAP for limits in all_rooms)
    drawing = svg.Drawing(WIDTH, round(height) + 30,
                          "A path as LinuxCNC's HAL draws it, on Tactus and on Linux")
    end = max(panel.lateness[-1][0] for panel in panels)
    top = 8.0
    for panel, limits in zip(panels, all_rooms):
        _panel(drawing, panel, wanted, top, end, limits)
        top += limits.height + HEAD + STRIP + GAP
    drawing.text(LEFT, drawing.height - 12, "light: the wanted path; dark: a model of stepping "
                 "motors at the port's pins; below: how late each step was, from start to end",
                 size=12)
    path.with_suffix(".svg").write_text(drawing.svg() + "\n")
    svg.write_png(drawing, path.with_suffix(".png"))
