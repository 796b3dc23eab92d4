# SPDX-License-Identifier: LGPL-2.1-or-later
"""RT-FIFOs for Python programs: /dev/rtfN and /dev/rtf/NAME.

    with Fifo("motor") as fifo:
        fifo.write(b"start")
        print(fifo.read(100))

    with Fifo(3) as fifo, fifo.mapped(SAMPLE) as reader:  # zero copy; SAMPLE is a numpy dtype
        for samples in reader:
            print(samples["volts"].mean())

    async for data in AsyncFifo(3): ...

Sizes are in bytes everywhere. What goes wrong is an OSError with the errno of rtf(4).
"""
from __future__ import annotations

import asyncio
import errno
import fcntl
import mmap
import os
import select
import struct
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    import numpy as np

CONTROL = "/dev/rtfctl"
NAME_MAX_BYTES = 31


def _ioc(direction: int, number: int, size: int) -> int:
    return direction << 30 | size << 16 | 0xEB << 8 | number


_STATS = struct.Struct("=8I2Q")
_U32 = struct.Struct("=I")
_LAYOUT = struct.Struct("=4I")
_CONSUME = struct.Struct("=2I")
_NEW = struct.Struct(f"=iII{NAME_MAX_BYTES + 1}s")
_IOC_STATS = _ioc(2, 0, _STATS.size)
_IOC_RESIZE = _ioc(1, 1, _U32.size)
_IOC_FLUSH = _ioc(0, 2, 0)
_IOC_LOWAT = _ioc(1, 3, _U32.size)
_IOC_RECORD = _ioc(1, 4, _U32.size)
_IOC_CLAIM = _ioc(2, 5, _LAYOUT.size)
_IOC_RELEASE = _ioc(0, 6, 0)
_IOC_CONSUME = _ioc(1, 7, _CONSUME.size)
_IOC_CREATE = _ioc(3, 16, _NEW.size)
_IOC_DESTROY = _ioc(1, 17, _U32.size)
_TAIL_OFFSET = 64  # of struct rtf_map


class Stats(NamedTuple):
    """What RTF_IOC_STATS tells; "in" is towards the RT side, "out" from it."""

    size: int
    used_in: int
    used_out: int
    high_in: int  # the most bytes there were
    high_out: int
    openers: int
    number: int
    record: int  # bytes of a record; 0: none
    drops: int  # puts of the RT side that did not fit
    lost_bytes: int  # out bytes that were overwritten unread


class Layout(NamedTuple):
    """Where things are in a mapped FIFO."""

    index_bytes: int
    data_bytes: int
    size: int
    record: int


class Overwritten(OSError):
    """What was being read in place has been overwritten meanwhile: it is void."""

    def __init__(self) -> None:
        super().__init__(errno.ESTALE, "overwritten while it was read")


def path_of(fifo: int | str) -> str:
    """The node of a FIFO given by number, name or path."""
    if isinstance(fifo, int):
        return f"/dev/rtf{fifo}"
    if "/" in fifo:
        return fifo
    return f"/dev/rtf{fifo}" if fifo.isdigit() else f"/dev/rtf/{fifo}"


def _control(request: int, argument: bytes) -> bytes:
    fd = os.open(CONTROL, os.O_RDWR | os.O_CLOEXEC)
    try:
        return fcntl.ioctl(fd, request, argument)
    finally:
        os.close(fd)


def create(size: int, *, number: int | None = None, name: str | None = None,
           record: int = 0) -> int:
    """Create a FIFO and return its number; it stays until destroy(). Needs CAP_SYS_RESOURCE."""
    raw = (name or "").encode()
    if name == "" or len(raw) > NAME_MAX_BYTES or not 0 <= size < 1 << 32 or \
            not 0 <= record < 1 << 32:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    new = _NEW.pack(-1 if number is None else number, size, record, raw)
    return int(_NEW.unpack(_control(_IOC_CREATE, new))[0])


def destroy(number: int) -> None:
    """End a FIFO that create() made. Needs CAP_SYS_RESOURCE."""
    _control(_IOC_DESTROY, _U32.pack(number))


class Fifo:
    """An open FIFO; a context manager. `mode` is "r", "w" or "rw"."""

    def __init__(self, fifo: int | str, mode: str = "rw", *, nonblocking: bool = False) -> None:
        self._fd = -1
        flags = {"r": os.O_RDONLY, "w": os.O_WRONLY, "rw": os.O_RDWR}[mode]
        self.path = path_of(fifo)
        self._fd = os.open(self.path, flags | os.O_CLOEXEC | (os.O_NONBLOCK if nonblocking else 0))
        self.lowat = 1  # as set_lowat() has it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close it; a second time does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def fileno(self) -> int:
        """The file descriptor, for select() and its like."""
        if self._fd < 0:
            raise ValueError("the FIFO is closed")
        return self._fd

    def read(self, count: int) -> bytes:
        """What there is, up to `count` bytes; waits for the first. b"": the FIFO has ended."""
        return os.read(self.fileno(), count)

    def readinto(self, buffer: bytearray | memoryview) -> int:
        """The same into a buffer; returns how many bytes."""
        return os.readv(self.fileno(), [buffer])

    def read_all(self, count: int) -> bytes:
        """Exactly `count` bytes; fewer only if the FIFO ends."""
        parts = []
        while count and (part := self.read(count)):
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def write(self, data: bytes | bytearray | memoryview) -> int:
        """Write all of it (non-blocking: what fits); returns how many bytes."""
        done = os.write(self.fileno(), data)
        with memoryview(data) as whole:
            # A signal may have ended a long one in the middle.
            while 0 < done < whole.nbytes and os.get_blocking(self.fileno()):
                done += os.write(self.fileno(), whole.cast("B")[done:])
        return done

    def sync(self) -> None:
        """Wait until the RT side has taken all that was written."""
        os.fsync(self.fileno())

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until a read would not; False if the time was over first."""
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN)
        return bool(poll.poll(None if timeout_s is None else timeout_s * 1000))

    def stats(self) -> Stats:
        """Sizes and counts as of now."""
        return Stats(*_STATS.unpack(fcntl.ioctl(self.fileno(), _IOC_STATS, bytes(_STATS.size))))

    def resize(self, size: int) -> None:
        """Change the size and keep the data. Needs CAP_SYS_RESOURCE."""
        fcntl.ioctl(self.fileno(), _IOC_RESIZE, _U32.pack(size))

    def set_record(self, size: int) -> None:
        """Only whole records of that many bytes from now on; 0: bytes. Needs CAP_SYS_RESOURCE."""
        fcntl.ioctl(self.fileno(), _IOC_RECORD, _U32.pack(size))

    def set_lowat(self, count: int) -> None:
        """Reads and waits of this open file are content with no fewer bytes."""
        fcntl.ioctl(self.fileno(), _IOC_LOWAT, _U32.pack(count))
        self.lowat = count

    def flush(self) -> int:
        """Forget what is unread; returns how many bytes."""
        return fcntl.ioctl(self.fileno(), _IOC_FLUSH)

    def mapped(self, dtype: np.dtype[Any] | None = None) -> Reader:
        """Become the FIFO's only reader, without copying. Items are bytes, or of a numpy dtype.

        ValueError: one item is larger than the FIFO.
        """
        return Reader(self, dtype)


class Reader:
    """The FIFO's memory, read where it lies; a context manager, and iterable by batches.

    view() gives the readable bytes; it stays valid until consume() or close(). A FIFO whose RT side
    overwrites may do so under the reader: then intact() is False and consume() raises Overwritten.
    """

    def __init__(self, fifo: Fifo, dtype: np.dtype[Any] | None = None) -> None:
        self._fifo = fifo
        self._dtype = dtype
        self._item = dtype.itemsize if dtype is not None else 1
        fd = fifo.fileno()
        raw = fcntl.ioctl(fd, _IOC_CLAIM, bytes(_LAYOUT.size))
        self.layout = Layout(*_LAYOUT.unpack(raw))
        length = self.layout.index_bytes + 2 * self.layout.data_bytes
        try:
            if self._item > self.layout.size:
                raise ValueError(f"items of {self._item} bytes never fit into a FIFO of "
                                 f"{self.layout.size}")
            self._map: mmap.mmap | None = mmap.mmap(fd, length, mmap.MAP_SHARED, mmap.PROT_READ)
        except BaseException:
            fcntl.ioctl(fd, _IOC_RELEASE)
            raise
        self._memory = memoryview(self._map)
        self._u32 = self._memory[:128].cast("I")
        self._from = self._tail()
        if self._item > 1:
            fcntl.ioctl(fd, _IOC_LOWAT, _U32.pack(self._item))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    # x86 loads are not reordered with loads, and one aligned load of 4 bytes is what memoryview
    # makes of an "I".
    def _head(self) -> int:
        return self._u32[0]

    def _tail(self) -> int:
        return self._u32[_TAIL_OFFSET // 4]

    def view(self) -> Any:
        """What there is: a read-only memoryview, or with a dtype a numpy array of whole items."""
        while True:
            self._from = self._tail()
            count = (self._head() - self._from) % (1 << 32)
            if count <= self.layout.size:  # else it was overwritten between the two
                break
        count -= count % self._item
        start = self.layout.index_bytes + (self._from & (self.layout.data_bytes - 1))
        if self._dtype is None:
            return self._memory[start:start + count]
        import numpy as np

        return np.frombuffer(self._memory, dtype=self._dtype, count=count // self._item,
                             offset=start)

    def intact(self) -> bool:
        """Has nothing of the last view() been overwritten so far?"""
        return self._tail() == self._from

    def consume(self, items: int) -> None:
        """Done with the first `items` (bytes, or of the dtype) of the last view()."""
        part = _CONSUME.pack(self._from, items * self._item)
        try:
            fcntl.ioctl(self._fifo.fileno(), _IOC_CONSUME, part)
        except OSError as problem:
            if problem.errno == errno.ESTALE:
                raise Overwritten from problem
            raise
        self._from = (self._from + items * self._item) % (1 << 32)

    def __iter__(self) -> Iterator[Any]:
        """All there is, batch by batch; one is consumed when the next is asked for. Ends with the
        FIFO."""
        while True:
            view = self.view()
            if not len(view):
                ended = not self._wait()
                if ended and not len(self.view()):
                    return
                continue
            count = len(view)
            yield view
            del view
            self.consume(count)

    def _wait(self) -> bool:
        """Wait for data; False if the FIFO has been destroyed."""
        poll = select.poll()
        poll.register(self._fifo.fileno(), select.POLLIN)
        return not any(events & select.POLLHUP for _, events in poll.poll())

    def close(self) -> None:
        """Give the FIFO back to all readers; while a view is in use, that waits for its end."""
        if self._map is None:
            return
        mapped, self._map = self._map, None
        self._u32.release()
        self._memory.release()
        try:
            mapped.close()
        except BufferError:
            return  # goes with its last view, and the claim with it when the FIFO is closed
        if self._item > 1:
            self._fifo.set_lowat(min(self._fifo.lowat, self.layout.size))
        fcntl.ioctl(self._fifo.fileno(), _IOC_RELEASE)


class AsyncFifo:
    """A FIFO in an asyncio program: it lets other tasks run while it waits; iterable by chunks."""

    def __init__(self, fifo: int | str, mode: str = "rw", *, chunk: int = 65536) -> None:
        self.fifo = Fifo(fifo, mode, nonblocking=True)
        self._chunk = chunk

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, value: BaseException | None,
                        trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close it; a second time does nothing."""
        self.fifo.close()

    async def _ready(self, *, writing: bool) -> None:
        loop = asyncio.get_running_loop()
        ready = loop.create_future()
        fd = self.fifo.fileno()
        add, remove = (loop.add_writer, loop.remove_writer) if writing else (
            loop.add_reader, loop.remove_reader)
        add(fd, lambda: None if ready.done() else ready.set_result(None))
        try:
            await ready
        finally:
            remove(fd)

    async def read(self, count: int) -> bytes:
        """What there is, up to `count` bytes; waits for the first. b"": the FIFO has ended."""
        while True:
            try:
                return self.fifo.read(count)
            except BlockingIOError:
                await self._ready(writing=False)

    async def write(self, data: bytes) -> int:
        """Write all of it; returns how many bytes."""
        done = 0
        while done < len(data):
            try:
                done += self.fifo.write(data[done:])
            except BlockingIOError:
                await self._ready(writing=True)
        return done

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while data := await self.read(self._chunk):
            yield data
