# SPDX-License-Identifier: GPL-2.0-only
"""The host's end of the memory that the guest writes its results to (init/init.c tells why)."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from enum import IntEnum

MAGIC = 0x3168636E65427654
RING_OFFSET = 4096
NO_JOB = (1 << 64) - 1
HEAD, TAIL, JOB_BYTES, STOOD = 8, 64, 128, 136


class Record(IntEnum):
    """Kinds of records; keep in step with init/init.c."""

    STDOUT = 1
    STDERR = 2
    FILE = 3
    DATA = 4
    FILE_FAILED = 5
    STATUS = 6
    SETUP_FAILED = 7
    KMSG = 8
    READY = 9


class Channel:
    """Memory that QEMU shows to the guest as a PCI device.

    With `serial`, a second serial line beside it, for a guest that may not map devices.
    """

    def __init__(self, bytes_: int = 32 << 20, serial: bool = False) -> None:
        # Nameless: nothing is left behind however the bench ends.
        self.handle = os.memfd_create("channel")
        self.bytes = bytes_
        os.ftruncate(self.handle, bytes_)
        self._map = mmap.mmap(self.handle, bytes_)
        struct.pack_into("@Q", self._map, 0, MAGIC)
        self._ring = bytes_ - RING_OFFSET
        self._tail = 0
        self._pending = bytearray()
        self.line = os.memfd_create("line") if serial else None
        self._line_read = -1

    @property
    def handles(self) -> list[int]:
        """What QEMU inherits."""
        return [self.handle] if self.line is None else [self.handle, self.line]

    def qemu_args(self) -> list[str]:
        """The device, for QEMU's command line."""
        path = f"/proc/self/fd/{self.handle}"
        args = [
            "-object",
            f"memory-backend-file,id=channel,share=on,mem-path={path},size={self.bytes}",
            # The master's memory is part of a state that is kept.
            "-device", "ivshmem-plain,memdev=channel,master=on",
        ]
        if self.line is not None:
            args += ["-chardev", f"file,id=line,path=/proc/self/fd/{self.line}",
                     "-serial", "chardev:line"]
        return args

    @property
    def room(self) -> int:
        """What a job's archive may have: it lies where the records come later."""
        return self._ring

    def give(self, archive: bytes | None) -> None:
        """Hands a job to a guest that waits for it, and stands still meanwhile; None: there is
        none."""
        self._map[RING_OFFSET:RING_OFFSET + len(archive or b"")] = archive or b""
        struct.pack_into("@Q", self._map, JOB_BYTES, NO_JOB if archive is None else len(archive))

    def stood_ns(self) -> int:
        """How far the guest's TSC went while it waited."""
        (moved,) = struct.unpack_from("@Q", self._map, STOOD)
        return int(moved)

    def records(self) -> Iterator[tuple[Record, bytes]]:
        """What the guest has sent since the last call; a record cut off stays for the next."""
        # Native order: one aligned load, as the guest's one aligned store deserves.
        (head,) = struct.unpack_from("@Q", self._map, HEAD)
        while self._tail < head:
            at = self._tail % self._ring
            part = min(head - self._tail, self._ring - at)
            self._pending += self._map[RING_OFFSET + at:RING_OFFSET + at + part]
            self._tail += part
        # Gives the room back only after the bytes are copied.
        struct.pack_into("@Q", self._map, TAIL, self._tail)
        if self.line is not None:
            self._pending += self._line_more(self.line)
        at = 0
        while len(self._pending) - at >= 8:
            kind, size = struct.unpack_from("<II", self._pending, at)
            if len(self._pending) - at - 8 < size:
                break
            yield Record(kind), bytes(self._pending[at + 8:at + 8 + size])
            at += 8 + size
        del self._pending[:at]

    def _line_more(self, line: int) -> bytes:
        """What is new on the serial line, behind the magic number that parts records from what the
        firmware prints."""
        if self._line_read < 0:
            begin = os.pread(line, 1 << 20, 0).find(struct.pack("@Q", MAGIC))
            if begin < 0:
                return b""
            self._line_read = begin + 8
        more = os.pread(line, 1 << 26, self._line_read)
        self._line_read += len(more)
        return more

    def close(self) -> None:
        """Gives the memory back."""
        self._map.close()
        for handle in self.handles:
            os.close(handle)
