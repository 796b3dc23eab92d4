# SPDX-License-Identifier: GPL-2.0-only
"""Where a worker runs its tests, when execnet takes its time to end a request."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Loaded by each Python that starts: a request ends half a second after its answer.
SLOW = """\
import time
from execnet import gateway_base
run = gateway_base.Reply.run
def slow(self):
    run(self)
    time.sleep(0.5)
gateway_base.Reply.run = slow
"""
TEST = """\
import threading
def test_thread():
    assert threading.current_thread() is threading.main_thread()
"""


@pytest.mark.parametrize("mended", [True, False])
def test_workers_run_tests_in_their_main_threads(tmp_path: Path, mended: bool) -> None:
    (tmp_path / "sitecustomize.py").write_text(SLOW)
    (tmp_path / "test_thread.py").write_text(TEST)
    plugin = ["-p", "harness.workers"] if mended else []
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-n", "1", "-p", "no:cacheprovider", *plugin,
         "--rootdir", str(tmp_path), str(tmp_path)],
        cwd=tmp_path, text=True, capture_output=True, timeout=120,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[1]}"})
    if mended:
        assert done.returncode == 0, done.stdout + done.stderr
    else:  # the race is there; without it, harness.workers can go
        assert "1 failed" in done.stdout, done.stdout + done.stderr
