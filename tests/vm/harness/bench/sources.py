# SPDX-License-Identifier: GPL-2.0-only
"""Programs built from Debian's source packages, once, in the cache: looked up, never written down,
never installed."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from .apt import Apt
from .common import BenchError, cache_dir, first_use, locked, output_of, say
from .packages import asked_lately


def _to_be_had(name: str, suites: Sequence[str], into: Path) -> tuple[str, Path]:
    """(version, archive) of the first suite whose source can be fetched."""
    reasons = []
    for suite in suites:
        apt = Apt(suite, "deb-src")
        if not apt.refresh():
            reasons.append(f"{suite}'s lists cannot be fetched")
            continue
        try:
            version = apt.source(name)
            return version, apt.tarball(name, version, into)
        except BenchError as error:
            reasons.append(str(error))
    raise BenchError("\n".join(reasons))


def run_in(folder: Path, command: Sequence[str]) -> None:
    """One step of a build, for people who wait for others."""
    environment = [f"CCACHE_DIR={cache_dir() / 'ccache'}", f"CCACHE_BASEDIR={folder}"]
    output_of(["env", *environment, "nice", "-n", "10", *command], f"building in {folder}",
              cwd=folder)


def compiler(name: str) -> str:
    """A compiler's command, by ccache where there is one. Raises BenchError without it."""
    if not shutil.which(name):
        raise BenchError(f"a build takes a compiler: install {name}")
    return f"ccache {name}" if shutil.which("ccache") else name


def program(name: str, suites: Sequence[str], home: Path, options: Sequence[str], patch: Path,
            build: Callable[[Path], Path]) -> Path:
    """The program that `build` makes in a source package's folder, with these options, and with
    `patch` applied.

    The package is of the first of the suites that it can be fetched from. Looks for a newer one at
    most once a day. Raises BenchError when there is none.
    """
    key = hashlib.sha256(" ".join(options).encode() + patch.read_bytes()).hexdigest()[:8]
    with locked(home / "lock"):
        have = sorted(home.glob(f"*-{key}/{name}"), key=lambda path: path.stat().st_mtime)
        if have and asked_lately(home):
            return have[-1]
        scratch = home / "new"
        shutil.rmtree(scratch, ignore_errors=True)
        try:
            version, archive = _to_be_had(name, suites, scratch)
        except BenchError:
            if have:
                return have[-1]
            raise
        built = home / f"{version.replace(':', '_')}-{key}" / name
        if not built.exists():
            say(f"building {name} {version} from its source (once; some three minutes of a CPU)")
            output_of(["tar", "-C", str(scratch), "-xf", str(archive)], f"unpacking {archive.name}")
            folder = next(path for path in scratch.iterdir() if path.is_dir())
            output_of(["patch", "-d", str(folder), "-p1", "-i", str(patch)], f"patching {name}")
            with first_use(name):
                made = build(folder)
            for old in home.glob("*-*"):
                shutil.rmtree(old)
            built.parent.mkdir()
            made.rename(built)
        os.utime(built)
        shutil.rmtree(scratch, ignore_errors=True)
        (home / "asked").touch()
    return built
