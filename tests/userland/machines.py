# SPDX-License-Identifier: GPL-2.0-only
from __future__ import annotations

from pathlib import Path

import pytest

from fakes import RELEASE, FakeMachine


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    """A machine with all modules installed and none loaded."""
    fake = FakeMachine(tmp_path / "fake")
    for name in ("tactus_core", "tactus", "tactus_rm", "rtfifo"):
        fake.write(f"/lib/modules/{RELEASE}/updates/{name}.ko.xz", "")
    return fake


@pytest.fixture
def build_dir(tmp_path: Path) -> Path:
    """A build folder, modules in subfolders as Kbuild leaves them."""
    folder = tmp_path / "build"
    (folder / "sub").mkdir(parents=True)
    for name in ("tactus_core", "tactus", "tactus_rm", "sub/rtfifo"):
        (folder / f"{name}.ko").write_bytes(
            b"\x7fELF\0license=GPL\0vermagic=" + RELEASE.encode() + b" SMP mod_unload \0")
    return folder
