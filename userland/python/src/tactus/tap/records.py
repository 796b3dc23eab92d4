# SPDX-License-Identifier: GPL-2.0-only
"""What the tap loop and a program say to one another: examples/tap/kernel/tap.h, in Python.

Times are ns since the start of the trial.
"""
from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from tactus.recording import Fields

FIFO_EVENTS, FIFO_COMMANDS = "tap", "tap_set"
MAGIC = 0x31504154
NO_SOURCE = 0xFFFFFFFF
FLAG_IN, FLAG_OUT = 1, 2

# The record as `tactus record` and `tactus scope` get it.
FIELDS = Fields.parse(
    "sequence:u4,source:u4,scheduled_ns:i8,actual_ns:i8,wire_ns:i8,value:i8,trial:u4,param:u2,"
    "index:u2,class:u1,flags:u1,bytes:u1,msg:3u1,reserved:u2,reserved2:u8")
RECORD = struct.Struct("<IIqqqqIHHBBB3s2x8x")
COMMAND = struct.Struct("<IIBBHHHqq")
assert RECORD.size == FIELDS.record_bytes == 64 and COMMAND.size == 32


class Kind(IntEnum):
    """Of a record: enum tap_class."""

    KEYSTROKE = 1
    INPUT = 2
    FEEDBACK = 3
    FEEDBACK2 = 4
    THROUGH = 5
    METRONOME = 6
    PACING = 7
    MASKING = 8
    SILENCE = 9
    TRIGGERED = 10
    STARTED = 11
    ENDED = 12
    FIGURE = 13
    DONE = 14
    REFUSED = 15


TONES = (Kind.METRONOME, Kind.PACING)
MESSAGES = tuple(kind for kind in Kind if kind <= Kind.SILENCE)


class Reason(IntEnum):
    """Why a trial ended: enum tap_reason."""

    TRIGGER = 1
    STOP = 2
    FAULT = 3


class Op(IntEnum):
    """Of a command: enum tap_op."""

    RESET = 1
    SET = 2
    TRIGGER = 3
    START = 4
    STOP = 5


class At(IntEnum):
    """What a trigger counts: enum tap_kind."""

    KEYSTROKE = 1
    TIME = 2
    BEAT = 3


class Figure(IntEnum):
    """What the loop says of a trial at its end: enum tap_figure."""

    DURATION_NS = 0
    PASSES = 1
    GAP_MEAN_NS = 2
    GAP_MAX_NS = 3
    OUTPUTS = 4
    LATE_MEAN_NS = 5
    LATE_MAX_NS = 6
    WIRE_WAIT_MAX_NS = 7
    INPUTS = 8
    KEYSTROKES = 9
    BEATS = 10
    BYTES_IN = 11
    BYTES_OUT = 12
    BYTES_LOST = 13
    BYTES_BROKEN = 14
    SYSEX = 15
    SYSEX_BYTES = 16
    NOTES_REFUSED = 17
    QUEUE_MAX = 18
    SILENCED = 19
    RECORDS_LOST = 20


class Record(NamedTuple):
    """struct tap_record, without what is reserved."""

    sequence: int
    source: int
    scheduled_ns: int
    actual_ns: int
    wire_ns: int
    value: int
    trial: int
    param: int
    index: int  # type: ignore[assignment]  # the header's name
    kind: int
    flags: int
    size: int  # how many bytes of msg count
    msg: bytes

    @property
    def message(self) -> bytes:
        """The MIDI bytes that it is about; b"" of what is none."""
        return self.msg[:self.size]

    @property
    def came_in(self) -> bool:
        """Is it a message that arrived?"""
        return bool(self.flags & FLAG_IN)

    @property
    def went_out(self) -> bool:
        """Is it a message that was sent?"""
        return bool(self.flags & FLAG_OUT) and self.size > 0

    @property
    def pressed(self) -> bool:
        """Is it a note-on that sounds?"""
        return self.size == 3 and self.msg[0] & 0xF0 == 0x90 and self.msg[2] > 0

    @property
    def released(self) -> bool:
        """Is it a note-off, or a note-on of velocity 0?"""
        return self.size == 3 and (self.msg[0] & 0xF0 == 0x80
                                    or self.msg[0] & 0xF0 == 0x90 and self.msg[2] == 0)

    @property
    def tap(self) -> bool:
        return self.kind == Kind.KEYSTROKE and self.pressed

    @property
    def tone(self) -> bool:
        """Does it begin a tone of the metronome, or a pacing one?"""
        return self.kind in TONES and self.pressed

    def pack(self) -> bytes:
        return RECORD.pack(*self)


def unpack(data: bytes) -> Iterator[Record]:
    """The records in `data`, which are whole."""
    return (Record(*row) for row in RECORD.iter_unpack(data))


class Command(NamedTuple):
    """struct tap_command, but for magic and serial."""

    op: Op
    kind: int = 0
    param: int = 0
    index: int = 0  # type: ignore[assignment]  # the header's names
    value: int = 0
    count: int = 0  # type: ignore[assignment]

    def pack(self, serial: int) -> bytes:
        return COMMAND.pack(MAGIC, serial, self.op, self.kind, self.param, self.index, 0,
                            self.value, self.count)
