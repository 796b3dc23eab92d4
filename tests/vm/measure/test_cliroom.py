# SPDX-License-Identifier: GPL-2.0-only
"""What a kernel without CONFIG_PARAVIRT_XXL would cost: the sums, and the prototype on such a
kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.bench import kernels
from harness.fixtures import have
from measure import cliroom
from measure.figures import MeasureError

PLACES = """\
ffffffff81000010 cli forwards ffffffff81000010 7 a
ffffffff81000020 sti none ffffffff81000020 1 a
ffffffff81000030 cli none ffffffff81000030 1 b
ffffffff81000040 cli hard ffffffff81000040 1 c
"""
COUNTS = """\
ffffffff81000010 10 50
ffffffff81000020 9 0
ffffffff81000030 2 700
total 1000000 0
"""


def test_sums() -> None:
    jump, none, hard = cliroom.tally(PLACES, COUNTS)
    assert jump["places"] == {"cli": 1} and jump["runs"] == {"cli": 10}
    assert none["places"] == {"sti": 1, "cli": 1} and none["runs"] == {"sti": 9, "cli": 2}
    assert (none["longest"], none["where"]) == (700, "b")
    assert hard["places"] == {"cli": 1} and hard["runs"] == {} and hard["longest"] == 0
    assert cliroom.triple(none["places"]) == "1, 1, 0" and cliroom.often(jump) == "10, 0, 0"
    assert "no room" in cliroom.room_table([jump, none, hard])


@pytest.mark.parametrize("counts", ["", COUNTS.replace("81000010", "81000011")])
def test_counts_of_another_kernel_are_refused(counts: str) -> None:
    with pytest.raises(MeasureError):
        cliroom.tally(PLACES, counts)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_the_prototype(tmp_path: Path) -> None:
    """Linux goes on over jumps and breakpoints, which do what the instructions did."""
    have(cliroom.KERNEL)
    places = tmp_path / "places"
    places.write_text(cliroom.listing(kernels.resolve(cliroom.KERNEL)), encoding="ascii")
    plain, jumps, both = cliroom.detours(places, 0.2)
    assert plain["jumps"] == "0,0,0" and all(int(each) > 20 for each in jumps["jumps"].split(","))
    assert all(int(each) > 50 for each in both["breakpoints"].split(","))
    # Those of the pairs that are timed, and in the last run Linux's own.
    assert plain["work_hits"] == jumps["work_hits"]
    assert both["work_hits"] > plain["work_hits"] + 5000
    assert int(both["locks_ns"]) > 10 * int(jumps["locks_ns"])
    assert jumps["work_ns"] < plain["work_ns"] * 1.02 < both["work_ns"]
