# SPDX-License-Identifier: GPL-2.0-only
"""What tools/cli-room counts, on a listing whose answers are known."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from pathlib import Path

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


def count(listing: str) -> dict[str, dict[str, int]]:
    loader = importlib.machinery.SourceFileLoader("cli_room", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("cli_room", loader))
    sys.modules["cli_room"] = module
    loader.exec_module(module)
    return {name: dict(rooms) for name, rooms in module.count(listing.splitlines()).items()}


def test_room_ends_at_branches_their_targets_and_functions() -> None:
    assert count(LISTING) == {"cli": {"forwards": 1, "none": 1},
                              "sti": {"backwards": 1, "none": 1},
                              "pushf-pop": {"none": 1}}


def test_a_branch_between_takes_the_room() -> None:
    """A target inside of the bytes that a jump would cover."""
    rooms = count(LISTING.replace("jmp    1018 <b+0x8>", "jmp    1004 <a+0x4>"))
    assert rooms["cli"] == rooms["sti"] == {"none": 2}
