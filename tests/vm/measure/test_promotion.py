# SPDX-License-Identifier: GPL-2.0-only
"""A promotion's instructions by function: from a trace made here, without a guest."""

from __future__ import annotations

import pytest

from .figures import MeasureError
from .path import HERE, INSTRUCTION, LOAD, RECORD
from .promotion import PARTS, REST, one_way, part_of

TOP = 1 << 63
KALLSYMS = f"""{TOP:x} T entry_SYSCALL_64
{TOP + 0x100:x} t shadow_fill [tactus_user]
{TOP + 0x200:x} t try_grab_folio
"""


def _trace(*records: tuple[int, int]) -> bytes:
    return b"".join(RECORD.pack(address, kind, 4) for address, kind in records)


def _run(*places: int) -> list[tuple[int, int]]:
    return [(TOP + place, INSTRUCTION) for place in places]


def test_the_last_call_counts() -> None:
    """Not an earlier one, nor loads, nor what is after the mark."""
    trace = _trace(*_run(0, 0x100, 0, 8, 0x100, 0x204), (TOP + 0x100, LOAD), (0x1000, INSTRUCTION),
                   (0x1004, HERE), *_run(0x100))
    assert one_way(trace, KALLSYMS) == {"entry_SYSCALL_64": 2, "shadow_fill": 1,
                                        "try_grab_folio": 1, "user mode": 1}


@pytest.mark.parametrize("trace", [_trace(), _trace(*_run(0, 8)), _trace(*_run(8), (0x1004, HERE))])
def test_a_trace_without_its_beginning_or_end(trace: bytes) -> None:
    with pytest.raises(MeasureError, match="no whole way"):
        one_way(trace, KALLSYMS)


def test_what_a_function_is_for() -> None:
    assert part_of("internal_get_user_pages_fast") == part_of("try_grab_folio") == PARTS[0][0]
    assert part_of("shadow_fill") == part_of("run_of") == PARTS[2][0]
    assert part_of("schedule") == part_of("make_task") == REST
