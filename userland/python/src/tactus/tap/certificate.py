# SPDX-License-Identifier: GPL-2.0-only
"""How well the loop kept time in one trial, and whether anything was lost: its certificate."""
from __future__ import annotations

from typing import Any

from tactus.tap.records import Figure
from tactus.tap.trial import Trial

# What each of these was when nothing went wrong.
LOSSES = {Figure.BYTES_LOST: "bytes were lost", Figure.BYTES_BROKEN: "bytes belonged to no message",
          Figure.NOTES_REFUSED: "notes had no room in the output queue",
          Figure.RECORDS_LOST: "records did not fit into the FIFO"}


def problems(trial: Trial) -> list[str]:
    """Why the trial is not to be trusted in full; empty if it is."""
    figures = trial.figures
    found = [f"{figures[figure]} {what}" for figure, what in LOSSES.items() if figures.get(figure)]
    if not trial.done:
        found.append("the loop was not heard to the end")
    if trial.missing:
        found.append(f"{trial.missing} records are missing")
    if trial.done and len(figures) < len(Figure):
        found.append(f"{len(Figure) - len(figures)} figures are missing")
    return found


def certificate(trial: Trial, port_stats: dict[str, int] | None = None) -> dict[str, Any]:
    """For JSON; `port_stats` is what the module's port has counted of this trial."""
    about = trial.about
    return {"trial": about.stem, "began_ns": about.began_ns, "kernel": about.kernel,
            "mode": about.mode, "port": about.port, "software": about.software,
            "ended_by": trial.reason, "clean": not problems(trial), "problems": problems(trial),
            "records": len(trial.records),
            "figures": {figure.name.lower(): value for figure, value in trial.figures.items()},
            "port_stats": port_stats or {}}


def _us(figures: dict[str, int], name: str) -> str:
    return f"{figures[name] / 1000:.3f} us" if name in figures else "unknown"


def human(told: dict[str, Any]) -> str:
    """The same in a few lines."""
    figures = told["figures"]

    def count(name: str) -> str:
        return str(figures.get(name, "?"))

    seconds = figures.get("duration_ns", 0) / 1e9
    lines = [f"Certificate of {told['trial']}: ended by {told['ended_by']} after {seconds:.3f} s",
             f"kernel {told['kernel'] or 'unknown'}, mode {told['mode'] or 'unknown'}, "
             f"port {told['port'] or 'unknown'}",
             f"loop: {count('passes')} passes, gap between passes mean "
             f"{_us(figures, 'gap_mean_ns')}, "
             f"max {_us(figures, 'gap_max_ns')}",
             f"output: {count('outputs')} messages, lateness mean {_us(figures, 'late_mean_ns')}, "
             f"worst {_us(figures, 'late_max_ns')}; longest wait for the wire "
             f"{_us(figures, 'wire_wait_max_ns')}",
             f"input: {count('inputs')} messages, {count('keystrokes')} taps",
             f"lost: {count('bytes_lost')} bytes, {count('records_lost')} records, "
             f"{count('notes_refused')} notes; {count('bytes_broken')} bytes made no sense"]
    lines.append("clean: nothing was lost" if told["clean"]
                 else "NOT CLEAN: " + "; ".join(told["problems"]))
    return "\n".join(lines)
