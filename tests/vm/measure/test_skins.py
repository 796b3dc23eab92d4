# SPDX-License-Identifier: GPL-2.0-only
"""RTAI's and RTLinux's figures: what is made of the records, and once a guest."""

from __future__ import annotations

import pytest

from measure import skins
from measure.figures import MeasureError


def test_records_are_combined() -> None:
    one = skins.combine("latency", "idle", [(5, 6, 9, 0, 0), (4, 7, 8, 2, 0), (6, 7, 20, 1, 0)])
    assert one.columns == {"lat min": 4, "lat avg": 7, "lat max": 20, "overruns": 3}
    assert one.records == 3


def test_a_switch_is_a_share_of_the_time() -> None:
    one = skins.combine("switches", "idle", [(2000, 908_000, 1_030_000, 1_490_400, 0)])
    assert one.columns == {"SUSP/RES": 454, "SEM SIG/WAIT": 515, "RPC/RCV-RET": 745}


def test_no_record_is_no_figure() -> None:
    with pytest.raises(MeasureError, match="no record"):
        skins.combine("rtlinux", "idle", [])


@pytest.mark.parametrize(("most", "overruns", "wrong"), [(1000, 0, 0), (1001, 0, 1), (900, 1, 1)])
def test_the_promise(most: int, overruns: int, wrong: int) -> None:
    one = skins.combine("latency", "irqoff", [(1, 2, most, overruns, 0)])
    assert len(skins.judge([one])) == wrong


def test_columns_are_those_of_their_users() -> None:
    text = skins.table([skins.combine("preempt", "idle", [(1, 2, 3, 4, 5)])])
    assert text.splitlines()[0].split("|")[1:] == [
        "      lat min", "      lat avg", "      lat max", "     jit fast", "     jit slow"]
    assert text.splitlines()[1].replace("|", " ").split() == ["idle", "1", "2", "3", "4", "5"]


@pytest.mark.long
def test_in_a_guest() -> None:
    """All tests once, for a short time; RTAI's keeps its promise beside sections."""
    results = skins.measure(0.3)
    print(skins.table(results))
    assert not skins.judge(results)
    assert all(min(one.columns.values()) >= 0 for one in results)
    switches = next(one for one in results if one.test == "switches")
    assert all(100 < ns < 2000 for ns in switches.columns.values())
