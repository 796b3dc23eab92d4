# SPDX-License-Identifier: GPL-2.0-only
"""How late the program cyclictest says that it is: in RT mode, and as Linux runs it.

It is Debian's, as it comes. With libtactus-posix preloaded its SCHED_FIFO thread is in RT mode.
Both run beside load and a driver that keeps interrupts off for 20 ms; the figures are its own.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness import programs

from . import figures
from .figures import MeasureError
from .lateness import CONTROL_NS, SECTIONS_PER_S
from .users import LIMIT_NS

Who = Literal["rt", "linux"]

# How much later than RT mode Linux is to be.
GOAL_TIMES = 10_000
BIN_NS = 50
# What cyclictest has bins for, 1 ns each; the rest it calls overflows.
BINS = 2000
_MARK = "MEASURE "
_WHOLE = {"cycles": "Total", "min_ns": "Min Latencies", "mean_ns": "Avg Latencies",
          "max_ns": "Max Latencies", "beyond": "Histogram Overflows"}


@dataclass(frozen=True)
class Cyclictest(figures.Result):
    """What one run printed; ns. `beyond`: cycles later than its histogram goes."""

    who: Who
    cycles: int
    min_ns: int
    mean_ns: int
    max_ns: int
    beyond: int
    demotions: int
    histogram: dict[int, int]


def library(into: Path) -> dict[Path, str]:
    """The library built @into, and the one that it needs: what the bench puts where."""
    subprocess.run(["make", "-s", "-C", programs.LIBTACTUS, f"BUILD={into}"], check=True)
    return {into / f"{name}.so.1.0.0": f"/lib/{name}.so.1" for name in ("libtactus-posix",
                                                                        "libtactus")}


def program() -> Path:
    """The machine's cyclictest; MeasureError if there is none."""
    found = shutil.which("cyclictest")
    if not found:
        raise MeasureError("there is no cyclictest: install Debian's package rt-tests")
    return Path(found)


def parse(who: Who, text: str, demotions: int) -> Cyclictest:
    """From what cyclictest printed, with -h."""
    found = {}
    for field, title in _WHOLE.items():
        line = re.search(rf"^# {title}: *(\d+)$", text, re.M)
        if not line:
            raise MeasureError(f"{who}: cyclictest says no {title}:\n{text}")
        found[field] = int(line[1])
    bins = {int(at): int(count) for at, count in re.findall(r"^(\d+) +(\d+)$", text, re.M)
            if int(count)}
    # Its total is that of the histogram.
    found["cycles"] += found["beyond"]
    return Cyclictest(who=who, demotions=demotions, histogram=bins, **found)


def _script(seconds: float, interval_us: int, whose: Sequence[Who]) -> str:
    lines = ["set -e"]
    for who in whose:
        preload = "LD_PRELOAD=libtactus-posix.so.1 " if who == "rt" else ""
        lines += [f"./load --json --disk=/dev/ram0 --seconds={seconds + 1:g} "
                  "--irqoff=process,timer,tasklet "
                  f"--min-sections={int(SECTIONS_PER_S * seconds)} > loaded & pid=$!", "sleep 0.1",
                  f"echo {_MARK}{who}",
                  f"{preload}./cyclictest --mlockall --quiet --nsecs --priority=99 --threads=1 "
                  f"--interval={interval_us} --loops={int(seconds * 1e6 / interval_us)} "
                  f"--histogram={BINS}",
                  "echo demotions $(($(wc -l < /sys/kernel/tactus/demotions) - 1))", "wait $pid"]
    return "\n".join(lines)


def measure(seconds: float = 3, interval_us: int = 1000, *, whose: Sequence[Who] = ("rt", "linux"),
            kernel: str = "6.1", flavour: str = "cloud") -> list[Cyclictest]:
    """In one boot, one after the other; MeasureError when it cannot be made."""
    with tempfile.TemporaryDirectory() as folder:
        put = {program(): "/root/cyclictest", programs.build("load"): "/root/load",
               **library(Path(folder))}
        text = figures.boot(
            _script(seconds, interval_us, whose), "--icount",
            f"--timeout={60 + (seconds + 1) * 60:g}",
            f"--modules={figures.RAM_DISK} hog tactus_core tactus rtfifo tactus_user",
            *(f"--put={host}:{guest}" for host, guest in put.items()), f"--qemu={figures.UART}",
            kernel=kernel, flavour=flavour)
    results: list[Cyclictest] = []
    for part in text.replace("\r", "").split(_MARK)[1:]:
        said, _, rest = part.partition("\n")
        demotions = re.search(r"^demotions (\d+)$", rest, re.M)
        results += [parse(who, rest, int(demotions[1]) if demotions else 0)
                    for who in whose if who == said]
    if len(results) != len(whose):
        raise MeasureError(f"{len(whose)} runs, {len(results)} results:\n{text}")
    return results


def times(results: Sequence[Cyclictest]) -> float:
    """How many times as late as RT mode Linux is in the worst case."""
    worst = {result.who: result.max_ns for result in results}
    return worst["linux"] / worst["rt"]


def judge(results: Sequence[Cyclictest]) -> list[str]:
    """All that is wrong: RT mode late, or Linux on time where it cannot be."""
    trouble = []
    for result in results:
        if result.who == "rt" and (result.max_ns > LIMIT_NS or result.demotions):
            trouble.append(f"rt: {result.max_ns} ns late, {LIMIT_NS} allowed; "
                           f"{result.demotions} demotions")
        if result.who == "linux" and result.max_ns < CONTROL_NS:
            trouble.append("linux: not late, so nothing kept interrupts off")
    if len(results) == 2 and times(results) < GOAL_TIMES:
        trouble.append(f"Linux is {times(results):.0f} times as late, {GOAL_TIMES} wanted")
    return trouble


def table(results: Sequence[Cyclictest]) -> str:
    """The results as lines for people, cyclictest's histogram in wider bins."""
    lines = [f"{'who':<6} {'cycles':>8} {'min ns':>8} {'avg ns':>9} {'max ns':>10} "
             f"{'demotions':>10}"]
    lines += [f"{r.who:<6} {r.cycles:>8} {r.min_ns:>8} {r.mean_ns:>9} {r.max_ns:>10} "
              f"{r.demotions:>10}" for r in results]
    for result in results:
        wide: dict[int, int] = {}
        for at, count in result.histogram.items():
            wide[at // BIN_NS * BIN_NS] = wide.get(at // BIN_NS * BIN_NS, 0) + count
        lines.append(f"{result.who}: cyclictest's histogram")
        lines += [f"{at:>8} ns {count:>8}" for at, count in sorted(wide.items())]
        lines.append(f"{BINS:>8} ns {result.beyond:>8} and later")
    if len(results) == 2:
        lines.append(f"in the worst case Linux is {times(results):.0f} times as late")
    return "\n".join(lines)


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    yield figures.outcome(measure(options.seconds, options.interval_us, kernel=options.kernel,
                                  flavour=options.flavour), table, judge)


def _add_options(parser: argparse.ArgumentParser) -> None:
    figures.add_seconds(parser, 3, "of each")
    parser.add_argument("--interval-us", type=int, default=1000)


MEASUREMENTS = (figures.Measurement(
    "cyclictest", "how late cyclictest is by its own figures, in RT mode and as Linux runs it",
    _run, _add_options, {"seconds": 10}),)
