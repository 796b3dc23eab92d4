# SPDX-License-Identifier: GPL-2.0-only
"""What is shown while a trial runs: taps, beats, and the asynchronies so far."""
from __future__ import annotations

import sys
import time
from collections import deque
from typing import IO, Protocol

from tactus import curves
from tactus.tap import timing
from tactus.tap.records import Record

KEPT = 200  # of the newest taps
REFRESH_S = 0.2
LINE_S = 1.0  # between lines where there is no terminal


class Progress:
    """Follows the records of a trial; times in ms."""

    def __init__(self) -> None:
        self.taps = self.tones = self.triggers = 0
        self.now_ns = 0
        self.intervals: deque[float] = deque(maxlen=KEPT)
        self.asynchronies: deque[float] = deque(maxlen=KEPT)
        self._last_tap: int | None = None
        self._last_tone: int | None = None
        self._waiting: int | None = None  # a tap whose nearest tone may be the next one

    def add(self, record: Record) -> None:
        self.now_ns = max(self.now_ns, record.actual_ns)
        if record.tap:
            self.taps += 1
            if self._last_tap is not None:
                self.intervals.append((record.actual_ns - self._last_tap) / 1e6)
            self._last_tap = record.actual_ns
            self._settle()
            self._waiting = record.actual_ns
        elif record.tone:
            self.tones += 1
            if self._waiting is not None:
                before = self._last_tone
                after = record.actual_ns - self._waiting
                if before is None or after < self._waiting - before:
                    self._note(-after)
                    self._waiting = None
                else:
                    self._settle()
            self._last_tone = record.actual_ns

    def _settle(self) -> None:
        """The tap that waits belongs to the last tone."""
        if self._waiting is not None and self._last_tone is not None:
            self._note(self._waiting - self._last_tone)
        self._waiting = None

    def _note(self, off_ns: int) -> None:
        # Taps after the tones have stopped have none; half a usual interval is the border.
        usual = timing.mean(list(self.intervals)) if self.intervals else 1000.0
        if abs(off_ns) <= usual * 1e6 / 2:
            self.asynchronies.append(off_ns / 1e6)

    @staticmethod
    def _told(name: str, values: deque[float]) -> str:
        if not values:
            return f"{name} -"
        series = list(values)
        return (f"{name} {series[-1]:.1f}, mean {timing.mean(series):.1f}, "
                f"SD {timing.sd(series):.1f} ms")

    def line(self) -> str:
        return (f"{self.now_ns / 1e9:8.3f} s  {self.taps} taps, {self.tones} tones; "
                f"{self._told('interval', self.intervals)}; "
                f"{self._told('asynchrony', self.asynchronies)}")

    def frame(self, width: int, height: int) -> str:
        head = [self.line()[:width], "^C ends the trial"[:width]]
        shown = curves.frame({"interval, ms": list(self.intervals),
                              "asynchrony, ms": list(self.asynchronies)}, width, height - len(head))
        return "\n".join([*head, shown])


class View(Protocol):
    """Shows a trial as it goes on."""

    def show(self, progress: Progress) -> None: ...

    def close(self) -> None: ...


class LineView:
    """A line a second, for logs and pipes."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._next = 0.0

    def show(self, progress: Progress) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE_S
            print(progress.line(), file=self._file, flush=True)

    def close(self) -> None:
        pass


class NoView:
    """Shows nothing."""

    def show(self, progress: Progress) -> None:
        pass

    def close(self) -> None:
        pass


class ScreenView:
    """The whole terminal, by rich."""

    def __init__(self) -> None:
        from rich.live import Live
        from rich.text import Text

        self._text = Text
        self._live = Live(screen=True, auto_refresh=False)
        self._live.start()
        self._next = 0.0

    def show(self, progress: Progress) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + REFRESH_S
        size = self._live.console.size
        self._live.update(self._text(progress.frame(size.width, size.height)), refresh=True)

    def close(self) -> None:
        self._live.stop()


def choose(quiet: bool) -> View:
    """The best there is: a screen on a terminal if rich is installed, else lines on stderr."""
    if quiet:
        return NoView()
    if sys.stderr.isatty() and sys.stdout.isatty():
        try:
            return ScreenView()
        except ImportError:
            pass
    return LineView(sys.stderr)
