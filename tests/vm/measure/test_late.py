# SPDX-License-Identifier: GPL-2.0-only
"""What held up late ticks: from a trace made by hand, and from the plug-in in the bench."""

from __future__ import annotations

import struct

import pytest

from measure import late
from measure.figures import MeasureError
from measure.lateness import Case

TOP = 0xffffffff81000000
KALLSYMS = f"{TOP:x} t holder\n{TOP + 0x1000:x} t gate\n"


def record(late_ns: int, holder: int) -> bytes:
    """The last `holder` instructions before 5 of the gate are the holder's; user mode before."""
    words = [0x400000] * (2048 - holder - 5) + [TOP + 8] * holder + [TOP + 0x1000] * 5
    return struct.pack("<2Q", 0, late_ns) + struct.pack("<2048Q", *words)


def test_what_ran_since_it_was_due() -> None:
    """The latest comes first; what ran before it was due is left out."""
    ticks = late.analyze(record(30, 20) + record(40, 500), KALLSYMS, usual_ns=5)
    assert [one.late_ns for one in ticks] == [40, 30]
    assert ticks[0].ran == [("holder", 40), ("gate", 5)]
    assert ticks[1].ran == [("user mode", 10), ("holder", 20), ("gate", 5)]
    assert late.table(ticks).splitlines()[:2] == ["40 ns later than the tick before it:",
                                                  "    40 holder"]
    assert late.table([]) == "no tick was that late"


@pytest.mark.parametrize("trace", [record(30, 20)[:-8], record(30, 20) + b"\1" * 8 * 2050])
def test_a_file_that_is_not_whole_is_an_error(trace: bytes) -> None:
    with pytest.raises(MeasureError, match="not whole"):
        late.analyze(trace, KALLSYMS, 5)


@pytest.mark.long
def test_the_plug_in_sees_what_held_a_tick() -> None:
    """Ticks that come 100 ns later than the one before are common; all end at their handler."""
    ticks, greatest = late.measure(Case("tick", "load", 0.2, 97), 100, "6.1", "cloud")
    assert ticks
    for one in ticks:
        assert 100 < one.late_ns < greatest
        assert one.ran[-1] == (late.HANDLER, 1) or one.ran[-1][0].startswith("__x86_indirect")
        assert "rt_exec_timer" in dict(one.ran)
