# SPDX-License-Identifier: GPL-2.0-only
"""The fuzzers: a short run finds nothing, and a planted defect is found."""
from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]


def fuzz(top: Path, name: str, runs: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run([top / "tests/fuzz/run", "-r", str(runs), name], text=True,
                          capture_output=True, check=False)


@pytest.mark.parametrize("name", ["midi", "tapfile"])
def test_nothing_is_found(name: str) -> None:
    done = fuzz(TOP, name, 50000)
    assert done.returncode == 0, done.stderr
    assert f"fuzz: {name}: 50000 inputs," in done.stdout


@pytest.mark.parametrize("name, path, right, wrong", [
    ("midi", "examples/tap/kernel/midi.c",  # the third data byte goes beside its array
     "\tparser->have = 0;\n\tparser->fresh = false;\n\tif (", "\tparser->fresh = false;\n\tif ("),
    ("midi", "examples/tap/kernel/midi.c",  # half a message is forgotten without being counted
     "parser->stats.broken += parser->have + parser->fresh;", ""),
    ("tapfile", "examples/tap/host/tapfile.c",  # the last line has no end
     "while (from < end && *from != c)", "while (*from != c)"),
    # the loop has a limit that the file's reader has not
    ("tapfile", "examples/tap/kernel/params.c",
     "if (index > list->count)", "if (index > 1)"),
    ("tapfile", "examples/tap/kernel/engine.c",  # what sounds at the end is left so
     "if (silence(engine, now_ns, out))", "if (0)"),
], ids=["array", "count", "end", "limit", "silence"])
def test_a_planted_defect_is_found(tmp_path: Path, name: str, path: str, right: str, wrong: str
                                   ) -> None:
    for folder in ("examples/tap", "kernel/include/rt", "tests/fuzz"):
        shutil.copytree(TOP / folder, tmp_path / folder)
    text = (tmp_path / path).read_text()
    assert text.count(right) == 1
    (tmp_path / path).write_text(text.replace(right, wrong))
    done = fuzz(tmp_path, name, 200000)
    assert done.returncode == 1 and f"fuzz: {name}: found something" in done.stderr, done.stderr
    assert list((tmp_path / "build/fuzz").glob(f"{name}.finding-*"))
