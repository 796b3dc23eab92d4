# SPDX-License-Identifier: GPL-2.0-only
"""Keeps what a build made, so that the same build elsewhere is a copy.

Half of a build is not the compiler's, and ccache saves none of that: versions of symbols, objtool,
modpost, links. So modules are kept under a name made of all that a build reads: each file of the
folder, this tree's headers, the words for make, the kernel's package, and the programs. One byte
more is another name. What a folder reads beyond that is for the caller to know.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import tarfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .common import cache_dir, locked
from .kernels import Kernel

# All of them, on disk: some 25 MB for a kernel's modules.
KEEP_BYTES = 3 << 30
# What a build leaves. Its notes and ours have names that begin with a dot.
MADE = re.compile(r".*\.(o|ko|mod|mod\.c|symvers|order|a|d)|\..*")
KEPT = ("*.ko", "modules.order", "Module.symvers")
# The kernel's programs and settings, beside the version of its package.
OF_KERNEL = (
    "Makefile", ".kernelvariables", ".config", "Module.symvers", "include/config/auto.conf",
    "include/generated/autoconf.h", "include/generated/utsrelease.h", "scripts/mod/modpost",
    "scripts/genksyms/genksyms", "tools/objtool/objtool",
)
# Variables that change nothing of what is made; of PATH there are the programs.
NO_MATTER = re.compile("(CCACHE_.*|PATH|HOME|TMPDIR)$")
PROGRAMS = ("make", "sh", "as", "ld", "nm", "objcopy", "awk", "sed")


def sources(folder: Path) -> list[Path]:
    """The files below a folder that no build made, by name."""
    return sorted(path for path in folder.rglob("*")
                  if path.is_file() and not MADE.fullmatch(path.name))


def contents(folder: Path) -> list[tuple[str, str]]:
    """What tells the sources of a folder from others."""
    return [(str(path.relative_to(folder)), hashlib.sha256(path.read_bytes()).hexdigest())
            for path in sources(folder)]


def stamps(paths: Iterable[Path | str | None]) -> list[tuple[str, int, int]]:
    """What tells installed files from others of their names, as ccache does it."""
    found = []
    for path in paths:
        if path and os.path.exists(path):
            stat = os.stat(path)
            found.append((str(path), stat.st_size, stat.st_mtime_ns))
    return found


def programs(compiler: str, root: Path = Path("/")) -> list[tuple[str, int, int]]:
    """What a build runs, here or in a chroot."""
    path = os.pathsep.join(str(root / folder.lstrip("/"))
                           for folder in os.environ.get("PATH", "/usr/bin:/bin").split(os.pathsep))
    names = [shutil.which(name, path=path) for name in (compiler, *PROGRAMS)]
    # The compiler's own half.
    release = re.search(r"\d+$", compiler)
    parts = list((root / "usr/lib/gcc").glob(f"*/{release[0] if release else '*'}/cc1"))
    return stamps([*names, *sorted(parts)])


@dataclass(frozen=True)
class Result:
    """What one build made, or will have made."""

    path: Path

    @property
    def first(self) -> bool:
        """Has nobody built any for this kernel yet?"""
        kernel = self.path.name.rpartition("-")[0]
        return not any(self.path.parent.glob(f"{kernel}-*.tar.gz"))

    def restore(self, folder: Path) -> str | None:
        """Puts what was made into a folder; what the make said, None if nobody has built it."""
        try:
            whole = self.path.read_bytes()
        except FileNotFoundError:
            return None
        os.utime(self.path)
        with tarfile.open(fileobj=io.BytesIO(whole)) as archive:
            said = archive.extractfile("said")
            assert said
            text = said.read().decode()
            archive.extractall(folder, [item for item in archive if item.name != "said"])
        return text

    def keep(self, folder: Path, said: str) -> None:
        """Keeps what was made in a folder, and puts old ones away."""
        scratch = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        scratch.parent.mkdir(parents=True, exist_ok=True)
        try:
            with tarfile.open(scratch, "w:gz", compresslevel=1) as archive:
                item = tarfile.TarInfo("said")
                item.size = len(said.encode())
                archive.addfile(item, io.BytesIO(said.encode()))
                for path in sorted(path for name in KEPT for path in folder.rglob(name)):
                    archive.add(path, str(path.relative_to(folder)))
            with locked(self.path.with_name(".lock")):
                for old in outdated(self.path.parent, scratch.stat().st_size):
                    old.unlink()
                scratch.rename(self.path)
        finally:
            scratch.unlink(missing_ok=True)


def outdated(folder: Path, more: int) -> list[Path]:
    """The results that go when one of `more` bytes comes: the longest unused."""
    found = []
    for path in sorted(folder.glob("*.tar.gz"), key=lambda path: -path.stat().st_mtime):
        more += path.stat().st_size
        if more > KEEP_BYTES:
            found.append(path)
    return found


def result(kernel: Kernel, folder: Path, command: Sequence[str], env: dict[str, str],
           reads: Sequence[Path], tools: list[tuple[str, int, int]]) -> Result:
    """The result of a make in a folder: `command` and `env` as the make sees them; `reads` are the
    files and folders that it reads beside its own."""
    told = {name: value for name, value in env.items() if not NO_MATTER.match(name)}
    parts = [list(command), sorted(told.items()), kernel.release, kernel.version, str(kernel.kdir),
             stamps(kernel.kdir / name for name in OF_KERNEL), tools, contents(folder),
             *([contents(path)] if path.is_dir() else
               [path.name, hashlib.sha256(path.read_bytes()).hexdigest()] for path in reads)]
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
    return Result(cache_dir() / "modules" / f"{kernel.release.replace('/', '_')}-{key}.tar.gz")
