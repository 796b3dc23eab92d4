# SPDX-License-Identifier: GPL-2.0-only
"""How late an RT task is beside loads worth the name, and what Linux loses by the field's tools.

`stress` runs stress-ng's stressors, alone, by classes and together, beside a 1 kHz task, and with
sections of 20 ms with interrupts off on top; then tracers, perf, BPF and modules that come and go.
Each load (loads.py) has a boot of its own, so that what ends it leaves the figures of those before.
`field` runs hackbench, perf bench, cyclictest and stress-ng's fixed amounts of work with Tactus
loaded and not, in one boot. Both take Debian's programs as they are: `tools/setup bench`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness import programs
from tactus import figure

from . import figures
from .figures import MeasureError
from .lateness import LIMIT_NS
from .loads import CLASSES, LOADS, LOOPS, STRESSORS

# The promise beside each load (docs/measuring.md).
STRESS_LIMIT_NS = 900
# Stressors that root may not run.
_NOT_ROOT = frozenset({"exec", "spawn"})
_SMALL = ("--vm-bytes 8M --mmap-bytes 8M --userfaultfd-bytes 4M --hdd-bytes 1M --iomix-bytes 1M "
          "--fallocate-bytes 1M --seek-size 1M --readahead-bytes 1M "
          "--revio-bytes 1M --sync-file-bytes 1M --malloc-bytes 4M --memfd-bytes 4M "
          "--vm-rw-bytes 4M --shm-bytes 4M --shm-sysv-bytes 4M "
          "--mremap-bytes 4M --msync-bytes 4M --sendfile-size 1M --splice-bytes 64K "
          "--vm-splice-bytes 64K")
# Where ext4 on a RAM disk is, for those that want a file system.
_MOUNT = "/mnt"
# Fixed work: the command, and what more of it Tactus may take, in per cent; None: no promise.
WORK: dict[str, tuple[str, float | None]] = {
    "hackbench": ("hackbench -l 200 -g 2", 1.0),
    # Takes 20 % more or less by the order in which its tasks meet.
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


def put(*names: str) -> list[str]:
    """Options that put these programs of the machine into the guest."""
    found = {name: shutil.which(name) for name in names}
    if missing := [name for name, path in found.items() if not path]:
        raise MeasureError(f"not installed: {' '.join(missing)}; run tools/setup bench")
    return [f"--put={path}:/usr/bin/{name}" for name, path in found.items()]


@dataclass(frozen=True)
class Stressed(figures.Result):
    """A 1 kHz task beside one load; times in ns."""

    load: str
    releases: int
    missed: int
    mean_ns: float
    p99_9_ns: int
    max_ns: int


def begin(load: str) -> str:
    """Shell text that begins one of LOADS and leaves its processes in $stress."""
    lines = ["ip link set lo up", "chmod 1777 /tmp", "stress="]
    lines += _loop(LOOPS[load]) if load in LOOPS else _stressors(load)
    return "\n".join([*lines, "./awake 86400 &", "sleep 0.15"])


def _loop(round_: str) -> list[str]:
    """Each round leaves a line in /tmp/rounds."""
    return ["mount -t tracefs none /sys/kernel/tracing 2> /dev/null",
            f"(while ({round_}) >> /tmp/said 2>&1; do echo round >> /tmp/rounds; done) &",
            'stress=$!', "while kill -0 $stress && [ ! -s /tmp/rounds ]; do sleep 0.05; done"]


def _stressors(load: str) -> list[str]:
    names = (STRESSORS if load.startswith("all") else
             tuple(CLASSES[load].split()) if load in CLASSES else (load,))
    place, lines = "/tmp", []
    if load in ("filesystem", "io"):
        place = _MOUNT
        lines.append(f"mke2fs /dev/ram0 > /dev/null; mkdir -p {place}; "
                     f"mount -t ext4 /dev/ram0 {place} || exit 1; chmod 1777 {place}")
    if load.endswith("-sections"):
        lines.append("(while :; do echo process > /proc/hog; sleep 0.04; echo timer > /proc/hog; "
                     "sleep 0.04; done) &")
    for user, of in (("", [name for name in names if name not in _NOT_ROOT]),
                     # The guest's own setpriv is BusyBox's, which changes no user.
                     ("/usr/bin/setpriv --reuid=65534 --clear-groups ",
                      [name for name in names if name in _NOT_ROOT])):
        options = " ".join(f"--{name} 1" for name in of)
        lines += [f"{user}stress-ng {options} {_SMALL} --timeout 600 --no-rand-seed "
                  f"--temp-path {place} >> /tmp/said 2>&1 &",
                  'stress="$stress $!"'] if of else []
    return lines


def guest_options(load: str) -> list[str]:
    """What a guest needs for begin(load), beside the modules hog and awake."""
    if load not in LOOPS:
        return ["--memory=1G", "--with-modules=crc32c_generic ext4", *put("stress-ng", "setpriv")]
    return ["--memory=1G", "--with-modules=dummy",
            *(put("perf") if load.startswith("perf") else []),
            *([f"--put={programs.build('bpf')}"] if load == "bpf" else [])]


def stress(load: str, seconds: float = 0.3, kernel: str = "6.1",
           flavour: str = "cloud") -> Stressed:
    """One of LOADS, in a boot of its own."""
    # stress-ng goes on without a stressor that it skips.
    alive = "kill -0 $stress && ! grep -i skip /tmp/said || { cat /tmp/said; exit 1; }"
    releases = max(50, round(seconds * 1000))
    text = figures.boot(
        f"{begin(load)}\n{alive}\n"
        f"./measure file /proc/rt_measure 'late 1000000 0 10 {releases}'\n{alive}",
        "--icount", f"--timeout={120 + 120 * seconds:g}",
        "--modules=brd rd_nr=1 rd_size=131072 hog tactus rt_measure", *guest_options(load),
        *(f"--put={programs.build(name)}" for name in ("measure", "awake")),
        kernel=kernel, flavour=flavour)
    try:
        one = figure.parse(text)
    except ValueError as error:
        raise MeasureError(f"{load}: {error}:\n{text[-1500:]}") from error
    return Stressed(load, one.count, one.missed, round(one.mean, 1), one.percentile(99.9), one.max)


def stress_table(results: Sequence[Stressed]) -> str:
    """For people."""
    lines = [f"{'beside':<16} {'releases':>8} {'missed':>6} {'mean ns':>8} {'99.9 %':>8} "
             f"{'max ns':>8}"]
    lines += [stress_row(one) for one in results]
    return "\n".join(lines)


def stress_row(one: Stressed) -> str:
    """One line of the table."""
    return (f"{one.load:<16} {one.releases:>8} {one.missed:>6} {one.mean_ns:>8.0f} "
            f"{one.p99_9_ns:>8} {one.max_ns:>8}")


def task_trouble(what: str, max_ns: int, missed: int,
                 limit_ns: int = LIMIT_NS["task"]) -> list[str]:
    """A sentence, if the RT task broke its promise beside that."""
    if max_ns <= limit_ns and not missed:
        return []
    return [f"{what}: {max_ns} ns late, {missed} missed; {limit_ns} ns allowed"]


def stress_judge(results: Sequence[Stressed]) -> list[str]:
    """What breaks the promise."""
    return [said for one in results
            for said in task_trouble(one.load, one.max_ns, one.missed, STRESS_LIMIT_NS)]


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
        *put("stress-ng", "hackbench", "cyclictest", "perf"), f"--put={programs.build('took')}",
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
    wanted = list(dict.fromkeys(options.only or LOADS))
    begun, head = time.monotonic(), [stress_table([])]
    for number, load in enumerate(wanted, 1):
        print(f"stress: {number} of {len(wanted)}, {load}, after "
              f"{time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
        try:
            one = stress(load, options.seconds, options.kernel, options.flavour)
        except MeasureError as error:
            yield figures.Outcome([], f"{load:<16} no figure", [f"{load}: {error}"])
            continue
        yield figures.Outcome([one.as_dict()], "\n".join([*head, stress_row(one)]),
                              stress_judge([one]))
        head = []


def _stress_options(parser: argparse.ArgumentParser) -> None:
    figures.add_seconds(parser, 0.3, "beside each")
    parser.add_argument("--class", action="append", choices=LOADS, dest="only",
                        help="may be repeated; default: all. With --long the others' figures stay")


def _run_field(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    works, cyclic = field(options.rounds, options.kernel, options.flavour)
    yield figures.Outcome([*(one.as_dict() for one in works), {"cyclictest": cyclic}],
                          f"{work_table(works)}\n{cyclic}", work_judge(works))


def _field_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=2, help="off and on; default 2")


MEASUREMENTS = (
    figures.Measurement("stress", "how late an RT task is beside stress-ng's stressors",
                        _run_stress, _stress_options, {"seconds": 1}, key="load"),
    figures.Measurement("field", "hackbench, perf bench, cyclictest, stress-ng's work: on and off",
                        _run_field, _field_options, {"rounds": 3}))
