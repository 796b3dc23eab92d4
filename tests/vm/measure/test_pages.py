# SPDX-License-Identifier: GPL-2.0-only
"""The pages' tables say what was measured, and all tables are written."""
from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harness import TOP
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
    each = ["made with", "counts", *SYSTEMS_TABLES] * len(reference.PAGES)
    assert sorted(marks) == sorted([*each, *reference.EXTRAS, *pages.TABLES])


# Rows with times that `make figures` does not write, and why: by page and the row's first cell.
TYPED = {
    ("docs/glossary.md", "**virtual time**"): "what the bench's clock does",
    ("docs/measuring.md", "`irqoff`"): "what the load does",
    ("docs/measuring.md", "sections, with `--irqoff`"): "what the load does",
    ("docs/platforms.md", "task"): "what the test requires",
    ("docs/tap.md", "`.mid`"): "a rate of the format",
    ("docs/testing.md", "2,000 times a mutex"): "what was seen once, by a command given there",
    ("docs/testing.md", "five times 500 messages"): "likewise",
    ("examples/latency/README.md", "`histogram`"): "what the file has",
    ("examples/pathfinder/README.md", "`bus`"): "what the tasks are given",
    ("examples/pathfinder/README.md", "`comm`"): "what the tasks are given",
    ("examples/pathfinder/README.md", "`weather`"): "what the tasks are given",
    ("examples/pathfinder/README.md", "`resets`"): "what the parameter counts",
    ("examples/tap/README.md", "`wire` (default)"): "what a byte takes by its rate",
    ("examples/tap/README.md", "`bridge`"): "what a byte takes by its rate",
}


def typed(text: str) -> list[str]:
    """The first cells of rows with a time or decibels outside of the figures' marks."""
    outside = re.sub("<!-- figures: .*?<!-- end -->", "", text, flags=re.DOTALL)
    return [line.split("|")[1].strip() for line in outside.splitlines()
            if line.startswith("|") and re.search(r"\d ?(ns|us|ms|dB)\b", line)]


def test_no_table_of_figures_is_typed() -> None:
    """But for those named above."""
    pages_ = [TOP / "README.md", TOP / "CAVEATS.md", *TOP.glob("docs/**/*.md"),
              *TOP.glob("examples/**/README.md")]
    found = {(str(file.relative_to(TOP)), row) for file in pages_
             for row in typed(file.read_text())}
    assert found == set(TYPED)


def test_a_typed_row_is_seen() -> None:
    assert typed("| a | 5 us |\n<!-- figures: x -->\n| b | 6 ns |\n<!-- end -->\n| c | 7 |"
                 ) == ["a"]


def test_every_table_has_figures() -> None:
    assert set(pages.load()) == set(pages.TABLES)


def result(mean_ns: float, max_ns: int) -> Lateness:
    return Lateness(Case("tick", "idle"), 3000, 3000, 0, 10, mean_ns, max_ns, 0, {}, {})


@pytest.mark.parametrize(("mean_ns", "max_ns", "kernel", "found"), [
    (410, 520, "6.1", 0), (430, 520, "6.1", 1), (370, 520, "6.1", 1), (400, 660, "6.1", 1),
    (430, 660, "6.1", 2), (430, 660, "another", 0)])
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
