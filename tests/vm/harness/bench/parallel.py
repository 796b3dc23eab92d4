# SPDX-License-Identifier: GPL-2.0-only
"""CPUs that run at the same time: QEMU's plug-ins for that, and the host's CPUs to itself."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from pathlib import Path

from . import plugins

# Of QEMU's threads: the guest's CPUs never wait for another process, its devices not for them.
CPU_PRIORITY, DEVICES_PRIORITY = 10, 20


def plugin_args(witness: str, mended: bool) -> list[str]:
    """What bears witness, in the file `witness`, of code that memory does not hold; and, `mended`,
    what keeps QEMU from executing such."""
    words = ["-plugin", f"{plugins.plugin(plugins.WITNESS)},out={witness}"]
    return words + ["-plugin", str(plugins.plugin(plugins.FORGET))] * mended


def stale(said: str) -> list[str]:
    """What the witness said, each line once, with how often."""
    return [f"{line} ({often} times)" for line, often in Counter(said.splitlines()).items()]


def may_be_undisturbed(smp: int) -> bool:
    """Has the host a CPU for each of the guest's, and may we put other processes off them?"""
    if smp > len(os.sched_getaffinity(0)):
        return False
    policy, priority = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(CPU_PRIORITY))
    except PermissionError:
        return False
    os.sched_setscheduler(0, policy, priority)
    return True


def go_first() -> None:
    """In the child that becomes QEMU: its threads come before all other processes."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(DEVICES_PRIORITY))


class Threads:
    """The guest's CPUs come after the thread of its devices: else one that waits for a device, by
    asking it again and again, would wait for ever."""

    def __init__(self, pid: int, smp: int) -> None:
        self._folder = Path(f"/proc/{pid}/task")
        self._left = smp

    def settle(self) -> None:
        """Call it often, until all CPUs have come."""
        if not self._left:
            return
        with contextlib.suppress(OSError):      # QEMU may end meanwhile
            cpus = [int(path.name) for path in self._folder.iterdir()
                    if (path / "comm").read_text().startswith("CPU ")]
            for thread in cpus:
                os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(CPU_PRIORITY))
            if len(cpus) == self._left:
                self._left = 0
