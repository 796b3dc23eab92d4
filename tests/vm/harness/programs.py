# SPDX-License-Identifier: GPL-2.0
"""Static C programs of this folder and of the examples, compiled on the host for the guest."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "build" / "host"
HEADERS = HERE.parent.parent / "kernel" / "include"
COMPILE = ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", f"-I{HEADERS}"]


def build(name: str, folder: Path = HERE) -> Path:
    """The program made of NAME.c or of the C files in the folder NAME, compiled if stale."""
    single = folder / f"{name}.c"
    inputs = [single] if single.exists() else sorted((folder / name).iterdir())
    program = BUILD / name
    newest = max(source.stat().st_mtime for source in inputs)
    if program.exists() and program.stat().st_mtime >= newest:
        return program
    BUILD.mkdir(parents=True, exist_ok=True)
    # Several runs and threads may want it at once: each makes its own, the last in place wins.
    fresh = BUILD / f".{name}.{os.getpid()}.{threading.get_ident()}"
    sources = [str(source) for source in inputs if source.suffix == ".c"]
    subprocess.run([*COMPILE, "-o", str(fresh), *sources], check=True)
    fresh.replace(program)
    return program
