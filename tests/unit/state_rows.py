#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Make state_rows.h, the rows that tests of the pipeline's decisions go by, from docs/pipeline.md.

    tests/unit/state_rows.py > tests/unit/state_rows.h

tests/test_docs.py fails when the two differ.
"""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/pipeline.md"

WORDS = {
    "user mode": "IN_USER", "kernel": "IN_KERNEL", "RT code": "IN_RT",
    "RT code, ring 3": "IN_RT_RING3", "Linux's": "0", "the task's": "1", "any": "ANY",
    "yes": "1", "no": "0", "on": "1", "off": "0", "runs now": "1", "is logged": "0",
}


def rows(page: str, table: str) -> list[list[str]]:
    """The cells of a marked table, without its head."""
    body = page.split(f"<!-- table: {table} -->\n", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")]
            for line in body.splitlines()[2:]]


def header(page: str) -> str:
    """The text of state_rows.h; KeyError for a word that a table must not hold."""
    text = ("/* SPDX-" "License-Identifier: GPL-2.0-only */\n"
            "/* Made by state_rows.py from the tables of docs/pipeline.md. */\n")
    for table in ("interrupts", "exceptions"):
        text += f"static const struct state_{table[:-1]} state_{table}[] = {{\n"
        for row in rows(page, table):
            text += "\t{ " + ", ".join(WORDS[cell] for cell in row) + " },\n"
        text += "};\n"
    return text


if __name__ == "__main__":
    print(header(PAGE.read_text(encoding="utf-8")), end="")
