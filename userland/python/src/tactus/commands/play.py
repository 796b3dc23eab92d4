# SPDX-License-Identifier: GPL-2.0-only
"""Play a sound file on the PC speaker, by rt_speaker.

Any file that sox or ffmpeg can read. --mode and --volume hold for this sound and are put back
after it; the driver's statistics start from zero, and what they say is printed at the end.
SIGINT (^C) and SIGTERM stop the sound at once. The progress bar needs Debian's python3-rich.

Exit status: 0 played, 1 it could not be, 2 wrong command line, 130 stopped.
"""
from __future__ import annotations

import argparse
import contextlib
import dataclasses
import errno
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO

from tactus.errors import ToolError
from tactus.fifo import Fifo
from tactus.machine import Machine

HELP = "play a sound file on the PC speaker"
DRIVER = "/sys/module/rt_speaker"
MODES = ("auto", "slope", "sigma", "pwm")
RATES_HZ = (4000, 48000)  # what the driver's reader takes
CHUNK_BYTES = 8192
REFRESH_S = 0.1
STOPPED = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="what sox or ffmpeg can read")
    parser.add_argument("--mode", choices=MODES,
                        help="how the speaker is driven (default: as it is)")
    parser.add_argument("--volume", type=int, metavar="PERCENT",
                        help="0 to 400 (default: as it is)")
    parser.add_argument("--json", action="store_true", help="one JSON object, for programs")


@dataclass(frozen=True)
class Result:
    """What came of it; times as the driver measured them."""

    file: str
    stopped: bool
    seconds: float | None  # length of the file, if the decoder could tell
    mode: str
    clock: str
    period_ns: int
    levels: int  # 0: the mode has none
    frames: int  # of the sound that was sent, that have sounded
    samples: int
    underruns: int
    missed: int
    late_max_ns: int
    interval_min_ns: int
    interval_max_ns: int
    interval_max_dev_ns: int

    def human(self) -> str:
        how = f"{self.mode}, {1e9 / self.period_ns:.0f} Hz" if self.period_ns else self.mode
        if self.levels:
            how += f", {self.levels} levels"
        length = "" if self.seconds is None else f", {self.seconds:.1f} s"
        late = f"latest {self.late_max_ns} ns, " if self.clock == "task" else ""
        return (f"{self.file}{' (stopped)' if self.stopped else ''}{length}: {how}; "
                f"{late}intervals "
                f"{self.interval_min_ns} to {self.interval_max_ns} ns (off by up to "
                f"{self.interval_max_dev_ns}), {self.underruns} underruns, {self.missed} missed")


class Driver:
    """rt_speaker's files below /sys/module."""

    def __init__(self, machine: Machine) -> None:
        self._folder = machine.path(DRIVER)
        if not self._folder.is_dir():
            raise ToolError("rt_speaker is not loaded: modprobe rt_speaker")
        self.node = str(machine.path(f"/dev/rtf{self._read('parameters/fifo')}"))

    def _read(self, name: str) -> str:
        try:
            return (self._folder / name).read_text().strip()
        except OSError as problem:
            raise ToolError(f"{self._folder / name}: {problem.strerror}") from problem

    def set(self, name: str, value: str | int) -> None:
        path = self._folder / "control" / name
        try:
            path.write_text(f"{value}\n")
        except OSError as problem:
            raise ToolError(f"{path}: {value}: {problem.strerror}") from problem

    def now(self) -> dict[str, str]:
        return dict(word.split("=", 1) for word in self._read("control/now").split())

    def stat(self, name: str) -> int:
        return int(self._read(f"stats/{name}"))

    @contextlib.contextmanager
    def holding(self, settings: dict[str, str | int]) -> Iterator[None]:
        """These settings in the block, and those from before after it, last changed first."""
        before: list[tuple[str, str]] = []
        try:
            for name, value in settings.items():
                old = self._read(f"control/{name}")
                self.set(name, value)
                before.append((name, old))
            yield
        finally:
            for name, old in reversed(before):
                self.set(name, old)

    def result(self, file: Path, seconds: float | None, stopped: bool,
               now: dict[str, str]) -> Result:
        counted = [field.name for field in dataclasses.fields(Result)[7:]]
        return Result(str(file), stopped, seconds, now.get("mode", "?"), now.get("clock", "?"),
                      int(now.get("period_ns", 0)), int(now.get("levels", 0)),
                      *(self.stat(name) for name in counted))


class Decoder:
    """sox, or ffmpeg, writing the file as .au (16 bits, one channel) to a pipe."""

    def __init__(self, file: Path, rate_hz: int) -> None:
        commands = {
            "sox": ["sox", "-D", "-V1", str(file), "-t", "au", "-e", "signed-integer", "-b", "16",
                    "-c", "1", "-r", str(rate_hz), "-"],
            "ffmpeg": ["ffmpeg", "-v", "error", "-nostdin", "-i", str(file), "-f", "au", "-acodec",
                       "pcm_s16be", "-ac", "1", "-ar", str(rate_hz), "-"],
        }
        there = [name for name in commands if shutil.which(name)]
        if not there:
            raise ToolError("neither sox nor ffmpeg is there to read the file: install one of them")
        said = []
        for name in there:
            self.name = name
            self._errors = tempfile.TemporaryFile()
            # A session of its own: ^C is for us, who then stop the sound.
            self._process = subprocess.Popen(commands[name], stdout=subprocess.PIPE,
                                             stderr=self._errors, stdin=subprocess.DEVNULL,
                                             start_new_session=True)
            assert self._process.stdout
            self._pipe: IO[bytes] = self._process.stdout
            self.first = self._pipe.read(CHUNK_BYTES)
            if self.first:
                return
            said.append(f"{name} cannot read it: {self.end()}")
        raise ToolError(f"{file}: " + "; ".join(said))

    def chunks(self) -> Iterator[bytes]:
        yield self.first
        while data := os.read(self._pipe.fileno(), CHUNK_BYTES):
            yield data

    def end(self) -> str:
        """Make it end, if it has not; what it complained about, empty if it did not fail."""
        if self._process.poll() is None:
            self._pipe.close()
            try:
                self._process.wait(1)
            except subprocess.TimeoutExpired:
                self._process.kill()
        failed = self._process.wait() > 0
        self._pipe.close()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        self._errors.close()
        return (lines[-1] if lines else f"status {self._process.returncode}") if failed else ""


def length_of(file: Path) -> float | None:
    """Seconds of sound in the file, asked of whoever is there; None if nobody knows."""
    for command in (["sox", "--i", "-D", str(file)],
                    ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of",
                     "csv=p=0", str(file)]):
        if shutil.which(command[0]):
            done = subprocess.run(command, capture_output=True, text=True)
            with contextlib.suppress(ValueError):
                if (seconds := float(done.stdout)) > 0:
                    return seconds
    return None


@contextlib.contextmanager
def progress(file: Path, seconds: float | None) -> Iterator[Callable[[float], None]]:
    """A bar on the standard error if that is a terminal; the function takes seconds played."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        rich = False
    else:
        rich = sys.stderr.isatty()
    if not rich:
        yield lambda _played: None
        return
    bar = Progress(TextColumn("{task.description}"), BarColumn(),
                   TextColumn("{task.completed:.1f} s"),
                   TimeRemainingColumn(), console=Console(stderr=True), transient=True)
    with bar:
        task = bar.add_task(file.name, total=seconds)
        yield lambda played: bar.update(task, completed=played)


def send(driver: Driver, fifo: Fifo, decoder: Decoder, played: Callable[[], None]) -> None:
    """All of the sound into the FIFO, and wait until it has been heard."""
    poll = select.poll()
    poll.register(fifo.fileno(), select.POLLOUT)
    for chunk in decoder.chunks():
        data = memoryview(chunk)
        while data:
            poll.poll(REFRESH_S * 1000)
            played()
            with contextlib.suppress(BlockingIOError):
                data = data[fifo.write(data):]
    # Its own thread, as it takes as long as what is in the FIFO lasts.
    heard = threading.Thread(target=fifo.sync, daemon=True)
    heard.start()
    while heard.is_alive():
        heard.join(REFRESH_S)
        played()


def run(args: argparse.Namespace, machine: Machine) -> int:
    if args.volume is not None and not 0 <= args.volume <= 400:
        raise ToolError("--volume takes 0 to 400", 2)
    if not args.file.is_file():
        raise ToolError(f"{args.file}: no such file")
    driver = Driver(machine)

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    settings: dict[str, str | int] = {"raw": 0}
    settings |= {"mode": args.mode} if args.mode else {}
    settings |= {} if args.volume is None else {"volume": args.volume}
    # Also SIGINT: a shell starts what runs in its background with that one ignored.
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with driver.holding(settings):
            result, complaint = play(driver, args.file)
    except KeyboardInterrupt:  # before there was any sound
        return STOPPED
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    print(json.dumps(dataclasses.asdict(result)) if args.json else result.human())
    if complaint:
        raise ToolError(f"{args.file}: the rest could not be read: {complaint}")
    return STOPPED if result.stopped else 0


def play(driver: Driver, file: Path) -> tuple[Result, str]:
    """Play it as the driver is set; what came of it, and what the decoder complained about."""
    now = driver.now()
    period_ns = int(now.get("period_ns", 0))
    # The driver's own rate, so that only one resamples, and that is the decoder's filter.
    rate_hz = round(1e9 / period_ns) if period_ns else 16000
    decoder = Decoder(file, min(max(rate_hz, RATES_HZ[0]), RATES_HZ[1]))
    stopped = False
    try:
        seconds = length_of(file)
        with Fifo(driver.node, "w", nonblocking=True) as fifo:
            driver.set("clear", 1)
            try:
                with progress(file, seconds) as show:
                    send(driver, fifo, decoder, lambda: show(driver.stat("frames") / rate_hz))
            except KeyboardInterrupt:
                stopped = True
                driver.set("stop", 1)
            except BaseException:
                driver.set("stop", 1)
                raise
    except OSError as problem:
        reason = "somebody else plays" if problem.errno == errno.EBUSY else problem.strerror
        raise ToolError(f"{driver.node}: {reason}") from problem
    finally:
        complaint = decoder.end()
    return driver.result(file, seconds, stopped, now), "" if stopped else complaint
