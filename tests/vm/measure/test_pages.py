# SPDX-License-Identifier: GPL-2.0-only
"""The pages' tables say what was measured, and all tables are written."""
from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from measure import pages
from measure.lateness import Case, Lateness
from measure.systems import reference
from measure.systems.tables import TABLES as SYSTEMS_TABLES


def test_the_pages_say_what_is_kept() -> None:
    for file in pages.PAGES:
        text = file.read_text()
        assert pages.page(text, pages.load()) == text, "run make figures"


def test_every_mark_is_somebodys_and_every_table_has_one() -> None:
    marks = [name for file in pages.PAGES
             for name in re.findall("<!-- figures: (.*?) -->", file.read_text())]
    assert sorted(marks) == sorted(["made with", "counts", *SYSTEMS_TABLES, *reference.EXTRAS,
                                    *pages.TABLES])


def test_every_table_has_figures() -> None:
    assert set(pages.load()) == set(pages.TABLES)


def result(mean_ns: float, max_ns: int) -> Lateness:
    return Lateness(Case("tick", "idle"), 3000, 3000, 0, 10, mean_ns, max_ns, 0, {}, {})


@pytest.mark.parametrize(("mean_ns", "max_ns", "kernel", "found"), [
    (410, 520, "6.1", 0), (430, 520, "6.1", 1), (370, 520, "6.1", 1), (400, 640, "6.1", 1),
    (430, 640, "6.1", 2), (430, 640, "another", 0)])
def test_a_page_that_is_off_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                    mean_ns: float, max_ns: int, kernel: str, found: int) -> None:
    """5 % of a mean, 25 % of a maximum; another kernel's figures are not compared."""
    monkeypatch.setattr(pages, "made", lambda table: {"kernel": "6.1", "date": "today"})
    monkeypatch.setattr(pages, "KEPT", tmp_path / "pages.json")
    figure = {"case": {"kind": "tick", "condition": "idle"}, "mean_ns": 400, "max_ns": 500}
    pages.KEPT.write_text(json.dumps({"lateness": {
        "made": {"kernel": kernel, "date": "then"}, "figures": [figure]}}))
    assert len(pages.differences("lateness", [result(mean_ns, max_ns)])) == found


def test_a_table_without_figures_is_a_difference(tmp_path: Path,
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "KEPT", tmp_path / "pages.json")
    pages.KEPT.write_text("{}")
    assert pages.differences("lateness", [result(1, 1)])
