# SPDX-License-Identifier: GPL-2.0-only
"""The backup over the network beside two 1 ms tasks: in a guest, and what is made of its words."""

from __future__ import annotations

import dataclasses

import pytest

from measure.backup import judge, measure, parse, table
from measure.figures import MeasureError

SUM = "0123456789abcdef0123456789abcdef"
ROUND = f"took: ns=4000000 idle_ns=-3\narrived {SUM}  - 1000\n"
FIGURE = "FIGURE late count=2 missed=0 min=800 max=900 sum=1700 square=1450000\nBIN 800 960 2\n"
SUMMARY = ("period_ns=1000000 start_ns=5 releases=30 expected=30 skipped=0 overruns=0 min_ns=700 "
           "avg_ns=733 max_ns=850 worst=1 sum_ns=22000\n")
GOOD = (f"sent {SUM}  -\nBACKUP alone\n{ROUND}{ROUND}BACKUP beside\n"
        f"{ROUND.replace('=40', '=50')}{ROUND.replace('=40', '=50')}"
        f"BACKUP task\n{FIGURE}BACKUP task\n{SUMMARY}BACKUP end\n")


@pytest.mark.slow
def test_a_backup_beside_two_tasks() -> None:
    """Every byte arrives and no release is late."""
    one = measure("tactus", rounds=1, kib=1024)
    print(table([one]))
    assert judge([one]) == [] and one.bytes > 1 << 20 and one.releases > 100


def test_both_tasks_and_all_bytes_count() -> None:
    one = parse(GOOD, "tactus", 2)
    assert (one.bytes, one.alone_ns, one.beside_ns) == (1000, 8_000_000, 10_000_000)
    assert (one.wrong, one.releases, one.missed, one.max_ns) == (0, 2, 0, 900)
    assert one.per_second(one.alone_ns) == pytest.approx(0.25)
    assert one.percent == pytest.approx(20) and judge([one]) == []
    assert "20.00 %" in table([one])


@pytest.mark.parametrize(("old", "new", "words"), [
    (f"arrived {SUM}", f"arrived {SUM[::-1]}", "4 backups arrived with other bytes"),
    ("max=900", "max=2100", "2100 ns late"),
    ("max_ns=850", "max_ns=2100", "2100 ns late"),
    ("missed=0", "missed=1", "1 missed"),
    ("skipped=0", "skipped=1", "1 missed"),
    ("overruns=0", "overruns=1", "1 missed"),
])
def test_what_breaks_the_promise(old: str, new: str, words: str) -> None:
    one = parse(GOOD.replace(old, new), "tactus", 2)
    (line,) = judge([one])
    assert words in line
    assert bool(judge([dataclasses.replace(one, system="stock")])) == ("bytes" in words)


@pytest.mark.parametrize(("old", "new"), [
    ("BACKUP end", ""), ("took: ns=4", "tock: ns=4"), ("sent ", "sentt "), ("count=2", "count=3"),
    ("skipped=0 ", ""),
])
def test_half_a_measurement_is_no_figure(old: str, new: str) -> None:
    with pytest.raises(MeasureError):
        parse(GOOD.replace(old, new, 1), "tactus", 2)
