# SPDX-License-Identifier: LGPL-2.1-or-later
"""Control of programs in RT mode: their threads and demotions, and their objects by name.

    for thread in threads():
        print(thread.name, thread.mode, thread.demotions)

    Event("start").set(1)                       # an RT task waits for it
    orders = Mailbox("orders", struct.calcsize("=d"), 8)
    orders.send(struct.pack("=d", 1.5))

A thread of Python may enter RT mode, too, to try things: enter(), wait(), leave(). The interpreter
allocates memory as it likes, so expect demotions, and write loops that matter in C.

By libtactus.so.1, see libtactus(3). What goes wrong is an OSError with the errno told there.
"""
from __future__ import annotations

import ctypes
import errno
import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tactus import sysfs

LIBRARY = "libtactus.so.1"
NO_DEADLINE = 2**63 - 1
REASONS = ("none", "leave", "syscall", "trap", "signal", "stopped", "memory")


# ---- what the files say ----

@dataclass(frozen=True)
class Thread:
    """A line of /sys/kernel/tactus/users."""

    pid: int
    name: str
    uid: int
    mode: str
    pages: int
    promotions: int
    leaves: int
    demotions: int
    reason: str
    what: int
    address: str
    ip: str


@dataclass(frozen=True)
class Demotion:
    """A line of /sys/kernel/tactus/demotions."""

    when_ns: int
    pid: int
    task: str
    reason: str
    what: int
    address: str
    ip: str


def _lines(kind: type[Any], name: str, root: Path) -> list[Any]:
    text = (root / sysfs.FOLDER.lstrip("/") / name).read_text()
    wanted = [field.name for field in fields(kind)]
    return [kind(**{column: row[column] for column in wanted}) for row in sysfs.parse_table(text)]


def threads(root: Path = Path("/")) -> list[Thread]:
    """Of all programs that have /dev/rt open, those that ever entered RT mode."""
    return _lines(Thread, "users", root)


def demotions(root: Path = Path("/")) -> list[Demotion]:
    """The last ones, oldest first."""
    return _lines(Demotion, "demotions", root)


# ---- libtactus ----

class _Attr(ctypes.Structure):
    _fields_ = [("period_ns", ctypes.c_int64), ("start_ns", ctypes.c_int64),
                ("deadline_ns", ctypes.c_int64), ("budget_ns", ctypes.c_int64),
                ("priority", ctypes.c_uint32), ("cpu", ctypes.c_int32),
                ("flags", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class _Job(ctypes.Structure):
    _fields_ = [("release_ns", ctypes.c_int64), ("number", ctypes.c_int64)]


class _Stat(ctypes.Structure):
    _fields_ = [("promotions", ctypes.c_uint64), ("demotions", ctypes.c_uint64 * len(REASONS)),
                ("reason", ctypes.c_uint32), ("vector", ctypes.c_uint32),
                ("ip", ctypes.c_uint64), ("address", ctypes.c_uint64),
                ("error_code", ctypes.c_uint64), ("nr", ctypes.c_uint64),
                ("pages", ctypes.c_uint64), ("pages_ns", ctypes.c_uint64),
                ("huge_pages", ctypes.c_uint64)]


_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "rt_init": (), "rt_enter": (ctypes.POINTER(_Attr),), "rt_wait": (ctypes.POINTER(_Job),),
    "rt_leave": (), "rt_stat": (ctypes.POINTER(_Stat),),
    "rt_sem_open": (ctypes.c_char_p, ctypes.c_uint), "rt_sem_post": (ctypes.c_int,),
    "rt_evt_open": (ctypes.c_char_p, ctypes.c_uint),
    "rt_evt_set": (ctypes.c_int, ctypes.c_uint), "rt_evt_clear": (ctypes.c_int, ctypes.c_uint),
    "rt_mbx_open": (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint),
    "rt_mbx_send_until": (ctypes.c_int, ctypes.c_char_p, ctypes.c_int64),
    "rt_mbx_receive_until": (ctypes.c_int, ctypes.c_char_p, ctypes.c_int64),
}
_loaded: ctypes.CDLL | None = None


def _library() -> ctypes.CDLL:
    global _loaded
    if _loaded is None:
        found = ctypes.CDLL(LIBRARY)
        for name, arguments in _ARGUMENTS.items():
            getattr(found, name).argtypes = arguments
            getattr(found, name).restype = ctypes.c_int
        found.rt_now.restype = ctypes.c_int64
        found.rt_why.restype = ctypes.c_char_p
        _loaded = found
    return _loaded


def _call(name: str, *arguments: object) -> int:
    result = int(getattr(_library(), name)(*arguments))
    if result < 0:
        raise OSError(-result, os.strerror(-result), name)
    return result


def now() -> int:
    """The clock of RT mode, ns."""
    _call("rt_init")
    return int(_library().rt_now())


def enter(*, period_ns: int, budget_ns: int, priority: int, start_ns: int = 0,
          deadline_ns: int = 0, cpu: int = -1) -> None:
    """The calling thread goes on in RT mode; as rt_enter(). The error has its sentence."""
    attr = _Attr(period_ns, start_ns, deadline_ns, budget_ns, priority, cpu, 0, 0)
    result = _library().rt_enter(ctypes.byref(attr))
    if result < 0:
        raise OSError(-result, _library().rt_why().decode())


def wait() -> tuple[int, int]:
    """The end of a job; release, ns, and number of the next. As rt_wait()."""
    job = _Job()
    _call("rt_wait", ctypes.byref(job))
    return job.release_ns, job.number


def leave() -> None:
    """Back to Linux; nothing happens if the thread is there already."""
    result = _library().rt_leave()
    if result < 0 and result != -errno.ENOSYS:
        raise OSError(-result, os.strerror(-result), "rt_leave")


def stat() -> dict[str, int | str | dict[str, int]]:
    """What happened to the calling thread: promotions, demotions by reason, the last one."""
    found = _Stat()
    _call("rt_stat", ctypes.byref(found))
    by_reason = dict(zip(REASONS, found.demotions, strict=True))
    return {"promotions": found.promotions, "demotions": by_reason,
            "reason": REASONS[found.reason], "vector": found.vector, "ip": found.ip,
            "address": found.address, "nr": found.nr, "pages": found.pages}


# ---- objects that RT code waits for; from Linux nothing here waits ----

class Semaphore:
    """A semaphore by its name, made if there is none; @count: how many waits it starts with."""

    def __init__(self, name: str, count: int = 0) -> None:
        self._number = _call("rt_sem_open", name.encode(), count)

    def post(self) -> None:
        """Let one wait end."""
        _call("rt_sem_post", self._number)


class Event:
    """32 flags by their name, made if there are none, with @flags."""

    def __init__(self, name: str, flags: int = 0) -> None:
        self._number = _call("rt_evt_open", name.encode(), flags)

    def set(self, flags: int) -> None:
        """Every task that has what it waits for goes on."""
        _call("rt_evt_set", self._number, flags)

    def clear(self, flags: int) -> None:
        _call("rt_evt_clear", self._number, flags)


class Mailbox:
    """Messages of @size bytes, @room of them, by name; made if there is none."""

    def __init__(self, name: str, size: int, room: int) -> None:
        self._number = _call("rt_mbx_open", name.encode(), size, room)
        self._size = size

    def send(self, message: bytes) -> bool:
        """False: there is no room."""
        if len(message) != self._size:
            raise ValueError(f"a message of {len(message)} bytes, not {self._size}")
        return self._try("rt_mbx_send_until", message)

    def receive(self) -> bytes | None:
        """The oldest message, or None."""
        buffer = ctypes.create_string_buffer(self._size)
        return buffer.raw if self._try("rt_mbx_receive_until", buffer) else None

    def _try(self, name: str, message: object) -> bool:
        try:
            _call(name, self._number, message, 0)
        except OSError as problem:
            if problem.errno == errno.ETIMEDOUT:
                return False
            raise
        return True
