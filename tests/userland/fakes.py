# SPDX-License-Identifier: GPL-2.0-only
"""A folder that looks like a machine: the tool's /proc, /sys, /dev and /lib/modules."""
from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tactus.machine import KernelLog, Machine

PACKAGE = Path(__file__).resolve().parents[2] / "userland/python/src"

RELEASE = "6.1.0-fake-amd64"


class FakeLog(KernelLog):
    """A kernel log that holds what the fake machine wrote after it was opened."""

    def __init__(self, messages: list[str]) -> None:
        self._messages = messages
        self._start = len(messages)

    def lines(self) -> list[str]:
        return self._messages[self._start:]

    def close(self) -> None:
        pass


class FakeMachine(Machine):
    """Keeps /proc/modules itself; `refuse` maps a module to (errno text, log line)."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.ran: list[str] = []
        self.log: list[str] = ["tactus: an old line of an earlier attempt"]
        self.refuse: dict[str, tuple[str, str]] = {}
        self.root_user = True
        self.write("/proc/modules", "ext4 999424 1 - Live 0x0\n")

    def is_root(self) -> bool:
        return self.root_user

    def release(self) -> str:
        return RELEASE

    def kernel_log(self) -> KernelLog:
        return FakeLog(self.log)

    def write(self, path: str, text: str) -> None:
        target = self.path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def set_module(self, name: str, users: str = "-", refcount: int = 0) -> None:
        kept = [line for line in self.path("/proc/modules").read_text().splitlines()
                if line.split()[0] != name]
        self.write("/proc/modules",
                   "\n".join([f"{name} 4096 {refcount} {users} Live 0x0", *kept]) + "\n")

    def names(self) -> set[str]:
        return set(self.modules()) - {"ext4"}

    def run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        self.ran.append(" ".join(command))
        name = Path(command[1]).name.removesuffix(".ko")
        if name in self.refuse:
            reason, line = self.refuse[name]
            self.log.append(line)
            return subprocess.CompletedProcess(
                command, 1, "", f"{command[0]}: ERROR: could not insert module {name}: {reason}\n")
        if command[0] == "rmmod":
            lines = [line for line in self.path("/proc/modules").read_text().splitlines()
                     if line.split()[0] != name]
            self.write("/proc/modules", "\n".join(lines) + "\n")
        else:
            self.set_module(name)
        return subprocess.CompletedProcess(command, 0, "", "")
