# SPDX-License-Identifier: GPL-2.0-only
"""Linux's own player for the PC speaker, as the comparison in docs/applications.md needs it."""

from __future__ import annotations

from pathlib import Path

import pytest

import pcsp
import playing
from model import pit
from model.porttrace import TraceError, Write

GROUP = [Write(0x61, 0x33), Write(0x42, 30), Write(0x61, 0x32)]


def test_writes_and_calls_are_joined_one_by_one() -> None:
    writes = [Write(0x61, 0x30), Write(0x43, 0x92), *GROUP * 3, Write(0x43, 0xB6)]
    timed = pcsp.timed(writes, [100, 200, 300, 400])
    assert [w.time_ns for w in timed[1:]] == [100] * 3 + [200] * 3 + [300] * 3
    assert timed[2] == pit.TimedWrite(0x42, 30, 100)
    for calls in ([100, 200], [100, 200, 300, 400, 500]):
        with pytest.raises(TraceError, match="calls"):
            pcsp.timed(writes, calls)
    with pytest.raises(TraceError, match="began 0 times"):
        pcsp.timed(GROUP, [100])


@pytest.mark.long
def test_it_is_good_while_linux_lets_it(tmp_path: Path) -> None:
    """And is not where Linux holds interrupts off: what the comparison says, on one second each."""
    sound = playing.make_au(tmp_path)
    idle = pcsp.play(sound, "idle", out=tmp_path / "idle", seconds=1)
    assert idle.snr_db > 18
    assert idle.lasted() == pytest.approx(1, abs=0.002)
    assert idle.worst_interval_off_ns() < 20_000
    held_up = pcsp.play(sound, "irqoff", out=tmp_path / "irqoff", seconds=1)
    assert held_up.snr_db < idle.snr_db - 10
    assert held_up.lasted() > 1.1
    assert held_up.worst_interval_off_ns() > 10_000_000
