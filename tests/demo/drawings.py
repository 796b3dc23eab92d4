# SPDX-License-Identifier: GPL-2.0-only
"""The demo's pictures: lateness, the sound's wave and the intervals between port writes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import svg
from model import slope, spectrum
from model.speaker import NOMINAL_NS, RATE_HZ, Play
from twins import Twin

COLOURS = {"tick": "#0b6e4f", "task": "#2d6cdf", "hrtimer": "#c8401a"}
NAMES = {
    "tick": "RT timer tick",
    "task": "RT task, 1 ms",
    "hrtimer": "Linux hrtimer, untouched kernel",
}
CONDITIONS = {
    "idle": "idle",
    "load": "under load",
    "irqoff": "under load, interrupts off for 20 ms at a time",
}

TWINS = {
    "naive idle": ("Linux program (Figure 2.1), idle", "#8a6d1a"),
    "naive load": ("Linux program (Figure 2.1), under load", COLOURS["hrtimer"]),
    "driver load": ("rt_speaker, under load", COLOURS["tick"]),
}

_DECADES = (1, 8)  # 10 ns to 100 ms
_BINS_PER_DECADE = 12


def show_ns(value: float) -> str:
    """A time in its natural unit."""
    for unit, scale in (("ms", 1e6), ("us", 1e3)):
        if abs(value) >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value:.0f} ns"


def _log_bins(histogram: Mapping[int, int]) -> dict[int, int]:
    """A histogram of ns regrouped into steps that are even on a logarithmic axis."""
    low = _DECADES[0] * _BINS_PER_DECADE
    high = _DECADES[1] * _BINS_PER_DECADE - 1
    bins: dict[int, int] = {}
    for edge_ns, count in histogram.items():
        place = math.floor(math.log10(max(edge_ns, 1)) * _BINS_PER_DECADE)
        place = min(max(place, low), high)
        bins[place] = bins.get(place, 0) + count
    return bins


def lateness(results: Mapping[tuple[str, str], tuple[Mapping[int, int], int]]) -> svg.Drawing:
    """How often each kind was how late, a panel for each condition, both axes logarithmic.

    `results` maps (kind, condition) to the histogram, by lower edge in ns, and the maximum, ns.
    """
    left, panel, gap, top = 70, 150, 42, 64
    width = 860
    height = top + len(CONDITIONS) * (panel + gap) + 14
    picture = svg.Drawing(width, height, "Lateness of releases")
    across = width - left - 34
    picture.text(left, 24, "How late releases were", size=16, bold=True)
    for number, (kind, name) in enumerate(NAMES.items()):
        picture.box(left + 215 * number, 36, 12, 12, COLOURS[kind])
        picture.text(left + 215 * number + 18, 46, name)

    def x_of(value_ns: float) -> float:
        decade = math.log10(max(value_ns, 10 ** _DECADES[0]))
        return left + (decade - _DECADES[0]) / (_DECADES[1] - _DECADES[0]) * across

    for row, (condition, name) in enumerate(CONDITIONS.items()):
        base = top + row * (panel + gap) + panel
        picture.text(left + across, base - panel + 12, name, anchor="end", bold=True)
        for decade in range(_DECADES[0], _DECADES[1] + 1):
            x = x_of(10**decade)
            picture.line(x, base, x, base - panel, svg.FAINT, 0.6)
            picture.text(x, base + 15, show_ns(10**decade), size=11, anchor="middle")
        for power in range(5):
            y = base - panel * power / 4
            picture.line(left, y, left + across, y, svg.FAINT, 0.6)
            picture.text(left - 6, y + 4, f"{10**power}", size=11, anchor="end")
        for kind in reversed(NAMES):
            if (kind, condition) not in results:
                continue
            histogram, max_ns = results[kind, condition]
            for place, count in _log_bins(histogram).items():
                x = x_of(10 ** (place / _BINS_PER_DECADE))
                bar = max(panel * math.log10(count) / 4, 2)
                picture.box(x, base - bar, across / (_BINS_PER_DECADE * 7) - 0.5, bar,
                            COLOURS[kind], 0.75)
            picture.line(x_of(max_ns), base + 3, x_of(max_ns), base - panel, COLOURS[kind], 1.4,
                         dashed=True)
        picture.line(left, base, left + across, base)
    picture.text(14, top - 8, "releases", size=11)
    picture.text(left + across, height - 4, "dashed: the latest of all", size=11, anchor="end")
    return picture


def wave_form(sound: bytes, play: Play, count: int = 160) -> svg.Drawing:
    """The loudest stretch of the file's wave above the speaker's bit as it was written."""
    loudness = [abs(slope.decode(code)) for code in sound]
    start = max(range(0, max(1, len(sound) - count), count // 4),
                key=lambda n: sum(loudness[n : n + count]))
    window = range(start, min(start + count, len(sound), len(play.times_ns)))
    left, across, middle, half = 60, 770, 90, 60
    picture = svg.Drawing(860, 240, "The sound and the speaker's bit")
    if not window:
        return picture
    begin_ns = play.times_ns[window[0]]
    span_ns = play.times_ns[window[-1]] + NOMINAL_NS - begin_ns
    levels = [slope.decode(sound[n]) for n in window]
    peak = max(1, *map(abs, levels))

    def x_of(time_ns: float) -> float:
        return left + (time_ns - begin_ns) / span_ns * across

    picture.text(left, 18, f"linux.au, bytes {window[0]} to {window[-1]}", bold=True)
    picture.line(left, middle, left + across, middle, svg.FAINT)
    picture.path(
        [(x_of(play.times_ns[n]), middle - half * level / peak)
         for n, level in zip(window, levels, strict=True)],
        COLOURS["task"], 1.6,
    )
    points = []
    for n in window:
        y = 208 - 30 * play.bits[n]
        points += [(x_of(play.times_ns[n]), y), (x_of(play.times_ns[n] + NOMINAL_NS), y)]
    picture.path(points, COLOURS["tick"], 1.2)
    picture.text(left - 6, middle + 4, "wave", size=11, anchor="end")
    picture.text(left - 6, 197, "bit", size=11, anchor="end")
    picture.text(left, 232, f"{span_ns / 1e6:.1f} ms of guest time", size=11)
    return picture


def intervals(plays: Mapping[str, Play]) -> svg.Drawing:
    """How far the intervals between port writes are from 1/8192 s, for each condition."""
    span, step, left, across, panel = 1000, 20, 60, 755, 90
    picture = svg.Drawing(860, 60 + len(plays) * (panel + 36), "Intervals between port writes")
    title = f"Interval between port writes, minus 1/{RATE_HZ} s (122.07 us)"
    picture.text(left, 22, title, bold=True)
    for row, (condition, play) in enumerate(plays.items()):
        base = 44 + row * (panel + 36) + panel
        bins: dict[int, int] = {}
        for interval in play.intervals_ns():
            place = max(-span, min(span - step, step * math.floor((interval - NOMINAL_NS) / step)))
            bins[place] = bins.get(place, 0) + 1
        top = max(1.0, max((math.log10(count + 1) for count in bins.values()), default=1.0))
        for place, count in bins.items():
            bar = panel * math.log10(count + 1) / top
            picture.box(left + (place + span) / (2 * span) * across, base - bar,
                        across * step / (2 * span) - 0.5, bar, COLOURS["tick"])
        picture.line(left, base, left + across, base)
        for mark in range(-span, span + 1, 250):
            x = left + (mark + span) / (2 * span) * across
            picture.line(x, base, x, base + 4)
            picture.text(x, base + 17, f"{mark:+d} ns" if mark else "0", size=11, anchor="middle")
        picture.text(left + across, base - panel + 10, CONDITIONS[condition], size=12, anchor="end")
    return picture


def envelope(sound: bytes, columns: int = 770) -> svg.Drawing:
    """The whole sound at a glance."""
    picture = svg.Drawing(860, 110, "The whole sound")
    levels: Sequence[int] = [slope.decode(code) for code in sound]
    peak = max(1, max(map(abs, levels), default=1))
    size = max(1, len(levels) / columns)
    for column in range(columns):
        part = levels[int(column * size) : int((column + 1) * size)]
        if part:
            low, high = min(part) / peak * 50, max(part) / peak * 50
            picture.box(60 + column, 55 - high, 1, max(high - low, 1), COLOURS["task"])
    return picture


def tones(twins: Mapping[str, Twin]) -> svg.Drawing:
    """Wave form and spectrum of the tone by each player, a row each."""
    left, wave, gap, across, panel, row_height = 20, 330, 70, 410, 110, 168
    span_ns, seconds, to_hz, floor_db = 25e6, 0.25, 4000, -70
    picture = svg.Drawing(860, 30 + row_height * len(TWINS), "The tone by each player")
    spectrum_left = left + wave + gap
    for row, (name, (title, colour)) in enumerate(TWINS.items()):
        base = 50 + row * row_height + panel
        picture.text(left, base - panel - 12, title, bold=True)
        if name not in twins:
            picture.text(left, base - panel / 2, "not played")
            continue
        play = twins[name].play
        start = play.times_ns[0]
        points: list[tuple[float, float]] = []
        ends = [*play.times_ns[1:], play.times_ns[-1]]
        for bit, begin, end in zip(play.bits, play.times_ns, ends, strict=True):
            if begin - start >= span_ns:
                break
            y = base - 20 - (panel - 40) * bit
            points += [(left + min(at - start, span_ns) / span_ns * wave, y) for at in (begin, end)]
        picture.path(points, colour, 1.4)
        picture.line(left, base, left + wave, base)
        picture.text(left, base + 16, f"{span_ns / 1e6:g} ms", size=11)
        for mark in range(0, to_hz + 1, 1000):
            x = spectrum_left + mark / to_hz * across
            picture.line(x, base, x, base - panel, svg.FAINT, 0.6)
            picture.text(x, base + 16, f"{mark} Hz", size=11, anchor="middle")
        for mark in range(floor_db + 10, 1, 20):
            y = base - panel * (1 - mark / floor_db)
            picture.line(spectrum_left, y, spectrum_left + across, y, svg.FAINT, 0.6)
            picture.text(spectrum_left - 6, y + 4, f"{mark} dB", size=11, anchor="end")
        levels = spectrum.amplitudes_db(play, start, seconds, to_hz)
        picture.path(
            [(spectrum_left + hz / to_hz * across, base - panel * max(0.0, 1 - db / floor_db))
             for hz, db in levels],
            colour, 1.0,
        )
    return picture
