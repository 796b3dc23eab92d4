# SPDX-License-Identifier: GPL-2.0-only
"""Measure this machine as others measured theirs, in wall time.

  gaps     between readings of the clock, at three priorities (Finney 2001, Table 1)
  suspend  each means to wait for a millisecond (Finney 2001, Process Suspension)
  jitter   of beats at 64 to 8192 Hz and 20 kHz (Varoquaux 2006)
  audio    of an audio loop that computes for half of its time (latencytest)

All four by default, for ordinary programs. Where tactus is loaded, jitter has an RT task's
lateness beside them, under the same load; where we may use /dev/rt, each has the same program in RT
mode. `make bench` in the sources measures the same in an
emulator, in virtual time: never compare its figures with these.

Exit status: 0 measured, 1 it could not be, 2 a wrong command line.
"""
from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tactus import figure, hostprogram, modules
from tactus.commands import latency
from tactus.errors import ToolError
from tactus.figure import Figure
from tactus.lateness import Reading
from tactus.machine import Machine

HELP = "measure gaps, waits, jitter and an audio loop on this machine"
NAMES = ("gaps", "suspend", "jitter", "audio")
LOADS = ("none", "arithmetic", "jobs", "screen", "proc", "diskwrite", "diskcopy", "diskread")
MEANS = ("setitimer", "nanosleep", "rtc", "timerfd", "clock_nanosleep")
RT = ("rt_wait", "rt")     # the means, and who
RATES_HZ = (64, 256, 1024, 4096, 8192, 20_000)
FRAGMENT_NS = 1_451_247
HEADER = (f"{'':8} {'':32} {'count':>9} {'min us':>9} {'avg us':>9} {'99.9 %':>9} {'max us':>10} "
          f"{'missed':>6}")


@dataclass(frozen=True)
class Job:
    """One figure to make: the arguments of tactus-measure."""

    name: str
    what: str
    arguments: tuple[str, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help=f"{', '.join(NAMES)}; default: all")
    parser.add_argument("--seconds", type=float, default=2.0, metavar="S",
                        help="of each figure (default 2)")
    parser.add_argument("--readings", type=int, default=1_000_000, metavar="N",
                        help="of the clock, for gaps (default 1000000)")
    parser.add_argument("--load", choices=LOADS, default="none",
                        help="what runs beside; tactus-measure --help explains them (default none)")
    parser.add_argument("--json", action="store_true", help="one JSON object for each figure")


def beats(name: str, what: str, means: str, who: str, period_ns: int, seconds: float,
          busy_ns: int = 0) -> Job:
    count = max(20, round(seconds * 1e9 / period_ns))
    return Job(name, what, ("gap", f"--by={means}", f"--as={who}", f"--period-ns={period_ns}",
                            f"--busy-ns={busy_ns}", f"--count={count}"))


def jobs(names: list[str], seconds: float, readings: int, root: bool, rtc: bool,
         rt: bool) -> Iterator[Job]:
    """What there is to measure for whom we are: priorities take root, /dev/rtc0 and RT mode their
    devices."""
    best = "fifo" if root else "user"
    if "gaps" in names:
        for who in ("user", "nice", "fifo") if root else ("user",):
            yield Job("gaps", who, ("gaps", f"--as={who}", f"--count={readings}"))
        if rt:
            yield Job("gaps", "RT mode", ("gaps", "--as=rt", f"--count={readings}"))
    if "suspend" in names:
        for means in MEANS:
            for who in ("user", "fifo") if root else ("user",):
                if means != "rtc":
                    yield beats("suspend", f"{means}, {who}, 1 ms", means, who, 1_000_000, seconds)
                elif rtc:
                    yield beats("suspend", f"rtc, {who}, 1/1024 s", means, who, 976_563, seconds)
        if rt:
            yield beats("suspend", "rt_wait, RT mode, 1 ms", *RT, 1_000_000, seconds)
    if "jitter" in names:
        for hz in RATES_HZ:
            means = "rtc" if rtc and hz <= 8192 else "clock_nanosleep"
            yield beats("jitter", f"{hz} Hz, {means}, {best}", means, best, round(1e9 / hz),
                        seconds)
            if rt:
                yield beats("jitter", f"{hz} Hz, rt_wait, RT mode", *RT, round(1e9 / hz), seconds)
    if "audio" in names:
        yield beats("audio", f"1.45 ms, half computed, {best}", "clock_nanosleep", best,
                    FRAGMENT_NS, seconds, FRAGMENT_NS // 2)
        if rt:
            yield beats("audio", "1.45 ms, half computed, RT mode", *RT, FRAGMENT_NS, seconds,
                        FRAGMENT_NS // 2)


def measure(program: str, job: Job, load: str, folder: str) -> Figure:
    done = subprocess.run([program, *job.arguments, f"--load={load}", f"--dir={folder}"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolError(f"{job.name}, {job.what}: {done.stderr.strip()}")
    try:
        return figure.parse(done.stdout)
    except ValueError as problem:
        raise ToolError(f"{job.name}, {job.what}: {problem}") from problem


def show(job: Job, found: Figure, as_json: bool, load: str) -> None:
    if as_json:
        print(json.dumps({
            "name": job.name, "what": job.what, "load": load, "time": "wall", "count": found.count,
            "missed": found.missed, "min_ns": found.min, "avg_ns": round(found.mean, 1),
            "p99_9_ns": found.percentile(99.9), "max_ns": found.max,
            "sd_ns": round(found.deviation, 1), "histogram": found.bins}), flush=True)
        return
    us = [f"{ns / 1000:.2f}" for ns in (found.min, found.mean, found.percentile(99.9), found.max)]
    print(f"{job.name:8} {job.what:32} {found.count:>9} {us[0]:>9} {us[1]:>9} {us[2]:>9} "
          f"{us[3]:>10} {found.missed:>6}", flush=True)


def lateness_figure(reading: Reading) -> Figure:
    """What rt_latency measured; the values' spread is to the width of its bins."""
    s = reading.summary
    if not s["releases"]:
        raise ToolError("the RT task had no release in this time")
    bins = tuple((low, s["max_ns"] + 1 if high is None else high, count)
                 for low, high, count in reading.bins)
    middles = [((low + high - 1) / 2, count) for low, high, count in bins]
    middle = sum(at * count for at, count in middles) / s["releases"]
    spread = sum((at - middle) ** 2 * count for at, count in middles) / s["releases"]
    square = round((spread + (s["sum_ns"] / s["releases"]) ** 2) * s["releases"])
    return Figure("late", s["releases"], s["skipped"] + s["overruns"], s["min_ns"], s["max_ns"],
                  s["sum_ns"], square, bins)


@contextmanager
def beside(program: str, load: str, folder: str, seconds: float) -> Iterator[None]:
    """`load` runs meanwhile, for as long as an ordinary program's beats take."""
    if load == "none":
        yield
        return
    job = beats("load", load, "clock_nanosleep", "user", 1_000_000, seconds)
    with subprocess.Popen([program, *job.arguments, f"--load={load}", f"--dir={folder}"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
        yield
        _, said = running.communicate()
    if running.returncode:
        raise ToolError(f"the load {load}: {said.strip()}")


def show_rt(machine: Machine, program: str, folder: str, args: argparse.Namespace) -> None:
    """An RT task's lateness by the module rt_latency, where the executive is and we may load it."""
    present = machine.modules()
    if modules.EXECUTIVE not in present:
        print("tactus is not loaded, so there is no RT task beside these", file=sys.stderr)
        return
    if latency.MODULE in present or not machine.is_root():
        print("an RT task beside these: tactus latency", file=sys.stderr)
        return
    wanted = argparse.Namespace(period_us=1000, cpu=0, tick=False, dir=None, seconds=args.seconds,
                                show="hist", json=True, stop_on=None)
    with beside(program, args.load, folder, args.seconds):
        latency.start(wanted, machine)
        try:
            reading = latency.measure(wanted, machine, ours=True)
        finally:
            modules.remove(machine, latency.MODULE)
    show(Job("jitter", "RT task, 1 ms, lateness", ()), lateness_figure(reading), args.json,
         args.load)


def run(args: argparse.Namespace, machine: Machine) -> int:
    if unknown := [name for name in args.names if name not in NAMES]:
        raise ToolError(
            f"no such measurement: {' '.join(unknown)}; there are {', '.join(NAMES)}", 2)
    if not 0.01 <= args.seconds <= 86400:
        raise ToolError("--seconds must be 0.01 to 86400", 2)
    if not 1 <= args.readings <= 1_000_000_000:
        raise ToolError("--readings must be 1 to 1000000000", 2)
    names = args.names or list(NAMES)
    program = hostprogram.find("tactus-measure", "TACTUS_MEASURE", "tools/measure/measure.c",
                               "measure")
    root = machine.is_root()
    if not root:
        print("not root: ordinary priority alone, and no /dev/rtc0", file=sys.stderr)
    if not args.json:
        print("wall time of this machine; gaps in us, all others gap between beats minus the "
              f"period\n{HEADER}")
    rt = os.access(machine.root / "dev/rt", os.R_OK | os.W_OK)
    if modules.EXECUTIVE in machine.modules() and not rt:
        print("no /dev/rt for us, so there is no program in RT mode beside these", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="tactus-measure.") as folder:
        for job in jobs(names, args.seconds, args.readings, root,
                        root and (machine.root / "dev/rtc0").exists(), rt):
            show(job, measure(program, job, args.load, folder), args.json, args.load)
        if "jitter" in names:
            show_rt(machine, program, folder, args)
    return 0
