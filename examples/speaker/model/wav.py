# SPDX-License-Identifier: GPL-2.0-only
"""Sound from port writes: the wave that the speaker's bit makes, as a WAV file."""

from __future__ import annotations

import wave
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from .speaker import NOMINAL_NS, Play

RATE_HZ = 48_000


def samples(play: Play, rate_hz: int = RATE_HZ) -> list[float]:
    """The bit's mean level, -1 to 1, in each sample period.

    The bit holds from its own write to the next, at the times the writes really had, so late
    writes are heard. The last one holds for a nominal interval.
    """
    if not play.values:
        return []
    start = play.times_ns[0]
    period = 1e9 / rate_hz
    edges = [(t - start) / period for t in play.times_ns]
    edges.append(edges[-1] + NOMINAL_NS / period)
    area = [0.0] * int(edges[-1])
    for bit, (begin, end) in zip(play.bits, pairwise(edges), strict=True):
        if not bit:
            continue
        first, last = int(begin), int(end)
        for index in range(first, min(last + 1, len(area))):
            area[index] += min(end, index + 1) - max(begin, index)
    return [2.0 * level - 1.0 for level in area]


def write_wav(path: Path, levels: Sequence[float], rate_hz: int = RATE_HZ) -> None:
    """Write levels of -1 to 1 as 16-bit mono, without their mean and at half of full scale."""
    mean = sum(levels) / len(levels) if levels else 0.0
    data = bytearray()
    for level in levels:
        value = max(-1.0, min(1.0, (level - mean) * 0.5))
        data += int(value * 32767).to_bytes(2, "little", signed=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate_hz)
        file.writeframes(bytes(data))
