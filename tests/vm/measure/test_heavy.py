# SPDX-License-Identifier: GPL-2.0-only
"""Loads worth the name: what is made of the tools' figures; without them, and without a guest."""

from __future__ import annotations

import pytest

from measure import figures, heavy

PART = "FIGURE late count=2 missed=0 min=800 max={most} sum=1700 square=1450000\nBIN 800 960 2\n"


def printed(most: int = 900) -> str:
    parts = [f"HEAVY {number}\n{PART.format(most=most)}" for number in range(3)]
    return "".join([*parts, "HEAVY end\n"])


@pytest.fixture
def no_guest(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    said = {"text": printed()}
    monkeypatch.setattr(heavy.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(heavy.programs, "build", lambda name: name)
    monkeypatch.setattr(figures, "boot", lambda *words, **options: said["text"])
    return said


def test_each_load_has_its_figure(no_guest: dict[str, str]) -> None:
    found = heavy.stress(stressors=["fork"])
    assert [(one.load, one.sections) for one in found] == [
        ("fork", False), ("all", False), ("all", True)]
    assert not heavy.stress_judge(found) and "fork" in heavy.stress_table(found)
    no_guest["text"] = printed(2100)
    assert len(heavy.stress_judge(heavy.stress(stressors=["fork"]))) == 3
    no_guest["text"] = printed().replace("HEAVY 1\n", "")
    with pytest.raises(figures.MeasureError, match="all"):
        heavy.stress(stressors=["fork"])


def test_the_least_of_the_rounds_counts() -> None:
    lines = [f"HEAVY {state} {number} took: ns={ns} idle_ns=0" for number in range(len(heavy.WORK))
             for state, ns in (("off", 1000), ("on", 1050), ("off", 900), ("on", 909))]
    works = heavy.parse_work("\n".join(lines))
    assert [one.work for one in works] == list(heavy.WORK)
    assert works[0].percent == pytest.approx(1.0) and not heavy.work_judge(works)
    assert "hackbench" in heavy.work_table(works)
    assert heavy.work_judge(heavy.parse_work("\n".join(lines).replace("=909", "=950")))
    with pytest.raises(figures.MeasureError, match="UDP is missing"):
        heavy.parse_work("\n".join(line for line in lines if " 6 took" not in line))


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heavy.shutil, "which", lambda name: None)
    with pytest.raises(figures.MeasureError, match="stress-ng; run tools/setup bench"):
        heavy.stress(stressors=["fork"])
