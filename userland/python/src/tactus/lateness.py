# SPDX-License-Identifier: GPL-2.0-only
"""What rt_latency measures: its files, differences between two readings, histogram formats."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = "/proc/rt_latency"
# (from ns, to ns or None for the open-ended last bin, count)
Bin = tuple[int, int | None, int]


@dataclass(frozen=True)
class Reading:
    """One look at /proc/rt_latency; all times in ns."""

    summary: dict[str, int]
    bins: tuple[Bin, ...]

    @property
    def jobs(self) -> int:
        return self.summary["releases"]

    @property
    def clean(self) -> bool:
        """Every release had its job, none begun after the next release."""
        return self.summary["overruns"] == 0 and self.summary["skipped"] == 0

    def since(self, before: Reading | None) -> Reading:
        """What came after @before; min and max to the width of a bin."""
        if before is None or before.jobs > self.jobs:
            return self
        old = {start: count for start, _, count in before.bins}
        bins = tuple((start, end, count - old.get(start, 0)) for start, end, count in self.bins
                     if count > old.get(start, 0))
        more = {name: self.summary[name] - before.summary[name]
                for name in ("releases", "expected", "skipped", "overruns", "sum_ns")}
        top = bins[-1] if bins else (0, 0, 0)
        highest = self.summary["max_ns"] if top[1] is None else top[1]
        return Reading(self.summary | more | {
            "min_ns": bins[0][0] if bins else 0, "max_ns": min(highest, self.summary["max_ns"]),
            "avg_ns": more["sum_ns"] // more["releases"] if more["releases"] else 0}, bins)

    def percentile(self, per_cent: float) -> int:
        """The upper edge of the bin that holds this share of the jobs; never above max_ns."""
        wanted, seen = self.jobs * per_cent / 100, 0
        for _, end, count in self.bins:
            seen += count
            if seen >= wanted:
                return min(self.summary["max_ns"], self.summary["max_ns"] if end is None else end)
        return self.summary["max_ns"]

    def as_dict(self) -> dict[str, object]:
        return {**self.summary, "p99_ns": self.percentile(99), "p99_9_ns": self.percentile(99.9),
                "histogram": [list(bin_) for bin_ in self.bins]}


def parse(summary: str, histogram: str) -> Reading:
    """The texts of the two files. Raises ValueError for anything else."""
    pairs = {name: int(value) for name, _, value in
             (word.partition("=") for word in summary.split())}
    if "releases" not in pairs or "max_ns" not in pairs:
        raise ValueError("no summary of rt_latency")
    bins = []
    for line in histogram.splitlines():
        start, end, count = line.split()
        bins.append((int(start), None if end == "-" else int(end), int(count)))
    return Reading(pairs, tuple(bins))


def read(root: Path) -> Reading:
    folder = root / FOLDER.lstrip("/")
    return parse((folder / "summary").read_text(), (folder / "histogram").read_text())


def gnuplot(reading: Reading) -> str:
    """Two columns for `plot "FILE" with boxes`: us, jobs."""
    lines = [f"# lateness in us, jobs; {reading.jobs} jobs, max {reading.summary['max_ns']} ns"]
    lines += [f"{start / 1000:.3f} {count}" for start, _, count in reading.bins]
    return "\n".join(lines) + "\n"


def cyclictest(reading: Reading) -> str:
    """As `cyclictest -h` prints: a line a microsecond, then comments with the totals."""
    counts: dict[int, int] = {}
    for start, _, count in reading.bins:
        counts[start // 1000] = counts.get(start // 1000, 0) + count
    top = max(counts, default=0)
    lines = ["# Histogram"]
    lines += [f"{us:06d} {counts.get(us, 0):06d}" for us in range(top + 1)]
    s = reading.summary
    lines += [f"# Total: {reading.jobs:09d}", f"# Min Latencies: {max(s['min_ns'], 0) // 1000:05d}",
              f"# Avg Latencies: {max(s['avg_ns'], 0) // 1000:05d}",
              f"# Max Latencies: {s['max_ns'] // 1000:05d}", "# Histogram Overflows: 00000"]
    return "\n".join(lines) + "\n"


def bars(reading: Reading, rows: int = 16, width: int = 50) -> str:
    """The histogram as text: @rows classes of equal width, each with a bar."""
    if not reading.bins:
        return "no jobs yet\n"
    low, high = reading.bins[0][0], reading.summary["max_ns"]
    step = max(10, -(-(high - low + 1) // rows // 10) * 10)
    counts: dict[int, int] = {}
    for start, _, count in reading.bins:
        place = min((start - low) // step, rows - 1)
        counts[place] = counts.get(place, 0) + count
    most = max(counts.values())
    lines = []
    for place in range(max(counts) + 1):
        count = counts.get(place, 0)
        bar = "#" * max(round(count / most * width), 1 if count else 0)
        lines.append(f"{low + place * step:>9} ns {count:>9} {bar}")
    return "\n".join(lines) + "\n"
