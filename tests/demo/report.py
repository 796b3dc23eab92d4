# SPDX-License-Identifier: GPL-2.0-only
"""The demo's outcome: a table for the terminal and report.html, which needs no other file."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence
from pathlib import Path

import drawings
from checks import Check
from drawings import CONDITIONS, NAMES, TWINS, show_ns
from measure.lateness import Lateness
from playing import Played
from twins import Twin

LatenessResults = Mapping[tuple[str, str], Lateness]
PlayedResults = Mapping[str, Played]
TwinResults = Mapping[str, Twin]

_SHORT = {"idle": "idle", "load": "load", "irqoff": "load + 20 ms irq-off"}

_STYLE = """
body { font: 15px/1.5 "DejaVu Sans", system-ui, sans-serif; color: #1b1f24; background: #fff;
       max-width: 880px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
table { border-collapse: collapse; } td, th { padding: .25em .8em; border-bottom: 1px solid #d5dae0;
       text-align: right; } td:first-child, th:first-child { text-align: left; }
.checks td { text-align: left; } .kept { color: #0b6e4f; } .broken { color: #c0142c; }
figure { margin: 1em 0; } svg { max-width: 100%; height: auto; } figcaption { color: #57606a; }
audio { width: 100%; }
"""


def rows(lateness: LatenessResults, played: PlayedResults) -> list[list[str]]:
    """The short table: a head, then one row for each thing measured."""
    table = [["", *(_SHORT[condition] for condition in CONDITIONS)]]
    for kind, name in NAMES.items():
        results = [lateness.get((kind, condition)) for condition in CONDITIONS]
        table.append([f"{name}: latest", *(show_ns(r.max_ns) if r else "-" for r in results)])
    plays = [played.get(condition) for condition in CONDITIONS]
    worst = [p.play.worst_deviation_ns() if p and p.play else None for p in plays]
    table.append(["Speaker: interval off by", *("-" if w is None else show_ns(w) for w in worst)])
    right = [f"{_right_bits(p)}/{len(p.sound)}" if p else "-" for p in plays]
    table.append(["Speaker: right bits", *right])
    return table


def _right_bits(played: Played) -> int:
    expected = drawings.slope.slope_bits(played.sound)
    found = [value >> 1 & 1 for value in played.values]
    return sum(a == b for a, b in zip(found, expected, strict=False))


def terminal(lateness: LatenessResults, played: PlayedResults, checks: Sequence[Check]) -> str:
    """The short table and the checks that failed."""
    table = rows(lateness, played)
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in table
    ]
    lines.append("")
    lines += [f"FAILED  {check.name}: {check.detail}" for check in checks if not check.passed]
    kept = sum(check.passed for check in checks)
    lines.append(f"{kept} of {len(checks)} checks passed")
    return "\n".join(lines)


def _html_table(table: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in table[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in table[1:]
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _html_checks(checks: Sequence[Check]) -> str:
    lines = []
    for check in checks:
        state, mark = ("kept", "✓") if check.passed else ("broken", "✗")
        lines.append(
            f'<tr class="{state}"><td>{mark}</td><td>{html.escape(check.name)}</td>'
            f"<td>{html.escape(check.detail)}</td></tr>"
        )
    return f'<table class="checks">{"".join(lines)}</table>'


def _audio(path: Path) -> str:
    data = base64.b64encode(path.read_bytes()).decode()
    return f'<audio controls src="data:audio/wav;base64,{data}"></audio>'


def _figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{caption}</figcaption></figure>"


def page(
    lateness: LatenessResults,
    played: PlayedResults,
    twins: TwinResults,
    checks: Sequence[Check],
    wav: Path | None,
    kernel: str,
    tones: Mapping[str, Path],
) -> str:
    """The whole of report.html; `wav` and `tones`, by player, are sounds to put in it."""
    histograms = {key: (result.histogram, result.max_ns) for key, result in lateness.items()}
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        f"<title>Tactus: a stock kernel on time</title><style>{_STYLE}</style>",
        "<h1>A stock kernel plays linux.au, on time</h1>",
        f"<p>Debian's kernel {html.escape(kernel)}, unmodified, in an emulated PC with one CPU. "
        "Modules loaded at run time give it real-time interrupts and tasks. Each figure is of "
        "virtual time: one instruction is one nanosecond, so they are the same on every machine "
        "and say nothing of a real one's caches.</p>",
        _html_table(rows(lateness, played)),
        "<h2>Checks</h2>",
        _html_checks(checks),
        "<h2>Lateness</h2>",
        _figure(
            drawings.lateness(histograms).svg(),
            "Time from the moment a release was due to the first instruction of its handler or "
            "task. The hrtimer ran on the same kernel without our modules.",
        ),
    ]
    shown = {c: p for c, p in played.items() if p.play}
    if shown:
        condition, sample = list(shown.items())[-1]
        assert sample.play
        plays = {c: p.play for c, p in shown.items() if p.play}
        parts.append("<h2>The speaker</h2>")
        if wav:
            parts.append(
                f"<p>What the speaker did {CONDITIONS[condition]}, rebuilt from the port writes "
                "seen from outside of the guest:</p>"
                f"{_audio(wav)}"
            )
        parts += [
            _figure(drawings.envelope(sample.sound).svg(), "The sound file, header included."),
            _figure(
                drawings.wave_form(sample.sound, sample.play).svg(),
                "The speaker knows on and off only: on while the wave rises (thesis, Appendix B).",
            ),
            _figure(
                drawings.intervals(plays).svg(),
                "One write for each byte; counts on a logarithmic scale.",
            ),
        ]
    if twins:
        parts += [
            "<h2>Its naive twin</h2>",
            "<p>The thesis begins with a program that counts, turns the speaker on, counts, and "
            "turns it off (Figure 2.1). The same tone, 512 Hz, by that program and by the driver:"
            "</p>",
            *(f"<p>{TWINS[key][0]}:</p>{_audio(path)}" for key, path in tones.items()),
            _figure(
                drawings.tones(twins).svg(),
                "Left: the speaker's bit. Right: its spectrum over a quarter of a second; a steady "
                "square wave has lines at 512 Hz and its odd multiples, and nothing between.",
            ),
            _html_table([["", "half-waves", "shortest", "longest", "off by"], *(
                [TWINS[key][0], f"{len(twin.halves_ns())}", show_ns(min(twin.halves_ns())),
                 show_ns(max(twin.halves_ns())), show_ns(twin.worst_half_off_ns())]
                for key, twin in twins.items()
            )]),
        ]
    loads = [
        [_SHORT[result.case.condition], NAMES[result.case.kind],
         *(f"{result.load.get(name, 0):g}" for name in ("forks", "mb", "irqs", "sections"))]
        for result in lateness.values() if result.load
    ]
    if loads:
        head = ["load", "beside", "forks", "MB", "interrupts", "irq-off sections"]
        parts += ["<h2>What the load did meanwhile</h2>", _html_table([head, *loads])]
    parts.append("</html>")
    return "\n".join(parts)
