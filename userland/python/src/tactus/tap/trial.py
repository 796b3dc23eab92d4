# SPDX-License-Identifier: GPL-2.0-only
"""One trial: what was asked for and what the loop said; and its file of records on the disk.

The companion appends to that file as records come, so that a companion that takes over has what
the one before it had got. It is a self-describing recording (tactus.recording) whose first line
also holds the trial's `about`.
"""
from __future__ import annotations

import contextlib
import struct
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from tactus.errors import ToolError
from tactus.recording import DATA, FRAME, header, open_recording
from tactus.tap.records import FIELDS, FIFO_EVENTS, Figure, Kind, Reason, Record, unpack

Value = int | float | str | list[int]
REASONS: dict[int, str] = {Reason.TRIGGER: "END_EXP", Reason.STOP: "stopped",
                           Reason.FAULT: "the port failed"}


@dataclass(frozen=True)
class About:
    """What was asked for, and of whom."""

    task: str  # the experiment's name
    run: int  # number of the trial's files, from 1
    trial: int  # number in its records
    began_ns: int  # CLOCK_REALTIME
    kernel: str = ""
    mode: str = ""  # the executive's: pipeline or hosted
    port: str = ""
    source: str = ""  # text of the experiment's file
    parameters: dict[str, Value] = field(default_factory=dict)  # those that the file sets; ms
    subject: str = ""
    session: str = ""
    software: str = ""

    @property
    def stem(self) -> str:
        """What the names of its files begin with, as BIDS has it."""
        who = f"sub-{self.subject}_" if self.subject else ""
        when = f"ses-{self.session}_" if self.session else ""
        return f"{who}{when}task-{self.task}_run-{self.run:02}"


@dataclass
class Trial:
    """What has been heard of it so far."""

    about: About
    records: list[Record] = field(default_factory=list)
    missing: int = 0  # records that the sequence numbers show to be lost

    def add(self, record: Record) -> None:
        expected = self.records[-1].sequence + 1 if self.records else 0
        self.missing += max(record.sequence - expected, 0)
        self.records.append(record)

    @property
    def done(self) -> bool:
        return bool(self.records) and self.records[-1].kind == Kind.DONE

    @property
    def whole(self) -> bool:
        """Is every record of it here?"""
        return self.done and not self.missing and self.records[-1].value == len(self.records)

    @property
    def reason(self) -> str:
        """Why it ended."""
        for record in self.records:
            if record.kind == Kind.ENDED:
                return REASONS.get(record.index, f"reason {record.index}")
        return "unknown: the loop was not heard to the end"

    @property
    def figures(self) -> dict[Figure, int]:
        return {Figure(record.param): record.value for record in self.records
                if record.kind == Kind.FIGURE and record.param < len(Figure)}

    def of(self, *kinds: Kind) -> list[Record]:
        return [record for record in self.records if record.kind in kinds]

    def taps(self) -> list[Record]:
        return [record for record in self.records if record.tap]

    def tones(self) -> list[Record]:
        return [record for record in self.records if record.tone]


class TrialFile:
    """The records of one trial, on the disk as they come."""

    def __init__(self, path: Path, about: About | None = None) -> None:
        """A new file with `about`; without it, an old one that is gone on with."""
        self.path = path
        self._file: IO[bytes]
        if about is not None:
            self.trial = Trial(about)
            self._file = path.open("xb")
            try:
                self._file.write(header(FIFO_EVENTS, FIELDS, FIELDS.record_bytes, about.began_ns,
                                        {"tap": asdict(about)}))
                self._file.flush()
            except OSError:
                self.remove()
                raise
            return
        self.trial, length = _read(path)
        self._file = path.open("r+b")
        self._file.truncate(length)  # a frame that the one before did not finish
        self._file.seek(length)

    def add(self, records: Sequence[Record], now_ns: int) -> None:
        """Records of this trial, as read at `now_ns` (CLOCK_REALTIME)."""
        data = b"".join(record.pack() for record in records)
        self._file.write(FRAME.pack(DATA, len(data), now_ns) + data)
        self._file.flush()
        for record in records:
            self.trial.add(record)

    def close(self) -> None:
        with contextlib.suppress(OSError):  # of what add() could not write, and has told of
            self._file.close()

    def remove(self) -> None:
        """Of a trial that did not come about."""
        self.close()
        self.path.unlink()


def _read(path: Path) -> tuple[Trial, int]:
    """The trial in a file, and how many of its bytes are whole frames."""
    recording = open_recording(path)
    with recording:
        try:
            trial = Trial(About(**recording.told["tap"]))
            length = recording.position()
            for frame in recording.frames():
                length = recording.position()
                for record in unpack(frame.data):
                    trial.add(record)
        except (KeyError, TypeError, struct.error) as problem:
            raise ToolError(f"{path} is not the records of a trial") from problem
    return trial, length


def read_trial(path: Path) -> Trial:
    """The trial in a file that a TrialFile wrote."""
    return _read(path)[0]
