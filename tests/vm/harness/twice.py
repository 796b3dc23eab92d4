# SPDX-License-Identifier: GPL-2.0-only
"""Runs each guest that has several CPUs in virtual time twice, and compares all that it leaves.

    tests/vm/python -m harness.twice tests/vm/exec
    tests/vm/python -m harness.twice -n 2 -m "not long"

The words are pytest's. A test whose guest has one CPU, or runs in the host's time, is skipped. Two
runs agree if their output, their status, the kernel's log with its times, and each file that was
fetched are the same to the byte. Exit status: pytest's; 1 if no guest was compared.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .vmrun import Result

from . import TOP

# Where each comparison is noted, a line; empty: guests run once.
WANTED = os.environ.get("TACTUS_TWICE", "")


def left(result: Result) -> dict[str, str]:
    """All that a run leaves, by what it is."""
    # The bench's own words are of the host: what it builds or fetches.
    errors = re.sub(r"^vm: .*\n", "", result.stderr, flags=re.M)
    files = {str(path.relative_to(result.files)): path.read_bytes().hex()
             for path in sorted(result.files.rglob("*")) if path.is_file()}
    return {"status": str(result.status), "stdout": result.stdout, "stderr": errors,
            "console": result.console} | files


def differences(first: Result, second: Result) -> str:
    """The first lines that differ; empty if nothing does."""
    a, b = left(first), left(second)
    wrong = [name for name in a.keys() | b.keys() if a.get(name) != b.get(name)]
    if not wrong:
        return ""
    name = min(wrong)
    lines = difflib.unified_diff(a.get(name, "").splitlines(), b.get(name, "").splitlines(),
                                 f"{name}, first run", f"{name}, second run", lineterm="", n=1)
    return "\n".join(list(lines)[:30]) or f"{name} is there once"


def compare(first: Result, second: Result) -> None:
    """Notes it; fails the test if they differ."""
    found = differences(first, second)
    with open(WANTED, "a", encoding="utf-8") as notes:     # a line goes in as a whole
        notes.write(f"{'differs' if found else 'same'} {first.command!r}\n")
    if found:
        pytest.fail(f"two runs of one command differ:\n{first.command}\n{found}", pytrace=False)


def main(words: list[str]) -> int:
    """The command."""
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes"
        notes.touch()
        done = subprocess.run([sys.executable, "-m", "pytest", *words], cwd=TOP, check=False,
                              env=os.environ | {"TACTUS_TWICE": str(notes)})
        lines = notes.read_text(encoding="utf-8").splitlines()
    differ = sum(line.startswith("differs") for line in lines)
    print(f"{len(lines)} guests with several CPUs ran twice; {differ} differed")
    return done.returncode or not lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
