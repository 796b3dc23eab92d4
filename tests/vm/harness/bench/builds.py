# SPDX-License-Identifier: GPL-2.0-only
"""Builds of modules by ccache, whose hits do not depend on where a checkout or a scratch folder is.

ccache knows an object by its command line and its headers' paths. A make sees the folder that it
works in, and this tree's headers, as its own open files of fixed numbers, or in a chroot at fixed
paths: two checkouts, and the copies that mutants are made of, have the same paths for the same
sources. Each make has its own folder behind the name, so none can write into another's.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .common import TREE, cache_dir

# Beyond those that a shell uses.
FIRST_HANDLE = 90
HEADERS = TREE / "kernel" / "include"


@dataclass
class Build:
    """A make: how it is run, and what becomes of what it says."""

    command: list[str]
    env: dict[str, str] = field(default_factory=dict)
    places: dict[str, Path] = field(default_factory=dict)       # what the make sees -> the folder
    handles: tuple[int, ...] = ()                               # what it inherits

    def told(self, text: str) -> str:
        """Its output, with the folders' own names."""
        for name, place in self.places.items():
            text = re.sub(rf"{name}(?=/|$)", str(place), text, flags=re.M)
        return text

    def ended(self, folder: Path) -> None:
        """Puts right what `make modules_install` reads, for which no folder has another name."""
        order = folder / "modules.order"
        if self.places and order.is_file():
            order.write_text(self.told(order.read_text(encoding="utf-8")), encoding="utf-8")


def _seen(handle: int) -> str:
    """The name of an open folder, for whoever inherits it."""
    return f"/proc/self/fd/{handle}"


def _open(place: Path) -> int:
    """The folder, by a number that is the same in each build."""
    first = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return fcntl.fcntl(first, fcntl.F_DUPFD_CLOEXEC, FIRST_HANDLE)
    finally:
        os.close(first)


def _chooses(command: Sequence[str]) -> bool:
    """Does it name a compiler itself?"""
    return any(re.match("(CC|LLVM)=", word) for word in command)


def _takes_in(folder: Path) -> bool:
    """Does a source in it have the assembler read another file?"""
    return any(b".incbin" in path.read_bytes() for path in folder.rglob("*.[chS]"))


def _by_ccache(command: Sequence[str], compiler: str | None, places: dict[str, Path],
               cache: Path) -> Build:
    """The make `command` with other names for its folders, by ccache."""
    words = []
    for word in command:
        for name, place in places.items():
            word = re.sub(rf"{re.escape(str(place))}(?=/| |$)", name, word)
        words.append(word)
    # What the kernel's log and debugging information say is relative to the folder.
    mapped = " ".join(f"-ffile-prefix-map={name}/=" for name in places)
    compiler = compiler or "gcc"
    # gcc's own nm reads gcc's files alone; the plain one also loads clang's library each time.
    words += [f"CC=ccache {compiler}", f"NM={compiler.replace('gcc', 'gcc-nm', 1)}",
              f"CFLAGS_MODULE={mapped}", f"AFLAGS_MODULE={mapped}"]
    env = {"CCACHE_DIR": str(cache),
           # The sources are copies, made a moment ago, that nobody changes meanwhile.
           "CCACHE_SLOPPINESS": "include_file_ctime,include_file_mtime"}
    if not any(_takes_in(place) for place in places.values()):
        # What a source includes is what the compiler says it did: ccache need not preprocess it
        # first, which is a third of the work. It does not hear of the assembler's files.
        env["CCACHE_DEPEND"] = "1"
    return Build(words, env, places)


@contextlib.contextmanager
def cached(command: Sequence[str], compiler: str | None, folder: Path) -> Iterator[Build]:
    """The make `command` in `folder`, by ccache where there is one, and where the command does not
    choose a compiler itself."""
    if not shutil.which("ccache") or _chooses(command):
        yield Build(list(command))
        return
    with contextlib.ExitStack() as stack:
        places = {}
        for place in (folder, HEADERS):
            handle = _open(place)
            stack.callback(os.close, handle)
            places[handle] = place
        build = _by_ccache(command, compiler, {_seen(handle): place
                                               for handle, place in places.items()},
                           cache_dir() / "ccache")
        build.handles = tuple(places)
        yield build
        build.ended(folder)


@contextlib.contextmanager
def in_chroot(command: Sequence[str], compiler: str | None, folder: Path,
              cache: Path) -> Iterator[Build]:
    """The same in a chroot that has ccache, and that shows the folders under the build's names."""
    if _chooses(command):
        yield Build(list(command))
        return
    build = _by_ccache(command, compiler, {"/tactus/module": folder, "/tactus/headers": HEADERS},
                       cache)
    yield build
    build.ended(folder)
