# SPDX-License-Identifier: GPL-2.0-only
"""What every part of the bench shares: places, the error that means 123, locks, progress."""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

TREE = Path(__file__).resolve().parents[4]

EXIT_EMULATOR = 122
EXIT_SETUP = 123
EXIT_TIMEOUT = 124
EXIT_KERNEL = 125


class BenchError(Exception):
    """The bench could not be set up: `vm` prints the text and exits with 123."""


def cache_dir() -> Path:
    """Where kernels and package lists live: outside the checkout, shared by all checkouts."""
    explicit = os.environ.get("TACTUS_CACHE")
    if explicit:
        return Path(explicit)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "tactus"


def build_dir() -> Path:
    """Where the checkout's build trees live, one folder per kernel release."""
    return Path(os.environ.get("TACTUS_BUILD") or TREE / "build")


def say(text: str) -> None:
    """Progress and reasons go to stderr: stdout belongs to the guest's command."""
    print(f"vm: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def locked(path: Path, shared: bool = False) -> Iterator[None]:
    """Holds a lock on `path`, so that parallel runs build and fetch once: whoever writes holds it
    alone, those that only read what was built may share it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="ascii") as handle:
        fcntl.flock(handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield


# Names a file for what first uses took, a line each: seconds of CPU time, and what was made.
FIRST_USES = "TACTUS_FIRST_USES"


def used_s() -> float:
    """What this process and its children that have ended took so far, in seconds of CPU time."""
    return sum(usage.ru_utime + usage.ru_stime for usage in
               map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


@contextlib.contextmanager
def first_use(what: str) -> Iterator[None]:
    """Around what is made once for all runs to come. None may be within another one."""
    before = used_s()
    yield
    if file := os.environ.get(FIRST_USES):
        with open(file, "a", encoding="utf-8") as out:
            out.write(f"{used_s() - before:.1f} {what}\n")


def output_of(command: Sequence[str], what: str, cwd: Path | None = None) -> str:
    """Runs a host command; its failure is a BenchError that shows what it said."""
    try:
        done = subprocess.run(
            command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise BenchError(f"{what}: {error.filename} is not installed") from error
    if done.returncode:
        raise BenchError(f"{what} failed:\n{(done.stdout + done.stderr).strip()}")
    return done.stdout
