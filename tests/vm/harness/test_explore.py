# SPDX-License-Identifier: GPL-2.0-only
"""The explorer of schedules: that it finds, says where, and finds nothing where nothing is.

The planted races, each of which it must find, are `make explore`'s.
"""

from __future__ import annotations

import threading

import pytest

from harness.explore import SUBJECTS, Found, explore_planted, run_subject, search, shell, words_of


def test_subjects_are_explored_as_they_are() -> None:
    """Forty schedules, one boot: nothing is found in the product."""
    assert run_subject(SUBJECTS["cancel"], range(1, 41)) is None


def test_a_failing_round_is_told() -> None:
    """The third round fails: its seed, and the command that does so many rounds and no more."""
    subject = shell("fails", "[ $n -lt 3 ] || exit 9", "", 10, 1)
    found = run_subject(subject, range(11, 21))
    assert found and found.seed == 13 and "round 3" in found.said
    assert "--schedule 10 " in found.command and "-lt 3 ]" in found.command


@pytest.mark.parametrize("jobs", [1, 4])
def test_the_lowest_seed_of_those_begun_is_told(jobs: int) -> None:
    begun, lock = [], threading.Lock()

    def run(part: range) -> Found | None:
        with lock:
            begun.append(part)
        return Found(part[3], "", "") if part.start >= 21 else None

    found = search(run, range(1, 101), 10, jobs, "test")
    assert found and found.seed == 24
    assert begun[:3] == [range(1, 11), range(11, 21), range(21, 31)] and len(begun) < 3 + jobs
    assert search(lambda part: None, range(1, 26), 10, jobs, "test") is None


def test_a_mutant_takes_the_products_place() -> None:
    words = words_of(SUBJECTS["poke"], range(5, 8), "/m/core.ko /m/tactus.ko", 5)
    assert words[words.index("--modules") + 1] == "/m/core.ko /m/tactus.ko mode=hosted planted=5"
    assert words[words.index("--schedule") + 1] == "4"
    assert "rounds=3 " in words[-1]


def test_six_races_are_planted() -> None:
    assert sorted(n for subject in SUBJECTS.values() for n in subject.planted) == [1, 2, 3, 4, 5, 6]


@pytest.mark.long
def test_planted_races_are_found(capfd) -> None:
    """The control of all the rest."""
    assert explore_planted(range(1, 1001), 2) == 0, capfd.readouterr().out
