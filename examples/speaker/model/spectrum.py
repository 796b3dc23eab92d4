# SPDX-License-Identifier: GPL-2.0-only
"""The spectrum of a wave that has two levels, straight from the times of its edges.

Such a wave is a sum of steps, each of which has a Fourier transform in closed form: nothing is
sampled, so nothing is folded down, and the standard library is enough.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence

from .speaker import Play


def pieces(play: Play, start_ns: float, end_ns: float) -> list[tuple[float, float]]:
    """When the bit was 1, as (from, to) in seconds after `start_ns`; cut to that window."""
    found = []
    ends = [*play.times_ns[1:], end_ns]
    for bit, begin, end in zip(play.bits, play.times_ns, ends, strict=True):
        begin, end = max(begin, start_ns), min(end, end_ns)
        if bit and begin < end:
            found.append(((begin - start_ns) / 1e9, (end - start_ns) / 1e9))
    return found


def _transform(ones: Sequence[tuple[float, float]], frequency_hz: float) -> complex:
    if frequency_hz == 0:
        return complex(sum(end - begin for begin, end in ones))
    turn = -2j * math.pi * frequency_hz
    return sum((cmath.exp(turn * end) - cmath.exp(turn * begin) for begin, end in ones), 0j) / turn


def amplitudes_db(play: Play, start_ns: float, seconds: float,
                  to_hz: float) -> list[tuple[float, float]]:
    """(frequency in Hz, level in dB) at multiples of 1/`seconds`; 0 dB is a sine of amplitude 1.

    Through a Hann window, which in the transform is a weighted sum of three neighbours.
    """
    ones = pieces(play, start_ns, start_ns + seconds * 1e9)
    step = 1 / seconds
    raw = [_transform(ones, n * step) for n in range(int(to_hz * seconds) + 2)]
    found = []
    for n in range(2, len(raw) - 1):  # at 0 and 1 the window shows the mean
        value = 0.5 * raw[n] - 0.25 * (raw[n - 1] + raw[n + 1])
        level = 4 * abs(value) / seconds
        found.append((n * step, 20 * math.log10(max(level, 1e-6))))
    return found
