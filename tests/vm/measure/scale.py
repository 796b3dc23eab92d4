# SPDX-License-Identifier: GPL-2.0-only
"""How far it goes: the highest rate of a task without a miss, a release among ever more tasks, and
a put among ever more FIFOs.

The rates run beside the bench's load with its sections, each for as many releases. What a release
costs among N ready tasks, tests/vm/measure/modules/task_bench counts; its growth for each doubling
of N is the curve's slope, and stays the same where the cost is logarithmic.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import svg
from harness import programs
from tactus import figure

from . import costs, figures
from .figures import MeasureError

RATES_HZ = (1000, 5000, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 80_000, 100_000)
# What must go without a miss.
GOAL_HZ = 50_000
FIFOS = (1, 4, 16, 64, 256)
# By how many instructions a put or a get among the most may be dearer than with one FIFO.
SLACK = 2
_CONTEXTS = "process,timer,tasklet"
_MARK = "RATE "


@dataclass(frozen=True)
class Rate(figures.Result):
    """A task at one rate; times in ns."""

    hz: int
    releases: int
    missed: int
    mean_ns: float
    max_ns: int


def rates(releases: int = 3000, kernel: str = "6.1", flavour: str = "cloud",
          ladder: Sequence[int] = RATES_HZ) -> list[Rate]:
    """One boot; MeasureError when it cannot be made."""
    lines = [f"./load --disk=/dev/ram0 --seconds=600 --irqoff={_CONTEXTS} > /tmp/load & load=$!",
             "sleep 0.2"]
    for hz in ladder:
        lines.append(f"echo {_MARK}{hz}; ./measure file /proc/rt_measure "
                     f"'late {round(1e9 / hz)} 0 100 {releases}'")
    lines += ["kill -0 $load || { cat /tmp/load; exit 1; }", "kill $load", f"echo {_MARK}end"]
    seconds = sum((releases + 100) / hz for hz in ladder)
    text = figures.boot(
        "\n".join(lines), "--icount", f"--timeout={300 + 60 * seconds:g}",
        f"--modules={figures.RAM_DISK} hog tactus rt_measure",
        *(f"--put={programs.build(name)}" for name in ("measure", "load")),
        f"--qemu={figures.UART}", kernel=kernel, flavour=flavour)
    parts = dict(part.partition("\n")[::2] for part in text.replace("\r", "").split(_MARK)[1:])
    found = []
    for hz in ladder:
        try:
            one = figure.parse(parts[str(hz)])
        except (KeyError, ValueError) as error:
            raise MeasureError(f"{hz} Hz: {error}:\n{text[-1500:]}") from error
        found.append(Rate(hz, one.count, one.missed, round(one.mean, 1), one.max))
    return found


def highest(found: Sequence[Rate]) -> int:
    """The highest rate below which nothing was missed, either; 0: none."""
    best = 0
    for one in found:
        if one.missed:
            break
        best = one.hz
    return best


def table(found: Sequence[Rate]) -> str:
    """For people."""
    lines = [f"{'rate':>9} {'releases':>8} {'missed':>6} {'mean ns':>8} {'max ns':>8}"]
    lines += [f"{one.hz:>6} Hz {one.releases:>8} {one.missed:>6} {one.mean_ns:>8.0f} "
              f"{one.max_ns:>8}" for one in found]
    return "\n".join([*lines, f"highest without a miss: {highest(found)} Hz"])


def judge(found: Sequence[Rate]) -> list[str]:
    """Does it keep the goal?"""
    best = highest(found)
    return [f"{best} Hz without a miss, {GOAL_HZ} wanted"] * (best < GOAL_HZ)


def slopes(raw: dict[str, int]) -> list[tuple[int, int, float]]:
    """(N, a release among N, its growth for each doubling since the last N), in instructions."""
    points = sorted((int(name.removeprefix("release_")), value) for name, value in raw.items()
                    if name.startswith("release_"))
    return [(points[0][0], points[0][1], 0.0)] + [
        (n, value, (value - before) / math.log2(n / fewer))
        for (fewer, before), (n, value) in zip(points, points[1:], strict=False)]


@dataclass(frozen=True)
class Fifos(figures.Result):
    """A put and a get of 8 bytes by the last of so many FIFOs, in instructions."""

    fifos: int
    put: int
    get: int


def parse_fifos(text: str) -> list[Fifos]:
    """Of the parts "RATE N" with the lines of /proc/fifo_bench."""
    found = []
    for part in text.replace("\r", "").split(_MARK)[1:]:
        number, *lines = part.splitlines()
        cost = {words[0]: int(words[2]) for line in lines
                if (words := line.split())[1:2] == ["8"]}
        if set(cost) != {"put", "get"}:
            raise MeasureError(f"{number} FIFOs: no figure:\n{part}")
        found.append(Fifos(int(number), cost["put"], cost["get"]))
    return found


def among_fifos(kernel: str = "6.1", flavour: str = "cloud") -> list[Fifos]:
    """One boot; MeasureError when it cannot be made."""
    lines = ["set -e"]
    for number in FIFOS:
        lines += [f"modprobe fifo_bench fifos={number}",
                  f"head -c 40000 /dev/zero > /dev/rtf{number - 1}",
                  f"echo {_MARK}{number}; cat /proc/fifo_bench", "rmmod fifo_bench"]
    return parse_fifos(figures.boot(
        "\n".join(lines), "--icount", f"--modules=tactus rtfifo nfifos={max(FIFOS)}",
        "--with-modules=fifo_bench", "--memory=1G", kernel=kernel, flavour=flavour))


def judge_fifos(found: Sequence[Fifos]) -> list[str]:
    """Is it flat?"""
    first = found[0]
    return [f"{one.fifos} FIFOs: put {one.put}, get {one.get} instructions, with one "
            f"{first.put} and {first.get}" for one in found
            if one.put > first.put + SLACK or one.get > first.get + SLACK]


def table_fifos(found: Sequence[Fifos]) -> str:
    """For people."""
    return "\n".join([f"{'FIFOs':>11} {'put 8':>8} {'get 8':>8}",
                      *(f"{one.fifos:>11} {one.put:>8} {one.get:>8}" for one in found)])


# What is drawn: a row's two names, and what the curve is called; by its colour.
_CURVES = {"#c8401a": ("ready tasks", "release", "a release among ready tasks"),
           "#2d6cdf": ("fifos", "put", "a put of 8 bytes among FIFOs"),
           "#8a6d1a": ("fifos", "get", "a get")}


def plot(rows: Sequence[Mapping[str, Any]]) -> svg.Drawing:
    """What each costs among ever more, from the figures that are kept; N is logarithmic."""
    left, base, across, tall = 60, 250, 620, 210
    picture = svg.Drawing(720, 300, "Instructions among ever more tasks and FIFOs")
    curves = {colour: (title, [(row[n], row[cost]) for row in rows if n in row and cost in row])
              for colour, (n, cost, title) in _CURVES.items()}
    every = [point for _, points in curves.values() for point in points]
    doublings = math.ceil(math.log2(max(n for n, _ in every)))
    most = 100 * math.ceil(max(cost for _, cost in every) / 100)
    for cost in range(0, most + 1, 100):
        y = base - tall * cost / most
        picture.line(left, y, left + across, y, svg.FAINT, 0.6)
        picture.text(left - 8, y + 4, str(cost), anchor="end")
    for power in range(0, doublings + 1, 2):
        picture.text(left + across * power / doublings, base + 18, str(2**power), anchor="middle")
    picture.text(left, 20, "instructions")
    picture.text(left + across, base + 38, "so many of them, each step four times more",
                 anchor="end")
    for number, (colour, (title, points)) in enumerate(curves.items()):
        places = [(left + across * math.log2(n) / doublings, base - tall * cost / most)
                  for n, cost in points]
        picture.path(places, colour, 2)
        for x, y in places:
            picture.box(x - 3, y - 3, 6, 6, colour)
        picture.text(left + 130 + 230 * number, 20, title, fill=colour, bold=True)
    return picture


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    yield figures.outcome(rates(options.releases, options.kernel, options.flavour), table, judge)
    curve = slopes(costs.costs(options.kernel).raw)
    yield figures.Outcome(
        [{"ready tasks": n, "release": value, "more for each doubling": round(slope, 1)}
         for n, value, slope in curve],
        "\n".join([f"{'ready tasks':>11} {'release':>8} {'a doubling':>10}",
                   *(f"{n:>11} {value:>8} {slope:>+10.1f}" for n, value, slope in curve)]))
    yield figures.outcome(among_fifos(options.kernel, options.flavour), table_fifos, judge_fifos)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--releases", type=int, default=3000, help="at each rate; default 3000")


MEASUREMENTS = (figures.Measurement(
    "scale", "the highest rate without a miss; a release among many tasks, a put among many FIFOs",
    _run, _add_options, {"releases": 20_000}),)
