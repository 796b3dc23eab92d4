# SPDX-License-Identifier: GPL-2.0-only
"""Builds QEMU's plug-in that moves the turns between CPUs (schedule.c), once for each of its
versions."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from .common import BenchError, build_dir, locked, output_of

SOURCE = Path(__file__).resolve().parents[1] / "schedule.c"


def plugin() -> Path:
    """The built plug-in. Raises BenchError without a compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        raise BenchError("--schedule takes a compiler: install gcc")
    key = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:12]
    built = build_dir() / "host" / f"schedule-{key}.so"
    with locked(built.with_name(".schedule.lock")):
        if not built.exists():
            scratch = built.with_name(f"{built.name}.{os.getpid()}")
            output_of([compiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O2", "-shared",
                       "-fPIC",
                       "-fvisibility=hidden", "-o", str(scratch), str(SOURCE)],
                      "building the plug-in for --schedule")
            scratch.rename(built)
    return built
