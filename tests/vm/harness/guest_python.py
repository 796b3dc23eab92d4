# SPDX-License-Identifier: GPL-2.0-only
"""A Python for the guest: the interpreter and just the modules that a package imports.

The whole standard library is 60 MB, which a guest would spend seconds unpacking.
"""
from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from . import TOP
from .vmrun import Vm

PYTHON = Path("/usr/bin/python3")  # Debian's: its library is in one known folder
PACKAGE = TOP / "userland/python/src"

# Runs on the host: imports all that the tool has, then says which files that took.
ASK = """
import json, pkgutil, importlib, sys
sys.path.insert(0, sys.argv[1])
import encodings.ascii, encodings.latin_1, encodings.utf_8, runpy, site, zipimport
import tactus
for info in pkgutil.walk_packages(tactus.__path__, "tactus."):
    if not info.name.endswith("__main__"):
        importlib.import_module(info.name)
for name in sys.argv[2:]:
    importlib.import_module(name)
files = [m.__file__ for m in sys.modules.values() if getattr(m, "__file__", None)]
version = f"{sys.version_info.major}.{sys.version_info.minor}"
homes = (f"{sys.base_prefix}/lib/python{version}/", f"{sys.base_prefix}/lib/python3/")
print(json.dumps([name for name in files if name.startswith(homes)]))
"""


def put(into: Path, *more: str) -> dict[str | Path, str]:
    """Gather interpreter, library and the tool below @into; what the bench's `put` wants.

    @more: modules beyond those that the tool imports, Debian's packages included. In the guest
    `tactus` is /usr/bin/tactus.
    """
    asked = subprocess.run([PYTHON, "-I", "-B", "-c", ASK, PACKAGE, *more], check=True,
                           capture_output=True, text=True)
    library = into / "library"
    for name in json.loads(asked.stdout):
        target = library / name.partition("/lib/")[2]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(name, target)
    shutil.copytree(PACKAGE, library / "tactus-src",
                    ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    launcher = into / "tactus"
    launcher.write_text("#!/bin/sh\nPYTHONDONTWRITEBYTECODE=1 PYTHONPATH=/usr/lib/tactus-src "
                        "exec /usr/bin/python3 -m tactus \"$@\"\n")
    launcher.chmod(0o755)
    return {PYTHON.resolve(): "/usr/bin/python3", library: "/usr/lib", launcher: "/usr/bin/tactus"}


@dataclass(frozen=True)
class Step:
    said: str
    status: int


def run_steps(vm: Vm, commands: Mapping[str, str], into: Path,
              **options: object) -> dict[str, Step]:
    """One boot for all @commands, by name: what each said, on both streams, and how it ended.

    @into: a folder for what put() gathers; @options are the bench's.
    """
    script = "\n".join(f"{{ {command}; }} 2>&1\necho \"=== $?\"" for command in commands.values())
    done = vm(script, put=put(into), timeout=600, **options)
    parts = re.split(r"=== (\d+)\n", done.stdout)[:-1]
    assert len(parts) == 2 * len(commands), done.stdout + done.stderr
    return {name: Step(parts[2 * n], int(parts[2 * n + 1])) for n, name in enumerate(commands)}
