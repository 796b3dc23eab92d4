# SPDX-License-Identifier: GPL-2.0-only
"""The promised costs of switches and releases, and Linux's share; ``make bench-long`` has the long
ones."""

from __future__ import annotations

import dataclasses

import pytest

from measure.costs import (
    POLICY_LIMIT_NS,
    POLICY_RELEASE_LIMIT,
    SHARE_TOLERANCE,
    Costs,
    costs,
    linux_share,
    policy_change,
    policy_complaints,
)
from measure.lateness import Case, complaints, measure_all

# As in measure/tasks.py.
BESIDE = ("a 20000 700000 0 0 2", "b 30000 1100000 0 0 3", "c 50000 1900000 0 0 4",
          "d 100000 4700000 0 0 5")


@pytest.fixture(scope="module")
def measured() -> Costs:
    return costs()


def test_costs_keep_their_limits(measured: Costs) -> None:
    assert measured.complaints() == []


def test_complaints_are_made(measured: Costs) -> None:
    raised = ("rt_rt", "linux_rt_linux", "release_10", "irq_off_on")
    worse = {name: value + 100 * (name in raised) for name, value in measured.raw.items()}
    worse["release_1000"] = 3 * worse["release_10"]
    assert len(dataclasses.replace(measured, raw=worse).complaints()) == 5
    dear = {name: value + POLICY_RELEASE_LIMIT + 1 for name, value in measured.raw.items()}
    assert len(policy_complaints(measured, dataclasses.replace(measured, raw=dear))) == 1


def test_supervision_is_cheap(measured: Costs) -> None:
    """Each of a policy's operations is timed; that once took a quarter of a release."""
    assert policy_complaints(measured, costs(policy="tactus_rm")) == []


def test_a_change_of_policy_is_soon_over() -> None:
    """In pieces: with a thousand tasks that wait it was 3 ms in one once."""
    quiet, change = policy_change()
    assert quiet < change <= POLICY_LIMIT_NS


def test_linux_gets_what_was_promised() -> None:
    promised, share = linux_share()
    assert abs(share - promised) <= SHARE_TOLERANCE, share


@pytest.mark.slow
def test_lateness_beside_other_tasks() -> None:
    for result in measure_all([Case("task", "irqoff", 0.5)], beside=BESIDE):
        assert complaints(result, 2000) == []
