# SPDX-License-Identifier: GPL-2.0-only
"""What the pipeline costs Linux, in instructions: the limits that the project promises.

Beside the real figures a negative control: with an RT timer of 20 kHz on top, the same check
must find that gzip costs too much.
"""

from __future__ import annotations

import pytest

from measure.figures import MeasureError
from measure.overhead import complaints, measure, parse, table


@pytest.mark.long
def test_jobs_cost_linux_little() -> None:
    """200 shells, a pipe, gzip: with the pipeline on and no tasks."""
    costs = measure(rounds=2, gzip_mb=1)
    print(table(costs))
    assert complaints(costs) == []


@pytest.mark.long
def test_what_costs_too_much_is_seen() -> None:
    """The negative control: 20,000 RT ticks a second beside the jobs."""
    costs = measure(rounds=1, gzip_mb=1, beside="modprobe rt_latency mode=tick period_us=50")
    print(table(costs))
    assert any(line.startswith("gzip: +") for line in complaints(costs))


GOOD = """\
OVERHEAD warm shells took: ns=400 idle_ns=0
OVERHEAD off shells took: ns=201 idle_ns=-3
OVERHEAD on shells took: ns=204 idle_ns=-3
OVERHEAD off shells took: ns=200 idle_ns=-3
OVERHEAD on shells took: ns=203 idle_ns=-3
OVERHEAD off pipe took: ns=100 idle_ns=0
OVERHEAD on pipe took: ns=101 idle_ns=0
OVERHEAD off gzip took: ns=10000 idle_ns=0
OVERHEAD on gzip took: ns=10001 idle_ns=0
"""


def test_parse() -> None:
    """The least of each side is compared, the warm-up left out."""
    costs = parse(GOOD)
    assert [(cost.job, cost.off, cost.on) for cost in costs] == [
        ("shells", 200, 203), ("pipe", 100, 101), ("gzip", 10000, 10001)]
    assert costs[0].percent == pytest.approx(1.5)
    assert complaints(costs) == []


@pytest.mark.parametrize(("old", "new", "words"), [
    ("on gzip took: ns=10001", "on gzip took: ns=10060", "gzip: +0.60 %"),
    ("off gzip took: ns=10000 idle_ns=0", "off gzip took: ns=10000 idle_ns=20", "was idle"),
])
def test_complaints(old: str, new: str, words: str) -> None:
    """A job that costs too much and one that was not all instructions are seen."""
    (line,) = complaints(parse(GOOD.replace(old, new)))
    assert words in line


def test_parse_refuses_half_a_measurement() -> None:
    """A job that did not run on both sides is an error, not a figure."""
    with pytest.raises(MeasureError):
        parse(GOOD.replace("on pipe", "on pipes"))
