# SPDX-License-Identifier: GPL-2.0-only
"""What came out of the parallel port, seen from outside of the guest, and what a motor makes of it.

The records are those of tests/vm/harness/pins.c, in virtual time. The port is written once a base
period, so the number of a write says when it should have come.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PERIOD_NS = 25_000
CLOCK_PPM = 2           # more is no error of the clock
MICROSTEPS = 4          # of a full step
MICROSTEPS_MM = 100
STEP, BACK, TOOL = 1, 2, 16     # of the X axis; those of Y are two bits up
_RECORD = struct.Struct("<QII")
# A motor with its load: it swings at 150 Hz about a step, damped by a tenth.
_SWING = math.tau * 150
_DAMPED = 2 * 0.1 * _SWING


@dataclass(frozen=True)
class Edge:
    """A write that raised a step pin. `late` in ns: behind the write that came the soonest."""

    number: int
    time: int
    late: int


@dataclass(frozen=True)
class Place:
    """Where the motors are, in mm."""

    x: float
    y: float
    down: bool


@dataclass(frozen=True)
class Pins:
    """The writes of one path: times in ns and values of the data register."""

    times: Sequence[int]
    values: Sequence[int]

    def lateness(self) -> list[int]:
        """Of each write, in ns.

        Linux knows the rate of the CPU's clock to a kHz, and with it the period: to a millionth.
        What that adds up to is no lateness. The soonest writes at both ends tell it.
        """
        offsets = [time - n * PERIOD_NS for n, time in enumerate(self.times)]
        part = max(len(offsets) // 10, 1)
        drift = min(offsets[-part:]) - min(offsets[:part])
        ppm = round(drift / max(self.times[-1] - self.times[0], 1) * 1e6)
        if abs(ppm) <= CLOCK_PPM:
            offsets = [offset - ppm * n * PERIOD_NS // 1_000_000
                       for n, offset in enumerate(offsets)]
        soonest = min(offsets)
        return [offset - soonest for offset in offsets]

    def edges(self) -> list[Edge]:
        """The writes that made a step."""
        late = self.lateness()
        return [Edge(n, self.times[n], late[n]) for n in range(1, len(self.values))
                if self.values[n] & ~self.values[n - 1] & (STEP | STEP << 2)]

    def counts(self) -> tuple[int, int]:
        """Steps of X and Y, forth less back, that the pins asked for in all."""
        result = []
        for up in (0, 2):
            pins = [value >> up for value in self.values]
            result.append(sum(-1 if b & BACK else 1 for a, b in zip(pins, pins[1:])
                              if b & ~a & STEP))
        return result[0], result[1]

    def way(self) -> list[Place]:
        """Where motors at the pins are, each millisecond.

        A rotor is drawn to the field by a torque that goes by the sine of its distance, a quarter
        turn of the sine to a full step; the field is where the steps say. A rotor that falls behind
        by more than two full steps is drawn to another place that looks the same: steps are lost.
        """
        start, end = self.times[0], self.times[-1] + 200_000_000
        ways = []
        for up in (0, 2):
            n, field, last = 0, 0.0, 0
            at = speed = 0.0
            seconds = PERIOD_NS / 1e9
            way = []
            for moment in range(start, end, PERIOD_NS):
                while n < len(self.times) and self.times[n] <= moment:
                    value = self.values[n] >> up
                    if value & ~last & STEP:
                        field += (-1 if value & BACK else 1) / MICROSTEPS
                    last = value
                    n += 1
                speed += seconds * (_SWING ** 2 / (math.pi / 2)
                                    * math.sin(math.pi / 2 * (field - at)) - _DAMPED * speed)
                at += speed * seconds
                if (moment - start) % 1_000_000 == 0:
                    way.append((at * MICROSTEPS / MICROSTEPS_MM,
                                bool(self.values[max(n - 1, 0)] & TOOL)))
            ways.append(way)
        return [Place(x, y, down) for (x, down), (y, _) in zip(*ways)]


def read(path: Path) -> Pins:
    """From the data register's first write of a row, one a period, to its last."""
    writes = [(time, value) for time, port, value in _RECORD.iter_unpack(path.read_bytes())
              if port == 0]
    # hal_parport writes when it is loaded, long before its thread runs.
    begin = max((n for n in range(1, min(len(writes), 8))
                 if writes[n][0] - writes[n - 1][0] > 50_000_000), default=0)
    return Pins([time for time, _ in writes[begin:]], [value for _, value in writes[begin:]])
