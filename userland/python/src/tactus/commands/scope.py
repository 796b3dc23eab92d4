# SPDX-License-Identifier: GPL-2.0-only
"""Draw what comes out of a FIFO as curves in the terminal, and save them as PNG.

It takes what it draws out of the FIFO: give it one of its own. --file draws a self-describing
recording. Live curves need Debian's python3-rich, pictures python3-matplotlib.
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

from tactus import curves, modules
from tactus.errors import ToolError
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


def follow(scope: Scope, fifo: Fifo, fields: Fields, seconds: float | None) -> Iterator[None]:
    """Take what comes, and say when to draw; until the FIFO ends, or `seconds` are over."""
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
        yield


def live(scope: Scope, frames: Iterator[None]) -> None:
    try:
        from rich.live import Live
        from rich.text import Text
    except ImportError as problem:
        raise ToolError("live curves need python3-rich; --once does without") from problem
    with Live(screen=True, auto_refresh=False) as screen:
        for _ in frames:
            size = screen.console.size
            screen.update(Text(scope.frame(size.width, size.height)), refresh=True)


def run(args: argparse.Namespace, machine: Machine) -> int:
    if (args.fifo is None) == (args.file is None):
        raise ToolError("name a FIFO, or a --file", 2)
    if args.samples < 1:
        raise ToolError("--samples must be at least 1", 2)
    if args.file:
        recording = open_recording(args.file)
        fields = args.fields or recording.fields
        if fields is None:
            raise ToolError(f"{args.file} does not say what its records are made of: --fields", 2)
        scope = Scope(fields, args.show, args.samples)
        for frame in recording.frames():
            scope.add(fields.rows(frame.data))
    else:
        if not args.fields:
            raise ToolError("a FIFO needs --fields", 2)
        scope = Scope(args.fields, args.show, args.samples)
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
    if args.png:
        scope.save(args.png)
    return 0
