# SPDX-License-Identifier: GPL-2.0-only
"""A simulated tapper at the far end of a MIDI line: hears note-ons, sends a key's presses.

    python3 -m tactus.tap.farend /dev/ttyS1
    python3 -m tactus.tap.farend --seed 7 line.sock    # a Unix socket, as emulators give a UART

It runs in the time of the machine it is on, so a guest in virtual time wants examples/tap/tapper. A
serial device is left with the speed that it has: set it with stty.
"""
from __future__ import annotations

import argparse
import os
import select
import socket
import stat
import sys
import time
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from tactus.tap.tapper import Tapper, TapperParams

NOTE_OFF, NOTE_ON = 0x80, 0x90


class Ear:
    """Note-ons out of a stream of MIDI bytes."""

    def __init__(self) -> None:
        self._status = 0  # running; 0: none that has two data bytes
        self._first: int | None = None

    def hear(self, byte: int) -> tuple[int, int] | None:
        """(channel from 1, note) if the byte ends a note-on that sounds."""
        if byte >= 0xF8:
            return None
        if byte & 0x80:
            self._status = byte if byte < 0xC0 or 0xE0 <= byte < 0xF0 else 0
            self._first = None
            return None
        if not self._status:
            return None
        if self._first is None:
            self._first = byte
            return None
        note, self._first = self._first, None
        if self._status & 0xF0 != NOTE_ON or not byte:
            return None
        return (self._status & 15) + 1, note


class FarEnd:
    """What it sends when, given what it hears when; times in ns of any one clock."""

    def __init__(self, params: TapperParams, *, channel: int = 10, key: int = 60,
                 held_ns: int = 80_000_000, taps: int = 0) -> None:
        self._tapper = Tapper(params)
        self._ear = Ear()
        self._channel, self._key, self._held_ns, self._taps = channel, key, held_ns, taps
        self._lift_ns: int | None = None

    def hear(self, data: bytes, now_ns: int) -> None:
        for byte in data:
            heard = self._ear.hear(byte)
            if heard and heard[0] == self._channel:
                self._tapper.heard(now_ns)

    @property
    def over(self) -> bool:
        """Have all taps been made, and the key lifted?"""
        return bool(self._taps) and self._tapper.taps >= self._taps and self._lift_ns is None

    def next_ns(self) -> int | None:
        """When it has something to send; None: not before it hears something."""
        tap = None if self._taps and self._tapper.taps >= self._taps else self._tapper.next_ns()
        return min((when for when in (tap, self._lift_ns) if when is not None), default=None)

    def due(self, now_ns: int) -> bytes:
        """What is to be sent by now."""
        sent = b""
        while (when := self.next_ns()) is not None and when <= now_ns:
            if self._lift_ns is not None:
                sent += bytes((NOTE_OFF, self._key, 0))
                self._lift_ns = None
                continue
            sent += bytes((NOTE_ON, self._key, 100))
            self._lift_ns = when + self._held_ns
            self._tapper.tapped()
        return sent


def open_line(path: Path) -> int:
    """A file descriptor of a device or a socket."""
    if stat.S_ISSOCK(path.stat().st_mode):
        line = socket.socket(socket.AF_UNIX)
        line.connect(str(path))
        return line.detach()
    return os.open(path, os.O_RDWR | os.O_NOCTTY)


def serve(fd: int, end: FarEnd) -> None:
    """Until the line is closed, or all taps have been made."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    while not end.over:
        now, coming = time.monotonic_ns(), end.next_ns()
        if poll.poll(None if coming is None else max(coming - now, 0) / 1e6):
            data = os.read(fd, 4096)
            if not data:
                return
            end.hear(data, time.monotonic_ns())
        if sent := end.due(time.monotonic_ns()):
            os.write(fd, sent)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tactus.tap.farend", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("line", type=Path, help="a serial device or a Unix socket")
    for one in fields(TapperParams):
        parser.add_argument(f"--{one.name.replace('_', '-')}", type=int, default=one.default)
    parser.add_argument("--channel", type=int, default=10, help="of the tones")
    parser.add_argument("--key", type=int, default=60, help="the note that is tapped")
    parser.add_argument("--taps", type=int, default=0, help="how many; 0: no end")
    args = parser.parse_args(argv)
    params = TapperParams(**{one.name: getattr(args, one.name) for one in fields(TapperParams)})
    end = FarEnd(params, channel=args.channel, key=args.key, taps=args.taps)
    try:
        serve(open_line(args.line), end)
    except OSError as problem:
        print(f"{args.line}: {problem.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
