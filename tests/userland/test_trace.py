# SPDX-License-Identifier: GPL-2.0-only
"""`tactus trace` on a folder that looks like /sys, and the reasons that it finds."""
from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes import FakeMachine
from tactus import cli, ftrace, tracing
from tactus.tracing import LinuxSwitch, Recording

# a, released at 1000, is late by 45,000: 20,000 hard-off, 15,000 b, the rest the executive.
EVENTS = """\
   0  900 timer    - user
   0  910 release  b 890
   0  950 start    b 890
   0 1900 complete b 890
   0 21000 timer    - raw_store+0x1
   0 21100 release  b 20890
   0 21150 release  a 1000
   0 21200 start    b 20890
   0 36200 complete b 20890
   0 46000 start    a 1000
   0 47000 preempt  a 0
   1 47100 start    c 47050
   0 47200 resume   a 0
   0 47300 complete a 1000
"""


def recorded(**more: object) -> Recording:
    return Recording("6.1", tracing.parse_events(EVENTS), **more)  # type: ignore[arg-type]


def test_the_latest_start_is_explained() -> None:
    why = tracing.explain(recorded(smis=2, lost=7))
    assert why and (why.task, why.late_ns) == ("a", 45_000)
    found = {part.who: part.ns for part in why.parts}
    assert found["interrupts were hard-off until raw_store+0x1"] > 9_000
    assert found["RT task b ran"] == 15_000
    assert sum(found.values()) == 45_000
    assert why.notes[0].startswith("2 SMIs") and why.notes[1].startswith("7 older events")
    other = tracing.explain(recorded(), "c")
    assert other and other.late_ns == 50 and other.cpu == 1
    assert tracing.explain(recorded(), "nobody") is None


@pytest.mark.parametrize(("arg", "phrase"), [
    ("syscall:1@0x401234", "by system call 1, at 0x401234"),
    ("trap:14@0x10", "by exception 14, at 0x10"), ("leave:0@0x7", "by rt_leave(), at 0x7"),
    ("stopped:0@0x7", "by its budget or the watchdog, at 0x7")])
def test_a_demotion_is_in_the_listing_and_the_export(arg: str, phrase: str) -> None:
    events = tracing.parse_events(f"{EVENTS}   0  47250 demote   a {arg}\n")
    assert tracing.listing(events).splitlines()[-2].endswith(f"demote   a               {phrase}")
    rows = tracing.chrome(Recording("6.1", events))["traceEvents"]
    assert [row["args"] for row in rows if row["name"] == "demote"] == [{"arg": arg}]


# 9 runs before the timer can come, and within b.
INTERRUPTS = """\
   0 2000 irq      - 9
   0 12000 irq_end  - 9
   0 30000 irq      b 9
   0 31000 irq_end  b 9
"""


def test_rt_handlers_have_their_share() -> None:
    events = sorted(tracing.parse_events(EVENTS + INTERRUPTS), key=lambda e: (e.cpu, e.when))
    why = tracing.explain(Recording("6.1", events))
    assert why and sum(part.ns for part in why.parts) == why.late_ns == 45_000
    found: dict[str, int] = {}
    for part in why.parts:
        found[part.who] = found.get(part.who, 0) + part.ns
    assert found["the RT handler of interrupt 9 ran"] == 11_000
    assert found["RT task b ran"] == 14_000
    before = {part.who: part.ns for part in tracing.explain(recorded()).parts}  # type: ignore
    hard = "interrupts were hard-off until raw_store+0x1"
    assert found[hard] == before[hard] - 10_000
    rows = tracing.chrome(Recording("6.1", events))["traceEvents"]
    assert [row["dur"] for row in rows if row["name"] == "interrupt 9"] == [10, 1]  # type: ignore


def test_slices() -> None:
    found = [(s.cpu, s.task, s.start, s.end, s.done) for s in tracing.slices(recorded().events)]
    assert found == [(0, "b", 950, 1900, True), (0, "b", 21200, 36200, True),
                     (0, "a", 46000, 47000, False), (0, "a", 47200, 47300, True)]


def test_the_chart(tmp_path: Path) -> None:
    """Each piece a bar, each release an arrow, one chart a CPU."""
    out, kept = tmp_path / "a.svg", tmp_path / "a.json"
    recorded().write(kept)
    assert cli.main(["trace", "export", str(kept), "--svg", str(out), "--title", "a <run>"]) == 0
    text = out.read_text()
    assert text.count('class="run"') == 4 and "a &lt;run&gt;, CPU 0" in text
    assert text.count("m-3 5l3 -5l3 5") == 2  # of b's two, one lies before the first start
    empty = tmp_path / "empty.json"
    Recording("6.1", []).write(empty)
    assert cli.main(["trace", "export", str(empty), "--svg", str(out)]) == 1


def test_export(tmp_path: Path) -> None:
    text = ("  <idle>-0  [001] d..2. 3000: sched_switch: prev_comm=swapper/1 prev_pid=0 "
            "prev_prio=120 prev_state=R ==> next_comm=my tool next_pid=9 next_prio=120\n"
            "  my tool-9  [001] d..2. 5000: sched_switch: prev_comm=my tool prev_pid=9 "
            "prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120\n")
    linux = ftrace.parse(text, ((1000, 1000), (2000, 3000)))
    assert linux == [LinuxSwitch(1, 2000, "my tool 9"), LinuxSwitch(1, 3000, "swapper")]
    kept = tmp_path / "r.json"
    recorded(linux=linux).write(kept)
    out = tmp_path / "out.json"
    assert cli.main(["trace", "export", str(kept), "--perfetto", str(out)]) == 0
    rows = json.loads(out.read_text())["traceEvents"]
    (tool,) = [row for row in rows if row["name"] == "my tool 9"]
    assert (tool["pid"], tool["ts"], tool["dur"]) == (1, 2.0, 1.0)
    assert {row["args"]["name"] for row in rows if row["name"] == "process_name"} == {
        "CPU 0", "CPU 1"}
    assert len([row for row in rows if row["ph"] == "X"]) == 5


@pytest.mark.parametrize(("words", "sentence"), [
    (["export"], "export needs --perfetto OUT, --trace-dat"),
    (["record", "--events", "1"], "--events must be 2"),
    (["record", "--late-us", "0"], "must be above 0")])
def test_wrong_command_lines(words: list[str], sentence: str, machine: FakeMachine,
                             capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["trace", *words], machine) == 2
    assert sentence in capsys.readouterr().err


def test_sentences(machine: FakeMachine, tmp_path: Path,
                   capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["trace", "show"], machine) == 3
    assert "tactus is not loaded" in capsys.readouterr().err
    machine.write("/sys/kernel/tactus/state", "active\n")
    assert cli.main(["trace", "show"], machine) == 1
    assert "different versions" in capsys.readouterr().err
    machine.write("/sys/kernel/tactus/trace/slots", "0\n")
    assert cli.main(["trace", "show"], machine) == 1
    assert "no events are kept" in capsys.readouterr().err
    machine.write("/sys/kernel/tactus/trace/slots", "8\n")
    machine.write("/sys/kernel/tactus/trace/lost", "0\n")
    machine.write("/sys/kernel/tactus/events", EVENTS)
    assert cli.main(["trace", "show", "--task", "c"], machine) == 0
    assert "0.050 us late" in capsys.readouterr().out
    bad = tmp_path / "bad.json"
    bad.write_text("{}")
    assert cli.main(["trace", "show", str(bad)], machine) == 1
    assert "is not a recording" in capsys.readouterr().err
