# SPDX-License-Identifier: GPL-2.0-only
"""What Linux's own tracers of latency say, by Debian's rtla: timerlat and osnoise.

One boot of a kernel that has these tracers, which of Debian's only PREEMPT_RT's have: without
Tactus, with it, and with a 1 kHz RT task beside. The tools run to their end as they are:
`tools/setup bench`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness import programs
from harness.bench import kernels
from tactus import figure

from . import figures, heavy
from .figures import MeasureError

TRACERS = ("CONFIG_TIMERLAT_TRACER", "CONFIG_OSNOISE_TRACER")
STATES = {"off": "without Tactus", "on": "Tactus loaded", "task": "and a 1 kHz RT task"}
_TOOLS = {"timerlat": "timerlat top -q -n -p 1000", "osnoise": "osnoise top -q"}
_MARK = "RTLA "
_TIMERLAT = re.compile(r"^ *0 #(\d+) *\|([ \d]+)\|([ \d]+)$", re.M)
_OSNOISE = re.compile(r"^ *0 #(\d+) +(\d+) +(\d+) +([\d.]+) +(\d+) +(\d+) +(\d+)", re.M)


@dataclass(frozen=True)
class Said(figures.Result):
    """What the two tools say in one state."""

    state: str
    timers: int
    """Of timerlat, 1 kHz."""
    irq_avg_ns: int
    irq_max_ns: int
    thread_avg_ns: int
    thread_max_ns: int
    runtime_us: int
    """For which osnoise looked."""
    noise_us: int
    single_max_us: int
    hardware: int
    """Gaps that osnoise finds no cause of in Linux: an RT task is one."""


@dataclass(frozen=True)
class Beside(figures.Result):
    """The RT task beside a tool."""

    tool: str
    releases: int
    missed: int
    mean_ns: float
    max_ns: int


def _script(seconds: int) -> str:
    releases = seconds * 1000
    lines = ["set -e", "./awake 86400 &", "[ -e /sys/kernel/tracing/trace ] || "
             "mount -t tracefs tracefs /sys/kernel/tracing"]
    for state in STATES:
        lines += ["modprobe rt_measure"] if state == "on" else []
        for tool, command in _TOOLS.items():
            beside = state == "task"
            lines += ["sleep 0.1", f"echo '{_MARK}{state} {tool}'"]
            if beside:
                lines.append(f"./measure file /proc/rt_measure 'late 1000000 0 10 {releases}' "
                             "> /tmp/late & late=$!")
            lines.append(f"rtla {command} -d {seconds}s")
            if beside:
                lines += ["wait $late", f"echo '{_MARK}late {tool}'", "cat /tmp/late"]
    return "\n".join([*lines, f"echo '{_MARK}end -'"])


def parse(text: str) -> tuple[list[Said], list[Beside]]:
    """Of what the guest prints; raises MeasureError if a tool's table is not there."""
    parts = {}
    for part in text.replace("\r", "").split(_MARK)[1:]:
        head, _, rest = part.partition("\n")
        parts[tuple(head.split())] = rest
    found, beside = [], []
    for state in STATES:
        timer = _TIMERLAT.search(parts.get((state, "timerlat"), ""))
        noise = _OSNOISE.search(parts.get((state, "osnoise"), ""))
        if not timer or not noise:
            raise MeasureError(f"{STATES[state]}: a table is missing:\n{text[-3000:]}")
        irq, thread = ([int(word) for word in timer[at].split()] for at in (2, 3))
        found.append(Said(state, int(timer[1]), irq[2], irq[3], thread[2], thread[3],
                          int(noise[2]), int(noise[3]), int(noise[6]), int(noise[7])))
    for tool in _TOOLS:
        try:
            one = figure.parse(parts["late", tool])
        except (KeyError, ValueError) as error:
            raise MeasureError(f"beside {tool}: {error}:\n{text[-3000:]}") from error
        beside.append(Beside(tool, one.count, one.missed, round(one.mean, 1), one.max))
    return found, beside


def measure(seconds: int = 2, kernel: str = "6.1",
            flavour: str = "rt") -> tuple[list[Said], list[Beside]]:
    """Both tools in the three states, one boot."""
    asked = kernels.resolve(kernel, flavour)
    if missing := [name for name in TRACERS if not asked.has_config(name)]:
        raise MeasureError(f"{asked.release} has no {' and no '.join(missing)}; "
                           "--flavour rt has")
    return parse(figures.boot(
        _script(seconds), "--icount", "--memory=1G", f"--timeout={240 + 120 * seconds}",
        "--with-modules=tactus rt_measure", *heavy.put("rtla"),
        *(f"--put={programs.build(name)}" for name in ("measure", "awake")),
        kernel=kernel, flavour=flavour))


def table(said: Sequence[Said], beside: Sequence[Beside]) -> str:
    """For people."""
    lines = [f"{'timerlat, ns':<22} {'timers':>7} {'irq avg':>8} {'max':>8} {'thread avg':>10} "
             f"{'max':>8}"]
    lines += [f"{STATES[one.state]:<22} {one.timers:>7} {one.irq_avg_ns:>8} {one.irq_max_ns:>8} "
              f"{one.thread_avg_ns:>10} {one.thread_max_ns:>8}" for one in said]
    lines.append(f"{'osnoise, us':<22} {'looked':>9} {'noise':>8} {'longest':>8} {'no cause':>8}")
    lines += [f"{STATES[one.state]:<22} {one.runtime_us:>9} {one.noise_us:>8} "
              f"{one.single_max_us:>8} {one.hardware:>8}" for one in said]
    lines += [f"RT task beside {one.tool}: {one.releases} releases, {one.missed} missed, mean "
              f"{one.mean_ns:.0f} ns, max {one.max_ns} ns" for one in beside]
    return "\n".join(lines)


def judge(beside: Sequence[Beside]) -> list[str]:
    """What breaks the promise."""
    return [said for one in beside
            for said in heavy.task_trouble(f"beside {one.tool}", one.max_ns, one.missed)]


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    said, beside = measure(options.seconds, options.kernel, options.flavour)
    yield figures.Outcome([one.as_dict() for one in (*said, *beside)], table(said, beside),
                          judge(beside))


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=int, default=2,
                        help="virtual, of each tool in each state; default 2")
    parser.set_defaults(flavour="rt")


MEASUREMENTS = (figures.Measurement(
    "rtla", "what rtla's timerlat and osnoise say with Tactus and not", _run, _options, {}),)
