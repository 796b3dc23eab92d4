# SPDX-License-Identifier: GPL-2.0-only
"""Measure how late releases are, on the bench, in virtual time.

The tests, the demo and ``make bench-long`` all take their figures from here, so that they mean
the same thing. Three kinds are measured: an RT task, a raw RT timer tick (both by
examples/latency) and, on the untouched kernel, a pinned hard hrtimer
(tests/vm/measure/modules/hrt_latency); under three conditions: an idle guest, a loaded one, and a
loaded one in which a driver keeps interrupts off for 20 ms at a time (tests/vm/harness/load), in
several kinds of context in turn or, for ``irqoff-process`` and its like, in one only.

    result = measure("task", "irqoff", seconds=3)
    print(result.max_ns, result.releases, result.skipped, result.load)

Several cases in one boot: measure_all([Case("task", "idle", 3), Case("task", "load", 3)]).

Lateness is the clock at the first instruction of the task (handler) minus the moment of
that release, start + k * period, in ns. See docs/measuring.md.
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from harness import programs

from . import figures
from .figures import MeasureError

Kind = Literal["task", "tick", "hrtimer"]
Condition = Literal["idle", "load", "irqoff", "irqoff-process", "irqoff-tasklet", "irqoff-timer",
                    "irqoff-hrtimer", "irqoff-spinlock"]
Timer = Literal["auto", "lapic", "tsc-deadline", "pit"]
Mode = Literal["pipeline", "hosted"]

# The conditions that stand for all; those with one context each are for looking closer.
MAIN_CONDITIONS: tuple[Condition, ...] = ("idle", "load", "irqoff")
CONTEXT_CONDITIONS: tuple[Condition, ...] = get_args(Condition)[3:]
# The contexts of "irqoff" (tests/vm/harness/modules/hog has them all).
_CONTEXTS = ("process", "timer", "tasklet")

# What the load must at least have done in each virtual second for a figure to count: below half
# of what one CPU does on 6.1 under --icount with the interrupts-off sections, of the pipe less,
# since later kernels do less. docs/measuring.md has it.
LOAD_FLOORS_PER_S: dict[str, float] = {
    "forks": 50,
    "pipe_mb": 10,
    "gzip_mb": 0.3,
    "disk_mb": 12,
    "serial_irqs": 600,
}
# Sections of 20 ms with interrupts off, in each second.
SECTIONS_PER_S = 8

# The promise, under every condition: max lateness of a raw RT tick and of an RT task's release.
LIMIT_NS = {"tick": 1000, "task": 2000}
# The same by the 8254, whose counts last for 838 ns.
PIT_LIMIT_NS = {"tick": 3000, "task": 3000}

# What a Linux hrtimer must at least be late beside sections of 20 ms.
CONTROL_NS = 15_000_000

_MARK = "MEASURE "


@dataclass(frozen=True)
class Case:
    """One measurement: what is measured, under what, for how many virtual seconds."""

    kind: Kind
    condition: Condition
    seconds: float = 3.0
    period_us: int = 1000

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}: {self.kind!r}")
        if self.condition not in get_args(Condition):
            raise ValueError(
                f"condition must be one of {', '.join(get_args(Condition))}: {self.condition!r}"
            )
        if not 0 < self.seconds <= 3600:
            raise ValueError(f"seconds must be above 0 and at most 3600: {self.seconds}")
        if not 50 <= self.period_us <= 1_000_000:
            raise ValueError(f"period_us must be 50 to 1000000: {self.period_us}")


@dataclass(frozen=True)
class Lateness(figures.Result):
    """The outcome of one case; all times in ns."""

    case: Case
    releases: int
    """Jobs that ran."""
    expected: int
    """Releases due from the start to the last job that ran."""
    skipped: int
    """expected - releases; anything but 0 is a failure."""
    min_ns: int
    mean_ns: float
    max_ns: int
    overruns: int
    """Jobs that began when the next release was due already."""
    histogram: dict[int, int]
    """Count by lower edge of a bin, in ns; empty bins left out. Bins are 10 ns wide up to
    20 us and 20 us wide up to 40 ms; early releases are in the first."""
    upper_ns: dict[int, int]
    """Upper edge of each bin in histogram; of the open-ended last one, the maximum."""
    load: dict[str, float] = field(default_factory=dict)
    """What tests/vm/harness/load reports as done; empty when idle."""
    worst: int = 0
    """Number of the release that was max_ns late, from 0."""

    def percentile_ns(self, percent: float) -> int:
        """The upper edge of the bin that `percent` of the releases do not exceed."""
        if not 0 <= percent <= 100:
            raise ValueError(f"percent must be 0 to 100: {percent}")
        left = self.releases * percent / 100
        for edge in sorted(self.histogram):
            left -= self.histogram[edge]
            if left <= 0:
                return min(self.upper_ns[edge], self.max_ns)
        return self.max_ns


def _guest_script(cases: Sequence[Case]) -> str:
    """The shell text that makes the measurements and prints them between marks."""
    lines = ["set -e"]
    if any(case.kind == "hrtimer" for case in cases):
        # In the first second Linux's hrtimers go by the jiffy: no fair thing to compare with.
        lines.append("until grep -q 'hres_active *: 1' /proc/timer_list; do ./awake 0.05; done")
    for number, case in enumerate(cases):
        module = "hrt_latency" if case.kind == "hrtimer" else "rt_latency"
        parameters, status = f"/sys/module/{module}/parameters", f"/proc/{module}"
        lines.append(f"echo 0 > {status}/running")
        lines.append(f"echo {case.period_us} > {parameters}/period_us")
        if case.kind != "hrtimer":
            lines.append(f"echo {case.kind} > {parameters}/mode")
        lines.append(f"echo 1 > {status}/running")
        lines.append(f"echo {_MARK}load {number}")
        if case.condition == "idle":
            lines.append(f"./awake {case.seconds:g}")
        else:
            load = ["./load", "--json", "--disk=/dev/ram0", f"--seconds={case.seconds:g}"]
            for name, floor in LOAD_FLOORS_PER_S.items():
                load.append(f"--min-{name}={floor * case.seconds:g}")
            if case.condition != "load":
                one = case.condition.removeprefix("irqoff").removeprefix("-")
                load.append(f"--irqoff={one or ','.join(_CONTEXTS)}")
                # With the default of 40 ms a process makes only seven sections a second.
                if one:
                    load.append("--gap-ms=30")
                # The driver itself checks that a section ran in the context it says.
                load.append(f"--min-{one or 'sections'}={int(SECTIONS_PER_S * case.seconds)}")
            lines.append(shlex.join(load))
        lines.append(f"echo 0 > {status}/running")
        for name in ("summary", "histogram"):
            lines.append(f"echo {_MARK}{name} {number}")
            lines.append(f"cat {status}/{name}")
        lines.append(f"echo {_MARK}end {number}")
    return "\n".join(lines)


def parse(text: str, cases: Sequence[Case]) -> list[Lateness]:
    """Make results of what the guest printed; raises MeasureError where something is missing."""
    sections: dict[tuple[str, int], list[str]] = {}
    current: list[str] = []
    for line in text.replace("\r", "").splitlines():
        if line.startswith(_MARK):
            name, number = line[len(_MARK) :].split()
            current = sections.setdefault((name, int(number)), [])
        elif line.strip():
            current.append(line.strip())

    results = []
    for number, case in enumerate(cases):
        if ("end", number) not in sections:
            raise MeasureError(f"{case}: the guest did not finish it:\n{text}")
        summary = dict(word.split("=", 1) for word in sections["summary", number][0].split())
        histogram: dict[int, int] = {}
        upper_ns: dict[int, int] = {}
        for line in sections["histogram", number]:
            lower, upper, count = line.split()
            histogram[int(lower)] = int(count)
            upper_ns[int(lower)] = int(summary["max_ns"] if upper == "-" else upper)
        load: dict[str, float] = {}
        if case.condition != "idle":
            load = json.loads(sections["load", number][-1])
        result = Lateness(
            case=case,
            releases=int(summary["releases"]),
            expected=int(summary["expected"]),
            skipped=int(summary["skipped"]),
            min_ns=int(summary["min_ns"]),
            mean_ns=int(summary["sum_ns"]) / max(1, int(summary["releases"])),
            max_ns=int(summary["max_ns"]),
            worst=int(summary["worst"]),
            overruns=int(summary["overruns"]),
            histogram=histogram,
            upper_ns=upper_ns,
            load=load,
        )
        if sum(histogram.values()) != result.releases:
            raise MeasureError(f"{case}: the histogram and the releases differ: {result}")
        if result.expected * case.period_us < case.seconds * 1e6:
            raise MeasureError(f"{case}: measured for less than {case.seconds} s: {result}")
        results.append(result)
    return results


def measure_all(
    cases: Sequence[Case],
    *,
    timer: Timer = "auto",
    mode: Mode = "pipeline",
    kernel: str = "6.1",
    flavour: str = "cloud",
    icount: bool = True,
    smp: int = 1,
    timeout_s: float | None = None,
    log: Path | None = None,
    beside: Sequence[str] = (),
) -> list[Lateness]:
    """Make the cases' measurements in one boot, in order, by the one-shot device `timer`, in
    `mode`, `beside` other RT tasks: of each the line that tests/vm/exec/modules/taskset wants.

    The hrtimer's cases need the untouched kernel, so they cannot share a boot with the others.
    Raises MeasureError when the guest failed, the load did less than its minimum, or a figure
    does not cover the time asked for; lateness and skips are the caller's to judge.
    """
    kinds = {case.kind == "hrtimer" for case in cases}
    if len(kinds) != 1:
        raise ValueError("one boot measures either hrtimer cases or RT ones, and at least one")
    modules = "hrt_latency" if kinds == {True} else (
        f"tactus_core tactus mode={mode} timer={timer} rt_latency")
    modules += " taskset" if beside else ""
    others = "".join(f"echo {task} > /sys/module/taskset/parameters/add\n" for task in beside)
    others += "echo 1 > /sys/module/taskset/parameters/start\n" if beside else ""
    return parse(guest_run(cases, *(["--icount"] if icount else [f"--smp={smp}"]),
                           *([f"--log={log}"] if log else []), modules=modules, before=others,
                           timeout_s=timeout_s, kernel=kernel, flavour=flavour), cases)


def guest_run(cases: Sequence[Case], *options: str, before: str = "", after: str = "",
              qemu: str = "", modules: str = "tactus rt_latency", timeout_s: float | None = None,
              kernel: str = "6.1", flavour: str = "cloud") -> str:
    """What a guest prints that makes the cases' measurements, for parse(): between the shell texts
    `before` and `after`, with `options` of `vm run`, and `qemu`'s beside those that the load needs.
    """
    if timeout_s is None:
        timeout_s = 60 + sum(case.seconds for case in cases) * 30
    return figures.boot(
        f"{before}\n{_guest_script(cases)}\n{after}", *options, f"--timeout={timeout_s:g}",
        f"--modules={figures.RAM_DISK} hog {modules}",
        *(f"--put={programs.build(name)}" for name in ("load", "awake")),
        f"--qemu={figures.UART} {qemu}".rstrip(), kernel=kernel, flavour=flavour)


def measure(
    kind: Kind,
    condition: Condition,
    seconds: float = 3.0,
    *,
    period_us: int = 1000,
    timer: Timer = "auto",
    mode: Mode = "pipeline",
    kernel: str = "6.1",
    flavour: str = "cloud",
    icount: bool = True,
    smp: int = 1,
    timeout_s: float | None = None,
    log: Path | None = None,
) -> Lateness:
    """Make one measurement in a boot of its own; see measure_all()."""
    return measure_all(
        [Case(kind, condition, seconds, period_us)],
        timer=timer,
        mode=mode,
        kernel=kernel,
        flavour=flavour,
        icount=icount,
        smp=smp,
        timeout_s=timeout_s,
        log=log,
    )[0]


def complaints(result: Lateness, limit_ns: int) -> list[str]:
    """Why a result does not keep the promise; empty if it does.

    Early releases count too: a job that runs before its release is as wrong as a late one, but
    the clocks' rounding may take a few ns.
    """
    found = []
    if result.max_ns > limit_ns:
        found.append(f"{result.max_ns} ns late, {limit_ns} allowed")
    if result.min_ns < -100:
        found.append(f"{-result.min_ns} ns early")
    if result.releases != result.expected or result.skipped:
        found.append(f"{result.releases} jobs for {result.expected} releases")
    if result.overruns:
        found.append(f"{result.overruns} jobs began a period late or more")
    return found


def table(results: Sequence[Lateness]) -> str:
    """The results as lines for people."""
    lines = [
        f"{'kind':<8} {'condition':<15} {'releases':>8} {'skipped':>7} "
        f"{'min ns':>8} {'mean ns':>9} {'max ns':>10}"
    ]
    for result in results:
        lines.append(
            f"{result.case.kind:<8} {result.case.condition:<15} {result.releases:>8} "
            f"{result.skipped:>7} {result.min_ns:>8} {result.mean_ns:>9.0f} {result.max_ns:>10}"
        )
    return "\n".join(lines)


def judge(results: Sequence[Lateness], limits: Mapping[str, int]) -> list[str]:
    """All that is wrong with RT kinds, and with an hrtimer that nothing made late."""
    trouble = []
    for result in results:
        where = f"{result.case.kind}, {result.case.condition}"
        if result.case.kind != "hrtimer":
            trouble += [f"{where}: {text}" for text in complaints(result, limits[result.case.kind])]
        elif result.case.condition == "irqoff" and result.max_ns < CONTROL_NS:
            trouble.append(f"{where}: not late, so nothing kept interrupts off")
    return trouble


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    limits = PIT_LIMIT_NS if options.timer == "pit" else LIMIT_NS
    for kind in dict.fromkeys(options.kind or get_args(Kind)):
        try:
            cases = [Case(kind, condition, options.seconds, options.period_us)
                     for condition in options.condition or MAIN_CONDITIONS]
            if kind == "tick" and options.long and not options.condition:
                cases += [Case(kind, one, options.seconds / 5, options.period_us)
                          for one in CONTEXT_CONDITIONS]
            results = measure_all(cases, timer=options.timer, mode=options.mode,
                                  kernel=options.kernel, flavour=options.flavour)
        except ValueError as error:
            raise MeasureError(str(error)) from error
        # Hosted mode promises nothing.
        yield figures.outcome(results, table, lambda all_: judge(all_, limits)
                              if options.mode == "pipeline" else [])


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kind", action="append", choices=get_args(Kind),
                        help="may be repeated; default: all")
    parser.add_argument("--condition", action="append", choices=get_args(Condition),
                        help="may be repeated; default: idle, load, irqoff")
    figures.add_seconds(parser, 3, "of each kind and condition")
    parser.add_argument("--period-us", type=int, default=1000)
    parser.add_argument("--timer", choices=get_args(Timer), default="auto", help="one-shot device")
    parser.add_argument("--mode", choices=get_args(Mode), default="pipeline")


MEASUREMENTS = (figures.Measurement(
    "lateness", "how late an RT tick, an RT task and a Linux hrtimer are", _run, _add_options,
    {"seconds": 10}),)
