# SPDX-License-Identifier: GPL-2.0-only
"""The machine the tool works on: its files, its programs, its kernel log.

All that touches the system is here, below one root folder, so that the tests can put
a folder of their own in its place.
"""
from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class LoadedModule:
    """One line of /proc/modules."""

    name: str
    refcount: int
    users: tuple[str, ...]
    permanent: bool


def parse_modules(text: str) -> dict[str, LoadedModule]:
    """Parse /proc/modules: name size refcount users state address."""
    modules = {}
    for line in text.splitlines():
        name, _size, refcount, users, *_rest = line.split()
        names = tuple(user for user in users.split(",") if user not in ("", "-"))
        modules[name] = LoadedModule(
            name=name,
            refcount=int(refcount) if refcount.isdigit() else 0,
            users=tuple(user for user in names if user != "[permanent]"),
            permanent="[permanent]" in names,
        )
    return modules


class KernelLog:
    """What the kernel logs from the moment this is made."""

    def __init__(self, path: Path) -> None:
        self._fd: int | None = None
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            os.lseek(self._fd, 0, os.SEEK_END)
        except OSError:
            self.close()

    def lines(self) -> list[str]:
        """The messages logged since, oldest first; none if the log cannot be read."""
        found: list[str] = []
        while self._fd is not None:
            try:
                record = os.read(self._fd, 8192)
            except BlockingIOError:
                break
            except BrokenPipeError:  # overwritten before it was read: go on with the next
                continue
            if not record:
                break
            # "priority,sequence,time,flags;message", one record a read
            head, _, message = record.decode(errors="backslashreplace").partition(";")
            found.append((message or head).splitlines()[0])
        return found

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class Machine:
    """The running system, or (in the tests) a folder that looks like one."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    def path(self, absolute: str) -> Path:
        return self.root / absolute.lstrip("/")

    def is_root(self) -> bool:
        return os.geteuid() == 0

    def release(self) -> str:
        return os.uname().release

    def modules(self) -> dict[str, LoadedModule]:
        path = self.path("/proc/modules")
        return parse_modules(path.read_text()) if path.exists() else {}

    def kernel_log(self) -> KernelLog:
        return KernelLog(self.path("/dev/kmsg"))

    def run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run one of modprobe, insmod, rmmod, wherever root's PATH would have it."""
        path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        try:
            return subprocess.run(command, capture_output=True, text=True,
                                  env=os.environ | {"PATH": path, "LC_ALL": "C"})
        except FileNotFoundError:
            return subprocess.CompletedProcess(command, 127, "", f"{command[0]}: not found")

    def openers(self, prefix: str) -> list[str]:
        """The process that has a file below /dev that begins with @prefix open: "cat (pid 12)"."""
        found = []
        for process in sorted(self.path("/proc").glob("[0-9]*")):
            try:
                targets = [os.readlink(fd) for fd in (process / "fd").iterdir()]
                name = (process / "comm").read_text().strip()
            except OSError:  # it ended meanwhile, or is not ours to look at
                continue
            if any(target.startswith(prefix) for target in targets):
                found.append(f"{name} (pid {process.name})")
        return found
