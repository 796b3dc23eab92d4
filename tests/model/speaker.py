# SPDX-License-Identifier: GPL-2.0
"""What the speaker played, put together from both sides of the guest's wall, and judged.

The values come from the emulator's trace of port writes (porttrace.py): the guest's software
cannot have made them up. The times come from the records that the driver writes after
each port write, because the trace's own are the host's. Both are joined by their number,
and every value must be the same on both sides.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .porttrace import TraceError, Write
from .slope import slope_bits

RATE_HZ = 8192
NOMINAL_NS = 1e9 / RATE_HZ
DATA_BIT = 0x02
GATE_BIT = 0x01

_STAMP = struct.Struct("<IBBHq")
STAMP_BYTES = _STAMP.size
_SPEAKER_PORT, _PIT_CHANNEL_2, _PIT_MODE = 0x61, 0x42, 0x43


@dataclass(frozen=True)
class Stamp:
    """One record of the driver's stamps FIFO (examples/speaker/README.md)."""

    seq: int
    port_value: int
    sample: int
    time_ns: int


def parse_stamps(data: bytes) -> list[Stamp]:
    """The records in `data`; raises TraceError on half a record or a non-zero reserved field."""
    if len(data) % _STAMP.size:
        raise TraceError(f"{len(data)} bytes of stamps are no whole records of {_STAMP.size}")
    stamps = []
    for seq, port_value, sample, reserved, time_ns in _STAMP.iter_unpack(data):
        if reserved:
            raise TraceError(f"stamp {seq}: the reserved field is {reserved:#x}")
        stamps.append(Stamp(seq, port_value, sample, time_ns))
    return stamps


def _is_start(writes: Sequence[Write]) -> bool:
    """The four writes by which the driver turns the speaker on: 0x61, then mode and count."""
    timer = [(_PIT_MODE, 0xB0), (_PIT_CHANNEL_2, 3), (_PIT_CHANNEL_2, 0)]
    return (
        len(writes) == 4
        and writes[0].port == _SPEAKER_PORT
        and writes[0].value & 3 == 3
        and [(write.port, write.value) for write in writes[1:]] == timer
    )


def split_plays(writes: Sequence[Write]) -> list[list[int]]:
    """The values written to port 0x61 by the driver's handler, a list for each time it was loaded.

    A play begins after the writes that turn the speaker on. It ends with the next such writes
    or, if the driver gives the speaker back, with the first that closes the gate or is the timer's.
    """
    writes = [w for w in writes if w.port in (_SPEAKER_PORT, _PIT_CHANNEL_2, _PIT_MODE)]
    starts = [n for n in range(len(writes)) if _is_start(writes[n : n + 4])]
    plays = []
    for start, end in pairwise([*starts, len(writes)]):
        values = []
        for write in writes[start + 4 : end]:
            if write.port != _SPEAKER_PORT or not write.value & GATE_BIT:
                break
            values.append(write.value)
        plays.append(values)
    return plays


def compare_bits(values: Sequence[int], data: bytes) -> list[str]:
    """What is wrong with the values written while `data` was played; empty if nothing is."""
    expected = slope_bits(data)
    found = [(value & DATA_BIT) // DATA_BIT for value in values]
    problems = []
    if len(found) != len(expected):
        problems.append(f"{len(found)} port writes for {len(expected)} bytes")
    wrong = [n for n, (a, b) in enumerate(zip(found, expected, strict=False)) if a != b]
    if wrong:
        problems.append(f"{len(wrong)} bits differ, the first at byte {wrong[0]}")
    return problems


@dataclass(frozen=True)
class Play:
    """Port writes with the guest's times, ns."""

    values: list[int]
    times_ns: list[int]

    @property
    def bits(self) -> list[int]:
        """The speaker's bit at each write."""
        return [(value & DATA_BIT) // DATA_BIT for value in self.values]

    def intervals_ns(self) -> list[int]:
        """Time between writes in a row."""
        return [b - a for a, b in pairwise(self.times_ns)]

    def worst_deviation_ns(self) -> float:
        """The interval furthest from 1/8192 s, as its distance from that."""
        return max((abs(i - NOMINAL_NS) for i in self.intervals_ns()), default=0.0)


def join(values: Sequence[int], stamps: Sequence[Stamp]) -> Play:
    """Give each write its time; raises TraceError unless both sides agree on every one."""
    if len(values) != len(stamps):
        raise TraceError(f"{len(values)} writes outside, {len(stamps)} stamps inside of the guest")
    for number, (value, stamp) in enumerate(zip(values, stamps, strict=True)):
        if stamp.seq != number:
            raise TraceError(f"stamp {number} has the number {stamp.seq}")
        if stamp.port_value != value:
            raise TraceError(
                f"write {number} is {value:#x} outside, {stamp.port_value:#x} inside of the guest"
            )
    return Play(list(values), [stamp.time_ns for stamp in stamps])
