# SPDX-License-Identifier: GPL-2.0-only
"""Runs the commands that a page shows."""
from __future__ import annotations

import os
import subprocess

from . import TOP


def shell(commands: str, **environment: str) -> str:
    """What they print, run in the top folder; all must succeed."""
    done = subprocess.run(["bash", "-ec", commands], cwd=TOP, text=True, capture_output=True,
                          check=False, env=os.environ | environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
