# SPDX-License-Identifier: GPL-2.0-only
"""RTAI's three tests and RTLinux's measurement on the layers, in the columns that their users know.

The programs are tests/vm/compat/programs/rtai_bench and rtl_bench. Each runs idle, and beside load
and a driver that keeps interrupts off for 20 ms. The switches need no load: the time is their own.
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

from harness import TOP, VM, programs

from . import figures
from .figures import MeasureError
from .lateness import SECTIONS_PER_S

PROGRAMS = TOP / "tests/vm/compat/programs"
CONDITIONS = ("idle", "irqoff")
# RTAI's latency test of 100 us: no later than that, and no release lost.
LIMIT_NS = 1000
# The columns, in the order of a record's numbers.
COLUMNS = {
    "latency": ("lat min", "lat avg", "lat max", "overruns"),
    "preempt": ("lat min", "lat avg", "lat max", "jit fast", "jit slow"),
    "switches": ("SUSP/RES", "SEM SIG/WAIT", "RPC/RCV-RET"),
    "rtlinux": ("min", "max"),
}
# Seconds of a record, and its numbers.
RECORD = {"latency": (0.1, 5), "preempt": (0.1, 5), "switches": (0.01, 5), "rtlinux": (0.25, 2)}
_MARK = "MEASURE "


@dataclass(frozen=True)
class Skin(figures.Result):
    """One test in one condition: each column over all records; ns but for overruns."""

    test: str
    condition: str
    records: int
    columns: dict[str, int]


def build(kernel: str, flavour: str, into: Path) -> dict[str, Path]:
    """The two modules, built in copies; MeasureError if they do not build."""
    built = {}
    for name, layer in (("rtai_bench", "rtai"), ("rtl_bench", "rtl")):
        folder = into / name
        shutil.copytree(PROGRAMS / name, folder, ignore=shutil.ignore_patterns("*.o", "*.ko", ".*"))
        done = subprocess.run([str(VM), "build", f"--kernel={kernel}", f"--flavour={flavour}",
                               f"--{layer}", str(folder)], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            raise MeasureError(done.stderr.strip())
        built[name] = folder / f"{name}.ko"
    return built


def combine(test: str, condition: str, records: Sequence[Sequence[int]]) -> Skin:
    """One figure a column."""
    if not records:
        raise MeasureError(f"{test}, {condition}: no record")
    if test == "switches":
        count, *times = records[-1][:4]
        return Skin(test, condition, 1, {name: round(ns / count) for name, ns in
                                         zip(COLUMNS[test], times)})
    columns = dict(zip(COLUMNS[test], zip(*records)))
    values = {name: max(column) for name, column in columns.items()}
    for name, column in columns.items():
        if name.endswith("min"):
            values[name] = min(column)
        elif name.endswith("avg"):
            values[name] = round(sum(column) / len(column))
        elif name == "overruns":
            values[name] = sum(column)
    return Skin(test, condition, len(records), values)


def _script(seconds: float) -> str:
    lines = ["set -e"]
    for condition in CONDITIONS:
        tests = [test for test in COLUMNS if condition == "idle" or test != "switches"]
        for test in tests:
            module = ("insmod rtl_bench.ko" if test == "rtlinux" else
                      f"insmod rtai_bench.ko what={test}")
            each_s, numbers = RECORD[test]
            count = 1 if test == "switches" else max(1, int(seconds / each_s))
            fifo = 0 if test == "rtlinux" else 3
            if condition != "idle":
                lines += [f"./load --json --disk=/dev/ram0 --seconds={seconds + 1:g} "
                          "--irqoff=process,timer,tasklet "
                          f"--min-sections={int(SECTIONS_PER_S * seconds)} > loaded & pid=$!",
                          "sleep 0.1"]
            lines += [module, f"head -c {8 * numbers * count} /dev/rtf{fifo} > records",
                      f"rmmod {module.split()[1].split('.')[0]}",
                      f"echo {_MARK}{test} {condition}",
                      f"od -A n -v -t d8 -w{8 * numbers} records"]
            if condition != "idle":
                lines.append("wait $pid")
    return "\n".join(lines)


def measure(seconds: float = 2, *, kernel: str = "6.1", flavour: str = "cloud") -> list[Skin]:
    """In one boot; MeasureError when it cannot be made."""
    with tempfile.TemporaryDirectory() as folder:
        put = [*build(kernel, flavour, Path(folder)).values(), programs.build("load")]
        text = figures.boot(
            _script(seconds), "--icount", "--busy", f"--timeout={60 + seconds * 200:g}",
            f"--modules={figures.RAM_DISK} hog tactus rtfifo rtl_compat rtai_compat",
            *(f"--put={one}" for one in put), f"--qemu={figures.UART}", kernel=kernel,
            flavour=flavour)
    results = []
    for part in text.replace("\r", "").split(_MARK)[1:]:
        said, *rest = part.splitlines()
        test, condition = said.split()
        records = [[int(word) for word in line.split()] for line in rest
                   if re.fullmatch(r"[-\d ]+", line)]
        results.append(combine(test, condition, records))
    if len(results) != 2 * len(COLUMNS) - 1:
        raise MeasureError(f"{len(results)} results:\n{text}")
    return results


def judge(results: Sequence[Skin]) -> list[str]:
    """What RTAI's latency test may not say."""
    trouble = []
    for one in results:
        if one.test == "latency" and (one.columns["lat max"] > LIMIT_NS or one.columns["overruns"]):
            trouble.append(f"latency, {one.condition}: {one.columns['lat max']} ns late, "
                           f"{LIMIT_NS} allowed; {one.columns['overruns']} overruns")
    return trouble


def table(results: Sequence[Skin]) -> str:
    """The results as lines for people: a test's columns, then a line for each condition."""
    lines = []
    for test, names in COLUMNS.items():
        rows = [one for one in results if one.test == test]
        if rows:
            lines.append(f"{test:<10} {'':<8}" + "".join(f"| {name:>12}" for name in names))
        lines += [f"{'':<10} {one.condition:<8}" +
                  "".join(f"| {one.columns[name]:>12}" for name in names) for one in rows]
    return "\n".join(lines)


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    yield figures.outcome(measure(options.seconds, kernel=options.kernel,
                                  flavour=options.flavour), table, judge)


def _add_options(parser: argparse.ArgumentParser) -> None:
    figures.add_seconds(parser, 2, "of each test and condition")


MEASUREMENTS = (figures.Measurement(
    "skins", "RTAI's latency, preempt and switches, and RTLinux's measurement, on the layers",
    _run, _add_options, {"seconds": 10}),)
