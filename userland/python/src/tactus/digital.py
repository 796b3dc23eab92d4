# SPDX-License-Identifier: GPL-2.0-only
"""Digital channels: the bits of a field over time, their trigger, their picture, and VCD."""
from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tactus.errors import ToolError

# Instant in ns, and the channels' levels as bits; each holds until the next.
Sample = tuple[int, int]
HIGH, LOW, RISE, FALL = "▔", "▁", "╱", "╲"
IDENTIFIERS = 94  # of one character, as VCD has them


@dataclass(frozen=True)
class Trigger:
    """A channel that goes to a level."""

    channel: int
    level: int

    @classmethod
    def parse(cls, text: str, names: Sequence[str]) -> Trigger:
        """"D3:rise" """
        name, _, how = text.partition(":")
        if name not in names or how not in ("rise", "fall"):
            raise ToolError(f"{text!r} is not CHANNEL:rise or CHANNEL:fall; channels: "
                            + " ".join(names), 2)
        return cls(names.index(name), int(how == "rise"))

    def between(self, before: int, after: int) -> bool:
        levels = before >> self.channel & 1, after >> self.channel & 1
        return levels == (1 - self.level, self.level)


def channel_names(bits: int, wanted: str) -> list[str]:
    """Bit 0 first: D0 and so on, or what the user calls them."""
    names = [name for name in wanted.split(",") if name] or [f"D{n}" for n in range(bits)]
    if len(names) > bits or len(set(names)) < len(names) or any(
            not name.isprintable() or " " in name or ":" in name for name in names):
        raise ToolError(f"--names takes up to {bits} different names without spaces and colons", 2)
    return names


class Analyser:
    """Keeps what a logic analyser does: some samples before its trigger, and so many after."""

    def __init__(self, trigger: Trigger | None, before: int, after: int) -> None:
        self._trigger = trigger
        self._after = after
        self._past: deque[Sample] = deque(maxlen=before + 1)
        self._kept: list[Sample] = []
        self.triggered_at: int | None = None

    @property
    def full(self) -> bool:
        """Of one that has no trigger and looks at the newest: never."""
        return self._trigger is not None and len(self._kept) >= self._after

    def add(self, samples: Iterable[Sample]) -> None:
        for sample in samples:
            if self._trigger is None:
                self._kept.append(sample)
                if len(self._kept) > 2 * self._after:
                    del self._kept[:-self._after]
            elif self.triggered_at is not None:
                if self.full:
                    return
                self._kept.append(sample)
            elif self._past and self._trigger.between(self._past[-1][1], sample[1]):
                self.triggered_at = sample[0]
                self._kept = [*self._past, sample]
                self._after += len(self._past)
            else:
                self._past.append(sample)

    def newest(self) -> list[Sample]:
        return self._kept if self._trigger else self._kept[-self._after:]


def line(samples: Sequence[Sample], channel: int, width: int) -> str:
    """One channel from the first to the last sample; a column in which it moves shows how."""
    first, last = samples[0][0], samples[-1][0]
    text = ""
    at, level = 0, samples[0][1] >> channel & 1
    for column in range(width):
        end = first + (last - first) * (column + 1) / width
        before = level
        moves = 0
        while at + 1 < len(samples) and samples[at + 1][0] <= end:
            at += 1
            now = samples[at][1] >> channel & 1
            moves += now != level
            level = now
        text += ("┃" if moves > 1 else RISE if level > before else FALL if level < before
                 else HIGH if level else LOW)
    return text


def frame(samples: Sequence[Sample], names: Sequence[str], width: int,
          triggered_at: int | None = None) -> str:
    """All channels below one another, with the time across."""
    if len(samples) < 2:
        return "no samples" if not samples else "one sample"
    room = max(len(name) for name in names) + 1
    across = max(width - room, 10)
    first, last = samples[0][0], samples[-1][0]
    head = f"{(last - first) / 1000:.3f} us, {len(samples)} changes"
    if triggered_at is not None:
        head += f", trigger after {(triggered_at - first) / 1000:.3f} us"
    return "\n".join([head, *(f"{name:<{room}}{line(samples, n, across)}"
                              for n, name in enumerate(names))])


def vcd(samples: Sequence[Sample], names: Sequence[str], scope: str = "tactus") -> str:
    """A value change dump (IEEE 1364), in ns from the first sample."""
    if len(names) > IDENTIFIERS:
        raise ToolError(f"VCD is written for up to {IDENTIFIERS} channels", 2)
    marks = [chr(33 + n) for n in range(len(names))]
    lines = ["$timescale 1 ns $end", f"$scope module {scope} $end",
             *(f"$var wire 1 {mark} {name} $end" for mark, name in zip(marks, names, strict=True)),
             "$upscope $end", "$enddefinitions $end"]
    before: int | None = None
    for when, levels in samples:
        moved = [n for n in range(len(names))
                 if before is None or (before ^ levels) >> n & 1]
        if moved:
            lines.append(f"#{when - samples[0][0]}")
            lines += ["$dumpvars"] * (before is None)
            lines += [f"{levels >> n & 1}{marks[n]}" for n in moved]
            lines += ["$end"] * (before is None)
        before = levels
    if samples:
        lines.append(f"#{samples[-1][0] - samples[0][0] + 1}")
    return "\n".join(lines) + "\n"
