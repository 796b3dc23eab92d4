# SPDX-License-Identifier: GPL-2.0-only
"""The command `tactus` for the guest, with a Python that holds what it imports and no more.

The whole standard library is 60 MB, which a guest would spend seconds unpacking.
"""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .common import TREE, BenchError

PYTHON = Path("/usr/bin/python3")  # Debian's: its library is in one known folder
PACKAGE = TREE / "userland/python/src"

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
    # Else each call in the guest would compile all of it again.
    subprocess.run([PYTHON, "-I", "-B", "-m", "compileall", "-q", "--invalidation-mode",
                    "unchecked-hash", "-s", library, "-p", "/usr/lib", library], check=True)
    launcher = into / "tactus"
    launcher.write_text("#!/bin/sh\nPYTHONDONTWRITEBYTECODE=1 PYTHONPATH=/usr/lib/tactus-src "
                        "exec /usr/bin/python3 -m tactus \"$@\"\n")
    launcher.chmod(0o755)
    return {PYTHON.resolve(): "/usr/bin/python3", library: "/usr/lib", launcher: "/usr/bin/tactus"}


def complaints(modules: Sequence[Path]) -> list[str]:
    """What `tactus check` has against the RT code of modules, a line each."""
    if not modules:
        return []
    done = subprocess.run([PYTHON, "-B", "-m", "tactus", "check", "--json", *modules],
                          capture_output=True, text=True, check=False,
                          env=os.environ | {"PYTHONPATH": str(PACKAGE)})
    if not done.stdout:
        raise BenchError(done.stderr.strip())
    return [f"{report['module']}: RT code {complaint['text']}, by {' -> '.join(complaint['path'])}:"
            f" {complaint['mend']}"
            for report in json.loads(done.stdout) for complaint in report["complaints"]]
