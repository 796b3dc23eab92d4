# SPDX-License-Identifier: GPL-2.0-only
"""LTP's realtime tests run to their end: without Tactus, with it, and beside a 1 kHz RT task.

LTP is the user's own: --source names its tree, of which testcases/realtime is needed. No part of
it is here. The programs are compiled as they are (ltp_build.py). Each has a boot of its own, so
that one that does not end costs only its own figures. One that passes without Tactus and not with
it is a failure; one that fails without it too is shown and is none.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import figures
from .figures import MeasureError
from .heavy import STRESS_LIMIT_NS, task_trouble
from .ltp_build import build

STATES = {"off": "without Tactus", "on": "Tactus loaded", "task": "and a 1 kHz RT task"}
SOURCE = "LTP_SOURCE"


@dataclass(frozen=True)
class How:
    """How a program is run: with what, on how many CPUs, and for how many virtual seconds, about,
    as its time limit needs them."""

    arguments: str = ""
    cpus: int = 1
    seconds: int = 3


# Short arguments. What is not here runs without any on one CPU: another version has others.
PROGRAMS = {
    "async_handler": How("-i 5000"),
    "gtod_latency": How("-i 20000"),
    "hrtimer-prio": How("-i 1000"),
    "matrix_mult": How("-i 8 -l 1"),
    "periodic_cpu_load": How("-i 100", seconds=17),
    "periodic_cpu_load_single": How("-i 100"),
    # What it holds back for longer than Linux lets real-time tasks run in a second, it fails for.
    "pi_perf": How("-i 100 -w 1"),
    "prio-wake": How("-n 8"),
    # Its buffer of 4 MB is cleared in each of ten thousand rounds, if it has one.
    "pthread_kill_latency": How("-b 0", seconds=4),
    "rt-migrate": How("-l 5", cpus=2),
    "sbrk_mutex": How(seconds=12),
    "sched_football": How("-l 1", cpus=2),
    "sched_latency": How("-i 100"),
    "tc-2": How(seconds=8),
    # A second of its work is a second of the CPU's, and it does 23.
    "testpi-1": How(seconds=25),
    "testpi-2": How(seconds=25),
    "testpi-4": How(seconds=25),
    # These two wait for 20 seconds to see that nothing comes.
    "testpi-5": How(seconds=21),
    "testpi-6": How(seconds=21),
    # On one CPU its middle thread keeps the low one from seeing the end of a round, for ever.
    "testpi-7": How("-i 10 -x 1", cpus=2),
}
LEFT_OUT = {
    "async_handler_tsc": "does ten million rounds, with no argument for fewer",
    "gtod_infinite": "runs for an hour at least",
    "sched_jitter": "does a thousand million rounds of its work, with no argument for fewer",
}
_MARK = "MEASURED LTP "
# rdtsc-latency has 8 MB on its stack.
_STACK_KIB = 65536
_VERDICT = re.compile(r"\bResult: *(PASS|FAIL)\b|\bT(PASS|FAIL|BROK):")
_FIGURE = re.compile(r"\b(min|minimum|avg|average|max|maximum|delta)\b[ \w]*[:=] *([\d.]+) ?"
                     r"(ns|us|ms|s)?\b", re.I)
_MEANS = {"min": "min", "minimum": "min", "avg": "avg", "average": "avg", "max": "max",
          "maximum": "max", "delta": "max"}


@dataclass(frozen=True)
class Ran(figures.Result):
    """What a program says in one state. `min`, `avg` and `max` are its own figures, in its own
    unit: the least, the largest and the largest of those that it prints."""

    program: str
    arguments: str
    cpus: int
    state: str
    verdict: str
    """PASS or FAIL."""
    own: bool
    """The verdict is the program's own word; else it follows from its exit status."""
    status: int
    unit: str
    min: float | None
    avg: float | None
    max: float | None


@dataclass(frozen=True)
class Beside(figures.Result):
    """The RT task beside a program. On several CPUs the emulator has them take turns of a
    millisecond and more: a job is then as late as another CPU's turn is long, with nothing else
    there. So there only releases left out are missed, and no lateness is a figure."""

    program: str
    cpus: int
    releases: int
    missed: int
    max_ns: int | None

    @property
    def late(self) -> str:
        """Its largest lateness, for people."""
        return "-" if self.max_ns is None else f"{self.max_ns:,}"


@dataclass(frozen=True)
class Left(figures.Result):
    """A program that is not run."""

    program: str
    why: str


def script(program: str, how: How) -> str:
    """What the guest does: the program in the three states."""
    return f"""
until grep -q 'hres_active *: 1' /proc/timer_list; do sleep 0.05; done
ulimit -s {_STACK_KIB}
run() {{
    echo "{_MARK}$1"
    ./{program} {how.arguments} > /tmp/said 2>&1
    status=$?
    cat /tmp/said
    printf '\n{_MARK}status %s\n' $status
}}
run off
modprobe tactus || exit 1
run on
modprobe rt_latency || exit 1
run task
echo 0 > /proc/rt_latency/running || exit 1
echo "{_MARK}late"
cat /proc/rt_latency/summary
"""


def verdict(text: str, status: int) -> tuple[str, bool]:
    """(PASS or FAIL, is that the program's own word). Its word counts more than its status, since
    testpi-5 exits with 1 where it passes; one that a signal ended has no word."""
    words = [word for found in _VERDICT.findall(text) for word in found if word]
    if status < 128 and words:
        return ("PASS" if set(words) == {"PASS"} else "FAIL"), True
    return ("PASS" if status == 0 else "FAIL"), False


def own_figures(text: str) -> tuple[str, dict[str, float]]:
    """(unit, what it prints of min, avg and max): those with a unit, if any has one."""
    found = [(_MEANS[name.lower()], float(value), unit)
             for name, value, unit in _FIGURE.findall(text)]
    units = [unit for _, _, unit in found if unit]
    unit = units[0] if units else ""
    of: dict[str, float] = {}
    for name, value, of_unit in found:
        if of_unit == unit:
            of[name] = (min if name == "min" else max)(of.get(name, value), value)
    return unit, of


def parse(program: str, how: How, text: str) -> tuple[list[Ran], Beside]:
    """Of what the guest prints; raises MeasureError where something is missing."""
    parts = [part.partition("\n") for part in text.replace("\r\n", "\n").split(_MARK)[1:]]
    heads = [head.split() for head, _, _ in parts]
    sections = {head[0]: (rest, after) for head, (_, _, rest), after in
                zip(heads, parts, [*heads[1:], []], strict=True)}
    ran = []
    for state in STATES:
        rest, after = sections.get(state, ("", []))
        if len(after) != 2 or after[0] != "status":
            raise MeasureError(f"{program}, {STATES[state]}: it did not run to its end:\n"
                               f"{text[-1500:]}")
        status = int(after[1])
        passed, own = verdict(rest, status)
        unit, of = own_figures(rest)
        ran.append(Ran(program, how.arguments, how.cpus, state, passed, own, status, unit,
                       of.get("min"), of.get("avg"), of.get("max")))
    late = dict(word.split("=", 1) for word in sections.get("late", ("", []))[0].split()
                if "=" in word)
    try:
        most, overruns = int(late["max_ns"]), int(late["overruns"])
        beside = Beside(program, how.cpus, int(late["releases"]),
                        int(late["skipped"]) + (overruns if how.cpus == 1 else 0),
                        most if how.cpus == 1 else None)
    except (KeyError, ValueError) as error:
        raise MeasureError(f"beside {program}: {error}:\n{text[-1500:]}") from error
    return ran, beside


def measure(program: str, binary: Path, how: How, kernel: str = "6.1",
            flavour: str = "cloud") -> tuple[list[Ran], Beside]:
    """One program in the three states, one boot."""
    return parse(program, how, figures.boot(
        script(program, how), "--icount", f"--smp={how.cpus}", "--busy", "--memory=512M",
        f"--timeout={180 + 60 * how.seconds}", "--with-modules=tactus rt_latency",
        f"--put={binary}:/root/{program}", kernel=kernel, flavour=flavour))


def called(one: Ran) -> str:
    """The program with its arguments, and its CPUs if it needs several."""
    cpus = f" on {one.cpus} CPUs" if one.cpus > 1 else ""
    return f"{one.program} {one.arguments}".strip() + cpus


def said(one: Ran) -> str:
    """Its verdict, or its exit status if it prints none, and what it prints of its own figures:
    min / avg / max."""
    values = [f"{value:g}" for value in (one.min, one.avg, one.max) if value is not None]
    word = one.verdict if one.own else f"status {one.status}"
    return f"{word}, {' / '.join(values)} {one.unit}".strip() if values else word


def row(ran: Sequence[Ran], beside: Beside) -> str:
    """One line for people."""
    cells = " ".join(f"{said(one):<32}" for one in ran)
    return f"{called(ran[0]):<34} {cells} {beside.late:>8}"


HEAD = (f"{'program':<34} " + " ".join(f"{title:<32}" for title in STATES.values())
        + f" {'late, ns':>8}")


def judge(ran: Sequence[Ran], beside: Beside) -> list[str]:
    """What breaks the promise."""
    passed = {one.state: one.verdict == "PASS" for one in ran}
    found = [f"{one.program}, {STATES[one.state]}: it fails with status {one.status}, "
             "and passes without Tactus"
             for one in ran if passed["off"] and one.verdict != "PASS"]
    return found + task_trouble(f"beside {beside.program}", beside.max_ns or 0, beside.missed,
                                STRESS_LIMIT_NS)


def _measured(programs: Mapping[str, Path], options: argparse.Namespace) -> Iterator[
        figures.Outcome]:
    begun, head = time.monotonic(), [HEAD]
    for number, (program, binary) in enumerate(programs.items(), 1):
        how = PROGRAMS.get(program, How())
        print(f"ltp: {number} of {len(programs)}, {program}, after "
              f"{time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
        try:
            ran, beside = measure(program, binary, how, options.kernel, options.flavour)
        except MeasureError as error:
            yield figures.Outcome([], f"{program:<34} no figure", [f"{program}: {error}"])
            continue
        yield figures.Outcome([one.as_dict() for one in (*ran, beside)],
                              "\n".join([*head, row(ran, beside)]), judge(ran, beside))
        head = []


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    if not options.source:
        raise MeasureError(f"whose LTP? --source DIR, or {SOURCE} in the environment, names it")
    with tempfile.TemporaryDirectory() as folder:
        programs, left = build(Path(options.source), Path(folder), LEFT_OUT, options.only)
        yield from _measured(programs, options)
    for program, why in left.items():
        one = Left(program, why)
        yield figures.Outcome([one.as_dict()], f"{program:<34} not run: it {why}")


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--source", metavar="DIR", default=os.environ.get(SOURCE),
                        help=f"a source tree of LTP; default: what {SOURCE} in the environment "
                        "names")
    parser.add_argument("--program", action="append", dest="only", metavar="NAME",
                        help="may be repeated; default: all. With --long the others' figures stay")


MEASUREMENTS = (figures.Measurement(
    "ltp", "LTP's realtime tests, of a source tree of yours, with Tactus and not", _run, _options,
    {}, key="program", alone=True),)
