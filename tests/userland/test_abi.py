# SPDX-License-Identifier: GPL-2.0-only
"""docs/abi: pages in the form of the kernel's Documentation/ABI, against the sources.

tests/vm/userland/test_interfaces.py compares them with the files of the loaded modules.
"""
from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import abi

TOP = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", sorted(path.name for path in abi.pages()))
def test_each_entry_is_whole(page: str) -> None:
    for entry in abi.read(abi.FOLDER / page):
        assert list(entry) == ["What", "Date", "KernelVersion", "Contact", "Description"], page
        assert all(entry.values()), entry
        assert entry["Description"].endswith("."), entry


def test_each_file_has_one_entry_and_each_page_its_line() -> None:
    names = [entry["What"] for path in abi.pages() for entry in abi.read(path)]
    assert len(names) == len(set(names)) > 50
    said = (abi.FOLDER / "README.md").read_text()
    assert set(re.findall(r"^\| \[\S+\]\((\S+)\)", said, re.M)) == {p.name for p in abi.pages()}


def test_parameters_are_described_as_the_modules_do() -> None:
    """What modinfo prints stands in the page of each parameter, and no parameter is left out."""
    listed = subprocess.run([TOP / "tools/product-sources"], cwd=TOP, capture_output=True,
                            text=True, check=True).stdout.split()
    texts = {name: re.sub(r'"\s*"', "", text)
             for path in listed if path.endswith(".c")
             for name, text in re.findall(r'MODULE_PARM_DESC\((\w+),\s*("(?:[^"]|"\s*")*")\)',
                                          (TOP / path).read_text())}
    pages = {entry["What"].rpartition("/")[2]: entry["Description"] for path in abi.pages()
             for entry in abi.read(path) if "/parameters/" in entry["What"]}
    assert set(texts) == set(pages) and len(texts) > 30
    for name, text in texts.items():
        wanted = text.strip('"').lower()
        assert pages[name].lower().startswith(wanted), name
