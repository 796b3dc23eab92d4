# SPDX-License-Identifier: GPL-2.0-only
"""The quick ones of `make check`: no complaints, and each sees what is planted for it."""
from __future__ import annotations

import shutil
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

RUN = Path(__file__).resolve().parents[1] / "check/run"
check = ModuleType("check_run")
check.__file__ = str(RUN)
SourceFileLoader("check_run", str(RUN)).exec_module(check)

# What is planted: the check, the file's name, its text.
PLANTED = {
    "checkpatch": ("a.c", "int f(int x)\n{\n\tif(x)\n\t\treturn 1;\n\treturn 0;\n}\n"),
    "kerneldoc": ("a.h", "/**\n * f - nothing\n */\nint f(int x);\n"),
    "clang": ("test_a.c", "int f(int x)\n{\n\tint y;\n\treturn y;\n}\n"),
    "shellcheck": ("a.sh", "#!/bin/sh\ncat $1\n"),
    "ruff": ("a.py", "import os\n"),
    "mypy": ("a.py", "def f(x):\n    return x\n"),
    "mandoc": ("a.1", ".Sh NAME\n.Xx wrong\n"),
    "codespell": ("a.md", "het"[::-1] + " end\n"),
}


def complaints(name: str) -> list[str]:
    """Skips where the tool can neither be found nor fetched."""
    try:
        return check.CHECKS[name]()
    except check.Missing as why:
        pytest.skip(str(why))


@pytest.mark.parametrize("name", PLANTED)
def test_no_complaints(name: str) -> None:
    assert complaints(name) == []


@pytest.mark.parametrize("name", sorted(set(PLANTED) - {"mypy"}))
def test_a_planted_one_is_seen(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / PLANTED[name][0]
    path.write_text(PLANTED[name][1])
    monkeypatch.setattr(check, "files", lambda *_, **__: [str(path)])
    assert complaints(name)


def test_a_planted_type_error_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(check.TOP / "userland/python", tmp_path / "userland/python")
    (tmp_path / "userland/python/src/tactus/planted.py").write_text(PLANTED["mypy"][1])
    monkeypatch.setattr(check, "TOP", tmp_path)
    assert any("planted.py" in line for line in complaints("mypy"))
