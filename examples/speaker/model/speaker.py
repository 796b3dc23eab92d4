# SPDX-License-Identifier: GPL-2.0-only
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

NO_SAMPLE = -32768
"""Marks the stamp of a write that puts the output to rest, or wakes it up."""

_STAMP = struct.Struct("<IBBhq")
STAMP_BYTES = _STAMP.size
_SPEAKER_PORT, _PIT_CHANNEL_2, _PIT_MODE = 0x61, 0x42, 0x43


@dataclass(frozen=True)
class Stamp:
    """One record of the driver's stamps FIFO (examples/speaker/README.md)."""

    seq: int
    port: int
    value: int
    sample: int
    time_ns: int

    @property
    def is_sample(self) -> bool:
        """Whether the write was sound."""
        return self.sample != NO_SAMPLE


def parse_stamps(data: bytes) -> list[Stamp]:
    """The records in `data`; raises TraceError on half a record or a port that is none."""
    if len(data) % _STAMP.size:
        raise TraceError(f"{len(data)} bytes of stamps are no whole records of {_STAMP.size}")
    stamps = [Stamp(*fields) for fields in _STAMP.iter_unpack(data)]
    for stamp in stamps:
        if stamp.port not in (_SPEAKER_PORT, _PIT_CHANNEL_2):
            raise TraceError(f"stamp {stamp.seq}: port {stamp.port:#x}")
    return stamps


_BITS = [(_PIT_MODE, 0xB0), (_PIT_CHANNEL_2, 3), (_PIT_CHANNEL_2, 0)]
_COUNTS = [(_PIT_MODE, 0x90), (_PIT_CHANNEL_2, 1)]


def _start(writes: Sequence[Write], at: int) -> int:
    """How many writes from `at` on set the speaker up for a play: 0x61, then mode and count; or
    0."""
    if writes[at].port != _SPEAKER_PORT or not writes[at].value & GATE_BIT:
        return 0
    for setup in (_BITS, _COUNTS):
        end = at + 1 + len(setup)
        if [(write.port, write.value) for write in writes[at + 1 : end]] == setup:
            return end - at
    return 0


def split_plays(writes: Sequence[Write]) -> list[list[Write]]:
    """The writes made at ticks, a list for each time that the driver set the speaker up.

    A play begins after the writes that set the speaker up, for bits or for counts. It ends with
    the next such writes or, if the driver gives the speaker back, with the first that closes the
    gate or is the timer's mode.
    """
    writes = [w for w in writes if w.port in (_SPEAKER_PORT, _PIT_CHANNEL_2, _PIT_MODE)]
    starts = [n for n in range(len(writes)) if _start(writes, n)]
    plays = []
    for start, end in pairwise([*starts, len(writes)]):
        play = []
        for write in writes[start + _start(writes, start) : end]:
            if write.port == _PIT_MODE or (
                write.port == _SPEAKER_PORT and not write.value & GATE_BIT
            ):
                break
            play.append(write)
        plays.append(play)
    return plays


def values(play: Sequence[Write]) -> list[int]:
    """What a play wrote to port 0x61, at ticks with sound and without."""
    return [write.value for write in play if write.port == _SPEAKER_PORT]


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


def join(writes: Sequence[Write], stamps: Sequence[Stamp]) -> list[Stamp]:
    """The stamps, after every one has been compared with its write; raises TraceError unless both
    sides agree on all of them. `writes` are one play's, or several's in order."""
    if len(writes) != len(stamps):
        raise TraceError(f"{len(writes)} writes outside, {len(stamps)} stamps inside of the guest")
    for number, (write, stamp) in enumerate(zip(writes, stamps, strict=True)):
        if stamp.seq != number:
            raise TraceError(f"stamp {number} has the number {stamp.seq}")
        if (stamp.port, stamp.value) != (write.port, write.value):
            raise TraceError(
                f"write {number} is {write.value:#x} to {write.port:#x} outside, "
                f"{stamp.value:#x} to {stamp.port:#x} inside of the guest"
            )
        if not stamp.is_sample and write.port != _SPEAKER_PORT:
            raise TraceError(f"stamp {number} of port {write.port:#x} says that it is no sample")
    return list(stamps)


def bits_played(stamps: Sequence[Stamp]) -> Play:
    """The sound among joined stamps of a play in bits; the output at rest is none of it."""
    samples = [stamp for stamp in stamps if stamp.is_sample]
    return Play([stamp.value for stamp in samples], [stamp.time_ns for stamp in samples])
