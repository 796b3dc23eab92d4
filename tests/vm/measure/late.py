# SPDX-License-Identifier: GPL-2.0-only
"""What held up the latest RT ticks: the functions that ran until each of them.

A plug-in of the emulator (late_trace.c) counts the instructions between two calls of the tick's
handler. Before a call that comes much later than a period after the last one, it writes down what
ran. The guest boots twice, alike but for the plug-in: first to find the handler's address.
"""

from __future__ import annotations

import argparse
import struct
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.bench.plugins import plugin

from . import figures, heavy
from .figures import MeasureError
from .lateness import Case, guest_run, parse
from .path import Symbols

HANDLER = "rt_latency_timer_fn"
# The way of a tick from the moment that its timer is set to.
MODULES = "tactus gravity=0 rt_latency"
SOURCE = Path(__file__).with_name("late_trace.c")
_BEFORE = 2048
_WORD = struct.Struct("<Q")


@dataclass(frozen=True)
class Late(figures.Result):
    """One late tick."""

    late_ns: int
    """How much later than the tick before it."""
    ran: Sequence[tuple[str, int]]
    """(function, instructions) in order, from when it was due to its handler."""


def analyze(trace: bytes, kallsyms: str, usual_ns: int) -> list[Late]:
    """The late ticks that the plug-in wrote down, the latest first. A usual tick takes `usual_ns`
    from when it is due; what ran before that is left out."""
    symbols = Symbols(kallsyms)
    words = [word for word, in _WORD.iter_unpack(trace)]
    size = _BEFORE + 2
    if len(words) % size or any(words[at] for at in range(0, len(words), size)):
        raise MeasureError("the plug-in's file is not whole")
    found = []
    for at in range(0, len(words), size):
        late_ns = words[at + 1]
        ran: list[tuple[str, int]] = []
        for address in words[at + size - min(_BEFORE, late_ns + usual_ns):at + size]:
            name, _ = symbols.of(address)
            count = ran.pop()[1] if ran and ran[-1][0] == name else 0
            ran.append((name, count + 1))
        found.append(Late(late_ns, ran))
    return sorted(found, key=lambda one: -one.late_ns)


def table(ticks: Sequence[Late]) -> str:
    """For people: each tick with what ran."""
    if not ticks:
        return "no tick was that late"
    return "\n".join(f"{one.late_ns} ns later than the tick before it:\n" + "\n".join(
        f"{count:>6} {name}" for name, count in one.ran) for one in ticks)


def measure(case: Case, excess_ns: int, kernel: str, flavour: str,
            beside: str = "") -> tuple[list[Late], int]:
    """(The late ticks, the greatest lateness), `beside` one of heavy.LOADS, if any; MeasureError
    if the two boots differ."""
    names = "cat /proc/kallsyms > /tmp/names"
    if beside:
        names += f"\n{heavy.begin(beside)}"
    with tempfile.TemporaryDirectory() as scratch:
        trace, first, second = (Path(scratch, name) for name in ("trace", "first", "second"))
        options = ["--icount", "--append=nokaslr", *(heavy.guest_options(beside) if beside else [])]
        guest_run([Case("tick", "idle", 0.01)], *options, f"--get=/tmp/names:{first}",
                  before=names, modules=MODULES, kernel=kernel, flavour=flavour)
        text = first.read_text(encoding="ascii")
        address = next(line.split()[0] for line in text.splitlines()
                       if line.split()[2] == HANDLER)
        out = guest_run(
            [case], *options, f"--get=/tmp/names:{second}", before=names,
            modules=MODULES, timeout_s=120 + case.seconds * 120,
            qemu=f"-plugin {plugin(SOURCE)},target=0x{address},period={case.period_us * 1000},"
            f"excess={excess_ns},out={trace}", kernel=kernel, flavour=flavour)
        if second.read_text(encoding="ascii").find(f"{address} t {HANDLER}") < 0:
            raise MeasureError("the second boot has its modules at other places")
        (result,) = parse(out, [case])
        return analyze(trace.read_bytes(), text, round(result.mean_ns)), result.max_ns


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    condition = "idle" if options.beside else options.condition
    case = Case("tick", condition, options.seconds, options.period_us)
    ticks, greatest = measure(case, options.excess_ns, options.kernel, options.flavour,
                              options.beside)
    ticks = ticks[:options.most]
    yield figures.Outcome([one.as_dict() for one in ticks],
                          f"{table(ticks)}\nlatest of all: {greatest} ns")


def _add_options(parser: argparse.ArgumentParser) -> None:
    figures.add_seconds(parser, 1, "of ticks")
    parser.add_argument("--condition", choices=("load", "irqoff"), default="load",
                        help="default %(default)s; an idle CPU executes nothing to count")
    parser.add_argument("--beside", choices=heavy.LOADS, default="",
                        help="one of the loads of `stress` instead of that condition's")
    parser.add_argument("--period-us", type=int, default=97,
                        help="of the ticks; default %(default)s: all phases of the load")
    parser.add_argument("--excess-ns", type=int, default=400, help="write down ticks that come by "
                        "this much later than the one before; default %(default)s")
    parser.add_argument("--most", type=int, default=3, help="how many to show; default %(default)s")


MEASUREMENTS = (figures.Measurement(
    "late", "what ran while the latest RT ticks waited, function by function", _run,
    _add_options),)
