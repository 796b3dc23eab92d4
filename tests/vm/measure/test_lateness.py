# SPDX-License-Identifier: GPL-2.0-only
"""How late releases are, in virtual time on one CPU: the figures the project promises.

A raw RT tick and an RT task against LIMIT_NS of measure.py, idle, under load, and under load
with interrupts-off sections of 20 ms; and as negative control the same check on a Linux hrtimer
of the untouched kernel, which must fail. `make bench-long` measures the same for longer.
"""

from __future__ import annotations

import pytest

from measure import pages
from measure.lateness import (
    CONTEXT_CONDITIONS,
    LIMIT_NS,
    SECTIONS_PER_S,
    Case,
    Kind,
    Lateness,
    MeasureError,
    complaints,
    measure,
    measure_all,
    parse,
    table,
)

SECONDS = 3.0
SHORT_S = 0.5
CONDITIONS = ("idle", "load", "irqoff")


def run(kind: Kind, seconds: float) -> dict[str, Lateness]:
    """The three conditions in one boot, by condition; the table is shown when a test fails."""
    results = measure_all([Case(kind, condition, seconds) for condition in CONDITIONS])
    print(table(results))
    return {result.case.condition: result for result in results}


def check_rt(kind: Kind, results: dict[str, Lateness], seconds: float) -> None:
    """The promise holds in each condition, and the sections were really there."""
    for condition, result in results.items():
        assert complaints(result, LIMIT_NS[kind]) == [], condition
        assert result.releases >= seconds * 1000
        assert sum(result.histogram.values()) == result.releases
    load = results["irqoff"].load
    assert load["sections"] >= SECTIONS_PER_S * seconds
    assert load["section_ms"] >= 20


@pytest.mark.long
@pytest.mark.parametrize("kind", ["tick", "task"])
def test_rt_releases_on_time(kind: Kind) -> None:
    """3 virtual seconds in each condition; docs/measuring.md says the same."""
    results = run(kind, SECONDS)
    check_rt(kind, results, SECONDS)
    assert pages.differences("lateness", list(results.values())) == []


@pytest.mark.parametrize("kind", ["tick", pytest.param("task", marks=pytest.mark.slow)])
def test_rt_releases_on_time_briefly(kind: Kind) -> None:
    """The same for half a second, and the whole of it a second time: the figures agree."""
    first = run(kind, SHORT_S)
    check_rt(kind, first, SHORT_S)
    if kind == "tick":
        return
    second = run(kind, SHORT_S)
    for condition in CONDITIONS:
        assert second[condition].max_ns == pytest.approx(first[condition].max_ns, rel=0.02)
        assert second[condition].mean_ns == pytest.approx(first[condition].mean_ns, rel=0.02)


@pytest.mark.long
def test_rt_tick_beside_sections_of_each_kind() -> None:
    """Interrupts off in a process, softirqs, a timer's callback, under a spinlock: the driver
    that makes the sections checks the context of each."""
    # In half a second gzip may not get further than filling its pipe, which is below its minimum.
    seconds = 2 * SHORT_S
    results = measure_all([Case("tick", condition, seconds) for condition in CONTEXT_CONDITIONS])
    print(table(results))
    for result in results:
        assert complaints(result, LIMIT_NS["tick"]) == [], result.case.condition
        context = result.case.condition.removeprefix("irqoff-")
        assert result.load[context] == result.load["sections"] >= SECTIONS_PER_S * seconds
        assert result.load["section_ms"] >= 20


@pytest.mark.slow
def test_rt_task_at_10_khz() -> None:
    """Ten times the rate, in the worst condition: no release is left out."""
    result = measure("task", "irqoff", SHORT_S, period_us=100)
    assert complaints(result, LIMIT_NS["task"]) == []
    assert result.releases >= SHORT_S * 10_000


@pytest.mark.slow
def test_hrtimer_fails_the_same_check() -> None:
    """The negative control: without the executive, the sections delay the timer by their length."""
    results = run("hrtimer", SHORT_S)
    for condition, result in results.items():
        assert result.skipped == 0, condition
    late = results["irqoff"]
    assert complaints(late, LIMIT_NS["task"]) != []
    assert 15e6 < late.max_ns < 40e6
    assert late.overruns > 100 * SHORT_S
    assert complaints(results["load"], LIMIT_NS["tick"]) != []


@pytest.mark.slow
def test_a_load_below_its_minimum_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A figure taken under less load than stated does not count."""
    monkeypatch.setattr("measure.lateness.LOAD_FLOORS_PER_S", {"forks": 1e9})
    with pytest.raises(MeasureError, match="forks=.* is below the minimum"):
        measure("hrtimer", "load", 0.2)


GOOD = """\
MEASURE load 0
MEASURE summary 0
period_ns=1000000 start_ns=5 releases=500 expected=500 skipped=0 overruns=0 min_ns=10 avg_ns=20 \
max_ns=31 worst=7 sum_ns=10000
MEASURE histogram 0
10 20 300
20 30 150
30 40 50
MEASURE end 0
"""


def test_parse() -> None:
    """What the guest prints becomes figures."""
    (result,) = parse(GOOD, [Case("task", "idle", 0.5)])
    assert (result.min_ns, result.mean_ns, result.max_ns) == (10, 20, 31)
    assert result.histogram == {10: 300, 20: 150, 30: 50}
    assert [result.percentile_ns(p) for p in (0, 50, 60, 61, 100)] == [20, 20, 20, 30, 31]
    assert complaints(result, 31) == []
    assert complaints(result, 30) == ["31 ns late, 30 allowed"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("20 30 150", "20 30 149"),         # the bins do not add up
        ("expected=500", "expected=400"),   # too short
        ("MEASURE end 0", ""),              # cut off
    ],
)
def test_parse_refuses(old: str, new: str) -> None:
    """A result that does not count is an error, not a figure."""
    with pytest.raises(MeasureError):
        parse(GOOD.replace(old, new), [Case("task", "idle", 0.5)])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("expected=500 skipped=0", "expected=501 skipped=1"),
        ("overruns=0", "overruns=1"),
        ("min_ns=10", "min_ns=-101"),
        ("max_ns=31", "max_ns=2001"),
    ],
)
def test_complaints(old: str, new: str) -> None:
    """Each way to break the promise is seen."""
    (result,) = parse(GOOD.replace(old, new), [Case("task", "idle", 0.5)])
    assert len(complaints(result, LIMIT_NS["task"])) == 1
