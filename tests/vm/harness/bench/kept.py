# SPDX-License-Identifier: GPL-2.0-only
"""Keeps the state of a booted guest, so that one boot serves many runs.

A stock kernel's boot is the same for every run with the same machine and arguments. It ends where
PID 1 asks for its job. There the machine stands still, its state goes into a file, and a run begins
with that state instead of a boot: nothing of this tree was loaded yet. A boot costs some 2 to 8 s
of CPU time, a start from its state a tenth.

In virtual time a run from a state equals one from a boot in every counter, but for the random
numbers of the CPU: QEMU begins them anew with each process.

The file's name is made of all that a boot depends on. With another QEMU, kernel, PID 1 or argument
there is another file. When one comes, those go that nobody asked for within an hour, and the oldest
of those that together take too much.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .common import BenchError, cache_dir, locked
from .monitor import Monitor

KEEP_S = 3600.0
# All of them, on disk: some 60. What is in use by another process stays.
KEEP_BYTES = 6 << 30
IN_USE_S = 120.0
# More arguments of QEMU that many runs share: devices without a file of the host's behind them, and
# whose state QEMU saves. Of edu it saves nothing: from a state it comes back without its addresses.
# And when QEMU announces network cards, once it has loaded a state.
# The CPU is the one that test_kept.py compares a boot and a state on.
SHARED = re.compile(r"(-chardev null,id=\w+|-device isa-serial,[\w=,]+|"
                    r"-cpu max,-rdrand,-rdseed|-global migration\.announce-\w+=\d+| )*")
# In virtual time the clock stands still to the instruction: 7 ns go by between two looks (init.c).
# QEMU's main loop may move it on all the same: see one_cpu().
STOOD_NS = 100
TRIES = 5
REFUSED_S = 600      # so long nobody tries again where no state could be kept


class ClockMovesError(BenchError):
    """A guest's clock did not stand still while the guest did: its state is of no use."""


@dataclass(frozen=True)
class State:
    """One kept state: the machine's, and what its kernel had printed by then."""

    label: str
    key: str

    @property
    def path(self) -> Path:
        """The machine's state."""
        return folder() / f"{self.label}-{self.key}"

    @property
    def console(self) -> Path:
        """The console up to there."""
        return self.path.with_name(f"{self.path.name}.console")

    @property
    def lock(self) -> Path:
        """Who boots holds it."""
        return self.path.with_name(f".{self.label}.lock")

    def use(self) -> bool:
        """True if it is there; it counts as used now."""
        if not self.path.is_file():
            return False
        os.utime(self.path)
        return True

    def put(self, scratch: Path, console: bytes) -> None:
        """Puts a state that was written to `scratch` in its place, and old ones away."""
        folder = self.path.parent
        with locked(folder / ".lock"):
            for old in outdated(folder, scratch.stat().st_size):
                old.unlink()
                old.with_name(f"{old.name}.console").unlink(missing_ok=True)
            self.console.write_bytes(console)
            scratch.rename(self.path)


def folder() -> Path:
    """Where states are kept."""
    return Path(os.environ.get("TACTUS_BOOTED") or cache_dir() / "booted")


def outdated(folder: Path, more: int) -> list[Path]:
    """The states that go when one of `more` bytes comes."""
    now = time.time()
    states = [(path, path.stat()) for path in folder.iterdir()
              if path.suffix != ".console" and not path.name.startswith(".")]
    found = []
    for path, stat in sorted(states, key=lambda pair: -pair[1].st_mtime):
        more += stat.st_size
        age = now - stat.st_mtime
        if age > KEEP_S or more > KEEP_BYTES and age > IN_USE_S:
            found.append(path)
    return found


def shared(qemu: str) -> bool:
    """Are these arguments for QEMU none, or such as many runs have?"""
    return SHARED.fullmatch(qemu) is not None


def made_by(program: str) -> tuple[int, int]:
    """What tells one build of QEMU from another: its version is the same with a mended one."""
    stat = os.stat(program)
    return stat.st_size, stat.st_mtime_ns


def refused_file() -> Path:
    """As old as the last state in virtual time that could not be kept."""
    return folder() / ".refused"


def key(words: list[str], program: tuple[int, int], *contents: bytes) -> str:
    """A name for all that a boot depends on: QEMU's command line and build, kernel, archive,
    plug-ins."""
    digest = hashlib.sha256(repr((words, program)).encode())
    for content in contents:
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()[:16]


@contextlib.contextmanager
def one_cpu(pid: int) -> Iterator[None]:
    """Has a QEMU's threads run on one CPU of the host: while another one has the guest's CPU, its
    main loop may move the clock on before it has heard of the guest's stop."""
    cpus = sorted(os.sched_getaffinity(0))
    _run_on(pid, {cpus[pid % len(cpus)]})
    yield
    _run_on(pid, set(cpus))


def _run_on(pid: int, cpus: set[int]) -> None:
    with contextlib.suppress(OSError):          # it may end meanwhile
        for task in Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(task.name), cpus)


def wait_stop(monitor: Monitor, within_s: float) -> bool:
    """Waits until the guest's PID 1 asks for its job; False if it does not."""
    monitor.greet()
    return monitor.event("STOP", within_s)


def save(monitor: Monitor, into: Path) -> None:
    """Writes the state of a machine that stands still."""
    monitor.do("migrate-set-parameters", **{"max-bandwidth": 1 << 40})
    monitor.do("migrate", uri=f"exec:cat > '{into}'")
    while (status := monitor.do("query-migrate").get("status")) != "completed":
        if status in ("failed", "cancelled"):
            raise BenchError("QEMU cannot write a booted guest's state")
        time.sleep(0.02)


def load(monitor: Monitor) -> None:
    """Waits until a machine has the state that it was started with."""
    while monitor.do("query-status").get("status") == "inmigrate":
        time.sleep(0.01)
