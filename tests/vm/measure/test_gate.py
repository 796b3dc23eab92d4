# SPDX-License-Identifier: GPL-2.0-only
"""A system call's instructions by function: from a trace made here, without a guest."""

from __future__ import annotations

from collections import Counter

import pytest

from .figures import MeasureError
from .gate import Stage, compare, one_call
from .path import HERE, INSTRUCTION, LOAD, RECORD

TOP = 1 << 63
KALLSYMS = f"""{TOP:x} T entry_SYSCALL_64
{TOP + 0x100:x} t pl_sti [tactus_core]
{TOP + 0x200:x} t asm_irq
"""


def _trace(*calls: list[int]) -> bytes:
    """Of each: a call that is not marked, the mark, and the marked one, with what else it runs."""
    records: list[tuple[int, int]] = []
    for call in calls:
        records += [(TOP, INSTRUCTION), (TOP + 0x200, INSTRUCTION), (0x1000, HERE),
                    (0x1007, INSTRUCTION), (TOP, INSTRUCTION), (TOP + 8, LOAD)]
        records += [(TOP + at, INSTRUCTION) for at in call]
        records += [(0x1009, INSTRUCTION), (TOP + 0x100, INSTRUCTION)]
    return b"".join(RECORD.pack(address, kind, 4) for address, kind in records)


def test_the_shortest_call_counts() -> None:
    """Not what is before the mark or after the return, nor loads, nor the last call."""
    trace = _trace([4, 0x100, 0x200, 0x204], [4, 0x100, 0x104], [])
    assert one_call(trace, KALLSYMS) == {"entry_SYSCALL_64": 2, "pl_sti": 2}


def test_a_trace_without_calls() -> None:
    with pytest.raises(MeasureError, match="1 system calls"):
        one_call(_trace([4]), KALLSYMS)


def test_what_differs_is_said() -> None:
    assert compare(Counter(a=3, b=2), Counter(a=3, b=1, c=5)) == [
        Stage("b", 2, 1), Stage("c", 0, 5), Stage("all", 5, 9)]
