# SPDX-License-Identifier: GPL-2.0-only
"""examples/workbench: what the generator writes is what analyser, VCD file and printer get."""
from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import TOP
from test_digital import read_vcd

STEP_NS, LOOK_NS = 100_000, 1000
TEXT = b"Hello, parallel port"
ACK, BUSY = 1 << 14, 1 << 15


@dataclass(frozen=True)
class Run:
    stdout: str
    out: Path

    def samples(self, name: str) -> list[tuple[int, int]]:
        return read_vcd((self.out / name).read_text())[1]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("workbench")
    done = subprocess.run([TOP / "examples/workbench/try", out], text=True, capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return Run(done.stdout, out)


def test_the_waves(run: Run) -> None:
    """It begins before D7 rises; each step is one more, and comes a step after the one before."""
    samples = run.samples("count.vcd")[:-1]
    values = [levels & 0xff for _, levels in samples]
    assert values[0] == 117 and len(values) == 311
    assert all((b - a) % 256 == 1 for a, b in zip(values, values[1:]))
    steps = [b[0] - a[0] for a, b in zip(samples, samples[1:])]
    assert all(abs(step - STEP_NS) < LOOK_NS for step in steps), (min(steps), max(steps))
    assert re.search(r"^3\d{4}\.\d+ us, 311 changes, trigger after 1(099|100)\.", run.stdout, re.M)


def test_the_printer_gets_the_text(run: Run) -> None:
    """By the emulator's account, and by the analyser's."""
    assert (run.out / "printer").read_bytes() == TEXT
    seen = bytearray()
    last = 0
    for _, levels in run.samples("text.vcd")[:-1]:
        # The printer takes its time over each byte: BUSY is active low in the register.
        if last & BUSY and not levels & BUSY:
            seen.append(levels & 0xff)
        last = levels
    assert bytes(seen) == TEXT


def test_the_scope_draws(run: Run) -> None:
    for name in ("D0", "D7", "ACK", "BUSY"):
        assert re.search(rf"^{name} +[▁▔╱╲┃]{{20,}}$", run.stdout, re.M)
