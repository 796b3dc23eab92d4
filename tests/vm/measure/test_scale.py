# SPDX-License-Identifier: GPL-2.0-only
"""Scale: what is made of the figures; without a guest."""

from __future__ import annotations

import pytest

from measure import figures, scale
from measure.scale import Rate


def ladder(*missed: int) -> list[Rate]:
    return [Rate(hz, 100, n, 800.0, 900)
            for hz, n in zip((1000, 50_000, 60_000), missed, strict=True)]


@pytest.mark.parametrize(("missed", "highest", "kept"), [
    ((0, 0, 0), 60_000, True), ((0, 0, 5), 50_000, True), ((0, 1, 0), 1000, False),
    ((1, 0, 0), 0, False)])
def test_the_highest_rate_without_a_miss(missed: tuple[int, int, int], highest: int,
                                         kept: bool) -> None:
    found = ladder(*missed)
    assert scale.highest(found) == highest and f"{highest} Hz" in scale.table(found)
    assert bool(scale.judge(found)) != kept


def test_a_logarithmic_curve_has_the_same_slope() -> None:
    curve = scale.slopes({"release_1": 100, "release_8": 130, "release_64": 160, "suspend": 5})
    assert curve == [(1, 100, 0.0), (8, 130, 10.0), (64, 160, 10.0)]


def test_a_rate_that_is_missing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale.programs, "build", lambda name: name)
    monkeypatch.setattr(figures, "boot", lambda *words, **options: "RATE 1000\nRATE end\n")
    with pytest.raises(figures.MeasureError, match="1000 Hz: no figure"):
        scale.rates(ladder=[1000])
