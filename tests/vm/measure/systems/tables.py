# SPDX-License-Identifier: GPL-2.0-only
"""The tables of `make bench`: which figures each has, and how it is shown.

Each comes from a publication, named in it, and asks of every system the same under the same load.
Linux is asked by tools/measure, an RT task by tests/vm/measure/modules/rt_measure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..lateness import LOAD_FLOORS_PER_S, SECTIONS_PER_S
from .model import SYSTEMS, Figure, Job

MEASURE = "./measure"
RT_FILE = "/proc/rt_measure"
IRQ_FILE = "/proc/irq_measure"

Rows = list[list[str]]


@dataclass(frozen=True)
class Asked:
    """What the command line asks for."""

    seconds: float = 0.5
    """Virtual, of each figure."""
    readings: int = 1_000_000
    """Of the clock."""


@dataclass(frozen=True)
class Table:
    """A table: its figures on each system, and the form that its source gives it."""

    name: str
    title: str
    source: str
    measured: str
    """What a value is, for the plots."""
    jobs: Callable[[str, Asked], list[Job]]
    rows: Callable[[Sequence[Figure]], Rows]
    """Head and rows."""
    panels: Callable[[Figure], str]
    """The plot in which a figure's histogram is; "" for none."""
    poll: bool = False
    """Keep the CPU from halting by Linux's own polling, not by a SCHED_IDLE program of nops, which
    runs faster here but takes its small share from ordinary programs that never sleep."""


def show(ns: float) -> str:
    """A time with a unit that suits it."""
    ns = 0 if abs(ns) < 0.05 else ns
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(ns) >= size:
            return f"{ns / size:.3g} {unit}" if abs(ns) < 100 * size else f"{ns / size:.0f} {unit}"
    return f"{ns:.3g} ns" if abs(ns) < 100 else f"{ns:.0f} ns"


def _title(system: str) -> str:
    return SYSTEMS[system].title


def _beats(what: str, means: str, period: int, asked_ns: float, *, busy: int = 0, who: str = "fifo",
           load: str = "none") -> tuple[str, float, int]:
    """(the command, virtual seconds, warm-up) of beats by `means`, which "rt task" is one of."""
    count = max(10, round(asked_ns / period))
    warm_up = 10 if period <= 1_000_000 else 2
    if means == "rt task":
        command = f'{MEASURE} file {RT_FILE} "{what} {period} {busy} {warm_up} {count}"'
    else:
        command = (f"{MEASURE} {what} --by={means} --as={who} --period-ns={period} "
                   f"--busy-ns={busy} --warm-up={warm_up} --count={count}")
    return f"{command} --load={load} --dir=/mnt", (count + warm_up) * period / 1e9 + 0.05, warm_up


# The thesis: Table 5.1.

_CONDITIONS = {"idle": "nothing; the CPU is kept from halting", "load": "tests/vm/harness/load",
               "irqoff": "the same, and sections of 20 ms with interrupts off"}


def _beside(condition: str, command: str, seconds: float) -> str:
    """`command` beside the bench's own load, which must have done its minimum."""
    if condition == "idle":
        return command
    load = f"./load --json --disk=/dev/ram1 --seconds={seconds + 0.3:g}"
    load += "".join(f" --min-{name}={floor * seconds:g}" for name, floor in
                    LOAD_FLOORS_PER_S.items() if name != "gzip_mb")
    if condition == "irqoff":
        load += f" --irqoff=process,timer,tasklet --min-sections={int(SECTIONS_PER_S * seconds)}"
    return (f"{load} > /tmp/load & pid=$!; sleep 0.1; {command}\nwait $pid || {{ cat /tmp/load; "
            "exit 1; }; cat /tmp/load")


def _thesis_jobs(system: str, asked: Asked) -> list[Job]:
    rt = system == "tactus"
    jobs = []
    unbind = ("" if rt else "for d in /sys/bus/pnp/drivers/rtc_cmos/*:*; do echo ${d##*/} > "
              "${d%/*}/unbind; done\n")
    count = max(20, round(asked.seconds * 8192))
    for condition, load in _CONDITIONS.items():
        command = f'{MEASURE} file {RT_FILE if rt else IRQ_FILE} "irq 10 {count}"'
        jobs.append(Job("interrupt latency", condition,
                        unbind + _beside(condition, command, asked.seconds), asked.seconds, 10,
                        load))
        unbind = ""
    for condition, load in _CONDITIONS.items():
        command, seconds, warm_up = _beats("late", "rt task" if rt else "clock_nanosleep",
                                           1_000_000, asked.seconds * 1e9)
        jobs.append(Job("scheduling precision", condition,
                        _beside(condition, command, asked.seconds), seconds, warm_up, load))
    return jobs


def _thesis_rows(figures: Sequence[Figure]) -> Rows:
    rows = [["system", "condition", "interrupt latency: avg", "99.9 %", "max",
             "scheduling precision: avg", "99.9 %", "max"]]
    by = {(f.system, f.condition, f.subject): f for f in figures}
    for system, condition in dict.fromkeys((f.system, f.condition) for f in figures):
        row = [_title(system), condition]
        for subject in ("interrupt latency", "scheduling precision"):
            one = by.get((system, condition, subject))
            row += [show(one.avg), show(one.p99_9), show(one.max)] if one else ["-"] * 3
        rows.append(row)
    return rows


# Finney: Table 1, and the means of suspension.

def _gaps_jobs(system: str, asked: Asked) -> list[Job]:
    loads = {"none": "no load", "arithmetic": "3 programs of continuous arithmetic"}
    if system == "tactus":
        return [Job("RT task", words, f'{MEASURE} file {RT_FILE} "gaps {asked.readings}" '
                    f"--load={load} --dir=/mnt", asked.readings * 45e-9 + 0.05, 0, words)
                for load, words in loads.items()]
    who = {"user": "user", "nice": "setpriority", "fifo": "SCHED_FIFO"}
    return [Job(title, words, f"{MEASURE} gaps --as={name} --count={asked.readings} --load={load} "
                "--dir=/mnt", asked.readings * 130e-9 * (4 if load != "none" else 1), 0, words)
            for name, title in who.items() for load, words in loads.items()]


def _gaps_rows(figures: Sequence[Figure]) -> Rows:
    return [["system", "configuration", "mean", "99.9 %", "max", "standard deviation"], *(
        [_title(f.system), f"{f.subject}, {f.condition}", show(f.avg), show(f.p99_9), show(f.max),
         show(f.sd)] for f in figures)]


_MEANS = ("setitimer", "nanosleep", "rtc", "timerfd", "clock_nanosleep")
_LADDER_US = (50, 100, 250, 1000, 10_000)
# /dev/rtc has powers of two.
_LADDER_HZ = (8192, 4096, 1024, 64)
_LOADS = {"none": "no load", "jobs": "ping, md5sum, writing a file"}


def _suspend_jobs(system: str, asked: Asked) -> list[Job]:
    jobs = []
    for means, who in ([("rt task", "rt")] if system == "tactus" else
                       [(means, who) for means in _MEANS for who in ("user", "fifo")]):
        ladder = [1_000_000_000 // hz for hz in _LADDER_HZ] if means == "rtc" else [
            us * 1000 for us in _LADDER_US]
        for load, words in _LOADS.items():
            for period in ladder:
                command, seconds, warm_up = _beats("gap", means, period, asked.seconds * 1e8,
                                                   who=who, load=load)
                name = "RT task" if means == "rt task" else f"{means}, {who}"
                jobs.append(Job(name, f"{words}, {period / 1000:g} us", command, seconds, warm_up,
                                words))
    return jobs


def _reliable(one: Figure) -> bool:
    """Every gap within half a period of what was asked, and their mean within 5 %."""
    period = float(one.condition.rsplit(", ", 1)[1].split()[0]) * 1000
    return max(-one.min, one.max) <= period / 2 and abs(one.avg) <= period / 20


def _suspend_rows(figures: Sequence[Figure]) -> Rows:
    rows = [["system", "means", "load", "smallest reliable", "error at it: mean", "max",
             "error at 1 ms: mean", "max"]]
    groups: dict[tuple[str, str, str], list[Figure]] = {}
    for one in figures:
        groups.setdefault((one.system, one.subject, one.load), []).append(one)
    for (system, subject, load), group in groups.items():
        good = next((one for one in group if _reliable(one)), None)
        near = min(group, key=lambda one: abs(
            float(one.condition.rsplit(", ", 1)[1].split()[0]) - 1000))
        rows.append([_title(system), subject, load,
                     good.condition.rsplit(", ", 1)[1] if good else "none",
                     show(good.avg) if good else "-",
                     show(max(-good.min, good.max)) if good else "-", show(near.avg),
                     show(max(-near.min, near.max))])
    return rows


# Varoquaux: jitter of a digital oscillator.

_RATES_HZ = (64, 256, 1024, 4096, 8192, 20_000)


def _jitter_jobs(system: str, asked: Asked) -> list[Job]:
    jobs = []
    for hz in _RATES_HZ:
        # The real-time clock up to its highest rate, as the source has it.
        means = "rt task" if system == "tactus" else "rtc" if hz <= 8192 else "clock_nanosleep"
        command, seconds, warm_up = _beats("gap", means, round(1e9 / hz), asked.seconds * 1e9,
                                           load="jobs")
        jobs.append(Job(means, f"{hz} Hz", command, seconds, warm_up, _LOADS["jobs"]))
    return jobs


def _jitter_rows(figures: Sequence[Figure]) -> Rows:
    return [["system", "rate", "by", "gap - 1/f: min", "99.9 %", "max", "of a period", "missed"], *(
        [_title(f.system), f.condition, f.subject, show(f.min), show(f.p99_9), show(f.max),
         f"{max(-f.min, f.max) * float(f.condition.split()[0]) / 1e7:.3g} %", str(f.missed)]
        for f in figures)]


# Senoner's latencytest, which Phillips ran.

_FRAGMENT_NS = round(256 / 4 / 44_100 * 1e9)
_STRESSES = {"screen": "text to a console", "proc": "reading /proc", "diskwrite": "writing a file",
             "diskcopy": "copying a file", "diskread": "reading a file"}


def _audio_jobs(system: str, asked: Asked) -> list[Job]:
    jobs = []
    for stress, words in _STRESSES.items():
        means = "rt task" if system == "tactus" else "clock_nanosleep"
        command, seconds, warm_up = _beats("gap", means, _FRAGMENT_NS, asked.seconds * 1e9,
                                  busy=_FRAGMENT_NS // 2, load=stress)
        jobs.append(Job(means, words, command, seconds, warm_up, words, 2 * _FRAGMENT_NS))
    return jobs


def _audio_rows(figures: Sequence[Figure]) -> Rows:
    return [["system", "stress", "within 0.1 ms", "0.2 ms", "1 ms", "2 ms", "off by: 99.9 %", "max",
             "over-runs"], *(
        [_title(f.system), f.condition, *(f"{share:.2f} %" for share in f.near), show(f.p99_9),
         show(max(-f.min, f.max)), str(f.over)]
        for f in figures)]


TABLES = {one.name: one for one in (
    Table("thesis", "Interrupt latency and scheduling precision",
          "Barabanov, A Linux-based Real-Time Operating System (1997), Table 5.1; the real-time "
          "clock's interrupt at 8192 Hz, and a period of 1 ms by an RT task or SCHED_FIFO process",
          "late by", _thesis_jobs, _thesis_rows, lambda f: f"{f.subject}, {f.condition}"),
    Table("gaps", "Gaps between readings of the clock",
          "Finney, Real-time data collection in Linux (2001), Table 1", "gap", _gaps_jobs,
          _gaps_rows, lambda f: f.condition if f.subject in ("SCHED_FIFO", "RT task") else "",
          poll=True),
    Table("suspend", "Means to wait for a short time",
          "Finney (2001), Process Suspension; a period is reliable when every gap is within half "
          "of it and the mean within 5 %", "gap - period", _suspend_jobs, _suspend_rows,
          lambda f: ""),
    Table("jitter", "Jitter of a digital oscillator",
          "Varoquaux, Timing problems with a computer (2006); /dev/rtc up to 8192 Hz, "
          "clock_nanosleep at 20 kHz, both SCHED_FIFO; beside ping, md5sum and a file written",
          "gap - 1/f", _jitter_jobs, _jitter_rows, lambda f: f.condition),
    Table("audio", "Five stresses beside an audio loop",
          "Senoner's latencytest by Phillips, Low latency in the Linux kernel (2000): fragments of "
          "256 bytes, 1.45 ms, half of which is computed; text to a console stands for X11; an "
          "over-run is a fragment later than the two others last", "off by", _audio_jobs,
          _audio_rows, lambda f: f.condition),
)}
