# SPDX-License-Identifier: GPL-2.0
"""What all measurements share: a boot of the bench, and telling, keeping and judging figures.

A measurement's module has measure() that returns Results, table() for people, and judge()
or the like, which returns all that is wrong.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

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


def parser(description: str | None) -> argparse.ArgumentParser:
    """The options that every measurement has."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--kernel", default="6.1")
    made.add_argument("--flavour", default="cloud")
    return made


def add_json(made: argparse.ArgumentParser) -> None:
    """For those that tell()."""
    made.add_argument("--json", action="store_true", help="one JSON object a line")


def failed(trouble: Sequence[str]) -> int:
    """Print all that is wrong; the exit status."""
    for line in trouble:
        print(f"FAILED: {line}", file=sys.stderr)
    return 1 if trouble else 0


def show(results: Sequence[R], table: Callable[[Sequence[R]], str], as_json: bool) -> None:
    """Print results for people, or for programs."""
    if as_json:
        for result in results:
            print(json.dumps(result.as_dict()))
    else:
        print(table(results))


def write(name: str, figures: Any) -> None:
    """Keep figures as out/bench/NAME.json, and say so."""
    out = TOP / "out" / "bench" / f"{name}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(figures, indent=1) + "\n")
    print(f"figures: {out.relative_to(TOP)}")


def tell(name: str, measured: Callable[[], Sequence[R]], table: Callable[[Sequence[R]], str],
         judge: Callable[[Sequence[R]], Sequence[str]], as_json: bool) -> int:
    """A measurement from the command line: make it, print it, judge it; the exit status."""
    try:
        results = measured()
    except MeasureError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    show(results, table, as_json)
    return failed(judge(results))


def keep(name: str, measured: Callable[[], Sequence[R]], table: Callable[[Sequence[R]], str],
         judge: Callable[[Sequence[R]], Sequence[str]]) -> int:
    """A measurement of ``make bench``: the same, and its figures are kept."""
    try:
        results = measured()
    except MeasureError as error:
        return failed([str(error)])
    print(table(results))
    write(name, [result.as_dict() for result in results])
    return failed(judge(results))
