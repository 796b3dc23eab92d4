# SPDX-License-Identifier: GPL-2.0-only
"""Measure what the pipeline costs Linux: instructions for fixed jobs, on and off.

Under ``--icount`` an instruction takes a nanosecond, and the jobs leave the CPU no time to
halt, so elapsed time is instructions: the job's, the kernel's and its interrupts'. In one boot
each job runs with the pipeline off and on in turn; the least of each is compared, since what
else Linux happens to do in a round (writing back, freeing) only adds.

    for cost in measure():
        print(cost.job, cost.percent)

See docs/measuring.md.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness import programs

from . import figures
from .figures import MeasureError

# The promise: how much more Linux may execute, in per cent, with the pipeline on and no tasks.
LIMIT_PERCENT = {"shells": 2.0, "pipe": 2.0, "gzip": 0.5}

_DATA = "/tmp/data"
_MARK = "OVERHEAD"


@dataclass(frozen=True)
class Cost(figures.Result):
    """One job with the pipeline off and on; instructions, that is, virtual ns."""

    job: str
    off: int
    """The least of the rounds with tactus not loaded."""
    on: int
    """The least of the rounds with tactus loaded and no tasks."""
    idle: int
    """The most that any of these rounds left the CPU idle, in ns."""

    @property
    def percent(self) -> float:
        """How much more was executed with the pipeline on."""
        return (self.on / self.off - 1) * 100

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return super().as_dict() | {"percent": round(self.percent, 3)}


def _guest_script(rounds: int, gzip_mb: int, beside: str) -> str:
    """The shell text: rounds without and with tactus in turn, after one that warms up."""
    size = gzip_mb << 20
    pipe = "dd if=/dev/zero bs=4096 count=8192 | dd of=/dev/null bs=4096"
    return f"""
set -e
while [ $(wc -c < /tmp/part || echo 0) -lt {size} ]; do cat /bin/busybox >> /tmp/part; done 2>&-
head -c {size} /tmp/part > {_DATA}
jobs() {{
    echo "{_MARK} $1 shells $(./took 200 /bin/sh -c :)"
    echo "{_MARK} $1 pipe $(./took 1 /bin/sh -c '{pipe}')"
    echo "{_MARK} $1 gzip $(./took 1 gzip -c {_DATA})"
}}
jobs warm
for round in $(seq {rounds}); do
    jobs off
    modprobe tactus
    test "$(cat /sys/kernel/tactus/state)" = active
    {beside or ':'}
    jobs on
    rmmod rt_latency 2>&- || :
    rmmod tactus
done
"""


def parse(text: str) -> list[Cost]:
    """Make figures of what the guest printed; raises MeasureError where something is missing."""
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for when, job, ns, idle in re.findall(
        rf"^{_MARK} (\w+) (\w+) took: ns=(\d+) idle_ns=(-?\d+)\s*$", text, re.M
    ):
        found.setdefault((job, when), []).append((int(ns), int(idle)))
    costs = []
    for job in LIMIT_PERCENT:
        off, on = found.get((job, "off"), []), found.get((job, "on"), [])
        if not off or len(off) != len(on):
            raise MeasureError(f"{job}: {len(off)} rounds off, {len(on)} on:\n{text}")
        costs.append(Cost(job, min(off)[0], min(on)[0], max(idle for _, idle in off + on)))
    return costs


def measure(
    *,
    kernel: str = "6.1",
    flavour: str = "cloud",
    rounds: int = 3,
    gzip_mb: int = 8,
    beside: str = "",
    timeout_s: float = 900,
) -> list[Cost]:
    """Make the measurement in one boot. `beside` is shell text to run once tactus is loaded.

    Raises MeasureError when the guest failed or a figure is missing.
    """
    return parse(figures.boot(
        _guest_script(rounds, gzip_mb, beside), "--icount", f"--timeout={timeout_s:g}",
        f"--put={programs.build('took')}", kernel=kernel, flavour=flavour))


def complaints(costs: Sequence[Cost]) -> list[str]:
    """Why the figures do not keep the promise, or are none; empty if they do."""
    found = []
    for cost in costs:
        if cost.percent > LIMIT_PERCENT[cost.job]:
            found.append(f"{cost.job}: {cost.percent:+.2f} %, {LIMIT_PERCENT[cost.job]} % allowed")
        # An idle CPU's time passes without instructions: such a figure would hide what it costs.
        if cost.idle > cost.off / 1000:
            found.append(f"{cost.job}: the CPU was idle for {cost.idle} ns of {cost.off}")
    return found


def table(costs: Sequence[Cost]) -> str:
    """The figures as lines for people."""
    lines = [f"{'job':<8} {'instructions off':>16} {'on':>12} {'more':>9} {'allowed':>9}"]
    for cost in costs:
        lines.append(f"{cost.job:<8} {cost.off:>16} {cost.on:>12} {cost.percent:>+7.2f} % "
                     f"{LIMIT_PERCENT[cost.job]:>7.1f} %")
    return "\n".join(lines)


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    beside = f"modprobe rt_latency period_us={options.task_us}" if options.task_us else ""
    results = measure(kernel=options.kernel, flavour=options.flavour, rounds=options.rounds,
                      beside=beside)
    yield figures.outcome(results, table, complaints)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=3, help="of each, off and on; default 3")
    parser.add_argument("--task-us", type=int, default=0, metavar="US",
                        help="an RT task of that period beside what is on; default 0: none")


MEASUREMENTS = (figures.Measurement(
    "overhead", "what the pipeline costs Linux: instructions for shells, a pipe and gzip", _run,
    _add_options, {}),)
