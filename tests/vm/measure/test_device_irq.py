# SPDX-License-Identifier: GPL-2.0-only
"""How late an RT device interrupt is beside a level-triggered line of Linux's that waits.

The control, in the same boot, is the same with the line left unmasked at its controller: the
check must fail there.
"""

from __future__ import annotations

import pytest

from measure.device_irq import judge, measure, parse, table
from measure.figures import MeasureError


@pytest.mark.slow
def test_a_waiting_line_is_not_in_the_way() -> None:
    """IRQ 8 at 8192 Hz, idle, under load, and beside ten sections of 20 ms."""
    results = measure(seconds=0.3)
    print(table(results))
    assert judge(results) == []
    assert results[2].waited == 10
    # Ten sections alone are that many periods: the figure covers them.
    assert results[2].count > 0.2 * 8192


FIGURES = """\
DEVICE idle
count=10 expected=10 sum_ns=1000 max_ns=200
raised=0 handled=0 late=0 rt_during=0 off_us=0
DEVICE load
count=10 expected=10 sum_ns=1000 max_ns=300
raised=0 handled=0 late=0 rt_during=0 off_us=0
DEVICE stalled
count=10 expected=10 sum_ns=1000 max_ns=400
raised=10 handled=10 late=0 rt_during=9 off_us=10
DEVICE control
count=2 expected=10 sum_ns=1000 max_ns=19000000
raised=10 handled=10 late=0 rt_during=0 off_us=10
"""


def test_parse() -> None:
    """What the guest prints becomes figures."""
    results = parse(FIGURES)
    assert [result.max_ns for result in results] == [200, 300, 400, 19_000_000]
    assert [result.waited for result in results] == [0, 0, 10, 10]
    assert judge(results) == []


@pytest.mark.parametrize(("old", "new", "words"), [
    ("max_ns=400", "max_ns=2001", "stalled: 2001 ns late"),
    ("count=10 expected=10 sum_ns=1000 max_ns=300", "count=9 expected=10 sum_ns=1 max_ns=3",
     "load: 9 interrupts of 10"),
    ("raised=10 handled=10 late=0 rt_during=9", "raised=0 handled=0 late=0 rt_during=9",
     "stalled: no level-triggered line"),
    ("count=2 expected=10 sum_ns=1000 max_ns=19000000", "count=9 expected=9 sum_ns=1 max_ns=9",
     "control: not late"),
])
def test_judge(old: str, new: str, words: str) -> None:
    """Each way to break the promise, and a control that controls nothing, are seen."""
    assert FIGURES.count(old) == 1
    (line,) = judge(parse(FIGURES.replace(old, new)))
    assert line.startswith(words)


def test_parse_refuses_a_lost_interrupt() -> None:
    """A figure taken while Linux lost an interrupt of its own does not count."""
    with pytest.raises(MeasureError):
        parse(FIGURES.replace("raised=10 handled=10 late=0 rt_during=9",
                              "raised=10 handled=9 late=1 rt_during=9"))
