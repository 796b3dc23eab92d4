# SPDX-License-Identifier: GPL-2.0-only
"""Port writes as the emulated machine received them, seen from outside of the guest.

QEMU's trace event ``memory_region_ops_write`` gives a line for each write to a device.
Order and values are exact; its times are the host's and are not used. The event also
fires for every write to the interrupt controller, so the lines go through a named pipe
and only those of the wanted devices are kept.

    with Capture(directory / "ports.txt") as capture:
        subprocess.run([..., *capture.qemu_arguments], check=True)
    writes = capture.writes()
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

SPEAKER = "pcspk"
"""Port 0x61; its offset is 0."""
PIT = "pit"
"""Ports 0x40 to 0x43; their offsets are 0 to 3."""
RTC = "rtc"
"""Ports 0x70 (offset 0) and 0x71 (offset 1)."""

_LINE = re.compile(
    r"memory_region_ops_write cpu -?\d+ mr \S+ addr 0x(?P<addr>[0-9a-f]+) "
    r"value 0x(?P<value>[0-9a-f]+) size \d+ name '(?P<name>[^']*)'"
)
_PORT = {SPEAKER: 0x61, PIT: 0x40, RTC: 0x70}


@dataclass(frozen=True)
class Write:
    """One write to a port."""

    port: int
    value: int


def parse(lines: Iterable[str]) -> list[Write]:
    """The port writes among QEMU's trace lines, in order."""
    writes = []
    for line in lines:
        match = _LINE.search(line)
        if not match or match["name"] not in _PORT:
            continue
        base = _PORT[match["name"]]
        # A region's address is the port itself or the offset in it, by QEMU's version.
        offset = int(match["addr"], 16)
        port = offset if offset >= base else base + offset
        writes.append(Write(port, int(match["value"], 16)))
    return writes


class TraceError(Exception):
    """The trace is missing or is not what it should be."""


class Capture:
    """Keeps the lines of the named devices while QEMU runs."""

    def __init__(self, path: Path, devices: Sequence[str] = (SPEAKER, PIT)) -> None:
        unknown = set(devices) - set(_PORT)
        if unknown:
            raise ValueError(f"devices not known: {', '.join(sorted(unknown))}")
        self.path = path
        self._devices = tuple(devices)
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._filter: subprocess.Popen[bytes] | None = None
        self._pipe = ""
        self._hold = -1

    @property
    def qemu_arguments(self) -> list[str]:
        """What QEMU needs on its command line; valid inside of the with block."""
        if not self._pipe:
            raise TraceError("the capture has not started")
        return ["-trace", f"memory_region_ops_write,file={self._pipe}"]

    def __enter__(self) -> Capture:
        self._directory = tempfile.TemporaryDirectory(prefix="porttrace-")
        self._pipe = os.path.join(self._directory.name, "trace")
        os.mkfifo(self._pipe)
        # grep, not Python: of some millions of lines a few thousand stay.
        patterns = [word for name in self._devices for word in ("-e", f"name '{name}'")]
        # Held open so that the filter ends with this block, not with a QEMU that opens
        # its log twice, and so that neither side waits for the other at the start.
        self._hold = os.open(self._pipe, os.O_RDWR)
        reading = os.open(self._pipe, os.O_RDONLY)
        with self.path.open("wb") as output:
            self._filter = subprocess.Popen(
                ["grep", "-F", *patterns], stdin=reading, stdout=output
            )
        os.close(reading)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._hold)
        assert self._filter and self._directory
        self._filter.wait()
        self._directory.cleanup()
        self._pipe = ""

    def writes(self) -> list[Write]:
        """What was kept; call it after the with block."""
        with self.path.open() as lines:
            return parse(lines)
