# SPDX-License-Identifier: GPL-2.0-only
"""The statistics of tapping against numpy and scipy, and against series whose truth is known."""
from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from tactus.tap import timing

RNG_SEEDS = range(400)


def tapped(seed: int, count: int = 200, timekeeper_sd: float = 0.012, motor_sd: float = 0.006,
           drift: float = 0.0) -> list[float]:
    """Intervals by Wing and Kristofferson's model, in seconds."""
    rng = np.random.default_rng(seed)
    clock = rng.normal(0.5, timekeeper_sd, count) + drift * np.arange(count)
    return list(clock + np.diff(rng.normal(0.03, motor_sd, count + 1)))


def test_mean_sd_and_lag_1_are_those_of_numpy() -> None:
    series = np.array(tapped(1))
    got = timing.summary(list(series))
    assert got is not None and got.count == 200
    assert got.mean == pytest.approx(np.mean(series), rel=1e-12)
    assert got.sd == pytest.approx(np.std(series, ddof=1), rel=1e-9)
    rest = series - series.mean()
    rho = np.sum(rest[1:] * rest[:-1]) / np.sum(rest**2)
    assert got.lag1.value == pytest.approx(rho, rel=1e-9)
    error = scipy.stats.norm.ppf(0.975) * math.sqrt((1 - 3 * rho**2 + 4 * rho**4) / 200)
    assert got.lag1.low == pytest.approx(rho - error, rel=1e-6)


def test_the_unbiased_solution_is_that_of_the_matrices() -> None:
    """The traces in closed form against the matrices themselves."""
    count, series = 47, np.array(tapped(2, 47))
    time = np.arange(count)
    basis = np.linalg.qr(np.column_stack([np.ones(count), time]))[0]
    q = np.eye(count) - basis @ basis.T
    near = np.eye(count, k=1) + np.eye(count, k=-1)
    middle = q @ near @ q
    expected = np.array([[np.trace(q), np.trace(q @ near)],
                         [np.trace(middle) / 2, np.trace(middle @ near) / 2]])
    g0, g1 = np.linalg.solve(expected, [series @ q @ series, series @ middle @ series / 2])
    got = timing.wing_kristofferson(list(series))
    assert got is not None
    assert got.timekeeper.value == pytest.approx(g0 + 2 * g1, rel=1e-6)
    assert got.motor.value == pytest.approx(-g1, rel=1e-6)
    assert got.drift == pytest.approx(np.polyfit(time, series, 1)[0], rel=1e-6)


@pytest.mark.parametrize("count", [60, 200])
def test_the_intervals_hold_the_truth_as_often_as_they_say(count: int) -> None:
    """95 %, less the known shortfall of short series; a half of the width holds it far too
    rarely."""
    inside = {"timekeeper": 0, "motor": 0, "narrow": 0}
    means = np.zeros(2)
    for seed in RNG_SEEDS:
        got = timing.wing_kristofferson(tapped(seed, count, drift=0.0002))
        assert got is not None and got.timekeeper.low is not None
        means += (got.timekeeper.value, got.motor.value)
        for name, truth in (("timekeeper", 0.012**2), ("motor", 0.006**2)):
            part = getattr(got, name)
            inside[name] += part.low <= truth <= part.high
        middle = got.timekeeper.value
        inside["narrow"] += (middle + got.timekeeper.low) / 2 <= 0.012**2 <= \
            (middle + got.timekeeper.high) / 2
    share = {name: hits / len(RNG_SEEDS) for name, hits in inside.items()}
    assert 0.88 < share["timekeeper"] < 0.985 and 0.88 < share["motor"] < 0.985, share
    assert share["narrow"] < 0.8, share
    # Unbiased: the mean of 400 estimates, 0.05 being some three of its standard errors.
    assert means / len(RNG_SEEDS) == pytest.approx([0.012**2, 0.006**2], rel=0.06)


def test_a_drift_is_taken_out() -> None:
    """It would count as timekeeper variance otherwise."""
    flat = timing.wing_kristofferson(tapped(3))
    drifting = timing.wing_kristofferson(tapped(3, drift=0.001))
    assert flat and drifting
    assert drifting.timekeeper.value == pytest.approx(flat.timekeeper.value, rel=1e-6)
    assert drifting.drift - flat.drift == pytest.approx(0.001, rel=1e-6)
    # What not taking it out would make of it:
    assert timing.autocovariance(tapped(3, drift=0.001), 0) > 10 * flat.timekeeper.value


def test_a_series_against_the_model_says_so() -> None:
    rng = np.random.default_rng(4)
    walk = list(0.5 + np.convolve(rng.normal(0, 0.01, 300), [1, 1, 1], "valid"))
    got = timing.wing_kristofferson(walk)  # neighbours alike: a negative motor variance
    assert got is not None and got.motor.value < 0 and not got.fits
    good = timing.wing_kristofferson(tapped(5))
    assert good is not None and good.fits


def test_short_series() -> None:
    assert timing.summary([]) is None
    assert timing.summary([0.5]) == timing.Summary(1, 0.5, 0.0, timing.Estimate(0.0))
    assert timing.summary([0.5] * 9).lag1 == timing.Estimate(0.0)  # type: ignore[union-attr]
    assert timing.wing_kristofferson([0.5] * 5) is None
    few = timing.wing_kristofferson(tapped(6, 20))
    assert few is not None and few.timekeeper.low is few.motor.high is None


def test_asynchronies_pair_what_is_nearest() -> None:
    tones = [1.0, 2.0, 3.0, 4.0]
    assert timing.asynchronies([0.97, 2.05, 2.98, 4.0], tones) == [
        (0, pytest.approx(-0.03)), (1, pytest.approx(0.05)), (2, pytest.approx(-0.02)),
        (3, pytest.approx(0))]
    # One missed, one extra (farther from its tone than the other), two beyond the tones.
    assert timing.asynchronies([0.2, 1.1, 1.02, 3.9, 4.9], tones) == [
        (2, pytest.approx(0.02)), (3, pytest.approx(-0.1))]
    assert timing.asynchronies([1.0], []) == []
    assert timing.asynchronies([], tones) == []
    # A metronome with gaps: beside one, half of the wider distance counts.
    assert timing.asynchronies([1.4, 2.9], [1.0, 2.0, 4.0]) == [
        (0, pytest.approx(0.4)), (1, pytest.approx(0.9))]


def test_the_longest_run() -> None:
    series = [0.5, 0.51, 1.0, 0.49, 0.5, 0.52, 0.1, 0.4, 0.5]
    assert timing.longest_run(series) == (3, 6)
    assert timing.longest_run([0.5] * 4) == (0, 4)
    assert timing.longest_run([]) == (0, 0)
    assert timing.intervals([1, 3, 6]) == [2, 3]
