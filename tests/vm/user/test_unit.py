# SPDX-License-Identifier: GPL-2.0-only
"""The unit of docs/userspace.md is one that systemd reads without a word."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import TOP

PAGE = TOP / "docs/userspace.md"


def verified(folder: Path, unit: str) -> str:
    """What systemd has to say about it."""
    file = folder / "robot.service"
    # The programs need not be here.
    file.write_text(re.sub(r"(?m)^(ExecStart\w*)=.*", r"\1=/bin/true", unit), encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", file], text=True, check=False,
                          stderr=subprocess.PIPE)
    return done.stderr


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze")
def test_the_unit_is_right(tmp_path: Path) -> None:
    (unit,) = re.findall(r"(?s)```ini\n(.*?)```", PAGE.read_text(encoding="utf-8"))
    assert "\nSupplementaryGroups=tactus\n" in unit and "\nLimitMEMLOCK=" in unit
    assert verified(tmp_path, unit) == ""
    # The control: what it does not understand.
    assert "LimitMemlock" in verified(tmp_path, unit.replace("MEMLOCK", "Memlock"))
    assert "64Q" in verified(tmp_path, unit.replace("64M", "64Q"))
