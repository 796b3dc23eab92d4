# SPDX-License-Identifier: GPL-2.0-only
"""The budget of `make test`: what children take counts, and too much of it fails the run."""

from __future__ import annotations

import json
import os
import re
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


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Pytest in that folder, with the budget's plug-in and a cache there."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "harness.budget", "-p", "no:cacheprovider", *words,
         "."], cwd=folder, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1]),
                          "TACTUS_CACHE": str(folder / "cache")})


@pytest.mark.parametrize("budget, status", [(0.1, 1), (60, 0)])
@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "workers"])
def test_cpu_time_of_children_counts(tmp_path: Path, budget: float, status: int,
                                     workers: list[str]) -> None:
    (tmp_path / "test_it.py").write_text(TEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = run_pytest(tmp_path, *workers, f"--cpu-budget={budget}", "--cpu-times=times")
    assert done.returncode == status, done.stdout
    took = {name.split("::")[1]: float(spent) for spent, name in
            map(str.split, (tmp_path / "times").read_text().splitlines())}
    assert took["test_child"] >= 0.3 > took["test_sleeper"]
    assert ("more than their budget" in done.stdout) == bool(status)
    noted = json.loads((tmp_path / "cache/cpu-times.json").read_text())
    assert 0.3 <= noted["test_it.py"] < 30


@pytest.mark.parametrize("budget, status", [(1.5, 0), (0.01, 1)])
def test_what_is_made_for_good_does_not_count(tmp_path: Path, budget: float, status: int) -> None:
    """A test's child makes something that is kept, and takes a little for itself."""
    (tmp_path / "make.py").write_text(
        "import time\nfrom harness.bench.common import first_use\n"
        "with first_use('a kernel'):\n    while time.process_time() < 3: pass\n")
    (tmp_path / "test_it.py").write_text(
        "import subprocess, sys, time\ndef test_it():\n"
        "    subprocess.run([sys.executable, 'make.py'], check=True)\n"
        "    first = time.process_time()\n    while time.process_time() < first + 0.05: pass\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = run_pytest(tmp_path, "-n1", f"--cpu-budget={budget}")
    assert done.returncode == status, done.stdout
    assert re.search(r"[23]\.\d s  for good: a kernel\n +[3-9]\.\d s in all", done.stdout)
    assert ("more than their budget" in done.stdout) == bool(status)


def test_a_first_run_begins_with_what_is_marked_slow(tmp_path: Path) -> None:
    for name, marked in (("a", 0), ("b", 2), ("c", 1)):
        (tmp_path / f"test_{name}.py").write_text("import pytest\n" + "".join(
            "@pytest.mark.slow\n" * (number < marked) + f"def test_{number}():\n    pass\n"
            for number in range(2)))
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
    done = run_pytest(tmp_path, "-v", "-n1", "--dist=loadfile", "--cpu-budget=60")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"PASSED test_(\w)\.py", done.stdout) == list("bbccaa")


@pytest.mark.parametrize("workers", [1, 2])
def test_what_took_longest_begins(tmp_path: Path, workers: int) -> None:
    """Each worker has the next file as soon as it has done with one."""
    for name in "abcd":
        (tmp_path / f"test_{name}.py").write_text(
            "import time\n" + "".join(f"def test_{number}():\n    time.sleep(0.3)\n"
                                      for number in range(2)))
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/cpu-times.json").write_text(json.dumps(
        {"test_a.py": 1.0, "test_b.py": 3.0, "test_c.py": 2.0}))
    done = run_pytest(tmp_path, "-v", f"-n{workers}", "--dist=loadfile", "--cpu-budget=60")
    assert done.returncode == 0, done.stdout + done.stderr
    ended = re.findall(r"\[(gw\d)\].* PASSED test_(\w)\.py", done.stdout)
    assert sorted(file for _, file in ended) == sorted("aabbccdd")
    if workers == 1:
        assert [file for _, file in ended] == list("ddbbccaa")
    else:
        assert {dict(reversed(ended))[worker] for worker in ("gw0", "gw1")} == {"d", "b"}
