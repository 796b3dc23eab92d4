# SPDX-License-Identifier: GPL-2.0-only
"""Draws who had the CPU when, one policy above the other, as SVG."""
from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

INK, FAINT, LATE = "#1b1f24", "#c8ced6", "#c62828"
COLOURS = ("#3b6fb6", "#e08e2b", "#4f9d5d", "#8a5fb0", "#b5555f", "#2f9aa0", "#7d7d3c", "#666f7a")
LEFT, RIGHT, ROW, HEAD, GAP = 130, 20, 28, 46, 34
WIDTH = 1000


@dataclass(frozen=True)
class Chart:
    """One policy's run; instants and durations in ns."""

    title: str
    names: Sequence[str]
    releases: Sequence[tuple[int, int]]
    """Of each task: phase, period."""
    runs: Sequence[tuple[int, int, int]]
    """(task, from, to)"""
    misses: Sequence[tuple[int, int, int]]
    """(task, deadline, when the job ended)"""
    marks: Sequence[tuple[int, int]] = ()
    """(task, release): of a run that was observed, in place of `releases`"""


def unit_of(until: int) -> tuple[str, int]:
    """A unit of time, with its ns, in which `until` is a number of a few digits."""
    for name, ns in (("s", 10**9), ("ms", 10**6), ("us", 1000)):
        if until >= 2 * ns:
            return name, ns
    return "ns", 1


def step_of(until: int) -> int:
    """Between two marks of the time axis, ns: 1, 2 or 5 times a power of ten, 7 to 20 marks."""
    step = 1
    while until / step > 20:
        step *= 5 if str(step)[0] == "2" else 2
        if str(step)[0] == "4":
            step = step // 4 * 5
    return step


def draw(charts: Sequence[Chart], until: int) -> str:
    """The charts from 0 to `until` ns, one below the other, as an SVG document."""
    parts: list[str] = []
    name, ns = unit_of(until)

    def x(at: int) -> float:
        return LEFT + at / until * (WIDTH - LEFT - RIGHT)

    def text(at: float, y: float, what: str, anchor: str = "start", size: int = 12) -> None:
        parts.append(f'<text x="{at:.1f}" y="{y:.1f}" font-size="{size}" '
                     f'text-anchor="{anchor}" fill="{INK}">{html.escape(what)}</text>')

    top = 10
    for chart in charts:
        text(10, top + 16, chart.title, size=14)
        bottom = top + HEAD + ROW * len(chart.names)
        for at in range(0, until + 1, step_of(until)):
            parts.append(f'<line x1="{x(at):.1f}" y1="{top + HEAD - 6}" x2="{x(at):.1f}" '
                         f'y2="{bottom}" stroke="{FAINT}"/>')
            text(x(at), bottom + 15, f"{at / ns:g}", "middle", 11)
        text(WIDTH - RIGHT, bottom + 29, name, "end", 11)
        for n, label in enumerate(chart.names):
            y = top + HEAD + ROW * n
            text(LEFT - 10, y + 18, label, "end")
            parts.append(f'<line x1="{LEFT}" y1="{y + ROW - 4}" x2="{WIDTH - RIGHT}" '
                         f'y2="{y + ROW - 4}" stroke="{FAINT}"/>')
            for task, start, end in chart.runs:
                if task == n:
                    parts.append(f'<rect class="run" x="{x(start):.2f}" y="{y + 5}" '
                                 f'width="{max(x(end) - x(start), 0.2):.2f}" height="{ROW - 9}" '
                                 f'fill="{COLOURS[n % len(COLOURS)]}"/>')
            moments: Sequence[int] = [at for task, at in chart.marks if task == n]
            if chart.releases:
                moments = range(chart.releases[n][0], until, chart.releases[n][1])
            if len(moments) < 400:  # else the marks would be one bar
                for at in moments:
                    parts.append(f'<path d="M{x(at):.2f} {y + ROW - 4}V{y}m-3 5l3 -5l3 5" '
                                 f'fill="none" stroke="{INK}"/>')
            for task, deadline, _ in chart.misses:
                if task == n:
                    parts.append(f'<path class="miss" d="M{x(deadline) - 4:.2f} {y - 2}l8 8m0 '
                                 f'-8l-8 8" '
                                 f'stroke="{LATE}" stroke-width="2"/>')
        top = bottom + GAP
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" '
            f'width="{WIDTH}" height="{top}" font-family="DejaVu Sans, sans-serif">'
            f'<rect width="{WIDTH}" height="{top}" fill="#ffffff"/>{"".join(parts)}</svg>\n')
