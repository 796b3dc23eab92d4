# SPDX-License-Identifier: GPL-2.0-only
"""Programs of Debian's packages, unpacked in the cache beside the kernels and as they are: looked
up, never written down, never installed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .apt import REFRESH_S, Apt
from .common import BenchError, first_use, locked, output_of, say

LIBRARIES = "usr/lib/x86_64-linux-gnu"


@dataclass(frozen=True)
class Root:
    """Packages of another release below one folder, with all their libraries."""

    path: Path

    @property
    def version(self) -> str:
        """Of the package that the folder is named after."""
        return self.path.parent.name

    def words(self, program: str) -> list[str]:
        """How to start one of its programs: by its own loader, with its own libraries."""
        libraries = self.path / LIBRARIES
        paths = [str(libraries), *map(str, (libraries / "pulseaudio", libraries / "blas"))]
        return [str(libraries / "ld-linux-x86-64.so.2"), "--library-path", ":".join(paths),
                str(self.path / program)]


def asked_lately(home: Path) -> bool:
    """Was there a look for something newer within a day?"""
    try:
        return 0 <= time.time() - (home / "asked").stat().st_mtime < REFRESH_S
    except OSError:
        return False


def unpack(apt: Apt, names: Sequence[str], home: Path, without: Sequence[str] = ()) -> Path:
    """The folder with the newest of the packages and what of their suite they depend on, save
    `without`; fetched below `home` if it is not there yet, and named by the first one's version.

    Raises BenchError when the suite lacks one, or it cannot be fetched.
    """
    newest = apt.newest(names)
    if lacking := set(names) - set(newest):
        raise BenchError(f"{apt.suite} has no {' '.join(sorted(lacking))}")
    version = newest[names[0]].version
    folder = home / version.replace(":", "_").replace("/", "_")
    with locked(home / "lock"):
        if not (folder / "root").is_dir():
            wanted = apt.closure(names, without)
            say(f"fetching {names[0]} {version} with {len(wanted) - 1} more packages of "
                f"{apt.suite} (once, it is not installed)")
            with first_use(names[0]):
                scratch = folder.with_name(f"{folder.name}.new")
                shutil.rmtree(scratch, ignore_errors=True)
                for deb in apt.download(wanted, scratch / "debs"):
                    output_of(["dpkg-deb", "-x", str(deb), str(scratch / "root")],
                              f"unpacking {deb.name}")
                shutil.rmtree(scratch / "debs")
                for old in home.glob("*/root"):
                    if old.parent != scratch:
                        say(f"forgetting {names[0]} {old.parent.name}")
                        shutil.rmtree(old.parent, ignore_errors=True)
                scratch.rename(folder)
        (home / "asked").touch()
    return folder / "root"


def newest(suite: str, names: Sequence[str], home: Path, without: Sequence[str] = ()) -> Root:
    """The newest of the packages that the suite has, with their libraries.

    Looks for newer ones at most once a day. Raises BenchError when there are none.
    """
    have = sorted((path for path in home.glob("*/root") if path.parent.suffix != ".new"),
                  key=lambda path: path.stat().st_mtime)
    if have and asked_lately(home):
        return Root(have[-1])
    apt = Apt(suite)
    try:
        if apt.refresh():
            return Root(unpack(apt, names, home, without))
    except BenchError:
        if not have:
            raise
    if have:
        return Root(have[-1])
    raise BenchError(f"{names[0]} is not in the cache, and without a network it cannot be fetched")
