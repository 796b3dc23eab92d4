# SPDX-License-Identifier: GPL-2.0-only
"""Finds the programs that are the kernel's own C files, built for this machine."""
from __future__ import annotations

import functools
import os
import shutil
import subprocess
from pathlib import Path

from tactus.errors import ToolError


@functools.cache
def _build(tree: Path, program: str, target: str) -> None:
    done = subprocess.run(["make", "-s", "-C", str(tree), target], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise ToolError(f"{program} could not be built:\n{done.stderr.strip()}")


def find(program: str, variable: str, source: str, target: str) -> str:
    """Where `program` is: named by the environment, in the tree (built if it must), or installed.

    `source` is a file that shows that this is the tree, `target` what make builds it by.
    """
    named = os.environ.get(variable)
    if named:
        return named
    tree = Path(__file__).resolve().parents[4]
    if (tree / source).exists():
        _build(tree, program, target)
        return str(tree / "build/host" / program)
    # Beside the package, whether that is below PREFIX/share, dist-packages or a venv; else PATH.
    beside = Path(__file__).resolve().parents[4] / "libexec/tactus" / program
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which(program)
    if not found:
        raise ToolError(f"{program} is not installed: install the tactus package, or run "
                        f"`make {target}` in a checkout and set {variable}")
    return found
