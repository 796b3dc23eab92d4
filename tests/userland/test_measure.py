# SPDX-License-Identifier: GPL-2.0-only
"""`tactus measure` on this machine with the real program, and with one that prints nonsense."""
from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest

from fakes import FakeMachine
from tactus import cli, figure, lateness
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
    whole = list(measure.jobs(list(measure.NAMES), 1, 100, root=True, rtc=True, rt=True))
    part = list(measure.jobs(list(measure.NAMES), 1, 100, root=False, rtc=False, rt=False))
    assert len(part) == 1 + 4 + 6 + 1 and len(whole) == 3 + 10 + 6 + 1 + (1 + 1 + 6 + 1)
    assert [job.what for job in whole if "8192 Hz" in job.what] == [
        "8192 Hz, rtc, fifo", "8192 Hz, rt_wait, RT mode"]


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


SUMMARY = ("period_ns=1000000 start_ns=5 releases={count} expected={count} skipped=0 overruns=0 "
           "min_ns=600 avg_ns=640 max_ns=1432 worst=77 sum_ns={sum}\n")


@pytest.fixture
def with_tactus(machine: FakeMachine, tmp_path: Path,
                monkeypatch: pytest.MonkeyPatch) -> FakeMachine:
    """A machine with Tactus; its programs' figures are TEXT, and their words are noted."""
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho \"$@\" >> {tmp_path}/words\ncat <<END\n{TEXT}END\n")
    program.chmod(0o755)
    monkeypatch.setenv("TACTUS_MEASURE", str(program))
    machine.root_user = True
    machine.write("/lib/modules/6.1.0-fake-amd64/updates/rt_latency.ko.xz", "")
    machine.set_module("tactus")
    machine.write(f"{lateness.FOLDER}/histogram", "600 610 2\n1430 - 1\n")
    machine.write(f"{lateness.FOLDER}/summary", SUMMARY.format(count=3, sum=2640))
    return machine


def test_an_rt_task_under_the_same_load(with_tactus: FakeMachine, tmp_path: Path,
                                        capsys: pytest.CaptureFixture[str]) -> None:
    words = ["measure", "jitter", "--seconds", "0.02", "--load", "jobs", "--json"]
    assert cli.main(words, with_tactus) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert found[-1]["what"].startswith("RT task") and found[-1]["load"] == "jobs"
    assert (found[-1]["count"], found[-1]["avg_ns"]) == (3, 880.0)
    assert found[-1]["sd_ns"] == pytest.approx(statistics.pstdev((604.5, 604.5, 1431)), abs=0.1)
    assert with_tactus.path(f"{lateness.FOLDER}/running").read_text() == "0"
    loads = [line.split("--load=")[1].split()[0] for line in
             (tmp_path / "words").read_text().splitlines()]
    assert loads == ["jobs"] * (len(measure.RATES_HZ) + 1)
    assert "rt_latency" not in with_tactus.modules()


def test_an_rt_task_without_a_release_is_no_figure(with_tactus: FakeMachine,
                                                   capsys: pytest.CaptureFixture[str]) -> None:
    with_tactus.write(f"{lateness.FOLDER}/summary", SUMMARY.format(count=0, sum=0))
    assert cli.main(["measure", "jitter", "--seconds", "0.02", "--json"], with_tactus) == 1
    said = capsys.readouterr()
    assert "no release" in said.err and "RT task" not in said.out


def test_a_load_that_fails_is_no_figure(with_tactus: FakeMachine, tmp_path: Path,
                                        capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "program"
    program.write_text(program.read_text().replace(
        "#!/bin/sh", "#!/bin/sh\ncase $* in *as=user*) echo no luck >&2; exit 1; esac"))
    assert cli.main(["measure", "jitter", "--seconds", "0.02", "--load", "jobs"],
                    with_tactus) == 1
    said = capsys.readouterr()
    assert "the load jobs: no luck" in said.err and "RT task" not in said.out
    assert "rt_latency" not in with_tactus.modules()
