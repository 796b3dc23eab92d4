# SPDX-License-Identifier: GPL-2.0-only
"""The budget of `make test`: what children take counts, and too much of it fails the run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TEST = """
import subprocess, sys, time
def test_child():
    subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.3: pass"])
def test_sleeper():
    time.sleep(0.3)
"""


@pytest.mark.parametrize("budget, status", [(0.1, 1), (60, 0)])
@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "workers"])
def test_cpu_time_of_children_counts(tmp_path: Path, budget: float, status: int,
                                     workers: list[str]) -> None:
    (tmp_path / "test_it.py").write_text(TEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "harness.budget", "-p", "no:cacheprovider", *workers,
         f"--cpu-budget={budget}", "--cpu-times=times", "."],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])})
    assert done.returncode == status, done.stdout
    took = {name.split("::")[1]: float(spent) for spent, name in
            map(str.split, (tmp_path / "times").read_text().splitlines())}
    assert took["test_child"] >= 0.3 > took["test_sleeper"]
    assert ("more than their budget" in done.stdout) == bool(status)
