# SPDX-License-Identifier: GPL-2.0-only
"""A fake of the tap loop: a metronome, a simulated tapper and delayed feedback, as records.

Not the engine: what it makes is what a loop without lateness would say of such a trial.
"""
from __future__ import annotations

import fcntl
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path

from tactus.tap.records import (
    COMMAND,
    FLAG_IN,
    FLAG_OUT,
    MAGIC,
    NO_SOURCE,
    Figure,
    Kind,
    Op,
    Reason,
    Record,
)
from tactus.tap.tapper import Tapper, TapperParams

MS = 10**6
LATE_NS = 1500  # of every output
HELD_NS = 80 * MS


@dataclass
class FakeLoop:
    """A trial of `tones` tones and some taps more; times in ns."""

    tapper: TapperParams = field(default_factory=TapperParams)
    trial: int = 1
    tones: int = 20
    beat_ns: int = 500 * MS
    taps: int = 220
    delays_ns: tuple[int, ...] = (0,)  # of the feedback, each for an equal share of the taps
    figures: dict[Figure, int] = field(default_factory=dict)

    def records(self) -> list[Record]:
        made: list[Record] = []
        pending: list[tuple[int, int, Record]] = []  # time, order, without its sequence
        presses: list[tuple[int, int]] = []

        def at(when: int, kind: Kind, status: int, note: int, velocity: int, value: int = 0,
               index: int = 0) -> None:
            came = kind == Kind.KEYSTROKE
            actual = when if came else when + LATE_NS
            pending.append((actual, len(pending), Record(
                0, NO_SOURCE, when, actual, actual, value, self.trial, 0, index, kind,
                FLAG_IN if came else FLAG_OUT, 3, bytes((status, note, velocity)))))

        tapper = Tapper(self.tapper)
        tone_times = [1000 * MS + n * self.beat_ns for n in range(self.tones)]
        for number, when in enumerate(tone_times, 1):
            at(when, Kind.METRONOME, 0x99, 76, 64, number)
            at(when + 50 * MS, Kind.METRONOME, 0x89, 76, 0, number)
        while tapper.taps < self.taps:
            coming = tapper.next_ns()
            if tone_times and (coming is None or tone_times[0] <= coming):
                tapper.heard(tone_times.pop(0))
                continue
            assert coming is not None
            tapper.tapped()
            number = tapper.taps
            delay = self.delays_ns[(number - 1) * len(self.delays_ns) // self.taps]
            presses.append((coming, number))
            at(coming, Kind.KEYSTROKE, 0x90, 60, 100, number)
            at(coming + HELD_NS, Kind.KEYSTROKE, 0x80, 60, 0, number)
            at(coming + delay, Kind.FEEDBACK, 0x90, 67, 100, number)
            at(coming + delay + HELD_NS, Kind.FEEDBACK, 0x80, 67, 0, number)

        def say(kind: Kind, when: int, **more: int) -> None:
            base = Record(len(made), NO_SOURCE, when, when, when, 0, self.trial, 0, 0, kind, 0, 0,
                          b"\0\0\0")
            made.append(base._replace(**more))

        say(Kind.STARTED, 0, value=123456789)
        pressed: dict[int, int] = {}
        for _actual, _, record in sorted(pending):
            source = NO_SOURCE
            if record.kind == Kind.KEYSTROKE:
                source = len(made)
                if record.pressed:
                    pressed[record.value] = len(made)
            elif record.kind == Kind.FEEDBACK:
                source = pressed[record.value]
            made.append(record._replace(sequence=len(made), source=source))
        end = made[-1].actual_ns + MS
        say(Kind.ENDED, end, index=Reason.TRIGGER)
        out = [record for record in made if record.flags & FLAG_OUT]
        told = dict.fromkeys(Figure, 0) | {
            Figure.DURATION_NS: end, Figure.PASSES: 5000, Figure.GAP_MEAN_NS: end // 5000,
            Figure.GAP_MAX_NS: 40 * MS, Figure.OUTPUTS: len(out), Figure.LATE_MEAN_NS: LATE_NS,
            Figure.LATE_MAX_NS: LATE_NS, Figure.BYTES_OUT: 3 * len(out),
            Figure.KEYSTROKES: len(presses)} | self.figures
        for figure, value in told.items():
            say(Kind.FIGURE, end, param=figure, value=value)
        say(Kind.DONE, end, value=len(made) + 1)
        return made


class FakeDevice(threading.Thread):
    """A fake of rt_tap's two FIFOs, of named pipes: answers a start with records made before.

    `hold_at` is how many records it sends before it waits for `go`. It obeys TAP_STOP.
    """

    def __init__(self, root: Path, records: list[Record], hold_at: int | None = None,
                 refuse: tuple[Op, int, int] | None = None) -> None:
        super().__init__(daemon=True)
        folder = root / "dev/rtf"
        folder.mkdir(parents=True)
        for name in ("tap", "tap_set"):
            os.mkfifo(folder / name)
        # Both ends open, so that pipes last as FIFOs do when nobody else has them open.
        self._events = os.open(folder / "tap", os.O_RDWR)
        self._commands = os.open(folder / "tap_set", os.O_RDWR)
        fcntl.fcntl(self._events, fcntl.F_SETPIPE_SZ, 1 << 20)
        self._records, self._hold_at, self._refuse = records, hold_at, refuse
        self.go = threading.Event()
        self.got: list[tuple[int, ...]] = []
        self.stopped = threading.Event()
        self.start()

    def put(self, *records: Record) -> None:
        for record in records:
            os.write(self._events, record.pack())

    def run(self) -> None:
        playing: threading.Thread | None = None
        while True:
            command = COMMAND.unpack(os.read(self._commands, COMMAND.size))
            magic, serial, op, _, param, index, _, value, _ = command
            if magic != MAGIC:
                continue
            self.got.append(command)
            if self._refuse and (op, param) == self._refuse[:2]:
                self.put(Record(0, serial, 0, 0, 0, -self._refuse[2], 0, param, index, Kind.REFUSED,
                                0, 0, b"\0\0\0"))
            elif op == Op.STOP:
                if playing is not None:
                    self.stopped.set()
                    self.go.set()
            elif op == Op.START and playing is None:
                playing = threading.Thread(target=self._play, args=(value,), daemon=True)
                playing.start()

    def _play(self, trial: int) -> None:
        records = [record._replace(trial=trial) for record in self._records]
        begin = self._hold_at if self._hold_at is not None else len(records)
        self.put(*records[:begin])
        if self._hold_at is not None:
            self.go.wait()
        rest = records[begin:]
        if self.stopped.is_set():
            rest = [record for record in rest if record.kind >= Kind.STARTED]
            rest = [record._replace(sequence=begin + n) for n, record in enumerate(rest)]
            rest = [record._replace(index=Reason.STOP) if record.kind == Kind.ENDED
                    else record._replace(value=begin + len(rest)) if record.kind == Kind.DONE
                    else record for record in rest]
        self.put(*rest)
