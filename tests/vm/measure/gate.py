# SPDX-License-Identifier: GPL-2.0-only
"""Where tactus makes a system call of Linux's longer: its instructions by function, off and on.

The program user_costs marks a getppid(), and the emulator's plug-in of the measurement ``path``
writes down each instruction from there on.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import programs
from harness.bench.plugins import plugin

from . import figures
from .figures import MeasureError
from .path import HERE, INSTRUCTION, RECORD, SOURCE, Symbols

ENTRY = "entry_SYSCALL_64"
USER = "user mode"


@dataclass(frozen=True)
class Stage(figures.Result):
    """What one function has of a system call; instructions. `name`: "all" for the sum."""

    name: str
    off: int
    on: int


def one_call(trace: bytes, kallsyms: str) -> Counter[str]:
    """The functions of the shortest marked call: an interrupt of Linux's only adds."""
    symbols = Symbols(kallsyms)
    calls: list[Counter[str]] = []
    inside = False
    waiting = False
    for address, kind, _ in RECORD.iter_unpack(trace[:len(trace) // RECORD.size * RECORD.size]):
        if kind not in (INSTRUCTION, HERE):
            continue
        name = symbols.of(address)[0]
        waiting |= kind == HERE
        if waiting and name == ENTRY:
            calls.append(Counter())
            waiting, inside = False, True
        inside &= name != USER
        if inside:
            calls[-1][name] += 1
    # The last one may have been cut off.
    if len(calls) < 2:
        raise MeasureError(f"{len(calls)} system calls in the trace")
    return min(calls[:-1], key=lambda call: sum(call.values()))


def _trace(modules: str, kernel: str, flavour: str) -> Counter[str]:
    with tempfile.TemporaryDirectory() as scratch:
        trace, names = Path(scratch, "trace"), Path(scratch, "kallsyms")
        figures.boot("cat /proc/kallsyms > /tmp/names; ./user_costs marked", "--icount",
                     "--timeout=300", f"--modules={modules}",
                     f"--put={programs.build('user_costs')}", f"--get=/tmp/names:{names}",
                     f"--qemu=-plugin {plugin(SOURCE)},out={trace}", kernel=kernel, flavour=flavour)
        return one_call(trace.read_bytes(), names.read_text(encoding="ascii"))


def compare(off: Counter[str], on: Counter[str]) -> list[Stage]:
    """The functions that differ, and the sum."""
    found = [Stage(name, off[name], on[name]) for name in sorted(off | on)
             if off[name] != on[name]]
    return [*found, Stage("all", off.total(), on.total())]


def measure(kernel: str = "6.1", flavour: str = "cloud") -> list[Stage]:
    """Off and on, in one boot each."""
    return compare(_trace("", kernel, flavour), _trace("tactus", kernel, flavour))


def table(stages: Sequence[Stage]) -> str:
    """For people."""
    return "\n".join([f"{'instructions':<32} {'off':>5} {'on':>5} {'more':>5}",
                      *(f"{one.name:<32} {one.off:>5} {one.on:>5} {one.on - one.off:>+5}"
                        for one in stages)])


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    yield figures.outcome(measure(options.kernel, options.flavour), table, lambda _: [])


MEASUREMENTS = (figures.Measurement(
    "gate", "where a system call of Linux's is longer with tactus on: instructions by function",
    _run),)
