# SPDX-License-Identifier: GPL-2.0-only
"""QEMU's machine protocol (QMP), as far as a run needs it: NMIs from outside, and a look at a guest
that hangs."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import time

ANSWER_S = 10.0
BURST = 50      # at most so many at once, after the host has kept us waiting


class Monitor:
    """A socket to QEMU's monitor, by inheritance: no path, nothing left behind."""

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()
        self._ours.setblocking(False)
        self._greeted = False
        self._due: float | None = None
        self.injected = 0

    @property
    def handle(self) -> int:
        """The end that QEMU inherits."""
        return self._theirs.fileno()

    def qemu_args(self) -> list[str]:
        """The monitor, for QEMU's command line."""
        return ["-chardev", f"socket,id=qmp,fd={self.handle}", "-mon", "chardev=qmp,mode=control"]

    def _tell(self, command: str, **arguments: object) -> bool:
        """Sends a command; False if there is no room for it now, or nobody listens any more."""
        try:
            # Shorter than any buffer: it goes as a whole or not at all.
            words = {"execute": command, "arguments": arguments}
            self._ours.send(json.dumps(words).encode() + b"\n")
        except OSError:
            return False
        return True

    def nmis(self, per_second: float, now: float) -> None:
        """Injects what is due at the host's time `now`, in seconds; call it often."""
        with contextlib.suppress(OSError):
            while self._ours.recv(65536):   # answers, events: of no interest
                pass
        if not per_second:
            return
        if not self._greeted:
            self._greeted = self._tell("qmp_capabilities")
            self._due = now
        assert self._due is not None
        for _ in range(BURST):
            if self._due > now or not self._tell("inject-nmi"):
                break
            self.injected += 1
            self._due += 1 / per_second
        self._due = max(self._due, now - 1)

    def _ask(self, line: str, cpu: int = 0) -> str:
        """What QEMU's monitor for people answers; nothing if it does not in time."""
        answer = b""
        until = time.monotonic() + ANSWER_S
        if not self._greeted:
            self._greeted = self._tell("qmp_capabilities")
        if not self._tell("human-monitor-command", **{"command-line": line, "cpu-index": cpu}):
            return ""
        while time.monotonic() < until:
            with contextlib.suppress(BlockingIOError):
                answer += self._ours.recv(1 << 20)
            for reply in answer.split(b"\n")[:-1]:
                with contextlib.suppress(ValueError):   # half of one: nmis() had the other half
                    text = json.loads(reply).get("return")
                    if isinstance(text, str):
                        return text
            time.sleep(0.02)
        return ""

    def where(self) -> str:
        """Where each CPU is, a line each: for a guest that hangs."""
        lines = []
        registers = self._ask("info registers -a")
        for cpu, state in enumerate(re.split(r"^CPU#\d+", registers, flags=re.M)[1:]):
            found = re.search(r"^RIP=(\w+) RFL=(\w+).* HLT=(\d)", state, re.M)
            if not found:
                continue
            ip, flags, halted = found.groups()
            has = re.findall(r"0x(\w\w)\b", self._ask(f"x/8xb 0x{ip}", cpu))
            on = "on" if int(flags, 16) & 1 << 9 else "off"
            lines.append(f"  | CPU {cpu} at {ip}: {' '.join(has) or 'no memory'}; interrupts {on}"
                         f"{', halted' * (halted == '1')}\n")
        return "".join(lines)

    def close(self) -> None:
        """Gives the sockets back."""
        self._ours.close()
        self._theirs.close()
