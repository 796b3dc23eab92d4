# SPDX-License-Identifier: GPL-2.0-only
"""Finds the QEMU of a run: the machine's own, or a newer one of the distribution's backports.

Several CPUs in virtual time take QEMU 10: with 7.2 the clock stands still when the second CPU
comes. Where the installed one is older, the newest of the release's backports is unpacked in the
cache, beside the kernels and as they are: looked up, never written down, never installed.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from . import packages
from .apt import Apt
from .chroot import this_release
from .common import BenchError, cache_dir

PROGRAM = "qemu-system-x86_64"
PACKAGE = "qemu-system-x86"
# The first version whose several CPUs share one virtual clock that runs.
SMP_ICOUNT = (10, 0)


@dataclass(frozen=True)
class Emulator:
    """One QEMU: its program, and what its command line and surroundings take beside the run's
    own."""

    program: str
    version: tuple[int, int]
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)


def _version(program: str, env: dict[str, str] | None = None) -> tuple[int, int]:
    """The version of a QEMU; (0, 0) if it does not start."""
    try:
        done = subprocess.run([program, "--version"], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, env=os.environ | (env or {}))
    except OSError:
        return 0, 0
    match = re.search(r"version (\d+)\.(\d+)", done.stdout)
    return (int(match[1]), int(match[2])) if match else (0, 0)


@functools.cache
def installed() -> Emulator:
    """The machine's own. Raises BenchError when there is none."""
    program = shutil.which(PROGRAM)
    if not program:
        raise BenchError(f"{PROGRAM} is missing: install {PACKAGE}")
    return Emulator(program, _version(program))


def _home() -> Path:
    return cache_dir() / "qemu"


def _unpacked(folder: Path) -> Emulator | None:
    """The emulator below a cache folder; None if it is not whole or does not start here."""
    root = folder / "root"
    program = root / "usr/bin" / PROGRAM
    if not program.is_file():
        return None
    library = root / "usr/lib/x86_64-linux-gnu"
    env = {"LD_LIBRARY_PATH": str(library), "QEMU_MODULE_DIR": str(library / "qemu")}
    version = _version(str(program), env)
    data = [root / "usr/share/qemu", root / "usr/share/seabios", root / "usr/lib/ipxe/qemu",
            Path("/usr/share/seabios"), Path("/usr/lib/ipxe/qemu")]
    args = tuple(word for path in data if path.is_dir() for word in ("-L", str(path)))
    return Emulator(str(program), version, args, env) if version > (0, 0) else None


def _cached() -> Emulator | None:
    """The newest in the cache that starts."""
    found = [emulator for folder in _home().glob("*") if folder.suffix != ".new" and folder.is_dir()
             and (emulator := _unpacked(folder))]
    return max(found, key=lambda emulator: emulator.version, default=None)


def _fetch() -> Emulator | None:
    """The backports' newest, unpacked in the cache; None without a network.

    Raises BenchError when the backports have none, or their one does not start here.
    """
    release = this_release()
    apt = Apt(f"{release}-backports")
    if not apt.refresh():
        return None
    folder = packages.unpack(apt, [PACKAGE], _home()).parent
    emulator = _unpacked(folder)
    if not emulator:
        raise BenchError(f"QEMU {folder.name} of {apt.suite} does not start here")
    return emulator


@functools.cache
def newer() -> Emulator:
    """One that runs several CPUs in virtual time: the installed one, or the backports'.

    Looks for a newer one at most once a day. Raises BenchError when there is none.
    """
    own = installed()
    if own.version >= SMP_ICOUNT:
        return own
    have = _cached()
    if have and have.version < SMP_ICOUNT:
        have = None
    if have and packages.asked_lately(_home()):
        return have
    reason = "and without a network none can be fetched"
    try:
        fresh = _fetch()
        if fresh and fresh.version >= SMP_ICOUNT:
            return fresh
        if fresh:
            reason = f"and the backports have {'.'.join(map(str, fresh.version))}"
    except BenchError as error:
        reason = f"and {error}"
    if have:
        return have
    raise BenchError(f"several CPUs in virtual time take QEMU {SMP_ICOUNT[0]} or newer; here is"
                     f" {'.'.join(map(str, own.version))}, {reason}")


@functools.cache
def parallel() -> Emulator:
    """One whose CPUs run at the same time, each on a thread of the host; those of 7.2 went on with
    code that another CPU had patched. Debian's newest, with libraries of its own.

    Raises BenchError when there is none.
    """
    root = packages.newest("sid", [PACKAGE], cache_dir() / "qemu-parallel")
    loader, *words = root.words(f"usr/bin/{PROGRAM}")
    data = [root.path / path for path in ("usr/share/qemu", "usr/share/seabios",
                                          "usr/lib/ipxe/qemu")]
    words += [word for path in data for word in ("-L", str(path))]
    # Its version is the package's, which may have an epoch.
    major, minor = map(int, re.findall(r"\d+", root.version.rpartition("_")[2])[:2])
    return Emulator(loader, (major, minor), tuple(words))


def pick(smp: int, icount: bool) -> Emulator:
    """The emulator for so many CPUs. Raises BenchError when there is none."""
    return newer() if smp > 1 and icount else installed()
