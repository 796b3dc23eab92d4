# SPDX-License-Identifier: GPL-2.0-only
"""Draw what comes out of a FIFO as curves in the terminal, and save them as PNG.

It takes what it draws out of the FIFO: give it one of its own. --file draws a self-describing
recording. Live curves need Debian's python3-rich, pictures python3-matplotlib.

With --digital it is a logic analyser: the bits of a field are channels, each with its level until
the next record, and the field time_ns says when. --trigger waits for an edge and then takes
--samples records; --vcd writes them for GTKWave and sigrok.
"""
from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from tactus import curves, digital, modules
from tactus.errors import ToolError, save
from tactus.fifo import Fifo, path_of
from tactus.machine import Machine
from tactus.recording import Fields, Value, open_recording

HELP = "draw a FIFO's curves"
REFRESH_S = 0.1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("fifo", nargs="?", help="number or name")
    parser.add_argument("--file", type=Path, help="draw this recording instead")
    parser.add_argument("--fields", type=Fields.parse, metavar="LIST",
                        help="what a record is made of, as in time_ns:u8,mv:8i2")
    parser.add_argument("--show", default="", metavar="NAME,…", help="these fields only")
    parser.add_argument("--samples", type=int, default=1000, metavar="N", help="the newest N")
    parser.add_argument("--seconds", type=float, metavar="S", help="stop after so long")
    parser.add_argument("--once", action="store_true", help="draw once, at the end")
    parser.add_argument("--png", type=Path, metavar="FILE", help="at the end, save a picture")
    parser.add_argument("--digital", metavar="NAME", help="show this field's bits as channels")
    parser.add_argument("--names", default="", metavar="NAME,…",
                        help="of the channels, bit 0 first (default D0,D1,…)")
    parser.add_argument("--trigger", metavar="CHANNEL:EDGE",
                        help="begin when a channel does this: rise or fall")
    parser.add_argument("--before", type=int, default=10, metavar="N",
                        help="records to keep from before the trigger (default 10)")
    parser.add_argument("--vcd", type=Path, metavar="FILE",
                        help="at the end, save the channels as a value change dump")
    parser.add_argument("--json", action="store_true",
                        help="draw nothing; at the end, the samples as one JSON object")


class Scope:
    """The newest samples of the columns that are shown."""

    def __init__(self, fields: Fields, show: str, samples: int) -> None:
        wanted = [name for name in show.split(",") if name]
        known = {f.name: f.columns() for f in fields.fields}
        if unknown := [name for name in wanted if name not in known]:
            raise ToolError(f"no such field: {', '.join(unknown)}", 2)
        names = [column for name in (wanted or known) for column in known[name]]
        self._fields = fields
        self._at = [fields.columns.index(name) for name in names]
        self.columns: dict[str, deque[Value]] = {name: deque(maxlen=samples) for name in names}

    def add(self, rows: Iterator[tuple[Value, ...]]) -> None:
        for row in rows:
            for values, at in zip(self.columns.values(), self._at, strict=True):
                values.append(row[at])

    def frame(self, width: int, height: int) -> str:
        return curves.frame({name: list(values) for name, values in self.columns.items()},
                            width, height)

    def save(self, path: Path) -> None:
        """All curves in one picture, below one another."""
        try:
            import matplotlib
        except ImportError as problem:
            raise ToolError("pictures need python3-matplotlib") from problem
        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(len(self.columns), sharex=True, squeeze=False,
                                       figsize=(10, 1.2 + 1.2 * len(self.columns)))
        for axis, (name, values) in zip(axes[:, 0], self.columns.items(), strict=True):
            axis.plot(list(values), linewidth=0.8)
            axis.set_ylabel(name)
        axes[-1, 0].set_xlabel("sample")
        figure.tight_layout()
        figure.savefig(path, format="png")
        pyplot.close(figure)


class Logic:
    """The same for the bits of one field, with a trigger."""

    def __init__(self, fields: Fields, args: argparse.Namespace) -> None:
        known = {f.name: f for f in fields.fields if f.count == 1 and f.type[0] in "iu"}
        for name in (args.digital, "time_ns"):
            if name not in known:
                raise ToolError(f"--digital needs a single whole number {name} in each record", 2)
        self._time, self._bits = (fields.columns.index(n) for n in ("time_ns", args.digital))
        self._names = digital.channel_names(8 * int(known[args.digital].type[1]), args.names)
        trigger = digital.Trigger.parse(args.trigger, self._names) if args.trigger else None
        self._analyser = digital.Analyser(trigger, args.before, args.samples)

    @property
    def full(self) -> bool:
        return self._analyser.full

    @property
    def columns(self) -> dict[str, list[int]]:
        """The moments, and each channel's level from each on."""
        samples = self._analyser.newest()
        return {"time_ns": [when for when, _ in samples],
                **{name: [levels >> n & 1 for _, levels in samples]
                   for n, name in enumerate(self._names)}}

    def add(self, rows: Iterator[tuple[Value, ...]]) -> None:
        self._analyser.add((int(row[self._time]), int(row[self._bits])) for row in rows)

    def frame(self, width: int, height: int) -> str:
        return digital.frame(self._analyser.newest(), self._names, width,
                             self._analyser.triggered_at)

    def save(self, path: Path) -> None:
        if not self._analyser.newest():
            raise ToolError("there is nothing to save: " + (
                "the trigger never came" if self._analyser.triggered_at is None else "no records"))
        save(path, digital.vcd(self._analyser.newest(), self._names))


def follow(scope: Scope | Logic, fifo: Fifo, fields: Fields,
           seconds: float | None) -> Iterator[None]:
    """Take what comes, and say when to draw; until the FIFO ends, `seconds` are over, or all that
    was asked for is there."""
    until = time.monotonic() + seconds if seconds is not None else float("inf")
    rest = b""
    while (now := time.monotonic()) < until:
        draw_at = min(now + REFRESH_S, until)
        while (left := draw_at - time.monotonic()) > 0:
            if not fifo.wait(left):
                continue
            data = rest + fifo.read(1 << 16)
            if data == rest:
                return
            whole = len(data) - len(data) % fields.record_bytes
            scope.add(fields.rows(data[:whole]))
            rest = data[whole:]
            if isinstance(scope, Logic) and scope.full:
                return
        yield


def live(scope: Scope | Logic, frames: Iterator[None]) -> None:
    try:
        from rich.live import Live
        from rich.text import Text
    except ImportError as problem:
        raise ToolError("live curves need python3-rich; --once does without") from problem
    with Live(screen=True, auto_refresh=False) as screen:
        for _ in frames:
            size = screen.console.size
            screen.update(Text(scope.frame(size.width, size.height)), refresh=True)


def made(args: argparse.Namespace, fields: Fields) -> Scope | Logic:
    return Logic(fields, args) if args.digital else Scope(fields, args.show, args.samples)


def run(args: argparse.Namespace, machine: Machine) -> int:
    if (args.fifo is None) == (args.file is None):
        raise ToolError("name a FIFO, or a --file", 2)
    if args.samples < 1:
        raise ToolError("--samples must be at least 1", 2)
    if args.digital is None and (args.names or args.trigger or args.vcd):
        raise ToolError("--names, --trigger and --vcd belong to --digital", 2)
    if args.digital and (args.png or args.show):
        raise ToolError("--digital has neither --png nor --show: --vcd saves it", 2)
    if not 0 <= args.before <= 1_000_000:
        raise ToolError("--before must be 0 to 1000000", 2)
    if args.file:
        recording = open_recording(args.file)
        fields = args.fields or recording.fields
        if fields is None:
            raise ToolError(f"{args.file} does not say what its records are made of: --fields", 2)
        scope = made(args, fields)
        for frame in recording.frames():
            scope.add(fields.rows(frame.data))
    else:
        if not args.fields:
            raise ToolError("a FIFO needs --fields", 2)
        scope = made(args, args.fields)
        try:
            with Fifo(int(args.fifo) if args.fifo.isdigit() else args.fifo, "r") as fifo:
                frames = follow(scope, fifo, args.fields, args.seconds)
                if args.once or args.json:
                    for _ in frames:
                        pass
                else:
                    live(scope, frames)
        except FileNotFoundError as problem:
            raise ToolError(f"{path_of(args.fifo)} is not there: {modules.no_fifo(machine)}"
                            ) from problem
        except OSError as problem:
            raise ToolError(f"{path_of(args.fifo)}: {problem.strerror}") from problem
        except KeyboardInterrupt:
            pass
    if args.json:
        print(json.dumps({"columns": {name: list(values)
                                      for name, values in scope.columns.items()}}))
    elif args.once or args.file:
        size = shutil.get_terminal_size((80, 24))
        sys.stdout.write(scope.frame(size.columns, size.lines - 1) + "\n")
    if args.png or args.vcd:
        scope.save(args.png or args.vcd)
    return 0
