# SPDX-License-Identifier: GPL-2.0-only
"""`tactus measure` on this machine with the real program, and with one that prints nonsense."""
from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes import FakeMachine
from tactus import cli, figure
from tactus.commands import measure

TEXT = """FIGURE gap count=3 missed=1 min=-30 max=1000 sum=970 square=1000900
BIN -31 -29 2
BIN 992 1024 1
LOAD none
"""


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    found = FakeMachine(tmp_path)
    found.root_user = False
    return found


def test_a_figure_is_read() -> None:
    found = figure.parse(TEXT)
    assert (found.count, found.missed, found.min, found.max) == (3, 1, -30, 1000)
    assert found.percentile(50) == -30 and found.percentile(99.9) == 1000
    assert found.mean == pytest.approx(970 / 3)


@pytest.mark.parametrize(("old", "new"), [
    ("FIGURE", "figure"), ("count=3", "count=4"), ("BIN -31 -29 2\n", ""), ("count=3", "count=x")])
def test_a_broken_one_is_an_error(old: str, new: str) -> None:
    with pytest.raises(ValueError):
        figure.parse(TEXT.replace(old, new))


def test_the_real_program(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["measure", "--seconds", "0.02", "--readings", "1000", "--json"], machine) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {one["name"] for one in found} == set(measure.NAMES)
    for one in found:
        assert one["min_ns"] <= one["avg_ns"] <= one["max_ns"] and one["time"] == "wall"
        assert sum(n for *_, n in one["histogram"]) == one["count"]
        assert "fifo" not in one["what"] and "nice" not in one["what"]


def test_a_load_runs_beside_and_ends(machine: FakeMachine,
                                     capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["measure", "gaps", "--readings", "20000000", "--load", "arithmetic"],
                    machine) == 0
    assert "gaps     user" in capsys.readouterr().out


def test_all_priorities_take_root() -> None:
    whole = list(measure.jobs(list(measure.NAMES), 1, 100, root=True, rtc=True))
    part = list(measure.jobs(list(measure.NAMES), 1, 100, root=False, rtc=False))
    assert len(whole) == 3 + 10 + 6 + 1 and len(part) == 1 + 4 + 6 + 1
    assert [job.what for job in whole if "8192 Hz" in job.what] == ["8192 Hz, rtc, fifo"]


@pytest.mark.parametrize("words", [["nothing"], ["--seconds", "0"], ["gaps", "--readings", "0"],
                                   ["gaps", "--load", "heavy"]])
def test_a_wrong_command_line_measures_nothing(machine: FakeMachine, words: list[str],
                                               capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = cli.main(["measure", *words], machine)
    except SystemExit as ended:
        status = int(str(ended.code))
    assert status == 2
    assert not capsys.readouterr().out


def test_a_program_that_fails_or_prints_nonsense(machine: FakeMachine, tmp_path: Path,
                                                 monkeypatch: pytest.MonkeyPatch,
                                                 capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "program"
    monkeypatch.setenv("TACTUS_MEASURE", str(program))
    for script, words in (("echo no luck >&2; exit 1", "no luck"), ("echo FIGURE", "no figure")):
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        assert cli.main(["measure", "gaps"], machine) == 1
        assert words in capsys.readouterr().err
