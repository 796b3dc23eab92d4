# SPDX-License-Identifier: GPL-2.0-only
"""Write FIFOs to files, each to its own, until told to stop (SIGINT, SIGTERM).

Formats: raw (the bytes), csv (needs --fields), records (self-describing: see
tactus.recording). A FIFO that is not there yet is waited for; one that is destroyed ends
nothing: when it is there again, recording goes on. What RT code could not put, or overwrote
unread, is counted.
"""
from __future__ import annotations

import argparse
import json
import select
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import IO

from tactus import modules
from tactus.errors import ToolError
from tactus.fifo import Fifo, Stats, path_of
from tactus.machine import Machine
from tactus.recording import DATA, END, FRAME, LOSS, Fields, header

HELP = "write FIFOs to files"
CHUNK_BYTES = 1 << 18
RETRY_S = 0.2
SUFFIX = {"raw": "raw", "csv": "csv", "records": "rtf"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("fifos", nargs="+", metavar="FIFO", help="number or name")
    parser.add_argument("--into", type=Path, default=Path("."), metavar="DIR",
                        help="where the files go (default: here)")
    parser.add_argument("--format", choices=SUFFIX, default="records")
    parser.add_argument("--fields", type=Fields.parse, metavar="LIST",
                        help="what a record is made of, as in time_ns:u8,mv:8i2")
    parser.add_argument("--rotate-bytes", type=int, default=0, metavar="N",
                        help="begin a new file when one has that many bytes")
    parser.add_argument("--keep", type=int, default=0, metavar="N",
                        help="delete all but the newest N files of a FIFO")
    parser.add_argument("--seconds", type=float, metavar="S", help="stop after so long")
    parser.add_argument("--json", action="store_true",
                        help="at the end, one JSON object on standard output, for programs")


class Output:
    """The files of one FIFO: NAME.000000.csv and so on; rotated between records."""

    def __init__(self, args: argparse.Namespace, fifo: str, record_bytes: int) -> None:
        self._args = args
        self._name = Path(fifo).name
        self._fifo = fifo
        self.record_bytes = record_bytes
        self._file: IO[bytes] | None = None
        self._rest = b""
        found = [int(path.name.split(".")[-2]) for path in self._files()]
        self._next = max(found, default=-1) + 1

    def _files(self) -> list[Path]:
        suffix = SUFFIX[self._args.format]
        return sorted(self._args.into.glob(f"{self._name}.[0-9][0-9][0-9][0-9][0-9][0-9].{suffix}"))

    def _open(self) -> IO[bytes]:
        suffix = SUFFIX[self._args.format]
        file: IO[bytes] = (self._args.into / f"{self._name}.{self._next:06}.{suffix}").open("xb")
        self._next += 1
        if self._args.format == "csv":
            file.write((",".join(self._args.fields.columns) + "\n").encode())
        elif self._args.format == "records":
            file.write(header(self._fifo, self._args.fields, self.record_bytes, time.time_ns()))
        if self._args.keep:
            for old in self._files()[:-self._args.keep]:
                old.unlink()
        return file

    def write(self, data: bytes) -> None:
        """Append what was read; parts of a record wait for their rest."""
        data = self._rest + data
        whole = len(data) - len(data) % self.record_bytes
        data, self._rest = data[:whole], data[whole:]
        if not data:
            return
        if self._args.format == "csv":
            self._put("".join(",".join(map(str, row)) + "\n"
                              for row in self._args.fields.rows(data)).encode())
        elif self._args.format == "records":
            self._put(FRAME.pack(DATA, len(data), time.time_ns()) + data)
        else:
            self._put(data)

    def mark(self, kind: int, count: int, value: int) -> None:
        """A frame without data, in the format that has frames."""
        if kind == END:
            self._rest = b""
        if self._args.format == "records":
            self._put(FRAME.pack(kind, count, value))

    def _put(self, data: bytes) -> None:
        if self._file is None:
            self._file = self._open()
        self._file.write(data)
        self._file.flush()
        if self._args.rotate_bytes and self._file.tell() >= self._args.rotate_bytes:
            self.close()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class Source:
    """One FIFO, there or not, and what came of it."""

    def __init__(self, args: argparse.Namespace, name: str) -> None:
        self._args = args
        self.name = name
        self.fifo: Fifo | None = None
        self._output: Output | None = None
        self._seen = (0, 0)
        self.bytes = self.drops = self.lost_bytes = self.ends = 0
        self._why = ""  # it is waited for, as said last

    def say_why(self, machine: Machine) -> None:
        """Name what is waited for, and what would end it; again only when that changes."""
        why = modules.no_fifo(machine)
        if why != self._why:
            print(f"tactus: waiting for {path_of(self.name)}: {why}", file=sys.stderr, flush=True)
            self._why = why

    def try_open(self) -> bool:
        """Is it there?"""
        try:
            self.fifo = Fifo(int(self.name) if self.name.isdigit() else self.name, "r",
                             nonblocking=True)
        except OSError as problem:
            if isinstance(problem, PermissionError):
                raise ToolError(f"{path_of(self.name)}: no permission: it takes root or the group "
                                "tactus") from problem
            return False
        stats = self.fifo.stats()
        fields = self._args.fields
        if fields and stats.record and stats.record % fields.record_bytes:
            raise ToolError(f"{self.name} has records of {stats.record} bytes, but the fields make "
                            f"{fields.record_bytes}")
        record = fields.record_bytes if fields else stats.record or 1
        if self._output is None or self._output.record_bytes != record:
            self.close_output()
            self._output = Output(self._args, self.name, record)
        # What was lost before we came is not ours; of a successor, all is.
        self._seen = (0, 0) if self.ends else (stats.drops, stats.lost_bytes)
        self._note_loss(stats)
        return True

    def _note_loss(self, stats: Stats) -> None:
        assert self._output
        drops, lost = stats.drops - self._seen[0], stats.lost_bytes - self._seen[1]
        self._seen = (stats.drops, stats.lost_bytes)
        self.drops += drops
        self.lost_bytes += lost
        if drops:
            self._output.mark(LOSS, 0, drops)
        if lost:
            self._output.mark(LOSS, 1, lost)

    def read(self) -> None:
        """Take the bytes there; at the end of the FIFO, let go of it."""
        assert self.fifo and self._output
        try:
            data = self.fifo.read(CHUNK_BYTES)
        except BlockingIOError:
            return
        self._note_loss(self.fifo.stats())
        if data:
            self.bytes += len(data)
            self._output.write(data)
            return
        self.ends += 1
        self._output.mark(END, 0, time.time_ns())
        self.fifo.close()
        self.fifo = None

    def close_output(self) -> None:
        if self._output:
            self._output.close()

    def as_dict(self) -> dict[str, object]:
        return {"fifo": self.name, "bytes": self.bytes, "drops": self.drops,
                "lost_bytes": self.lost_bytes, "destroyed": self.ends}

    def summary(self) -> str:
        return (f"{self.name}: {self.bytes} bytes, {self.drops} puts dropped, {self.lost_bytes} "
                f"bytes overwritten, destroyed {self.ends} times")


def run(args: argparse.Namespace, machine: Machine) -> int:
    if args.format == "csv" and not args.fields:
        raise ToolError("csv needs --fields", 2)
    if args.rotate_bytes < 0 or args.keep < 0:
        raise ToolError("neither --rotate-bytes nor --keep can be negative", 2)
    if not args.into.is_dir():
        raise ToolError(f"{args.into} is not a folder", 2)
    stopped = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    sources = [Source(args, name) for name in args.fifos]
    until = time.monotonic() + args.seconds if args.seconds is not None else float("inf")
    while not stopped and time.monotonic() < until:
        poll = select.poll()
        there = {}
        for source in sources:
            if source.fifo or source.try_open():
                assert source.fifo
                there[source.fifo.fileno()] = source
                poll.register(source.fifo.fileno(), select.POLLIN)
            else:
                source.say_why(machine)
        wait_s = min(RETRY_S if len(there) < len(sources) else 1.0,
                     max(until - time.monotonic(), 0))
        for fd, _events in poll.poll(wait_s * 1000):
            there[fd].read()
    for source in sources:
        if source.fifo:
            source.read()  # what came since
        source.close_output()
        if not args.json:
            print(source.summary(), file=sys.stderr)
    if args.json:
        print(json.dumps({"fifos": [source.as_dict() for source in sources]}))
    return 0
