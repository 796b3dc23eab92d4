# SPDX-License-Identifier: GPL-2.0-only
"""The list of long tests: it is whole, it is what the page says, and a run notes itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness import TOP, lastrun

TEST = """
import pytest
@pytest.mark.long
@pytest.mark.parametrize("way", ["good", "bad"])
def test_long(way):
    assert way == "good"
@pytest.mark.long
def test_skipped():
    pytest.skip("not here")
def test_short():
    pass
"""
DRIVER = """
import sys
from pathlib import Path
from harness import lastrun
lastrun.NOTED, lastrun.PAGE = Path("noted.json"), Path("page.md")
"""


def test_the_list_is_whole() -> None:
    """A long test that nobody lists would be forgotten; one that is gone must go from the list."""
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "--collect-only", "-m", "long",
                           "-p", "no:cacheprovider"], cwd=TOP, capture_output=True, text=True,
                          check=False, env=os.environ | {"PYTEST_ADDOPTS": ""})
    found = [line for line in done.stdout.splitlines() if "::" in line]
    assert len(found) > 30, done.stdout + done.stderr
    assert sorted(found) == sorted(lastrun.load())


def test_the_page_says_it() -> None:
    page = lastrun.PAGE.read_text(encoding="utf-8")
    assert lastrun.written(page, lastrun.load()) == page


def test_variants_are_counted() -> None:
    text = lastrun.rows({"a.py::one[x]": "2026-01-01 passed", "a.py::one[y]": lastrun.NEVER,
                         "a.py::two": "2026-01-02 failed"})
    assert text.splitlines()[2:] == [
        f"| `a.py`: `one` | 2 | 2026-01-01 passed (1), {lastrun.NEVER} (1) |",
        "| `a.py`: `two` | 1 | 2026-01-02 failed |"]


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "workers"])
def test_a_run_notes_itself(tmp_path: Path, workers: list[str]) -> None:
    (tmp_path / "test_it.py").write_text(TEST)
    (tmp_path / "conftest.py").write_text(DRIVER)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = long\n")
    (tmp_path / "noted.json").write_text('{"test_it.py::test_skipped": "2026-01-01 passed"}')
    (tmp_path / "page.md").write_text(f"before\n{lastrun.BEGIN}{lastrun.END}\nafter\n")
    subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "harness.lastrun", "-p", "no:cacheprovider",
         *workers, "--note-runs", "."], cwd=tmp_path, capture_output=True, check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])})
    page = (tmp_path / "page.md").read_text()
    assert "`test_long` | 2 |" in page and "passed (1)" in page and "failed (1)" in page
    assert "`test_skipped` | 1 | 2026-01-01 passed |" in page
    assert "test_short" not in page and page.startswith("before\n") and page.endswith("after\n")
