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


def bench(put: int, get: int) -> str:
    return f"op\tbytes\trtf\tkfifo\tmemcpy\nput\t8\t{put}\t57\t3\nget\t8\t{get}\t57\t3\n"


@pytest.mark.parametrize(("put", "get", "wrong"), [(48, 40, 0), (50, 42, 0), (51, 40, 1),
                                                   (48, 43, 1)])
def test_many_fifos_cost_no_more(put: int, get: int, wrong: int) -> None:
    found = scale.parse_fifos(f"RATE 1\n{bench(48, 40)}RATE 256\n{bench(put, get)}")
    assert found == [scale.Fifos(1, 48, 40), scale.Fifos(256, put, get)]
    assert len(scale.judge_fifos(found)) == wrong


def test_fifos_without_a_figure_are_an_error() -> None:
    with pytest.raises(figures.MeasureError, match="4 FIFOs: no figure"):
        scale.parse_fifos("RATE 4\nop\tbytes\trtf\tkfifo\tmemcpy\n")


def test_a_rate_that_is_missing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale.programs, "build", lambda name: name)
    monkeypatch.setattr(figures, "boot", lambda *words, **options: "RATE 1000\nRATE end\n")
    with pytest.raises(figures.MeasureError, match="1000 Hz: no figure"):
        scale.rates(ladder=[1000])
