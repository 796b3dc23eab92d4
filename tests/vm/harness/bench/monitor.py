# SPDX-License-Identifier: GPL-2.0-only
"""QEMU's machine protocol (QMP), as far as a run needs it: NMIs from outside, a look at a guest
that hangs, and a state that is kept."""

from __future__ import annotations

import contextlib
import json
import re
import select
import socket
import time
from typing import Any

from .common import BenchError

ANSWER_S = 10.0
BURST = 50      # at most so many at once, after the host has kept us waiting


class Monitor:
    """A socket to QEMU's monitor, by inheritance: no path, nothing left behind."""

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()
        self._ours.setblocking(False)
        self._greeted = False
        self._due: float | None = None
        self._heard = b""
        self.injected = 0

    @property
    def handle(self) -> int:
        """The end that QEMU inherits."""
        return self._theirs.fileno()

    def started(self) -> None:
        """QEMU has its end: without ours of it, we hear when it is gone."""
        self._theirs.close()

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
        if self._due is None:
            self._due = now
        for _ in range(BURST):
            if self._due > now or not self._tell("inject-nmi"):
                break
            self.injected += 1
            self._due += 1 / per_second
        self._due = max(self._due, now - 1)

    def _recv(self) -> bytes:
        """What has come; empty: QEMU is gone. Raises BlockingIOError if nothing has come yet."""
        try:
            return self._ours.recv(1 << 20)
        except ConnectionResetError:    # it had not read all of ours
            return b""

    def _ask(self, line: str, cpu: int = 0) -> str:
        """What QEMU's monitor for people answers; nothing if it does not in time, or is gone."""
        answer = b""
        until = time.monotonic() + ANSWER_S
        if not self._greeted:
            self._greeted = self._tell("qmp_capabilities")
        if not self._tell("human-monitor-command", **{"command-line": line, "cpu-index": cpu}):
            return ""
        while time.monotonic() < until:
            with contextlib.suppress(BlockingIOError):
                more = self._recv()
                if not more:
                    return ""
                answer += more
            for reply in answer.split(b"\n")[:-1]:
                with contextlib.suppress(ValueError):   # half of one: nmis() had the other half
                    text = json.loads(reply).get("return")
                    if isinstance(text, str):
                        return text
            time.sleep(0.02)
        return ""

    def _next(self, until: float) -> dict[str, Any] | None:
        """The next thing that QEMU says: an answer or an event. None: nothing by then, or it is
        gone."""
        while b"\n" not in self._heard:
            if not select.select([self._ours], [], [], max(0.0, until - time.monotonic()))[0]:
                return None
            more = self._recv()
            if not more:
                return None
            self._heard += more
        line, _, self._heard = self._heard.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def greet(self) -> None:
        """Begins to talk to QEMU, which sends events from then on."""
        if not self._greeted:
            self._greeted = True
            self.do("qmp_capabilities")

    def event(self, name: str, within_s: float) -> bool:
        """Waits for an event; False if it does not come, or QEMU ends."""
        until = time.monotonic() + within_s
        while said := self._next(until):
            if said.get("event") == name:
                return True
        return False

    def go(self) -> None:
        """Has a machine go on. It may end before it could answer."""
        self._tell("cont")

    def do(self, command: str, within_s: float = 300.0, **arguments: object) -> Any:
        """Carries out a command and waits for its answer. Raises BenchError when it is refused."""
        self.greet()
        self._tell(command, **arguments)
        until = time.monotonic() + within_s
        while said := self._next(until):
            if "error" in said:
                raise BenchError(f"QEMU refuses {command}: {said['error'].get('desc')}")
            if "return" in said:
                return said["return"]
        raise BenchError(f"QEMU does not answer {command}")

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
