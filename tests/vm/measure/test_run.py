# SPDX-License-Identifier: GPL-2.0-only
"""The command `tests/vm/measure/run`: what it prints and how it ends; without a guest."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from measure import __main__ as runner
from measure import figures


def fake(name: str, trouble: list[str], error: str = "") -> figures.Measurement:
    def run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
        yield figures.Outcome([{"seconds": options.seconds}], f"{options.seconds} s", trouble)
        if error:
            raise figures.MeasureError(error)

    return figures.Measurement(name, "a fake", run, lambda p: figures.add_seconds(p, 2, "of it"),
                               {"seconds": 60})


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = [fake("good", []), fake("late", ["late by 1 us"]), fake("broken", [], "no guest")]
    monkeypatch.setattr(runner, "registry", lambda: {one.name: one for one in found})
    monkeypatch.setattr(figures, "TOP", tmp_path)


@pytest.mark.parametrize(("words", "status", "out", "err"), [
    ("good", 0, "2 s\n", ""),
    ("good --seconds 5", 0, "5.0 s\n", ""),
    ("good --json", 0, '{"seconds": 2}\n', ""),
    ("late", 1, "2 s\n", "FAILED: late: late by 1 us\n"),
    ("broken", 1, "2 s\n", "FAILED: broken: no guest\n"),
    ("late good", 1, "== late\n2 s\n== good\n2 s\n", "FAILED: late: late by 1 us\n"),
    ("good good", 0, "2 s\n", ""),
])
def test_what_it_prints(words: str, status: int, out: str, err: str,
                        capsys: pytest.CaptureFixture[str]) -> None:
    assert runner.main(words.split()) == status
    assert capsys.readouterr() == (out, err)


def test_the_long_ones_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert runner.main(["all", "--long"]) == 1
    assert "figures: out/bench/good.json\n" in capsys.readouterr().err
    assert json.loads((tmp_path / "out/bench/good.json").read_text()) == [{"seconds": 60}]


@pytest.mark.parametrize("words", ["", "none", "good none", "good --rounds 3", "--seconds 3"])
def test_a_wrong_command_line_measures_nothing(words: str,
                                               capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        runner.main(words.split())
    assert ended.value.code == 2
    assert capsys.readouterr().out == ""


def test_all_measurements_have_a_name_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    found = [one.name for module in runner.MODULES
             for one in __import__(module, fromlist=["MEASUREMENTS"]).MEASUREMENTS]
    assert len(found) == len(set(found)) == len(runner.registry())
