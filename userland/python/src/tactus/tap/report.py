# SPDX-License-Identifier: GPL-2.0-only
"""What the taps of a trial were like: from its events.tsv to figures and a picture. Times in
seconds."""
from __future__ import annotations

import csv
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tactus.errors import ToolError, reason
from tactus.tap import timing

STREAMS = ("metronome", "pacing")
ANSWERS = ("feedback", "feedback2")
MOST_DELAYS = 16  # kinds of delay that are listed one by one


@dataclass(frozen=True)
class Events:
    """What the figures are made of; onsets in order."""

    taps: list[float]
    tones: dict[str, list[float]]  # by stream; a stream without tones is not there
    answers: list[tuple[str, float, float, float]]  # class, of its tap, scheduled, onset


@dataclass(frozen=True)
class Delay:
    """Answers that were to come so long after their tap."""

    answer: str
    scheduled: float | None  # None: of many kinds
    count: int
    mean: float  # as they came
    worst: float | None  # the greatest distance from scheduled, with its sign


@dataclass(frozen=True)
class Part:
    """Some of the taps: "paced", up to the last tone, or "alone", where there is none."""

    name: str
    taps: list[float]
    intervals: timing.Summary | None
    asynchronies: dict[str, timing.Summary]  # by stream
    missed: int  # intervals that show a missed or an extra tap
    decomposition: timing.Decomposition | None  # alone only: of the longest run without such


@dataclass(frozen=True)
class Report:
    """All about one trial."""

    name: str
    events: Events
    parts: list[Part]
    delays: list[Delay]


def find_events(path: Path) -> Path:
    """The events.tsv that is meant by it, by its folder, or by what its name begins with."""
    if path.is_dir():
        found = sorted(path.glob("*_events.tsv"))
    elif path.is_file():
        found = [path]
    else:
        found = sorted(path.parent.glob(f"{path.name}_events.tsv"))
    if len(found) != 1:
        if found:
            raise ToolError(f"{path}: there are {len(found)} trials, name one", 2)
        raise ToolError(f"{path}: there is no such trial")
    return found[0]


def read_events(path: Path) -> Events:
    """The columns that matter, of any BIDS events file that has them."""
    taps: list[float] = []
    tones: dict[str, list[float]] = {}
    onsets: dict[str, float] = {}
    answers: list[tuple[str, str, float, float]] = []
    try:
        with path.open(newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                kind, onset = row["trial_type"], float(row["onset"])
                if row["note"] == "n/a":
                    continue
                if kind == "keystroke":
                    taps.append(onset)
                    onsets[row["sequence"]] = onset
                elif kind in STREAMS:
                    tones.setdefault(kind, []).append(onset)
                elif kind in ANSWERS:
                    answers.append((kind, row["source"], float(row["scheduled"]), onset))
    except (OSError, UnicodeDecodeError) as problem:
        raise ToolError(f"{path} cannot be read: {reason(problem)}") from problem
    except (KeyError, ValueError, TypeError, csv.Error) as problem:
        raise ToolError(f"{path} is not an events file of a tap trial: {problem!r}") from problem
    return Events(sorted(taps), {name: sorted(times) for name, times in tones.items()},
                  [(kind, onsets[source], scheduled, onset)
                   for kind, source, scheduled, onset in answers if source in onsets])


def _part(name: str, taps: list[float], tones: dict[str, list[float]]) -> Part | None:
    if not taps:
        return None
    series = timing.intervals(taps)
    start, end = timing.longest_run(series)
    found = {stream: summary for stream, times in tones.items()
             if (summary := timing.summary([off for _, off in timing.asynchronies(taps, times)]))}
    usual = [value for value, good in zip(series, timing.usual(series), strict=True) if good]
    return Part(name, taps, timing.summary(usual), found, len(series) - len(usual),
                None if tones else timing.wing_kristofferson(series[start:end]))


def split(events: Events) -> list[Part]:
    """The paced taps and those after the last tone, which has half a beat around it."""
    every = sorted(time for times in events.tones.values() for time in times)
    if not every:
        parts = [_part("alone", events.taps, {})]
    else:
        beats = timing.intervals(every)
        border = every[-1] + (beats[-1] / 2 if beats else 0)
        parts = [_part("paced", [tap for tap in events.taps if tap <= border], events.tones),
                 _part("alone", [tap for tap in events.taps if tap > border], {})]
    return [part for part in parts if part]


def delays(events: Events) -> list[Delay]:
    """How long after their taps the answers came, by how long they were to (to a microsecond)."""
    groups: dict[tuple[str, float | None], list[float]] = {}
    for kind, tap, scheduled, onset in events.answers:
        groups.setdefault((kind, round(scheduled - tap, 6)), []).append(onset - tap)
    if len(groups) > MOST_DELAYS:  # random or growing: all of a class together
        groups = {}
        for kind, tap, _, onset in events.answers:
            groups.setdefault((kind, None), []).append(onset - tap)
    return [Delay(kind, wanted, len(came), timing.mean(came), None if wanted is None
                  else max((value - wanted for value in came), key=abs))
            for (kind, wanted), came in sorted(groups.items(), key=lambda one: (
                one[0][0], one[0][1] or 0))]


def analyse(path: Path) -> Report:
    events = read_events(find_events(path))
    return Report(find_events(path).name.removesuffix("_events.tsv"), events, split(events),
                  delays(events))


def as_dict(report: Report) -> dict[str, Any]:
    """For JSON: without the taps themselves."""
    parts = []
    for part in report.parts:
        told: dict[str, Any] = dataclasses.asdict(part) | {"taps": len(part.taps)}
        for name in ("timekeeper", "motor"):
            if part.decomposition:
                told["decomposition"][name] = getattr(part.decomposition, name)._asdict()
        for summary in (told["intervals"], *told["asynchronies"].values()):
            if summary:
                summary["lag1"] = timing.Estimate(*summary["lag1"])._asdict()
        parts.append(told)
    return {"trial": report.name, "taps": len(report.events.taps),
            "tones": {name: len(times) for name, times in report.events.tones.items()},
            "parts": parts, "delays": [dataclasses.asdict(delay) for delay in report.delays]}


def _ms(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{1000 * value:.{digits}f}"


def _estimate(got: timing.Estimate, scale: float, digits: int) -> str:
    text = f"{scale * got.value:.{digits}f}"
    if got.low is None or got.high is None:
        return f"{text} (too few for an interval)"
    return f"{text} [{scale * got.low:.{digits}f}, {scale * got.high:.{digits}f}]"


def _series(name: str, summary: timing.Summary | None) -> str:
    if summary is None:
        return f"  {name}: none"
    return (f"  {name}: n {summary.count}, mean {_ms(summary.mean)} ms, SD {_ms(summary.sd)} ms, "
            f"lag-1 {_estimate(summary.lag1, 1, 3)}")


def human(report: Report) -> str:
    """A few lines; brackets are 95 % confidence intervals."""
    tones = ", ".join(f"{len(times)} {name} tones" for name, times in report.events.tones.items())
    lines = [f"{report.name}: {len(report.events.taps)} taps, {tones or 'no tones'}"]
    for part in report.parts:
        lines.append(f" {part.name}: {len(part.taps)} taps"
                     + (f", {part.missed} intervals left out (missed or extra taps)"
                        if part.missed else ""))
        lines.append(_series("intervals", part.intervals))
        lines += [_series(f"asynchronies to the {stream}", summary)
                  for stream, summary in part.asynchronies.items()]
        if got := part.decomposition:
            lines.append(f"  Wing-Kristofferson, of {got.count} intervals in a row: "
                         f"drift {_ms(got.drift, 4)} ms a tap"
                         + ("" if got.fits else "; the model does not hold"))
            lines += [f"   {name} variance {_estimate(estimate, 1e6, 2)} ms^2, "
                      f"SD {_ms(max(estimate.value, 0)**0.5)} ms"
                      for name, estimate in (("timekeeper", got.timekeeper), ("motor", got.motor))]
    for delay in report.delays:
        wanted = "various times" if delay.scheduled is None else f"{_ms(delay.scheduled)} ms"
        lines.append(f" {delay.answer} due after {wanted}: n {delay.count}, mean {_ms(delay.mean)} "
                     f"ms, worst off by {_ms(delay.worst, 6)} ms")
    return "\n".join(lines)


def draw(reports: Sequence[Report], path: Path) -> None:
    """A row a trial: intervals, asynchronies, and each interval against the one before it."""
    try:
        import matplotlib
    except ImportError as problem:
        raise ToolError("pictures need python3-matplotlib") from problem
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(reports), 3, squeeze=False,
                                   figsize=(13, 0.6 + 3 * len(reports)))
    for report, (left, middle, right) in zip(reports, axes, strict=True):
        for part in report.parts:
            series = [1000 * value for value in timing.intervals(part.taps)]
            left.plot(part.taps[1:], series, ".-", linewidth=0.6, markersize=3, label=part.name)
            right.plot(series[:-1], series[1:], ".", markersize=3, label=part.name)
            for stream in part.asynchronies:
                pairs = timing.asynchronies(part.taps, report.events.tones[stream])
                middle.plot([part.taps[n] for n, _ in pairs], [1000 * off for _, off in pairs],
                            ".-",
                            linewidth=0.6, markersize=3, label=f"to the {stream}")
        left.set(title=report.name, xlabel="s", ylabel="interval, ms")
        middle.set(title="asynchrony: negative, the tap was first", xlabel="s", ylabel="ms")
        middle.axhline(0, color="grey", linewidth=0.6)
        right.set(title="successive intervals", xlabel="interval, ms", ylabel="next interval, ms")
        for axis in (left, middle, right):
            if axis.get_legend_handles_labels()[0]:
                axis.legend(fontsize="small")
    figure.tight_layout()
    try:
        figure.savefig(path)
    except (OSError, ValueError) as problem:
        raise ToolError(f"{path} could not be written: {reason(problem)}") from problem
    finally:
        pyplot.close(figure)
