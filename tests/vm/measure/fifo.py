# SPDX-License-Identifier: GPL-2.0-only
"""FIFOs beside Linux's own means, in instructions: tests/vm/fifo/fifo_speed.c says what is
measured, docs/fifo.md what is promised."""
from __future__ import annotations

import argparse
from collections.abc import Iterator

from harness import programs

from . import figures

NAMES = {"read 64": ("pipe", "FIFO"), "drain 64": ("pipe", "mapped FIFO"),
         "read 4096": ("pipe", "FIFO"), "drain 4096": ("pipe", "mapped FIFO"),
         "wake": ("FIFO", "eventfd"), "wakemax": ("FIFO", "eventfd"),
         "stall": ("Linux idle", "Linux reading"), "puts": ("puts",)}

Figures = dict[str, tuple[int, ...]]

# A wake-up by RT code goes through one handler more than one by an hrtimer: RT code's own, then
# that by which it tells Linux. It is to be no slower all the same. See docs/fifo.md.
WAKE_RATIO = 1.0


def parse(text: str) -> Figures:
    """"read 64 1140 938" -> {"read 64": (1140, 938)}."""
    told: Figures = {}
    for line in text.splitlines():
        words = line.split()
        name = " ".join(words[:2] if words[0] in ("read", "drain") else words[:1])
        told[name] = tuple(int(word) for word in words[len(name.split()):])
    return told


def complaints(told: Figures) -> list[str]:
    """A sentence for each promise that does not hold; times are in ns, instructions in truth."""
    wake, eventfd = told["wake"]
    quiet, reading = told["stall"]
    limits = {f"read {size}": (told[f"read {size}"][1], told[f"read {size}"][0])
              for size in (64, 4096)}
    limits |= {f"drain {size}": (told[f"drain {size}"][1], told[f"drain {size}"][0] // 3)
               for size in (64, 4096)}
    limits |= {"wake": (wake, int(eventfd * WAKE_RATIO)), "stall": (reading, quiet + 2)}
    found = [f"{name}: {value} ns, not at most {most} ns"
             for name, (value, most) in limits.items() if value > most]
    if told["puts"][0] < 100:
        found.append("there were too few puts in the middle of a read")
    return found


def table(told: Figures) -> str:
    """For people."""
    return "\n".join(f"{name:12}" + "".join(
        f"{what:>16} {value:6}" for what, value in zip(NAMES[name], values, strict=True))
        for name, values in told.items())


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    told = parse(figures.boot(
        "./fifo_speed", "--icount", "--busy", "--modules=tactus_core tactus rtfifo fifo_wake",
        f"--put={programs.build('fifo_speed')}", kernel=options.kernel, flavour=options.flavour))
    yield figures.Outcome([told], table(told), complaints(told))


MEASUREMENTS = (figures.Measurement(
    "fifo", "FIFOs beside pipe and eventfd, in instructions", _run, long={}),)
