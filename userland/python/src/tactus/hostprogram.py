# SPDX-License-Identifier: GPL-2.0-only
"""Finds the programs that are the kernel's own C files, built for this machine."""
from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tactus.errors import ToolError

PREFIXES = ("/usr/local", "/usr")


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
    # Beside the package, whether that is below PREFIX/share, dist-packages or a venv; where a
    # package or `make install-userland` puts it for all users; else PATH.
    folders = [tree / "libexec/tactus", Path(sys.prefix) / "bin",
               *(Path(prefix) / "libexec/tactus" for prefix in PREFIXES)]
    places = [folder / program for folder in folders]
    found = next((str(place) for place in places if os.access(place, os.X_OK)), None)
    found = found or shutil.which(program)
    if not found:
        raise ToolError(f"{program} is not installed. It is a compiled program, so pip has none: "
                        f"install the Debian package tactus, or run `make {target}` in a checkout "
                        f"and set {variable} to build/host/{program}")
    return found
