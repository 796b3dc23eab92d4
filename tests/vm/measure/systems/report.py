# SPDX-License-Identifier: GPL-2.0-only
"""Shows the figures: in the terminal, as report.html with plots, and as Markdown for the docs."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import svg

from . import reference
from .model import SYSTEMS, Figure
from .tables import TABLES, Table, show

COLOURS = {"stock": "#c8401a", "preempt_rt": "#8a6d1a", "tactus": "#2d6cdf"}

_STYLE = """
body { font: 15px/1.5 "DejaVu Sans", system-ui, sans-serif; color: #1b1f24; background: #fff;
       max-width: 900px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
table { border-collapse: collapse; font-size: .85em; } td, th { padding: .2em .7em;
       border-bottom: 1px solid #d5dae0; text-align: right; }
td:first-child, th:first-child, td:nth-child(2), th:nth-child(2) { text-align: left; }
figure { margin: 1em 0; } svg { max-width: 100%; height: auto; } p.source { color: #57606a; }
"""

# These come last, in this order.
_TOTALS = ("instructions", "code lines", "data lines", "pages")

# The plots' scale: linear to 10 ns on either side of 0, then by decades to 1 s.
_LINEAR_NS = 10
_DECADES = 8
_BINS = 12  # of a decade


def _place(ns: float) -> float:
    """Where a value lies: 0 is 0, a decade is 1."""
    size = abs(ns)
    place = size / _LINEAR_NS if size < _LINEAR_NS else 1 + math.log10(size / _LINEAR_NS)
    return math.copysign(min(place, _DECADES + 1), ns)


def plot(title: str, measured: str, figures: Sequence[Figure]) -> svg.Drawing:
    """The figures' histograms over each other, counts and times on logarithmic scales."""
    signed = any(one.min < 0 for one in figures)
    low, high = (-(_DECADES + 1) if signed else 0), _DECADES + 1
    left, across, panel, base = 60, 780, 110, 150
    picture = svg.Drawing(860, 190, title)
    picture.text(left, 20, title, bold=True)

    def x_of(place: float) -> float:
        return left + (place - low) / (high - low) * across

    for power in range(0, _DECADES + 1, 1 if not signed else 2):
        for sign in (-1, 1) if signed else (1,):
            ns = sign * _LINEAR_NS * 10.0**power
            x = x_of(_place(ns))
            picture.line(x, base, x, base - panel, svg.FAINT, 0.6)
            picture.text(x, base + 15, show(ns), size=10, anchor="middle")
    most = max((count for one in figures for *_, count in one.histogram), default=1)
    tall = max(1.0, math.log10(most) + 0.3)
    for power in range(int(tall) + 1):
        y = base - panel * power / tall
        picture.text(left - 6, y + 4, f"{10**power}", size=10, anchor="end")
    for number, one in enumerate(figures):
        bars: dict[int, int] = {}
        for start, end, count in one.histogram:
            bar = math.floor(_place((start + end - 1) / 2) * _BINS)
            bars[bar] = bars.get(bar, 0) + count
        colour = COLOURS[one.system]
        for bar, count in bars.items():
            tallness = max(panel * math.log10(count) / tall, 2)
            picture.box(x_of(bar / _BINS), base - tallness, across / ((high - low) * _BINS) - 0.4,
                        tallness, colour, 0.6)
        picture.line(x_of(_place(one.max)), base + 3, x_of(_place(one.max)), base - panel, colour,
                     1.2, dashed=True)
        picture.text(left + across - 200 * (len(figures) - 1 - number), 34,
                     SYSTEMS[one.system].title, size=11, anchor="end", fill=colour, bold=True)
    picture.line(left, base, left + across, base)
    picture.text(left, base + 32, f"{measured}; the height is how many, dashed: the maximum",
                 size=10)
    return picture


def terminal(table: Table, figures: Sequence[Figure]) -> str:
    """The table for people."""
    rows = table.rows(figures)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join([*map(str.ljust, row[:2], widths), *map(str.rjust, row[2:], widths[2:])])
             for row in rows]
    return "\n".join([f"\n{table.title} ({table.name}; virtual time)", *lines])


def _count_rows(counts: Mapping[str, Mapping[str, int]], chosen: Sequence[str]) -> list[list[str]]:
    """Head and rows; a column for each of `chosen`."""
    names = sorted(dict.fromkeys(name for what in chosen for name in counts.get(what, ())),
                   key=_TOTALS.__contains__)
    return [["instructions", *chosen], *(
        [name.replace("_", " "), *(str(counts.get(what, {}).get(name, 0)) for what in chosen)]
        for name in names)]


def _groups(counts: Mapping[str, Mapping[str, int]]) -> list[list[str]]:
    """Which counts share a table: those of a release, and any other for itself."""
    releases = [name for name in counts if name.startswith("release")]
    return [releases, *([name] for name in counts if name not in releases)]


def terminal_counts(counts: Mapping[str, Mapping[str, int]]) -> str:
    """What is counted, for people."""
    lines: list[str] = []
    for group in filter(None, _groups(counts)):
        lines.append("")
        for name, *cells in _count_rows(counts, group):
            lines.append(f"{name:<22}" + "".join(f"{cell:>24}" for cell in cells))
    return "\n".join(lines)


def markdown_counts(counts: Mapping[str, Mapping[str, int]]) -> str:
    """The same for the docs."""
    return "\n\n".join(markdown_rows(_count_rows(counts, group), 1) for group in _groups(counts))


def _extra(rows: Sequence[Mapping[str, Any]]) -> str:
    """A measurement with a table of its own, as its dictionaries have it."""
    tables: list[list[list[str]]] = []
    for row in rows:
        if not tables or tables[-1][0] != list(row):
            tables.append([list(row)])
        tables[-1].append([show_number(value) for value in row.values()])
    return "\n\n".join(
        markdown_rows([[name.replace("_", " ") for name in table[0]], *table[1:]], 1)
        if len(table[0]) > 1 else "```\n" + table[1][0] + "\n```" for table in tables)


def show_number(value: object) -> str:
    """A cell of that."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}" if isinstance(
        value, float) else str(value)


def markdown_rows(rows: Sequence[Sequence[str]], left: int) -> str:
    """A table of Markdown whose first `left` columns are text."""
    head, *rest = rows
    lines = [head, ["---"] * left + ["---:"] * (len(head) - left), *rest]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines)


def markdown(table: Table, figures: Sequence[Figure]) -> str:
    """The table for the docs."""
    return markdown_rows(table.rows(figures), 2)


def made_with(data: Mapping[str, Any]) -> str:
    """What the figures were made with, as a sentence or two."""
    kernels = "; ".join(f"{SYSTEMS[name].title}: {kernel}" for name, kernel in
                        data["kernels"].items())
    return (f"{kernels}. {data['compiler']}; {data['emulator']}, -icount shift=0, one CPU; "
            f"{data['date']}.")


def _html_table(rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    return f"<table>{line(rows[0], 'th')}{''.join(line(row, 'td') for row in rows[1:])}</table>"


def _detail(figures: Sequence[Figure]) -> list[list[str]]:
    return [["system", "what", "condition", "min", "avg", "99.9 %", "max", "missed", "values",
             "warm-up", "seconds", "rounds of the load"], *(
        [SYSTEMS[f.system].title, f.subject, f.condition, show(f.min), show(f.avg), show(f.p99_9),
         show(f.max), str(f.missed), str(f.count), str(f.warm_up), f"{f.seconds:.2f}",
         " ".join(f"{n:g}" for n in f.rounds) or "-"] for f in figures)]


def page(data: Mapping[str, Any]) -> str:
    """The whole of report.html, which needs no other file."""
    every = reference.figures_of(data)
    parts = ["<!doctype html><html lang=en><meta charset=utf-8>",
             f"<title>Tactus beside Linux and PREEMPT_RT</title><style>{_STYLE}</style>",
             "<h1>Tactus beside Linux and PREEMPT_RT</h1>",
             f"<p>{html.escape(made_with(data))} Every figure is of virtual time: an instruction "
             "takes one nanosecond. They compare the systems with each other; none of them is that "
             "of real hardware.</p>"]
    for table in TABLES.values():
        figures = [one for one in every if one.table == table.name]
        if not figures:
            continue
        parts += [f"<h2>{html.escape(table.title)}</h2>",
                  f"<p class=source>{html.escape(table.source)}</p>",
                  _html_table(table.rows(figures))]
        panels: dict[str, list[Figure]] = {}
        for one in figures:
            if name := table.panels(one):
                panels.setdefault(name, []).append(one)
        parts += [f"<figure>{plot(name, table.measured, some).svg()}</figure>"
                  for name, some in panels.items()]
        parts.append(f"<details><summary>All {len(figures)} figures</summary>"
                     f"{_html_table(_detail(figures))}</details>")
    parts += ["<h2>Counted instructions</h2>",
              *(_html_table(_count_rows(data["counts"], group)) for group in _groups(data["counts"])
                if group)]
    return "\n".join([*parts, "</html>"])


def fill(text: str, render: Callable[[str], str | None]) -> str:
    """`text` with what `render` gives for NAME between <!-- figures: NAME --> and <!-- end -->;
    what it gives None for stays."""
    parts = text.split("<!-- figures: ")
    filled = [parts[0]]
    for part in parts[1:]:
        name, mark, rest = part.partition(" -->")
        _, end, after = rest.partition("<!-- end -->")
        if not mark or not end:
            raise ValueError(f"figures: {name[:40]} has no end")
        inner = render(name)
        filled.append(part if inner is None else f"{name} -->\n{inner}\n<!-- end -->{after}")
    return "<!-- figures: ".join(filled)


def docs(text: str, data: Mapping[str, Any]) -> str:
    """A page of the documentation with the figures of `data` in it."""
    every = reference.figures_of(data)

    def render(name: str) -> str | None:
        if name == "made with":
            return made_with(data)
        if name == "counts":
            return markdown_counts(data["counts"])
        if name in reference.EXTRAS:
            return _extra(data.get(name) or []) or (
                f"No figures yet: `tests/vm/measure/run {name} --long`, then `make figures`.")
        if name not in TABLES:
            return None
        return markdown(TABLES[name], [one for one in every if one.table == name])

    return fill(text, render)
