# SPDX-License-Identifier: GPL-2.0-only
"""Measure how late an RT device interrupt is, in virtual time.

IRQ 8, the real-time clock's at 8192 Hz, is the device; its handler notes the clock at its first
instruction (tests/vm/measure/modules/level). Beside it a level-triggered line of Linux's (the
emulator's "edu" device) is raised inside interrupts-off sections of 20 ms and waits for its handler
to the end of each. Conditions: ``idle``, ``load`` (tests/vm/harness/load), ``stalled`` (the load,
and the sections with their waiting line). ``control`` is the last with the pipeline kept from
masking the waiting line at its controller: it must be late, or the line was not in the way.

    for result in measure():
        print(result.condition, result.max_ns)

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

# The promise, under every condition but the control.
LIMIT_NS = 2000
SECTION_US = 20_000

_CONDITIONS = ("idle", "load", "stalled", "control")


@dataclass(frozen=True)
class DeviceIrq(figures.Result):
    """One condition's outcome; times in ns."""

    condition: str
    count: int
    """Interrupts whose handler ran."""
    expected: int
    """Interrupts due from the first to the last that ran."""
    mean_ns: float
    max_ns: int
    waited: int
    """Sections in which a level-triggered interrupt of Linux's waited for its handler."""


def _guest_script(seconds: float, rounds: int) -> str:
    stalled = (f"./load --nice=19 --seconds=600 > /dev/null & load=$!; sleep 0.1\n"
               f"echo 0 > $level/lateness; echo {rounds} {SECTION_US} > $level/raise; "
               "cat $level/lateness > /tmp/lateness; kill $load; wait; cat /tmp/lateness\n")
    return f"""
level=/sys/kernel/level
modprobe level rt=1 || exit 1
echo DEVICE idle; echo 0 > $level/lateness; sleep {seconds:g}; cat $level/lateness $level/raise
echo DEVICE load; echo 0 > $level/lateness; ./load --seconds={seconds:g} > /dev/null || exit 1
cat $level/lateness $level/raise
echo DEVICE stalled; {stalled} cat $level/raise
rmmod level; modprobe level rt=1 masking=0 || exit 1
echo DEVICE control; {stalled} cat $level/raise
"""


def parse(text: str) -> list[DeviceIrq]:
    """Make results of what the guest printed; raises MeasureError where something is missing."""
    results = []
    parts = dict(re.findall(r"^DEVICE (\w+)\n((?:\w+=.*\n)+)", text.replace("\r", ""), re.M))
    waited = 0
    for condition in _CONDITIONS:
        words = dict(re.findall(r"(\w+)=(\d+)", parts.get(condition, "")))
        if not {"count", "expected", "sum_ns", "max_ns", "raised", "handled"} <= set(words):
            raise MeasureError(f"{condition} is missing:\n{text}")
        number = {name: int(value) for name, value in words.items()}
        if number["raised"] != number["handled"] or number["late"]:
            raise MeasureError(f"{condition}: Linux lost a level-triggered interrupt: {number}")
        # The module is loaded anew for the control: its counts start at 0 there.
        before = 0 if condition == "control" else waited
        waited = number["raised"]
        results.append(DeviceIrq(condition, number["count"], number["expected"],
                                 number["sum_ns"] / max(1, number["count"]), number["max_ns"],
                                 waited - before))
    return results


def measure(
    *,
    kernel: str = "6.1",
    flavour: str = "cloud",
    seconds: float = 0.5,
    rounds: int = 10,
    timeout_s: float = 600,
) -> list[DeviceIrq]:
    """Make the measurement in one boot; raises MeasureError when it does not count."""
    return parse(figures.boot(
        _guest_script(seconds, rounds), "--icount", "--busy", f"--timeout={timeout_s:g}",
        f"--put={programs.build('load')}", "--modules=tactus",
        f"--qemu=-device edu {figures.UART}", kernel=kernel, flavour=flavour))


def complaints(result: DeviceIrq) -> list[str]:
    """Why a result does not keep the promise; empty if it does."""
    found = []
    if result.max_ns > LIMIT_NS:
        found.append(f"{result.condition}: {result.max_ns} ns late, {LIMIT_NS} allowed")
    if result.count != result.expected:
        found.append(f"{result.condition}: {result.count} interrupts of {result.expected}")
    return found


def table(results: Sequence[DeviceIrq]) -> str:
    """The results as lines for people."""
    lines = [f"{'condition':<10} {'interrupts':>10} {'due':>6} {'mean ns':>12} {'max ns':>10} "
             f"{'lines waited':>12}"]
    for result in results:
        lines.append(f"{result.condition:<10} {result.count:>10} {result.expected:>6} "
                     f"{result.mean_ns:>12.0f} {result.max_ns:>10} {result.waited:>12}")
    return "\n".join(lines)


def judge(results: Sequence[DeviceIrq]) -> list[str]:
    """All that is wrong with a measurement; a control that keeps the promise is, too."""
    found = [text for result in results if result.condition != "control"
             for text in complaints(result)]
    by_name = {result.condition: result for result in results}
    if not by_name["stalled"].waited:
        found.append("stalled: no level-triggered line waited")
    if not complaints(by_name["control"]):
        found.append("control: not late without masking, so the waiting line was not in the way")
    return found


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    results = measure(kernel=options.kernel, flavour=options.flavour, seconds=options.seconds,
                      rounds=options.rounds)
    yield figures.outcome(results, table, judge)


def _add_options(parser: argparse.ArgumentParser) -> None:
    figures.add_seconds(parser, 0.5, "of idle and load")
    parser.add_argument("--rounds", type=int, default=10, help="sections of 20 ms; default 10")


MEASUREMENTS = (figures.Measurement(
    "device-irq",
    "how late an RT device interrupt is, and beside a level-triggered line that waits",
    _run, _add_options, {"seconds": 3, "rounds": 50}),)
