# SPDX-License-Identifier: GPL-2.0-only
"""Two runs compared: whatever differs is seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness import twice
from harness.vmrun import Result


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Result, Result]:
    made = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "fetched").write_bytes(b"\0\1")
        made.append(Result("out\n", f"vm: building {name}\nerr\n", 0, "log\n", tmp_path / name))
    return made[0], made[1]


def test_the_same_is_the_same(runs: tuple[Result, Result]) -> None:
    assert twice.differences(*runs) == ""


@pytest.mark.parametrize("what, value", [
    ("stdout", "out \n"), ("stderr", "other\n"), ("status", 1), ("console", "log\nmore\n"),
])
def test_what_differs_is_told(runs: tuple[Result, Result], what: str, value: object) -> None:
    assert what in twice.differences(runs[0], replace(runs[1], **{what: value}))  # type: ignore[arg-type]


def test_files_are_compared(runs: tuple[Result, Result]) -> None:
    (runs[1].files / "fetched").write_bytes(b"\0\2")
    assert "fetched" in twice.differences(*runs)
    (runs[1].files / "fetched").unlink()
    assert "fetched" in twice.differences(*runs)


def test_it_is_noted_and_fails(runs: tuple[Result, Result], tmp_path: Path,
                               monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twice, "WANTED", str(tmp_path / "notes"))
    twice.compare(*runs)
    with pytest.raises(pytest.fail.Exception, match="differ"):
        twice.compare(runs[0], replace(runs[1], stdout=""))
    assert [line.split()[0] for line in (tmp_path / "notes").read_text().splitlines()] == [
        "same", "differs"]
