# SPDX-License-Identifier: GPL-2.0-only
"""Measure whether Linux's clock keeps to the machine's while tactus is loaded, in virtual time.

The machine's clock is the ACPI timer, which Linux does not use; tests/vm/measure/drift.c compares.
One boot: ``native`` without tactus, ``active`` for the time asked for with an RT task, and a load
with interrupts-off sections that works one second in six, so that the emulator can skip the rest;
and two controls without tactus: a clock made to go 100 ppm too fast, and one set back.

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

# The promise: against the rate before tactus came, in 10^-9, and off the straight line, in ns.
LIMIT_PPB = 200
LIMIT_WANDER_NS = 2_000

_PARTS = ("native", "active", "fast", "back")


@dataclass(frozen=True)
class Drift(figures.Result):
    """One part of the run."""

    part: str
    bursts: int
    """Times that the clocks were looked at, five a second."""
    reads: int
    back: int
    """Reads of a clock that were behind the one before."""
    rate_ppb: int
    """How much faster than the machine's clock Linux's went, in 10^-9."""
    wander_ns: int
    """The most that it was off the straight line."""


def _guest_script(seconds: float) -> str:
    source = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    return f"""
sleep 4; cat {source}
echo "DRIFT native $(./drift 5)"
modprobe rt_latency period_us=20000 && echo 1 > /proc/rt_latency/running || exit 1
(while ./load --seconds=1 --irqoff=process,timer,tasklet,spinlock; do sleep 5; done) & load=$!
echo "DRIFT active $(./drift {seconds:g})"
kill $load; while pidof load > /dev/null; do sleep 0.1; done
echo 0 > /proc/rt_latency/running; sed 's/^/DRIFT task /' /proc/rt_latency/summary
rmmod rt_latency tactus || exit 1
cat {source}
adjtimex -q -f 6553600; echo "DRIFT fast $(./drift 2)"; adjtimex -q -f 0
(sleep 1; date -s @1700000000 > /dev/null) & echo "DRIFT back $(./drift 2)"
"""


def parse(text: str) -> list[Drift]:
    """Make results of what the guest printed; raises MeasureError where something is missing."""
    results = []
    for part in _PARTS:
        line = re.search(rf"^DRIFT {part} drift: (.*)$", text, re.M)
        if not line:
            raise MeasureError(f"{part} is missing:\n{text}")
        words = {name: int(value) for name, value in re.findall(r"(\w+)=(-?\d+)", line[1])}
        results.append(Drift(part, **words))
    sources = re.findall(r"^(tsc|hpet|acpi_pm|jiffies|kvm-clock|refined-jiffies)\s*$", text, re.M)
    if len(set(sources)) != 1 or len(sources) != 2:
        raise MeasureError(f"Linux changed its clock's source: {sources}")
    task = dict(re.findall(r"(\w+)=(\d+)",
                           (re.search(r"^DRIFT task (.*)$", text, re.M) or [""])[0]))
    if not task.get("releases") or task.get("skipped") != "0":
        raise MeasureError(f"the RT task did not run as it should: {task}")
    if not re.search(r"^load: .*sections=[1-9]", text, re.M):
        raise MeasureError(f"there was no load:\n{text}")
    return results


def measure(
    seconds: float = 60, *, kernel: str = "6.1", flavour: str = "cloud",
    timeout_s: float | None = None,
) -> list[Drift]:
    """Make the measurement in one boot; raises MeasureError when it does not count.

    A stall, a lockup or any other complaint of the kernel's is an error as well.
    """
    return parse(figures.boot(
        _guest_script(seconds), "--icount", f"--timeout={timeout_s or 300 + seconds * 10:g}",
        "--modules=hog tactus_core", "--with-modules=rt_latency", f"--qemu={figures.UART}",
        *(f"--put={programs.build(name)}" for name in ("load", "drift")),
        kernel=kernel, flavour=flavour))


def complaints(native: Drift, result: Drift) -> list[str]:
    """Why a part does not keep the promise, against the rate of the native part."""
    found = []
    drift = result.rate_ppb - native.rate_ppb
    if abs(drift) > LIMIT_PPB:
        found.append(f"{result.part}: the rate changed by {drift} ppb, {LIMIT_PPB} allowed")
    if result.wander_ns > LIMIT_WANDER_NS:
        found.append(f"{result.part}: off by {result.wander_ns} ns, {LIMIT_WANDER_NS} allowed")
    if result.back:
        found.append(f"{result.part}: a clock went back {result.back} times")
    return found


def judge(results: Sequence[Drift]) -> list[str]:
    """All that is wrong with a measurement; a control that passes is, too."""
    native, active, *controls = results
    found = complaints(native, active)
    found += [f"{control.part}: the control passed" for control in controls
              if not complaints(native, control)]
    return found


def table(results: Sequence[Drift]) -> str:
    """The results as lines for people."""
    lines = [f"{'part':<8} {'looks':>6} {'reads':>9} {'back':>5} {'rate ppb':>9} {'wander ns':>10}"]
    for one in results:
        lines.append(f"{one.part:<8} {one.bursts:>6} {one.reads:>9} {one.back:>5} "
                     f"{one.rate_ppb:>9} {one.wander_ns:>10}")
    return "\n".join(lines)


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    results = measure(options.seconds, kernel=options.kernel, flavour=options.flavour)
    yield figures.outcome(results, table, judge)


def _add_options(parser: argparse.ArgumentParser) -> None:
    figures.add_seconds(parser, 60, "with tactus loaded")


MEASUREMENTS = (figures.Measurement("drift", "Linux's clock against the machine's", _run,
                                    _add_options, {"seconds": 600}),)
