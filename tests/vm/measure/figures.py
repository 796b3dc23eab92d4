# SPDX-License-Identifier: GPL-2.0-only
"""What all measurements share: a boot of the bench, and what a measurement is.

A measurement's module has measure() that returns Results, table() for people, judge() or the
like, which returns all that is wrong, and MEASUREMENTS for the command ``tests/vm/measure/run``.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from harness import TOP, VM

# What the load needs beside the bench's own machine: a UART nobody listens to, and a RAM disk.
UART = "-chardev null,id=uart -device isa-serial,chardev=uart,index=2,iobase=0x3e8,irq=3"
RAM_DISK = "brd rd_nr=1 rd_size=4096"


class MeasureError(Exception):
    """The measurement could not be made, or it does not count."""


@dataclass(frozen=True)
class Result:
    """One line of a measurement; what is measured is in those that derive from it."""

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return dataclasses.asdict(self)


R = TypeVar("R", bound=Result)


def boot(script: str, *options: str, kernel: str = "6.1", flavour: str = "cloud") -> str:
    """What `script` prints in a guest; `options` are those of `vm run`. Raises MeasureError if it
    fails, or if the guest's kernel complains."""
    done = subprocess.run(
        [str(VM), "run", f"--kernel={kernel}", f"--flavour={flavour}", *options, "--",
         script], capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise MeasureError(
            f"the bench exited with {done.returncode}:\n{done.stderr}\n{done.stdout}")
    return done.stdout


def write(name: str, figures: object) -> Path:
    """Keep figures as out/bench/NAME.json; where that is, from the tree's top."""
    out = TOP / "out" / "bench" / f"{name}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return out.relative_to(TOP)


def kept(name: str) -> list[dict[str, object]]:
    """What write() kept; empty if nothing is."""
    file = TOP / "out" / "bench" / f"{name}.json"
    found: list[dict[str, object]] = (
        json.loads(file.read_text(encoding="utf-8")) if file.exists() else [])
    return found


@dataclass(frozen=True)
class Outcome:
    """What a measurement found, or a part of it as soon as it is there."""

    figures: Sequence[Mapping[str, object]]
    """For programs."""
    text: str
    """For people."""
    trouble: Sequence[str] = ()
    """The promises that do not hold; empty if all is well."""


def outcome(results: Sequence[R], table: Callable[[Sequence[R]], str],
            judge: Callable[[Sequence[R]], Sequence[str]]) -> Outcome:
    """That of Results."""
    return Outcome([result.as_dict() for result in results], table(results), judge(results))


def _no_options(_: argparse.ArgumentParser) -> None:
    pass


@dataclass(frozen=True)
class Measurement:
    """What ``tests/vm/measure/run`` can make; __main__.py finds those in MEASUREMENTS."""

    name: str
    summary: str
    run: Callable[[argparse.Namespace], Iterable[Outcome]]
    """With the options in `where` and those that it adds."""
    add_options: Callable[[argparse.ArgumentParser], None] = _no_options
    long: Mapping[str, object] | None = None
    """The defaults of ``make bench-long``, which leaves out what has none."""
    where: Sequence[str] = ("kernel", "flavour")
    """What of the guest may be chosen."""
    key: str = ""
    """The value that names a figure, if the option `only` may choose which are made: those kept
    of the others stay."""
    alone: bool = False
    """It needs something of the user's, so "all" leaves it out."""

    def long_text(self) -> str:
        """These defaults as options."""
        return " ".join(f"--{name.replace('_', '-')} {value}"
                        for name, value in (self.long or {}).items()) or "all the same"


def add_seconds(parser: argparse.ArgumentParser, default: float, of: str) -> None:
    """How long to measure."""
    parser.add_argument("--seconds", type=float, default=default,
                        help=f"virtual, {of}; default {default:g}")
