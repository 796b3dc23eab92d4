# SPDX-License-Identifier: GPL-2.0-only
"""What tools/cli-room counts, on a listing whose answers are known."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TOOL = Path(__file__).resolve().parents[1] / "tools" / "cli-room"

LISTING = """
0000000000001000 <a>:
    1000:\tcli
    1001:\tmov    %rax,%rbx
    1004:\tmov    %rbx,%rcx
    1007:\tsti
    1008:\tret

0000000000001010 <b>:
    1010:\tpush   %rbx
    1011:\tsti
    1012:\tcall   1000 <a>
    1017:\tjmp    1018 <b+0x8>
    1018:\tpushf
    1019:\tpop    %rax
    101a:\tcli
    101b:\tret
"""


def tool() -> Any:
    loader = importlib.machinery.SourceFileLoader("cli_room", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("cli_room", loader))
    sys.modules["cli_room"] = module
    loader.exec_module(module)
    return module


def count(listing: str) -> dict[str, dict[str, int]]:
    return {name: dict(rooms) for name, rooms in tool().count(listing.splitlines()).items()}


def test_room_ends_at_branches_their_targets_and_functions() -> None:
    assert count(LISTING) == {"cli": {"forwards": 1, "none": 1},
                              "sti": {"backwards": 1, "none": 1},
                              "pushf-pop": {"none": 1}}


def test_a_branch_between_takes_the_room() -> None:
    """A target inside of the bytes that a jump would cover."""
    rooms = count(LISTING.replace("jmp    1018 <b+0x8>", "jmp    1004 <a+0x4>"))
    assert rooms["cli"] == rooms["sti"] == {"none": 2}


def image(words: Sequence[int], table: Sequence[tuple[int, int]]) -> Any:
    """What the listing reads of a kernel whose .text is that of LISTING: data, and an exception
    table of (where in it, what it names)."""
    tables = bytearray(8)
    for at, to in table:
        struct.pack_into("<i", tables, at, to - (0x3000 + at))
    return tool().Image(b"", {".text": (6, 0x1000, b"\0" * 0x20),
                              ".data": (3, 0x2000, struct.pack(f"<{len(words)}Q", *words)),
                              "__ex_table": (2, 0x3000, bytes(tables))})


def listed(words: Sequence[int] = (), table: Sequence[tuple[int, int]] = (),
           hard: Sequence[tuple[int, int]] = ()) -> list[str]:
    return list(tool().listing(LISTING.splitlines(), image(words, table), list(hard)))


def test_the_list_names_each_place_and_what_a_jump_would_cover() -> None:
    assert listed() == ["1000 cli forwards 1000 7 a", "1007 sti none 1007 1 a",
                        "1011 sti none 1011 1 b", "1018 pushf-pop none 1018 2 b",
                        "101a cli none 101a 1 b"]


def test_what_data_points_to_is_not_covered() -> None:
    """A jump table's word, and an instruction that may fault."""
    assert listed(words=[0x1004])[0] == "1000 cli none 1000 1 a"
    assert listed(table=[(4, 0x1001)])[0] == "1000 cli none 1000 1 a"


def test_what_stays_hard_is_named() -> None:
    assert listed(hard=[(0x1010, 0x1020)])[2:] == ["1011 sti hard 1011 1 b",
                                                   "1018 pushf-pop hard 1018 1 b",
                                                   "101a cli hard 101a 1 b"]
