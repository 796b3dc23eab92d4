# SPDX-License-Identifier: GPL-2.0-only
"""QEMU's machine protocol (QMP), as far as a run needs it: NMIs from outside."""

from __future__ import annotations

import contextlib
import json
import socket

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

    def _tell(self, command: str) -> bool:
        """Sends a command; False if there is no room for it now, or nobody listens any more."""
        try:
            # Shorter than any buffer: it goes as a whole or not at all.
            self._ours.send(json.dumps({"execute": command}).encode() + b"\n")
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

    def close(self) -> None:
        """Gives the sockets back."""
        self._ours.close()
        self._theirs.close()
