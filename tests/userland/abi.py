# SPDX-License-Identifier: GPL-2.0-only
"""Reads docs/abi: pages in the form of the kernel's Documentation/ABI."""
from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs/abi"


def pages() -> list[Path]:
    return sorted(path for path in FOLDER.iterdir() if path.suffix != ".md")


def read(page: Path) -> list[dict[str, str]]:
    """The entries of a page, a field's lines joined by blanks."""
    entries: list[dict[str, str]] = []
    field = ""
    for line in page.read_text().splitlines():
        name, colon, rest = line.partition(":")
        if line[:1].isalpha() and colon:
            if name == "What":
                entries.append({})
            field = name
            entries[-1][field] = rest.strip()
        elif line.strip():
            entries[-1][field] = f"{entries[-1][field]} {line.strip()}".strip()
    return entries


def files() -> set[str]:
    return {entry["What"] for page in pages() for entry in read(page)}
