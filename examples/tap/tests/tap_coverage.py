# SPDX-License-Identifier: GPL-2.0-only
"""How often tap-report's 95 % intervals hold the truth, for series of several lengths
(docs/tap.md)."""
from __future__ import annotations

import numpy as np

from tactus.tap import timing

COUNTS = (40, 60, 100, 200, 500)
SDS_S = ((0.010, 0.005), (0.025, 0.005), (0.010, 0.010))  # timekeeper, motor
SERIES = 1000


def intervals(rng: np.random.Generator, count: int, timekeeper: float, motor: float) -> list[float]:
    return list(rng.normal(0.5, timekeeper, count) + np.diff(rng.normal(0, motor, count + 1)))


def held(rng: np.random.Generator, count: int, timekeeper: float, motor: float) -> list[float]:
    """The shares of SERIES series in which each interval holds the truth."""
    hits = [0, 0]
    for _ in range(SERIES):
        got = timing.wing_kristofferson(intervals(rng, count, timekeeper, motor))
        assert got is not None
        for which, (found, truth) in enumerate(((got.timekeeper, timekeeper**2),
                                                (got.motor, motor**2))):
            assert found.low is not None and found.high is not None
            hits[which] += found.low <= truth <= found.high
    return [hit / SERIES for hit in hits]


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    print("intervals  timekeeper SD  motor SD   timekeeper held  motor held")
    for count in COUNTS:
        for sds in SDS_S:
            shares = held(rng, count, *sds)
            print(f"{count:9}  {1000 * sds[0]:10.0f} ms  {1000 * sds[1]:5.0f} ms  "
                  f"{shares[0]:16.3f}  {shares[1]:10.3f}")
