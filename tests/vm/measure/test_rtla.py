# SPDX-License-Identifier: GPL-2.0-only
"""What is made of rtla's tables, and which kernels have its tracers; then both tools in a guest."""

from __future__ import annotations

import pytest

from harness.bench import kernels
from measure import rtla
from measure.figures import MeasureError

TIMERLAT = """\
                                     Timer Latency
  0 00:00:02   |          IRQ Timer Latency (ns)        |         Thread Timer Latency (ns)
CPU COUNT      |      cur       min       avg       max |      cur       min       avg       max
  0 #2000      |      900       300       800      {irq} |     2500      1700      2400      9000
"""
OSNOISE = """\
                                          Operating System Noise
duration:   0 00:00:02 | time is in us
CPU Period       Runtime        Noise  % CPU Aval   Max Noise   Max Single          HW          NMI
  0 #2           2000000          400    99.98000         200            9          {hw}           0
"""
LATE = "FIGURE late count=2 missed=0 min=800 max={most} sum=1700 square=1450000\nBIN 800 960 2\n"


def printed(most: int = 900) -> str:
    tables = {"timerlat": TIMERLAT.format(irq=4000), "osnoise": OSNOISE.format(hw=7)}
    parts = [f"RTLA {state} {tool}\n{text}" for state in rtla.STATES
             for tool, text in tables.items()]
    parts += [f"RTLA late {tool}\n{LATE.format(most=most)}" for tool in tables]
    return "".join(parts) + "RTLA end -\n"


def test_each_state_has_both_tools() -> None:
    said, beside = rtla.parse(printed())
    assert [one.state for one in said] == ["off", "on", "task"]
    assert said[0] == rtla.Said("off", 2000, 800, 4000, 2400, 9000, 2000000, 400, 9, 7)
    assert not rtla.judge(beside) and "timerlat" in rtla.table(said, beside)
    assert len(rtla.judge(rtla.parse(printed(2100))[1])) == 2


@pytest.mark.parametrize(("gone", "named"), [
    ("RTLA on osnoise", "Tactus loaded"), ("RTLA late timerlat", "beside timerlat")])
def test_a_missing_table_is_named(gone: str, named: str) -> None:
    with pytest.raises(MeasureError, match=named):
        rtla.parse(printed().replace(gone, "RTLA other thing"))


def test_only_preempt_rt_s_kernels_have_the_tracers() -> None:
    """As docs/measuring.md says, of those in the cache."""
    stock = [one for one in kernels.cached() if one.flavour in kernels.FLAVOURS]
    for one in stock:
        assert [one.has_config(name) for name in rtla.TRACERS] == [one.flavour == "rt"] * 2, one


def test_a_kernel_without_tracers_is_refused() -> None:
    with pytest.raises(MeasureError, match="no CONFIG_TIMERLAT_TRACER and no CONFIG_OSNOISE"):
        rtla.measure(1, "6.1", "cloud")


@pytest.mark.long
def test_both_tools_run_to_their_end() -> None:
    said, beside = rtla.measure(2)
    assert {one.state for one in said} == set(rtla.STATES)
    for one in said:
        assert one.timers >= 900 and one.runtime_us >= 900_000
    assert not rtla.judge(beside)
