# SPDX-License-Identifier: GPL-2.0-only
"""Linux's clock keeps to the machine's over 60 virtual seconds with tactus loaded.

Controls in the same boot: a clock that goes 100 ppm too fast and one that is set back must fail.
"""

from __future__ import annotations

import pytest

from measure.drift import judge, measure, parse, table
from measure.figures import MeasureError


@pytest.mark.long
def test_the_clock_neither_drifts_nor_steps() -> None:
    """Beside an RT task, and every six seconds one of load with interrupts-off sections. The bench
    fails if the kernel complains of a stall or a lockup."""
    results = measure(60)
    print(table(results))
    assert judge(results) == []
    active = results[1]
    assert active.bursts > 250
    assert active.reads > 1_000_000


GOOD = """\
tsc
DRIFT native drift: bursts=26 reads=1000 back=0 rate_ppb=990 wander_ns=160
load: seconds=1.0 forks=5 sections=9 process=9
DRIFT active drift: bursts=300 reads=9000 back=0 rate_ppb=952 wander_ns=250
DRIFT task period_ns=20000000 releases=3000 expected=3000 skipped=0 overruns=0
tsc
DRIFT fast drift: bursts=11 reads=400 back=0 rate_ppb=101050 wander_ns=222
DRIFT back drift: bursts=11 reads=400 back=1 rate_ppb=940 wander_ns=162
"""


def test_parse() -> None:
    """What the guest prints becomes figures."""
    results = parse(GOOD)
    assert [result.rate_ppb for result in results] == [990, 952, 101050, 940]
    assert judge(results) == []


@pytest.mark.parametrize(("old", "new", "words"), [
    ("back=0 rate_ppb=952", "back=0 rate_ppb=1200", "active: the rate changed by 210 ppb"),
    ("back=0 rate_ppb=952", "back=2 rate_ppb=952", "active: a clock went back 2 times"),
    ("wander_ns=250", "wander_ns=2500", "active: off by 2500 ns"),
    ("rate_ppb=101050", "rate_ppb=1050", "fast: the control passed"),
    ("back=1", "back=0", "back: the control passed"),
])
def test_judge(old: str, new: str, words: str) -> None:
    """A clock that is wrong and a control that controls nothing are seen."""
    (line,) = judge(parse(GOOD.replace(old, new)))
    assert line.startswith(words)


@pytest.mark.parametrize(("old", "new"), [
    ("tsc\nDRIFT fast", "hpet\nDRIFT fast"),        # another clock took over
    ("skipped=0", "skipped=1"),
    ("sections=9", "sections=0"),
    ("DRIFT back", "DRIFT"),
])
def test_parse_refuses(old: str, new: str) -> None:
    """A run that does not count is an error, not a figure."""
    with pytest.raises(MeasureError):
        parse(GOOD.replace(old, new))
