# SPDX-License-Identifier: GPL-2.0-only
"""Builds QEMU's plug-ins, once for each of their versions: each source says what it does."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from .common import BenchError, build_dir, locked, output_of

HARNESS = Path(__file__).resolve().parents[1]
STEADY = HARNESS / "steady.c"
SCHEDULE = HARNESS / "schedule.c"
PINS = HARNESS / "pins.c"
FORGET = HARNESS / "forget.c"
WITNESS = HARNESS / "witness.c"


def plugin(source: Path) -> Path:
    """The plug-in made of a source and the headers beside it. Raises BenchError without a
    compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        raise BenchError(f"{source.name} takes a compiler: install gcc")
    name = source.stem
    inputs = [source, *sorted(source.parent.glob("*.h"))]
    key = hashlib.sha256(b"".join(path.read_bytes() for path in inputs)).hexdigest()[:12]
    built = build_dir() / "host" / f"{name}-{key}.so"
    with locked(built.with_name(f".{name}.lock")):
        if not built.exists():
            scratch = built.with_name(f"{built.name}.{os.getpid()}")
            output_of([compiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O2", "-shared",
                       "-fPIC", "-fvisibility=hidden", "-o", str(scratch), str(source)],
                      f"building the plug-in {name}")
            scratch.rename(built)
    return built
