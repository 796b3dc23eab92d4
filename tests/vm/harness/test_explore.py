# SPDX-License-Identifier: GPL-2.0-only
"""The explorer of schedules: that it finds, says where, and finds nothing where nothing is.

The planted races, each of which it must find, are `make explore`'s.
"""

from __future__ import annotations

import subprocess
import threading

import pytest

from harness.explore import (
    SUBJECTS,
    Found,
    explore_planted,
    reason,
    run_subject,
    search,
    shell,
    words_of,
)


def test_subjects_are_explored_as_they_are() -> None:
    """Forty schedules, one boot: nothing is found in the product."""
    assert run_subject(SUBJECTS["cancel"], range(1, 41)) is None


def test_a_failing_round_is_told() -> None:
    """The third round fails: its seed, and the command that does so many rounds and no more."""
    subject = shell("fails", "[ $n -lt 3 ] || exit 9", "", 10, 1)
    found = run_subject(subject, range(11, 21))
    assert found and found.seed == 13 and "was 13" in found.said
    assert "--schedule 10 " in found.command and "-lt 3 ]" in found.command


@pytest.mark.parametrize(("said", "seed", "rounds"), [
    ("vm: the last schedule was 137\n", 137, 37),
    ("vm: the last schedule was 100\n", 101, 1),       # on its way to the first round
    ("", 200, 100),                                     # it did not get that far
])
def test_the_end_of_a_guest_has_its_seed(monkeypatch: pytest.MonkeyPatch, said: str, seed: int,
                                         rounds: int) -> None:
    """What ends the guest says no round, but the schedule's plug-in knows the last."""
    monkeypatch.setattr("harness.explore.subprocess.run", lambda words, **_:
                        subprocess.CompletedProcess(words, 125, "", said))
    found = run_subject(SUBJECTS["wakeup"], range(101, 201))
    assert found and found.seed == seed and f"rounds={rounds} " in found.command


def test_what_cannot_be_run_is_no_find(monkeypatch: pytest.MonkeyPatch) -> None:
    for said in ("vm: no modules", "vm: no modules\nvm: the last schedule was 100\n"):
        monkeypatch.setattr("harness.explore.subprocess.run", lambda words, said=said, **_:
                            subprocess.CompletedProcess(words, 123, "", said))
        with pytest.raises(SystemExit, match="could not be run"):
            run_subject(SUBJECTS["wakeup"], range(101, 201))


def test_a_duel_that_is_tried_twice_has_its_first_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "[ 1.0] duel: cancel: round 17: it went on\n[ 1.1] duel: cancel: round 5: it went on\n"
    monkeypatch.setattr("harness.explore.subprocess.run", lambda words, **_:
                        subprocess.CompletedProcess(words, 1, said, ""))
    found = run_subject(SUBJECTS["cancel"], range(101, 201))
    assert found and found.seed == 117 and "rounds=17 " in found.command


def test_the_reason_is_the_line_that_tells() -> None:
    said = "a\n  | Kernel panic - not syncing: stack\nb"
    assert reason(Found(1, "", said)) == "Kernel panic - not syncing: stack"
    assert reason(Found(1, "", "vm: no end after 5 s\n  | x")) == "vm: no end after 5 s"
    assert reason(Found(1, "", "")) == ""


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
    assert explore_planted(range(1, 1001), 1) == 0, capfd.readouterr().out
