# SPDX-License-Identifier: GPL-2.0-only
"""How late an RT task is beside loads worth the name, and what Linux loses by the field's tools.

`stress` runs stress-ng's stressors, alone and together, beside a 1 kHz task, and with sections of
20 ms with interrupts off on top. `field` runs hackbench, perf bench, cyclictest and stress-ng's
fixed amounts of work with Tactus loaded and not, in one boot. Both take Debian's programs as they are:
`tools/setup bench`.
"""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness import programs
from tactus import figure

from . import figures
from .figures import MeasureError
from .lateness import LIMIT_NS

# One of each, as the kernel's paths are worth it; each is a stressor of stress-ng.
STRESSORS = ("fork", "mmap", "timer", "futex", "sock", "pipe", "sigq", "vm", "itimer", "clock",
             "poll", "mprotect", "kill", "aio", "hrtimers", "nanosleep", "exec", "membarrier",
             "userfaultfd")
_SMALL = "--vm-bytes 8M --mmap-bytes 8M --userfaultfd-bytes 4M"
# Fixed work: the command, and what more of it Tactus may take, in per cent; None: no promise.
WORK: dict[str, tuple[str, float | None]] = {
    "hackbench": ("hackbench -l 50 -g 1", 2.0),
    # Takes 17 % more or less by the order in which its tasks meet.
    "hackbench, pipes": ("hackbench -p -l 50 -g 1", None),
    "fork": ("stress-ng --fork 1 --fork-ops 200", 2.0),
    "page faults": ("stress-ng --fault 1 --fault-ops 300", 2.0),
    "system calls": ("stress-ng --get 1 --get-ops 60", 2.0),
    "futex": ("stress-ng --futex 1 --futex-ops 2000", None),
    "UDP": ("stress-ng --udp 1 --udp-ops 500", None),
    "switches": ("stress-ng --switch 1 --switch-ops 3000", None),
    "perf messaging": ("perf bench sched messaging -g 1 -l 100", 2.0),
    "perf pipe": ("perf bench sched pipe -l 10000", 2.0),
    "perf system calls": ("perf bench syscall basic -l 200000", 2.0),
}
_MARK = "HEAVY "


def _put(*names: str) -> list[str]:
    """Options that put these programs of the machine into the guest."""
    found = {name: shutil.which(name) for name in names}
    if missing := [name for name, path in found.items() if not path]:
        raise MeasureError(f"not installed: {' '.join(missing)}; run tools/setup bench")
    return [f"--put={path}:/usr/bin/{name}" for name, path in found.items()]


@dataclass(frozen=True)
class Stressed(figures.Result):
    """A 1 kHz task beside one load; times in ns."""

    load: str
    sections: bool
    releases: int
    missed: int
    mean_ns: float
    p99_9_ns: int
    max_ns: int


def _stress_script(loads: Sequence[tuple[str, str]], releases: int) -> str:
    lines = ["ip link set lo up", "./awake 86400 & "]
    sections = ("while :; do echo process > /proc/hog; sleep 0.04; echo timer > /proc/hog; "
                "sleep 0.04; done")
    for number, (name, options) in enumerate(loads):
        hog = f"sh -c '{sections}' & hog=$!; " if name.endswith("sections") else "hog=; "
        lines.append(
            f"echo '{_MARK}{number}'; {hog}stress-ng {options} {_SMALL} "
            "--timeout 600 --quiet --no-rand-seed --temp-path /tmp > /tmp/said 2>&1 & stress=$!; "
            "sleep 0.15; kill -0 $stress || { cat /tmp/said; exit 1; }; "
            f"./measure file /proc/rt_measure 'late 1000000 0 10 {releases}'; "
            "kill -0 $stress || { cat /tmp/said; exit 1; }; "
            "kill $hog 2> /dev/null; kill -INT $stress; wait $stress; true")
    return "\n".join([*lines, f"echo '{_MARK}end'"])


def stress(seconds: float = 0.3, kernel: str = "6.1", flavour: str = "cloud",
           stressors: Sequence[str] = STRESSORS) -> list[Stressed]:
    """Each stressor alone, then all, then all with sections; one boot."""
    together = " ".join(f"--{name} 1" for name in stressors)
    loads = [*((name, f"--{name} 1") for name in stressors), ("all", together),
             ("all, sections", together)]
    releases = max(50, round(seconds * 1000))
    text = figures.boot(
        _stress_script(loads, releases), "--icount", "--memory=1G",
        f"--timeout={300 + 60 * len(loads) * (seconds + 0.3):g}",
        "--modules=hog tactus rt_measure", *_put("stress-ng"),
        *(f"--put={programs.build(name)}" for name in ("measure", "awake")),
        kernel=kernel, flavour=flavour)
    parts = dict(part.partition("\n")[::2] for part in text.replace("\r", "").split(_MARK)[1:])
    found = []
    for number, (name, _) in enumerate(loads):
        try:
            one = figure.parse(parts[str(number)])
        except (KeyError, ValueError) as error:
            raise MeasureError(f"{name}: {error}:\n{text[-1500:]}") from error
        found.append(Stressed(name.removesuffix(", sections"), name.endswith("sections"), one.count,
                              one.missed, round(one.mean, 1), one.percentile(99.9), one.max))
    return found


def stress_table(results: Sequence[Stressed]) -> str:
    """For people."""
    lines = [f"{'beside':<16} {'sections':>8} {'releases':>8} {'missed':>6} {'mean ns':>8} "
             f"{'99.9 %':>8} {'max ns':>8}"]
    lines += [f"{one.load:<16} {'yes' if one.sections else 'no':>8} {one.releases:>8} "
              f"{one.missed:>6} {one.mean_ns:>8.0f} {one.p99_9_ns:>8} {one.max_ns:>8}"
              for one in results]
    return "\n".join(lines)


def stress_judge(results: Sequence[Stressed]) -> list[str]:
    """What breaks the promise."""
    return [f"{one.load}: {one.max_ns} ns late, {one.missed} missed; {LIMIT_NS['task']} ns allowed"
            for one in results if one.max_ns > LIMIT_NS["task"] or one.missed]


@dataclass(frozen=True)
class Work(figures.Result):
    """A fixed amount of work, in instructions: the least of the rounds."""

    work: str
    off: int
    on: int

    @property
    def percent(self) -> float:
        """How much more it is with Tactus."""
        return (self.on / self.off - 1) * 100

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return super().as_dict() | {"percent": round(self.percent, 3)}


def parse_work(text: str) -> list[Work]:
    """Of the lines "HEAVY off 0 took: ns=N idle_ns=N"."""
    found: dict[tuple[str, int], list[int]] = {}
    for state, number, ns in re.findall(rf"^{_MARK}(off|on) (\d+) took: ns=(\d+) ",
                                        text.replace("\r", ""), re.M):
        found.setdefault((state, int(number)), []).append(int(ns))
    works = []
    for number, name in enumerate(WORK):
        if ("off", number) not in found or ("on", number) not in found:
            raise MeasureError(f"{name} is missing:\n{text[-1500:]}")
        works.append(Work(name, min(found["off", number]), min(found["on", number])))
    return works


def field(rounds: int = 2, kernel: str = "6.1", flavour: str = "cloud") -> tuple[list[Work], str]:
    """(fixed work with Tactus and without, what cyclictest says of either); one boot."""
    jobs = "\n".join(
        f"echo \"{_MARK}$1 {number} "
        f"$(./took 1 /bin/sh -c '{command}{_quiet(command)} > /dev/null')\""
        for number, (command, _) in enumerate(WORK.values()))
    text = figures.boot(f"""
set -e
ip link set lo up
jobs() {{
{jobs}
echo "CYCLIC $1 $(cyclictest -m -p 99 -i 1000 -l 300 -q | tail -1)"
}}
jobs warm
for round in $(seq {rounds}); do
    jobs off
    modprobe tactus
    jobs on
    rmmod tactus
done
""", "--icount", "--busy", "--memory=1G", "--timeout=1800",
        *_put("stress-ng", "hackbench", "cyclictest", "perf"), f"--put={programs.build('took')}",
        kernel=kernel, flavour=flavour)
    cyclic = "\n".join(f"cyclictest, Tactus {state}: {' '.join(rest.split())}" for state, rest in
                       re.findall(r"^CYCLIC (off|on) (.*)$", text.replace("\r", ""), re.M))
    return parse_work(text), cyclic


def _quiet(command: str) -> str:
    return " --quiet --no-rand-seed --temp-path /tmp" if command.startswith("stress-ng") else ""


def work_table(works: Sequence[Work]) -> str:
    """For people."""
    lines = [f"{'work':<18} {'instructions off':>16} {'on':>12} {'more':>9}"]
    lines += [f"{one.work:<18} {one.off:>16} {one.on:>12} {one.percent:>+7.2f} %" for one in works]
    return "\n".join(lines)


def work_judge(works: Sequence[Work]) -> list[str]:
    """What breaks the promise."""
    return [f"{one.work}: {one.percent:+.2f} %, {limit} % allowed" for one in works
            if (limit := WORK[one.work][1]) is not None and one.percent > limit]


def _run_stress(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    found = stress(options.seconds, options.kernel, options.flavour, options.stressor or STRESSORS)
    yield figures.outcome(found, stress_table, stress_judge)


def _stress_options(parser: argparse.ArgumentParser) -> None:
    figures.add_seconds(parser, 0.3, "beside each")
    parser.add_argument("--stressor", action="append", choices=STRESSORS,
                        help="may be repeated; default: all")


def _run_field(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    works, cyclic = field(options.rounds, options.kernel, options.flavour)
    yield figures.Outcome([*(one.as_dict() for one in works), {"cyclictest": cyclic}],
                          f"{work_table(works)}\n{cyclic}", work_judge(works))


def _field_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=2, help="off and on; default 2")


MEASUREMENTS = (
    figures.Measurement("stress", "how late an RT task is beside stress-ng's stressors",
                        _run_stress, _stress_options, {"seconds": 1}),
    figures.Measurement("field", "hackbench, perf bench, cyclictest, stress-ng's work: on and off",
                        _run_field, _field_options, {"rounds": 3}))
