# SPDX-License-Identifier: GPL-2.0-only
"""Static C programs of the tests and of the examples, compiled on the host for the guest."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from pathlib import Path

from . import TOP

BUILD = TOP / "build" / "host"
HEADERS = TOP / "kernel" / "include"
LIBTACTUS = TOP / "userland" / "libtactus"
# What makes a program need a part of libtactus.
PARTS = {"rt": "tactus/rt", "shm": "tactus/shm|mbuff|rtai_shm"}
FOLDERS = ("tests/vm/*", "examples/*", "examples/*/tests", "examples/*/demo", "tools")
COMPILE = ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", f"-I{HEADERS}",
           f"-I{LIBTACTUS}", f"-I{TOP / 'userland' / 'skins'}"]
# NAME_32: 32-bit code. There is no C library for that, but the kernel's headers are for both.
COMPILE_32 = ["-m32", "-nostdlib", "-ffreestanding", "-fno-pie", "-no-pie", "-fno-stack-protector",
              "-isystem/usr/include/x86_64-linux-gnu"]


def source(name: str) -> Path:
    """NAME.c, or the folder NAME with such a file; it lies beside the tests that use it."""
    found = {path.parent if path.parent.name == name else path for folder in FOLDERS
             for path in (*TOP.glob(f"{folder}/{name}.c"), *TOP.glob(f"{folder}/{name}/{name}.c"))}
    if len(found) != 1:
        raise LookupError(f"there must be one program {name}, not {len(found)}: {sorted(found)}")
    return found.pop()


def build(name: str) -> Path:
    """The program made of NAME.c or of the C files in the folder NAME, compiled if stale."""
    origin = source(name)
    inputs = sorted(origin.iterdir()) if origin.is_dir() else [origin]
    texts = "".join(path.read_text(encoding="utf-8") for path in inputs if path.suffix == ".c")
    inputs = [*inputs, *(LIBTACTUS / f"{part}.c" for part, headers in PARTS.items()
                         if re.search(f"#include <({headers}).h>", texts))]
    # Headers named by a path; those beside them as well, which they may include.
    inputs += [header for path in re.findall('#include "(.*)/.*"', texts)
               for header in (origin if origin.is_dir() else origin.parent).joinpath(path)
               .glob("*.h")]
    program = BUILD / name
    newest = max(path.stat().st_mtime for path in inputs)
    if program.exists() and program.stat().st_mtime >= newest:
        return program
    BUILD.mkdir(parents=True, exist_ok=True)
    # Several runs and threads may want it at once: each makes its own, the last in place wins.
    fresh = BUILD / f".{name}.{os.getpid()}.{threading.get_ident()}"
    sources = [str(path) for path in inputs if path.suffix == ".c"]
    words = COMPILE_32 if name.endswith("_32") else []
    subprocess.run([*COMPILE, *words, "-o", str(fresh), *sources], check=True)
    fresh.replace(program)
    return program
