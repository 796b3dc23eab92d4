# SPDX-License-Identifier: GPL-2.0-only
"""The statistics of tapping: pure functions of times, in seconds unless a name says otherwise.

Intervals are those between successive taps; an asynchrony is a tap's time minus its tone's, so
negative when the tap came first. Wing and Kristofferson (1973): interval n is

    I(n) = C(n) + D(n) - D(n-1)

with independent timekeeper intervals C and motor delays D. So the intervals' autocovariance is
timekeeper + 2 motor at lag 0, -motor at lag 1, and 0 beyond.
"""
from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

Z = statistics.NormalDist().inv_cdf(0.975)  # of two-sided 95 % intervals
LEAST_INTERVALS = 30  # below this the decomposition's intervals would have no upper end


class Estimate(NamedTuple):
    """A figure and its 95 % confidence interval; the ends are None where there is none."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Summary:
    """Of one series: intervals or asynchronies, in seconds."""

    count: int
    mean: float
    sd: float
    lag1: Estimate  # autocorrelation, a pure number


@dataclass(frozen=True)
class Decomposition:
    """Variances in s^2. An estimate below 0, or a lag-1 outside -0.5 to 0, is against the model."""

    count: int
    drift: float  # seconds that the interval grows by from one tap to the next
    timekeeper: Estimate
    motor: Estimate

    @property
    def fits(self) -> bool:
        """Are both variances possible?"""
        return self.timekeeper.value >= 0 and self.motor.value >= 0


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def sd(values: Sequence[float]) -> float:
    """The sample's standard deviation, with n - 1; 0 of a single value."""
    return statistics.stdev(values) if len(values) > 1 else 0.0


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


def autocovariance(values: Sequence[float], lag: int) -> float:
    """About the sample's mean, divided by n: the usual, slightly biased one."""
    about = mean(values)
    rest = [value - about for value in values]
    return _dot(rest[:len(rest) - lag], rest[lag:]) / len(rest)


def lag1(values: Sequence[float]) -> Estimate:
    """The lag-1 autocorrelation; interval by Bartlett's formula for a series that ends at lag 1."""
    variance = autocovariance(values, 0) if len(values) > 2 else 0.0
    if variance <= 0:
        return Estimate(0.0)
    rho = autocovariance(values, 1) / variance
    error = Z * math.sqrt(max(1 - 3 * rho**2 + 4 * rho**4, 0) / len(values))
    return Estimate(rho, max(rho - error, -1.0), min(rho + error, 1.0))


def summary(values: Sequence[float]) -> Summary | None:
    """None of an empty series."""
    return Summary(len(values), mean(values), sd(values), lag1(values)) if values else None


def intervals(times: Sequence[float]) -> list[float]:
    return [after - before for before, after in zip(times, times[1:], strict=False)]


def asynchronies(taps: Sequence[float], tones: Sequence[float]) -> list[tuple[int, float]]:
    """(index of the tap, asynchrony) of each tap that is nearest to a tone which is nearest to it.

    Both are sorted. A tap farther than half the distance to the neighbouring tone belongs to
    that one; before the first and after the last tone the distance inside counts.
    """
    best: dict[int, tuple[float, int]] = {}
    at = 0
    for index, tap in enumerate(taps):
        while at + 1 < len(tones) and abs(tones[at + 1] - tap) <= abs(tones[at] - tap):
            at += 1
        if not tones:
            break
        gaps = [abs(tones[n] - tones[at]) for n in (at - 1, at + 1) if 0 <= n < len(tones)]
        off = tap - tones[at]
        if gaps and abs(off) > max(gaps) / 2:
            continue
        if at not in best or abs(off) < abs(best[at][0]):
            best[at] = (off, index)
    return sorted((index, off) for off, index in best.values())


def usual(values: Sequence[float]) -> list[bool]:
    """Of each interval: is it within half of their median and half as much again?

    What is not shows a missed tap, or an extra one.
    """
    middle = statistics.median(values) if values else 0
    return [0.5 * middle <= value <= 1.5 * middle for value in values]


def longest_run(values: Sequence[float]) -> tuple[int, int]:
    """[start, end) of the longest stretch without a missed or an extra tap."""
    longest, start = (0, 0), 0
    for at, good in enumerate([*usual(values), False]):
        if good:
            continue
        if at - start > longest[1] - longest[0]:
            longest = (start, at)
        start = at + 1
    return longest


def _neighbours(values: Sequence[float]) -> list[float]:
    """The sum of each value's neighbours: the product with the matrix L of ones beside the
    diagonal."""
    padded = [0.0, *values, 0.0]
    return [before + after for before, after in zip(padded, padded[2:], strict=False)]


def _trend(count: int) -> list[list[float]]:
    """An orthonormal basis of straight lines over `count` points."""
    flat = [1 / math.sqrt(count)] * count
    centre = (count - 1) / 2
    size = math.sqrt(math.fsum((n - centre)**2 for n in range(count)))
    return [flat, [(n - centre) / size for n in range(count)]]


def wing_kristofferson(series: Sequence[float]) -> Decomposition | None:
    """The two variances behind a series of intervals, with a straight trend taken out; None: too
    short.

    Taking out a trend biases the sample's autocovariances, in short series by several per cent:
    with Q the projection that takes it out, they are quadratic forms of the intervals whose
    expectations are linear in the true ones, by the traces below. That is solved, so that the
    estimates are unbiased if the model holds. The confidence intervals are made of all values of a
    variance that the estimate, by its standard error *at that value*, does not contradict
    (the inverted test; errors by Bartlett's formula).
    """
    count = len(series)
    if count < 6:
        return None
    basis = _trend(count)
    shares = [_dot(line, series) for line in basis]
    rest = [value - math.fsum(share * line[n] for share, line in zip(shares, basis, strict=True))
            for n, value in enumerate(series)]
    lag_0, lag_1 = _dot(rest, rest), _dot(rest[:-1], rest[1:])

    moved = [_neighbours(line) for line in basis]
    inner = [[_dot(line, other) for other in moved] for line in basis]
    trace_l = sum(inner[k][k] for k in range(len(basis)))
    trace_ll = sum(_dot(line, line) for line in moved)
    trace_inner2 = sum(inner[i][k] * inner[k][i] for i in range(len(basis))
                       for k in range(len(basis)))
    # E lag_0 = a g0 + b g1, E lag_1 = (b g0 + d g1) / 2
    a, b = count - len(basis), -trace_l
    d = 2 * (count - 1) - 2 * trace_ll + trace_inner2
    determinant = a * d - b * b
    g0 = (lag_0 * d - 2 * lag_1 * b) / determinant
    g1 = (2 * lag_1 * a - lag_0 * b) / determinant
    timekeeper, motor = g0 + 2 * g1, -g1
    drift = shares[1] * (basis[1][1] - basis[1][0])
    # N var(timekeeper) = 6 T^2 + 8 T M + 8 M^2, N var(motor) = 7 M^2 + 4 T M + T^2
    return Decomposition(count, drift,
                         _inverted(timekeeper, max(motor, 0), count - 2, (6, 8, 8)),
                         _inverted(motor, max(timekeeper, 0), count - 2, (7, 4, 1)))


def _inverted(value: float, other: float, count: int,
              error: tuple[float, float, float]) -> Estimate:
    """All x with (value - x)^2 <= Z^2/count (p x^2 + q x other + r other^2), cut at 0."""
    if count < LEAST_INTERVALS:
        return Estimate(value)
    c = Z * Z / count
    p, q, r = error
    a, b = 1 - p * c, 2 * value + q * c * other
    root = math.sqrt(max(b * b - 4 * a * (value * value - r * c * other * other), 0))
    return Estimate(value, max((b - root) / (2 * a), 0.0), max((b + root) / (2 * a), 0.0))
