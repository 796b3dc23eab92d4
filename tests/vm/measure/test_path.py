# SPDX-License-Identifier: GPL-2.0-only
"""Where the time of a release goes: from a trace made by hand, and from one of the bench."""

from __future__ import annotations

import pytest

from measure import path
from measure.figures import MeasureError
from measure.path import HERE, INSTRUCTION, LOAD, RECORD, STORE, Share

TOP = 0xffffffff81000000
NAMES = {"printer": 0, "asm_gate": 0x1000, "pl_irq": 0x2000, "helper": 0x2800,
         "rt_exec_timer": 0x3000, "core_pick": 0x4000, "rt_measure_fn": 0x5000,
         "native_irq_return_iret": 0x6000}
OURS = ("pl_irq", "rt_exec_timer", "core_pick")
MODULE = "\t[tactus]"
KALLSYMS = "".join(f"{TOP + at:x} t {name}{MODULE * (name in OURS)}\n"
                   for name, at in NAMES.items())


def trace(*parts: tuple[str, int, int]) -> bytes:
    """Records of (function, how far in, kind)."""
    return b"".join(RECORD.pack(TOP + NAMES[name] + offset, kind, 4)
                    for name, offset, kind in parts)


def release(held: int = 2) -> list[tuple[str, int, int]]:
    return [*(("printer", n, INSTRUCTION) for n in range(held)), ("asm_gate", 0, INSTRUCTION),
            ("asm_gate", 4, INSTRUCTION), ("pl_irq", 0, INSTRUCTION), ("helper", 0, INSTRUCTION),
            ("rt_exec_timer", 0, INSTRUCTION), ("printer", 0x100, LOAD), ("helper", 0, INSTRUCTION),
            ("core_pick", 0, INSTRUCTION), ("rt_measure_fn", 0, HERE),
            ("rt_measure_fn", 7, INSTRUCTION), ("printer", 0x140, STORE),
            ("native_irq_return_iret", 0, INSTRUCTION)]


def test_instructions_have_stages() -> None:
    found = path.analyze(trace(*release(), *release()), KALLSYMS, [9, 9])
    assert len(found) == 1  # the first is warm-up
    one = found[0]
    # A helper belongs to its caller's stage.
    assert one.to_job.stages == {"entry": 2, "dispatch": 2, "release": 2, "policy": 1}
    assert one.to_job.instructions == 7 and one.back.instructions == 3
    assert one.back.stages == {"job": 2, "return": 1}
    assert one.to_job.functions["helper"] == 2
    assert (one.to_job.code_lines, one.to_job.data_lines, one.to_job.pages) == (5, 1, 5)
    # The load is rt_exec_timer()'s, wherever it goes.
    assert one.to_job.shares["Linux"] == Share(2, 1, 0, 0, 2)
    assert one.to_job.shares["Tactus"] == Share(3, 1, 1, 1, 3)
    assert one.held == "printer"
    assert "printer" in path.table(found) and "helper" in path.functions(found)
    assert path.as_dict(found)["median"]["held_ns"] == 2


def test_each_line_is_named() -> None:
    """By what lies there and by who uses it; a CPU's own variables, too."""
    names = KALLSYMS + f"{TOP + 0x140:x} d table\n{0x20:x} a counter\t[tactus]\n"
    own = 0xffff888000000000
    pushed = b"".join(RECORD.pack(*record) for record in (
        (own + 0x28, STORE, 4), (0xfffffe0000002f40, LOAD, 8), (0xffffffffff5fd0b0, STORE, 4)))
    before, after = release()[:-4], release()[-4:]
    found = path.analyze(trace(*release(), *before) + pushed + trace(*after), names, [9, 9], own)
    lines = {line.address: line for line in found[0].to_job.lines}
    assert len(lines) == found[0].to_job.code_lines + found[0].to_job.data_lines
    assert lines[TOP + 0x1000] == path.Line("Linux", "code", TOP + 0x1000, 8, "asm_gate+0x0",
                                            ("asm_gate",))
    assert lines[own] == path.Line("Tactus", "data", own, 4, "counter+0x8", ("core_pick",))
    assert lines[TOP + 0x100].users == ("rt_exec_timer",) and not lines[TOP + 0x100].name
    assert lines[0xfffffe0000002f40].name == "the stack that the CPU enters on"
    assert lines[0xffffffffff5fd080].owner == "hardware"
    assert "4 of 64  counter+0x8: core_pick" in path.all_lines(found)


@pytest.mark.parametrize("broken", [
    [part for part in release() if part[0] != "asm_gate"],
    [part for part in release() if part[0] != "native_irq_return_iret"],
])
def test_what_is_not_whole_is_an_error(broken: list[tuple[str, int, int]]) -> None:
    with pytest.raises(MeasureError, match="release 1"):
        path.analyze(trace(*release(), *broken), KALLSYMS, [9, 9])


def test_marks_and_releases_must_agree() -> None:
    with pytest.raises(MeasureError, match="2 marks for 3 releases"):
        path.analyze(trace(*release(), *release()), KALLSYMS, [9, 9, 9])
    with pytest.raises(MeasureError, match="must be 2 to"):
        path.measure(1)


@pytest.mark.slow
def test_a_release_in_the_bench() -> None:
    """What the plug-in counts is what the clock says: all but the time before the gate."""
    found = path.measure(20)
    for one in found:
        assert 0 <= one.late_ns - one.to_job.instructions < 200
        stages = one.to_job.stages
        # The clock is read inline: it belongs to whoever reads it.
        assert all(stages[name] for name in ("entry", "dispatch", "one-shot", "release", "policy",
                                             "switch"))
        assert one.back.stages["return"] and 20 < one.to_job.data_lines < 200
