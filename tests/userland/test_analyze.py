# SPDX-License-Identifier: GPL-2.0-only
"""`tactus analyze`: the textbook's figures, bad files, the picture, the running set."""
from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from fakes import FakeMachine
from tactus.analysis import Task, analyse
from tactus.cli import main
from tactus.gantt import step_of

TEXTBOOK = """
linux_share = 2
[[task]]
name = "a"
period = "5ms"
budget = 2000000
[[task]]
name = "b"
period = "7ms"
budget = "4000us"
"""
TIMING = """name\tcpu\tpriority\tperiod_ns\tdeadline_ns\tbudget_ns\tmax_exec_ns\tmisses
a\t0\t1\t5000000\t0\t2000000\t1\t0
b\t0\t2\t7000000\t5000000\t0\t4000000\t0
idle\t0\t2\t0\t0\t0\t0\t0
other\t1\t2\t1000000\t0\t1000000\t0\t0
"""


@pytest.fixture
def textbook(tmp_path: Path) -> Path:
    path = tmp_path / "set.toml"
    path.write_text(TEXTBOOK)
    return path


def test_the_textbook(textbook: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(textbook)]) == 0
    said = capsys.readouterr().out
    assert "utilisation: 97.14 %" in said and "bound: 82.84 %" in said
    assert "hyperperiod: 35 ms" in said
    assert "rm: does not fit: b would answer within 8 ms, its deadline is 7 ms" in said
    assert "edf: meets every deadline" in said
    assert re.search(r"b .* 8 ms +1 +0$", said, re.M)


def test_exact_counts_and_a_full_cpu() -> None:
    result = analyse([Task("a", 2, 5, 5), Task("b", 4, 7, 7)], 0, until=350)
    assert result.policies["rm"].jobs == {0: (70, 0), 1: (50, 10)}
    assert result.policies["edf"].jobs == {0: (70, 0), 1: (50, 0)}
    assert result.policies["rm"].runs[:4] == [(0, 0, 2), (1, 2, 5), (0, 5, 7), (1, 7, 10)]
    full = analyse([Task("a", 1, 3, 3), Task("b", 2, 6, 6), Task("c", 3, 9, 9)], 0)
    assert full.policies["edf"].verdict == "fits" and not full.policies["edf"].misses
    assert analyse([Task("a", 1, 3, 3), Task("b", 3, 4, 4)],
                   0).policies["edf"].verdict == "utilisation"


def test_a_set_that_nobody_meets(textbook: Path) -> None:
    textbook.write_text(TEXTBOOK.replace("linux_share = 2", "linux_share = 3"))
    assert main(["analyze", str(textbook)]) == 5


def test_json(textbook: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["analyze", str(textbook), "--json"])
    said = json.loads(capsys.readouterr().out)
    assert said["policies"]["rm"]["verdict"] == "response" and said["responses"] == [2000000,
                                                                                     8000000]


def test_the_picture(textbook: Path, tmp_path: Path) -> None:
    svg = tmp_path / "out.svg"
    main(["analyze", str(textbook), "--svg", str(svg)])
    root = ET.parse(svg).getroot()
    boxes = [e for e in root.iter() if e.get("class") == "run"]
    # A pre-emption more, or less, is a box more, or less.
    result = analyse([Task("a", 2, 5, 5), Task("b", 4, 7, 7)], 2)
    assert len(boxes) == sum(len(p.runs) for p in result.policies.values())
    assert len([e for e in root.iter() if e.get("class") == "miss"]) == 1
    wide = sum(float(e.get("width", 0)) for e in boxes)
    assert wide == pytest.approx(2 * 34 / 35 * 850, rel=0.01)


@pytest.mark.parametrize("until", [1, 19, 35, 400, 35_000_000, 999_999_999])
def test_the_axis_has_a_readable_number_of_marks(until: int) -> None:
    assert until < 20 or 7 <= until / step_of(until) <= 20


@pytest.mark.parametrize(("text", "reason"), [
    ("", "no task"),
    ("[[task]]\nperiod = 5", "budget is missing"),
    ("[[task]]\nperiod = 5\nbudget = 0", "not within 1 ns"),
    ("[[task]]\nperiod = \"5 weeks\"\nbudget = 1", "no duration"),
    ("[[task]]\nperiod = -5\nbudget = 1", "no duration"),
    ("[[task]]\nperiod = true\nbudget = 1", "no duration"),
    ("[[task]]\nperiod = 5\nbudget = 1\npriority = 0", "priority is 0"),
    ("[[task]]\nperiod = 5\nbudget = 1\ncolour = 1", "colour is unknown"),
    ("linux_share = 100\n[[task]]\nperiod = 5\nbudget = 1", "linux_share is 100"),
    ("task = 3", "wants"),
    ("[[task]", "no TOML"),
])
def test_bad_files(tmp_path: Path, text: str, reason: str,
                   capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    assert main(["analyze", str(path)]) == 1
    assert reason in capsys.readouterr().err


def test_no_such_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", "/no/such.toml"]) == 1
    assert "cannot be read" in capsys.readouterr().err


def test_the_running_set(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.write("/sys/kernel/tactus/timing", TIMING)
    machine.write("/sys/module/tactus/parameters/linux_share", "2\n")
    assert main(["analyze", "--live"], machine) == 5
    said = capsys.readouterr().out
    assert "edf: does not fit: 6 ms are due within 5 ms, a deadline of" in said
    assert "b     4 ms    7 ms    5 ms" in said and "idle" not in said and "other" not in said
    assert main(["analyze", "--live", "--cpu", "2"], machine) == 1


def test_not_loaded(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", "--live"], machine) == 3
    assert "not loaded" in capsys.readouterr().err
