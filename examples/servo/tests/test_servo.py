# SPDX-License-Identifier: GPL-2.0-only
"""examples/servo: under load the RT task holds the pendulum, and Linux's thread does not."""
from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import TOP


@dataclass(frozen=True)
class Line:
    jobs: int
    latest_us: float
    off_rad: float


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("servo")


@pytest.fixture(scope="module")
def lines(out: Path) -> dict[str, Line]:
    done = subprocess.run([TOP / "examples/servo/compare", "--out", out], text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    form = r"^(\S+) +(\d+) jobs, latest ([\d.]+) us; .* off by up to ([\d.]+) rad$"
    return {name: Line(int(jobs), float(late), float(off))
            for name, jobs, late, off in re.findall(form, done.stdout, re.M)}


def test_the_rt_task_holds_it(lines: dict[str, Line]) -> None:
    assert lines["rt-load"].jobs == 1000
    assert lines["rt-load"].latest_us < 5
    assert lines["rt-load"].off_rad < 0.002


def test_linux_holds_it_as_long_as_nothing_else_runs(lines: dict[str, Line]) -> None:
    assert lines["linux-idle"].jobs == 1000 and lines["linux-idle"].off_rad < 0.002


def test_linux_loses_it_under_load(lines: dict[str, Line]) -> None:
    """Or the load was none."""
    assert lines["linux-load"].latest_us > 10_000
    assert lines["linux-load"].off_rad > 0.05


def test_the_picture(lines: dict[str, Line], out: Path) -> None:
    text = (out / "servo.svg").read_text()
    curves = re.findall(r'<polyline points="([^"]*)"[^>]*stroke="#3b6fb6"', text)
    assert [len(curve.split()) for curve in curves] == [1000] * 3
