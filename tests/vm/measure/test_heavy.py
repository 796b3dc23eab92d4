# SPDX-License-Identifier: GPL-2.0-only
"""Loads worth the name: what is made of the tools' figures; without them, and without a guest."""

from __future__ import annotations

from pathlib import Path

import pytest

from measure import __main__ as runner
from measure import figures, heavy

PART = "FIGURE late count=2 missed=0 min=800 max={most} sum=1700 square=1450000\nBIN 800 960 2\n"


@pytest.fixture
def no_guest(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What each load's guest prints; PART if nothing else is said."""
    said: dict[str, str] = {}

    def boot(script: str, *words: str, **options: str) -> str:
        load = next(load for load in heavy.LOADS if heavy.begin(load) in script)
        return said.get(load, PART.format(most=900))

    monkeypatch.setattr(heavy.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(heavy.programs, "build", lambda name: name)
    monkeypatch.setattr(figures, "boot", boot)
    return said


def test_what_breaks_the_promise_beside_a_load(no_guest: dict[str, str]) -> None:
    no_guest["pipe"] = PART.format(most=901)
    good, late = heavy.stress("fork"), heavy.stress("pipe")
    assert (good.load, good.max_ns, late.max_ns) == ("fork", 900, 901)
    assert not heavy.stress_judge([good]) and "fork" in heavy.stress_table([good])
    assert heavy.stress_judge([good, late]) == ["pipe: 901 ns late, 0 missed; 900 ns allowed"]


def test_sections_are_a_load_s_own() -> None:
    assert "/proc/hog" in heavy.begin("all-sections")
    assert "/proc/hog" not in heavy.begin("all") and "--fork 1" in heavy.begin("all")
    assert "--fork 1" not in heavy.begin("pipe") and "--pipe 1" in heavy.begin("pipe")


def test_classes_and_loops(no_guest: dict[str, str]) -> None:
    """A class is several stressors; a loop takes no stress-ng, and says when it has begun."""
    files = heavy.begin("filesystem")
    assert "--rename 1" in files and "--temp-path /mnt" in files and "/dev/ram0" in files
    assert "--udp 1" in heavy.begin("network") and "/dev/ram0" not in heavy.begin("network")
    loop = heavy.begin("modules")
    assert "rmmod dummy" in loop and "stress-ng" not in loop and "[ ! -s /tmp/rounds ]" in loop
    assert any("/perf" in one for one in heavy.guest_options("perf-stat"))


def test_each_load_is_kept_as_it_is_made(no_guest: dict[str, str], tmp_path: Path,
                                         monkeypatch: pytest.MonkeyPatch,
                                         capsys: pytest.CaptureFixture[str]) -> None:
    """One without a figure does not cost the others theirs, nor does the end of the program;
    those made anew replace theirs alone."""
    monkeypatch.setattr(figures, "TOP", tmp_path)
    no_guest["mmap"] = "out of memory"
    real = heavy.stress

    def until_timer(load: str, *rest: object) -> heavy.Stressed:
        if load == "timer":
            raise KeyboardInterrupt
        return real(load)

    monkeypatch.setattr(heavy, "stress", until_timer)
    words = ["stress", "--long", "--class=fork", "--class=mmap", "--class=pipe", "--class=timer"]
    with pytest.raises(KeyboardInterrupt):
        runner.main(words)
    said = capsys.readouterr()
    assert "2 of 4, mmap" in said.err and "no figure" in said.out
    assert [row["load"] for row in figures.kept("stress")] == ["fork", "pipe"]
    no_guest["fork"] = PART.format(most=800)
    assert runner.main(["stress", "--long", "--class=fork"]) == 0
    assert sorted((str(row["load"]), row["max_ns"]) for row in figures.kept("stress")) == [
        ("fork", 800), ("pipe", 900)]
    assert runner.main(["stress", "--class=mmap"]) == 1
    assert "mmap: " in capsys.readouterr().err


def test_the_least_of_the_rounds_counts() -> None:
    lines = [f"HEAVY {state} {number} took: ns={ns} idle_ns=0" for number in range(len(heavy.WORK))
             for state, ns in (("off", 1000), ("on", 1050), ("off", 900), ("on", 908))]
    works = heavy.parse_work("\n".join(lines))
    assert [one.work for one in works] == list(heavy.WORK)
    assert works[0].percent == pytest.approx(0.889, abs=0.001) and not heavy.work_judge(works)
    assert "hackbench" in heavy.work_table(works)
    worse = heavy.parse_work("\n".join(lines).replace("=908", "=912"))
    assert heavy.work_judge(worse) == ["hackbench: +1.33 %, 1.0 % allowed"]
    with pytest.raises(figures.MeasureError, match="UDP is missing"):
        heavy.parse_work("\n".join(line for line in lines if " 6 took" not in line))


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heavy.shutil, "which", lambda name: None)
    with pytest.raises(figures.MeasureError, match="stress-ng setpriv; run tools/setup bench"):
        heavy.stress("fork")
