# SPDX-License-Identifier: GPL-2.0-only
"""The speaker's wave from timed writes to its ports: timer channel 2 and port 0x61.

A model of what an 8254's channel 2 puts out in mode 0 (1 when it has counted down) and mode 1
(one-shot: 0 for the count after each rise of the gate), ANDed with the port's data bit. Written
from the chip's data sheet; it knows no driver. Players that use another mode are refused.

    edges = wave([TimedWrite(port, value, time_ns), ...])
    levels = sampled(edges, rate_hz=48_000)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .porttrace import TraceError

PIT_HZ = 1_193_182
CHANNEL_2, MODE_WORD, SPEAKER_PORT = 0x42, 0x43, 0x61
_GATE, _DATA = 0x01, 0x02


class TimedWrite(NamedTuple):
    """A write to a port and when it was made, ns."""

    port: int
    value: int
    time_ns: float


class Edge(NamedTuple):
    """From this moment on the speaker is at that level, 0 or 1."""

    time_ns: float
    level: int


class _Channel:
    """Channel 2, told of writes and of its gate; `rises_at` is when its output becomes 1."""

    def __init__(self) -> None:
        self.mode = 0
        self.access = 3
        self.low: int | None = None
        self.count = 0
        self.rises_at = float("-inf")

    def configure(self, word: int) -> None:
        if word >> 6 != 2 or not word & 0x30:
            return  # another channel, a latch or a read-back
        self.mode, self.access, self.low = word >> 1 & 7, word >> 4 & 3, None
        if word & 1:
            raise TraceError("the timer counts in BCD, which is not modelled")
        self.rises_at = float("inf") if self.mode == 0 else float("-inf")

    def load(self, value: int, now: float) -> None:
        if self.access == 3 and self.low is None:
            self.low = value
            return
        count = (self.low or 0) | value << 8 if self.access == 3 else \
            value << 8 if self.access == 2 else value
        self.count, self.low = count or 0x10000, None
        if self.mode == 0:
            self.rises_at = now + (self.count + 1) * 1e9 / PIT_HZ

    def gate_rose(self, now: float) -> None:
        if self.mode == 1 and self.count:
            self.rises_at = now + self.count * 1e9 / PIT_HZ


def wave(writes: Iterable[TimedWrite]) -> list[Edge]:
    """The edges of the speaker's level, in order; raises TraceError on what is not modelled.

    Before the first write the output of the timer is 1 and the port's bits are 0.
    """
    channel, port, edges = _Channel(), 0, [Edge(float("-inf"), 0)]

    def at(time_ns: float, level: int) -> None:
        if level != edges[-1].level:
            edges.append(Edge(time_ns, level))

    for write in writes:
        now = write.time_ns
        data = bool(port & _DATA)
        if channel.rises_at <= now:
            at(max(channel.rises_at, edges[-1].time_ns), int(data))
        if write.port == MODE_WORD:
            channel.configure(write.value)
        elif write.port == CHANNEL_2:
            channel.load(write.value, now)
        elif write.port == SPEAKER_PORT:
            if write.value & _GATE and not port & _GATE:
                channel.gate_rose(now)
            port = write.value
        if channel.mode not in (0, 1) and port & _DATA:
            raise TraceError(f"the timer sounds in mode {channel.mode}, which is not modelled")
        at(now, int(bool(port & _DATA) and channel.rises_at <= now))
    if channel.rises_at != float("inf"):
        at(max(channel.rises_at, edges[-1].time_ns), int(bool(port & _DATA)))
    return edges[1:]


def sampled(edges: Sequence[Edge], start_ns: float, end_ns: float, rate_hz: int) -> list[float]:
    """The mean level, 0 to 1, in each sample period from start to end.

    Exact: the area below the wave, whatever fraction of a period a pulse takes.
    """
    import numpy as np

    times = np.array([start_ns, *(e.time_ns for e in edges if start_ns < e.time_ns < end_ns),
                      end_ns])
    before = [e.level for e in edges if e.time_ns <= start_ns]
    levels = np.array([before[-1] if before else 0,
                       *(e.level for e in edges if start_ns < e.time_ns < end_ns)], float)
    area = np.concatenate(([0.0], np.cumsum(levels * np.diff(times))))
    period = 1e9 / rate_hz
    marks = start_ns + period * np.arange(int((end_ns - start_ns) / period) + 1)
    return list(np.diff(np.interp(marks, times, area)) / period)
