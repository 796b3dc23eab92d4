# SPDX-License-Identifier: GPL-2.0
"""What fifo_speed prints, and which of its figures break a promise; for the tests and `make bench`."""
from __future__ import annotations

Figures = dict[str, tuple[int, ...]]

# A wake-up by RT code goes through one handler more than one by an hrtimer: RT code's own, then
# that by which it tells Linux. It was to be no slower; it is not that fast. See docs/fifo.md.
WAKE_RATIO = 1.08


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
