# SPDX-License-Identifier: GPL-2.0-only
"""Shell blocks of pages that run as they stand; what a page shows behind its block is compared."""
from __future__ import annotations

import re

import pytest
from test_commands import blocks

from harness import TOP
from harness.bench.common import cache_dir
from harness.pages import shell

# A page, and how its block begins -> a pattern of what is printed; "": what the page shows next.
LITERAL = {
    ("docs/testing.md", "tests/vm/vm run -- uname"):
        r"6\.1\.0-\S+\n(/dev/rtf\S+\n)+active\n(?s:.*)tactus: active: mode pipeline(?s:.*)",
    ("examples/finegrain/README.md", "tests/vm/vm run"): "",
    ("examples/hello/README.md", "tests/vm/vm run"): r"(?:\S.*\n){3}",
}


def shown_behind(page: str, block: str) -> str:
    """The first indented part behind a block, without the indent."""
    indented = re.sub("^(?=.)", "    ", block, flags=re.M)
    behind = page.partition(indented)[2]
    found = re.search(r"(?<=\n\n)((?:    .*\n)+)", behind)
    assert found, "the page shows nothing behind it"
    return re.sub("^    ", "", found[1], flags=re.M)


@pytest.mark.slow
@pytest.mark.parametrize(("page", "begins"), LITERAL, ids=lambda word: word.replace("/", "-"))
def test_a_block_runs_as_it_stands(page: str, begins: str) -> None:
    text = (TOP / page).read_text(encoding="utf-8")
    [block] = [one for one in blocks(text) if one.startswith(begins)]
    output = shell(block, TACTUS_CACHE=str(cache_dir()))
    if pattern := LITERAL[page, begins]:
        assert re.fullmatch(pattern, output), output
    else:
        assert output == shown_behind(text, block)


def test_the_shown_part_is_found() -> None:
    page = "say\n\n    a b\n        c\n\nIt prints:\n\n    one\n    two\n\nand so on\n"
    assert shown_behind(page, "a b\n    c\n") == "one\ntwo\n"
