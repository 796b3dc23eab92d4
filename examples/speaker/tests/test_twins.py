# SPDX-License-Identifier: GPL-2.0-only
"""The thesis's naive program and the driver play one tone under one load."""

from __future__ import annotations

from pathlib import Path

import pytest

import playing
import twins


@pytest.mark.long
def test_load_is_heard_in_the_program_and_not_in_the_driver(tmp_path: Path) -> None:
    naive, loaded, driver = twins.play(tmp_path).values()
    half_ns = 5e8 / twins.TONE_HZ
    # Idle: the tick of Linux, and a slice of something else now and then.
    halves = sorted(naive.halves_ns())
    assert abs(halves[len(halves) // 2] - half_ns) < half_ns / 100
    assert loaded.worst_half_off_ns() > half_ns
    assert driver.problems() == []
    assert driver.worst_half_off_ns() <= playing.MAX_DEVIATION_NS
    assert len(driver.halves_ns()) == len(driver.sound or b"") // twins.TICKS - 1
