# SPDX-License-Identifier: GPL-2.0-only
"""What a figure is, and how one is read from what tools/measure and the modules print."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tactus import figure

from ..figures import MeasureError


@dataclass(frozen=True)
class System:
    """What is measured: a kernel, with or without Tactus."""

    name: str
    title: str
    flavour: str
    modules: str
    """Those that the measurements need beside the load's."""


SYSTEMS = {one.name: one for one in (
    System("stock", "Linux", "cloud", "irq_measure"),
    System("preempt_rt", "PREEMPT_RT", "rt", "irq_measure"),
    System("tactus", "Linux + Tactus", "cloud", "tactus rt_measure"),
)}


@dataclass(frozen=True)
class Job:
    """One figure to make: a command of the guest."""

    subject: str
    """What is looked at: a means to wait, a priority."""
    condition: str
    """What runs beside it, or what is asked of it."""
    command: str
    seconds: float
    """Virtual, about; for the bench's patience and for the report."""
    warm_up: int
    """Values that do not count."""
    load: str
    """What runs beside it, in words."""
    over_ns: int | None = None
    """What values count as over-runs; None: that is no question here."""


# How near to 0 a value is, of which the share is kept, ns.
NEAR_NS = (100_000, 200_000, 1_000_000, 2_000_000)


@dataclass(frozen=True)
class Figure:
    """An outcome; times in ns."""

    table: str
    system: str
    subject: str
    condition: str
    load: str
    rounds: tuple[float, ...]
    """What the load did: rounds of each worker, or its own count of forks."""
    warm_up: int
    seconds: float
    count: int
    missed: int
    min: int
    avg: float
    p99_9: int
    max: int
    sd: float
    near: tuple[float, ...]
    """Per cent of the values within NEAR_NS each, by their bins."""
    over: int | None
    """Over-runs."""
    histogram: tuple[tuple[int, int, int], ...] = field(repr=False)
    """(from, up to, count) of each bin that is not empty."""

    @property
    def key(self) -> str:
        """What it is compared by."""
        return f"{self.table}/{self.system}/{self.subject}/{self.condition}"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Figure:
        """The same back."""
        return cls(**{**data, "rounds": tuple(data["rounds"]), "near": tuple(data["near"]),
                      "histogram": tuple((low, high, count) for low, high, count in
                                         data.get("histogram", ()))})


def _near(histogram: Sequence[tuple[int, int, int]], limit_ns: int) -> float:
    total = sum(count for *_, count in histogram)
    near = sum(count for low, high, count in histogram
               if max(abs(low), abs(high - 1)) <= limit_ns)
    return round(100 * near / total, 2)


MARK = "JOB "


def script(jobs: Sequence[Job], poll: bool) -> str:
    """The shell text that makes the figures and prints them between marks; `poll`: see Table."""
    lines = ["set -e",
             # In the first second Linux's hrtimers go by the jiffy: no fair thing to compare with.
             "until grep -q 'hres_active *: 1' /proc/timer_list; do sleep 0.05; done",
             "ip link set lo up; mke2fs /dev/ram0 > /dev/null; mkdir -p /mnt",
             "mount -t ext4 /dev/ram0 /mnt", f"echo {MARK}kernel; uname -r; uname -v"]
    if not poll:
        lines.append("./awake 86400 & awake=$!")
    for number, job in enumerate(jobs):
        lines += [f"echo {MARK}{number}", job.command]
    if not poll:
        lines.append("kill $awake")
    lines.append(f"echo {MARK}end")
    return "\n".join(lines)


def parse(text: str, table: str, system: str, jobs: Sequence[Job]) -> tuple[str, list[Figure]]:
    """(the kernel, the figures) of what the guest printed; MeasureError where one is missing."""
    parts = {part.partition("\n")[0]: part.partition("\n")[2]
             for part in text.replace("\r", "").split(MARK)[1:]}
    if "end" not in parts:
        raise MeasureError(f"{table} on {system}: the guest did not finish:\n{text[-2000:]}")
    figures = []
    for number, job in enumerate(jobs):
        part = parts[str(number)]
        try:
            one = figure.parse(part)
        except ValueError as error:
            raise MeasureError(f"{table} on {system}: {job.subject}, {job.condition}: {error}:\n"
                               f"{part[-2000:]}") from error
        rounds: list[float] = []
        if load := re.search(r"^LOAD \S+((?: \d+)*)$", part, re.M):
            rounds = [int(word) for word in load[1].split()]
        if forks := re.search(r'"forks": ([\d.]+)', part):
            rounds = [float(forks[1])]
        figures.append(Figure(
            table=table, system=system, subject=job.subject, condition=job.condition,
            load=job.load, rounds=tuple(rounds), warm_up=job.warm_up, seconds=job.seconds,
            count=one.count, missed=one.missed, min=one.min, avg=round(one.mean, 1),
            p99_9=one.percentile(99.9), max=one.max, sd=round(one.deviation, 1),
            near=tuple(_near(one.bins, limit) for limit in NEAR_NS),
            over=None if job.over_ns is None else sum(
                n for low, _, n in one.bins if low >= job.over_ns),
            histogram=one.bins))
    return " ".join(parts["kernel"].split()), figures
