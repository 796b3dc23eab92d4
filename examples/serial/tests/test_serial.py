# SPDX-License-Identifier: GPL-2.0-only
"""examples/serial: every byte is right, and no section of Linux's delays the interrupt."""
from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import TOP


@dataclass(frozen=True)
class Run:
    status: int
    stdout: str
    out: Path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("serial")
    done = subprocess.run([TOP / "examples/serial/acquire", "--out", out], text=True,
                          capture_output=True, check=False)
    return Run(done.returncode, done.stdout + done.stderr, out)


def test_every_byte_is_right(run: Run) -> None:
    assert run.status == 0, run.stdout
    assert "8000 bytes of 8000 came from the line: all right" in run.stdout
    assert "4000 bytes of 4000 came back in loop-back: all right" in run.stdout


def test_linux_cannot_hold_the_interrupt(run: Run) -> None:
    """Each byte comes inside a section of 100 us."""
    found = re.search(r"the handler began (\d+) to (\d+) ns after", run.stdout)
    assert found, run.stdout
    assert 0 < int(found[1]) <= int(found[2]) < 2000


def test_the_histogram_counts_each_byte(run: Run) -> None:
    text = (run.out / "serial.svg").read_text()
    assert "4000 bytes" in text and text.count("<rect") > 1
