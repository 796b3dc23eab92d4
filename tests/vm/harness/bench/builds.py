# SPDX-License-Identifier: GPL-2.0-only
"""Builds of modules by ccache, whose hits do not depend on where a checkout or a scratch folder is.

ccache knows an object by its command line and its headers' paths. A make sees the folder that it
works in, and this tree's headers, as its own open files of fixed numbers: two checkouts, and the
copies that mutants are made of, have the same paths for the same sources. Each make has its own
folder behind the number, so none can write into another's.
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
    places: dict[int, Path] = field(default_factory=dict)

    @property
    def handles(self) -> tuple[int, ...]:
        """What it inherits."""
        return tuple(self.places)

    def told(self, text: str) -> str:
        """Its output, with the folders' own names."""
        for handle, place in self.places.items():
            text = re.sub(rf"{_seen(handle)}(?=/|$)", str(place), text, flags=re.M)
        return text


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


@contextlib.contextmanager
def cached(command: Sequence[str], compiler: str | None, folder: Path) -> Iterator[Build]:
    """The make `command` in `folder`, by ccache where there is one, and where the command does not
    choose a compiler itself."""
    if not shutil.which("ccache") or any(re.match("(CC|LLVM)=", word) for word in command):
        yield Build(list(command))
        return
    with contextlib.ExitStack() as stack:
        places = {}
        for place in (folder, HEADERS):
            handle = _open(place)
            stack.callback(os.close, handle)
            places[handle] = place
        words = []
        for word in command:
            for handle, place in places.items():
                word = re.sub(rf"{re.escape(str(place))}(?=/| |$)", _seen(handle), word)
            words.append(word)
        # What the kernel's log and debugging information say is relative to the folder.
        mapped = " ".join(f"-ffile-prefix-map={_seen(handle)}/=" for handle in places)
        words += [f"CC=ccache {compiler or 'gcc'}", f"CFLAGS_MODULE={mapped}",
                  f"AFLAGS_MODULE={mapped}"]
        env = {"CCACHE_DIR": str(cache_dir() / "ccache"),
               # The sources are copies, made a moment ago, that nobody changes meanwhile.
               "CCACHE_SLOPPINESS": "include_file_ctime,include_file_mtime"}
        build = Build(words, env, places)
        yield build
        # `make modules_install` reads it, for which nothing is open.
        order = folder / "modules.order"
        if order.is_file():
            order.write_text(build.told(order.read_text(encoding="utf-8")), encoding="utf-8")
