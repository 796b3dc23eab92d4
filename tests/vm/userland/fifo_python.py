# SPDX-License-Identifier: GPL-2.0-only
"""Runs in the guest: tactus.fifo against /dev/rtfN, with the module fifo_test as the RT side.

Each case prints "ok NAME" or "not ok NAME: why".
"""
from __future__ import annotations

import asyncio
import errno
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tactus import fifo as rtf
from tactus.fifo import AsyncFifo, Fifo


def rt(command: str | bytes) -> int:
    """What fifo_test's command returned."""
    fd = os.open("/proc/fifo_test", os.O_RDWR)
    try:
        os.write(fd, command if isinstance(command, bytes) else command.encode())
        return int(os.read(fd, 70000).split(b" ", 1)[0])
    finally:
        os.close(fd)


def rt_get(number: int, count: int) -> bytes:
    fd = os.open("/proc/fifo_test", os.O_RDWR)
    try:
        os.write(fd, f"irq get {number} {count}".encode())
        return os.read(fd, 70000).split(b" ", 1)[1]
    finally:
        os.close(fd)


def fails(why: int, call: Callable[[], object]) -> None:
    try:
        call()
    except OSError as problem:
        assert problem.errno == why, problem
    else:
        raise AssertionError("no error")


def basics() -> None:
    assert rt("linux create 3 100") == 0
    fails(errno.ENODEV, lambda: Fifo(4))
    fails(errno.ENOENT, lambda: Fifo("none"))
    with Fifo(3) as fifo:
        assert rt(b"irq put 3 hello") == 5
        assert fifo.wait(0)
        assert fifo.read(100) == b"hello"
        assert not fifo.wait(0.01)
        assert fifo.write(b"to rt") == 5
        assert rt_get(3, 5) == b"to rt"
        fifo.sync()
        assert rt("irq fill 3 101") == -errno.ENOSPC
        assert rt("irq fill 3 70") == 70
        stats = fifo.stats()
        assert stats == rtf.Stats(100, 0, 70, 5, 70, 1, 3, 0, 1, 0), stats
        fifo.resize(200)
        assert fifo.stats().size == 200
        fifo.set_lowat(71)
        assert not fifo.wait(0)
        buffer = bytearray(10)
        assert fifo.readinto(buffer) == 10 and buffer == b"x" * 10
        assert fifo.flush() == 60
        fifo.set_record(8)
        fails(errno.EINVAL, lambda: fifo.write(b"abc"))
        with Fifo(3, "r", nonblocking=True) as other:
            fails(errno.EAGAIN, lambda: other.read(8))
            fails(errno.EBADF, lambda: other.write(b"12345678"))
    try:
        fifo.read(1)
    except ValueError:
        pass
    else:
        raise AssertionError("read from a closed one")


def from_user_space() -> None:
    number = rtf.create(96, name="motor", record=8)
    assert Path("/dev/rtf/motor").is_char_device()
    with Fifo("motor") as fifo:
        assert fifo.stats().number == number and fifo.stats().record == 8
        assert rt(f"irq put {number} 12345678") == 8
        assert fifo.read(100) == b"12345678"
        fails(errno.EEXIST, lambda: rtf.create(96, name="motor"))
        fails(errno.EBUSY, lambda: rtf.create(96, number=number))
        fails(errno.EINVAL, lambda: rtf.create(96, name=""))
        fails(errno.EINVAL, lambda: rtf.create(96, name="n" * 32))
        fails(errno.EINVAL, lambda: rtf.create(0))
        rtf.destroy(number)
        assert fifo.read_all(10) == b""
    fails(errno.ENODEV, lambda: rtf.destroy(number))


def in_place() -> None:
    assert rt("linux create 0 4000") == 0
    with Fifo(0, "r") as fifo, fifo.mapped() as reader:
        with Fifo(0, "r") as other:
            fails(errno.EBUSY, lambda: other.read(1))
        for turn in range(50):  # past the end of the ring
            text = f"message {turn}".encode() * 20
            assert rt(b"irq put 0 " + text) == len(text)
            view = reader.view()
            assert bytes(view) == text
            assert reader.intact()
            reader.consume(len(view))
        del view
        assert len(reader.view()) == 0
        fails(errno.EINVAL, lambda: reader.consume(1))
        assert rt("irq fill 0 4000") == 4000
        view = reader.view()
        assert rt(b"irq over 0 new") == 3
        assert not reader.intact()
        fails(errno.ESTALE, lambda: reader.consume(10))
        del view
    with Fifo(0, "r") as other:  # released
        assert other.read(4000)[-3:] == b"new"


def structured() -> None:
    kind = np.dtype([("k", "<u4"), ("volts", "<f8")])
    assert rt("linux create 0 4096") == 0
    sent = np.zeros(1000, kind)
    sent["k"] = np.arange(1000)
    sent["volts"] = np.sin(sent["k"] / 10)
    got = []

    def produce() -> None:
        for start in range(0, 1000, 10):
            part = sent[start:start + 10].tobytes()
            while rt(b"irq put 0 " + part) != len(part):
                time.sleep(0.001)
        rt("linux destroy 0")

    with Fifo(0, "r") as fifo:
        with fifo.mapped(kind) as reader:
            assert rt(b"irq put 0 abc") == 3  # not a whole one: not seen
            assert len(reader.view()) == 0
            assert fifo.flush() == 3
            thread = threading.Thread(target=produce)
            thread.start()
            for samples in reader:
                assert samples.dtype == kind and not samples.flags.owndata
                assert not samples.flags.writeable
                got.append(samples.copy())
            thread.join()
    assert np.array_equal(np.concatenate(got), sent)


def after_a_reader() -> None:
    """A mapped reader of large items leaves the open file as it was."""
    assert rt("linux create 0 1000") == 0
    with Fifo(0, "r") as fifo:
        with fifo.mapped(np.dtype("S100")):
            assert rt(b"irq put 0 abc") == 3
            assert not fifo.wait(0)
        assert fifo.wait(0)
        assert fifo.read(100) == b"abc"
        fifo.set_lowat(2)
        with fifo.mapped(np.dtype("S100")):
            pass
        assert rt(b"irq put 0 a") == 1
        assert not fifo.wait(0)
        try:
            fifo.mapped(np.dtype("S1001"))
        except ValueError as problem:
            assert "1001" in str(problem) and "1000" in str(problem)
        else:
            raise AssertionError("an item that never fits")
        with Fifo(0, "r", nonblocking=True) as other:  # the claim is given back
            assert other.read(1) == b"a"


def interrupted_write() -> None:
    """A signal in the middle does not make it short."""
    assert rt("linux create 0 1000") == 0
    got = []

    def take() -> None:
        while sum(map(len, got)) < 20000:
            time.sleep(0.003)
            if (count := rt("irq used 0")) > 0:
                got.append(rt_get(0, count))

    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    thread = threading.Thread(target=take)
    try:
        with Fifo(0, "w") as fifo:
            thread.start()
            written = fifo.write(memoryview(np.arange(5000, dtype="<u4")))
            if written < 20000:
                os.write(fifo.fileno(), bytes(20000 - written))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        thread.join()
    assert written == 20000, written
    assert b"".join(got) == np.arange(5000, dtype="<u4").tobytes()


def asynchronous() -> None:
    assert rt("linux create 0 1000") == 0
    ticks = 0

    async def count() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.001)
            ticks += 1

    async def main() -> bytes:
        counter = asyncio.create_task(count())
        parts = []
        async with AsyncFifo(0) as fifo:
            assert await fifo.write(b"x" * 1000) == 1000
            writer = asyncio.create_task(fifo.write(b"y" * 500))  # has to wait for room
            await asyncio.sleep(0.02)
            assert not writer.done()
            assert rt("irq flush 0") == 1000
            assert await writer == 500
            assert rt("out 0 100 1000 5000") == 0
            async for part in fifo:
                parts.append(part)
                if sum(map(len, parts)) == 5000:
                    rt("linux destroy 0")
        counter.cancel()
        return b"".join(parts)

    got = asyncio.run(main())
    assert got == bytes((k ^ k >> 8 ^ k >> 16) & 255 for k in range(5000))
    assert ticks > 10  # others ran while it waited


CASES = [basics, from_user_space, in_place, structured, after_a_reader, interrupted_write,
         asynchronous]


def main() -> int:
    failed = 0
    for case in CASES:
        try:
            case()
            print(f"ok {case.__name__}", flush=True)
        except BaseException as problem:
            traceback.print_exc()
            print(f"not ok {case.__name__}: {problem!r}", flush=True)
            failed += 1
        for number in range(8):
            rt(f"linux destroy {number}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
