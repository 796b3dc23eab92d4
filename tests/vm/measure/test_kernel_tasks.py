# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's RT tasks are as before with tactus_user, and on time beside a program in RT mode."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from harness import mutant
from measure import kernel_tasks
from measure.figures import MeasureError
from measure.kernel_tasks import SYSTEMS, Neighbour, judge, measure, parse
from measure.lateness import Case

SECONDS = 0.6


@pytest.fixture(scope="module")
def measured() -> list[Neighbour]:
    found = [measure(system, SECONDS) for system in SYSTEMS]
    print(kernel_tasks.table(found))
    return found


@pytest.mark.slow
def test_they_lose_nothing(measured: list[Neighbour]) -> None:
    assert judge(measured) == []


@pytest.mark.long
def test_a_dearer_switch_is_seen(measured: list[Neighbour], tmp_path: Path) -> None:
    """The control: each switch changes page tables, top of the stack and the rest."""
    dear = measure("loaded", SECONDS, core=mutant.build(tmp_path, "ring3_always"))
    said = judge([dear if one.system == "loaded" else one for one in measured])
    assert any(line.startswith("loaded, switch: ") for line in said), said


GOOD = [Neighbour(system, {"idle": (mean, 60, most), "irqoff": (mean, 170, most)}, 118, 291, 245)
        for system, mean, most in (("alone", 31, 60), ("loaded", 31, 60), ("task", 80, 480),
                                   ("program", 125, 690))]


def late(one: Neighbour, index: int, more: int) -> Neighbour:
    values = list(one.late["idle"])
    values[index] += more
    return dataclasses.replace(one, late=one.late | {"idle": tuple(values)})


@pytest.mark.parametrize(("system", "change", "said"), [
    ("loaded", lambda one: one, 0),
    ("loaded", lambda one: dataclasses.replace(one, switch=120), 0),
    ("loaded", lambda one: dataclasses.replace(one, switch=121, release_10=250), 2),
    ("program", lambda one: dataclasses.replace(one, linux_rt_linux=300), 1),
    ("loaded", lambda one: late(one, 0, 11), 1), ("loaded", lambda one: late(one, 0, -11), 1),
    ("loaded", lambda one: late(one, 1, 61), 1), ("loaded", lambda one: late(one, 2, 61), 1),
    ("loaded", lambda one: late(one, 2, 60), 0), ("program", lambda one: late(one, 0, 20), 1),
    ("program", lambda one: late(one, 2, 720), 1), ("task", lambda one: late(one, 2, 220), 0)])
def test_what_is_beyond_is_said(system: str, change, said: int) -> None:
    assert len(judge([change(one) if one.system == system else one for one in GOOD])) == said


@pytest.mark.parametrize(("jobs", "mode"), [('"missed": 1', "rt"), ('"missed": 0', "linux"),
                                            ('"missed": 0', "")])
def test_a_program_that_was_not_there_is_an_error(jobs: str, mode: str) -> None:
    text = (f"BESIDE program\n{{{jobs}}}\nBESIDE costs\nrt_rt=1,1\n"
            f"BESIDE modes\n{mode}\nBESIDE end\n")
    with pytest.raises(MeasureError, match="did not stay in RT mode"):
        parse("program", text, [Case("task", "idle", SECONDS)])
