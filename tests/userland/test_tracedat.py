# SPDX-License-Identifier: GPL-2.0-only
"""`tactus trace export --trace-dat`, as trace-cmd reads it."""
from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tactus import cli, tracedat, tracing
from tactus.tracing import Event, LinuxSwitch, Recording

# b interrupts bash and then idle; an RT interrupt; 0.3 s later Linux goes on.
EVENTS = """\
   0 900 timer    - user
   0 950 start    b 890
   0 1500 irq      b 9
   0 1600 irq_end  b 9
   0 1900 complete b 890
   1 2000 start    c 1990
   1 2100 complete c 1990
   0 21200 start    b 20890
   0 22000 complete b 20890
"""
LINUX = [LinuxSwitch(0, 500, "bash 71"), LinuxSwitch(0, 5000, "swapper"),
         LinuxSwitch(1, 100, "two words 8"), LinuxSwitch(0, 300_000_000, "bash 71")]
LINE = re.compile(r"\[(\d+)\]\s+(\d+)\.(\d{9}): (\w+):\s+(.*)")


def report(file: Path) -> list[tuple[int, int, str, str]]:
    """(CPU, ns, event, what) of each line of `trace-cmd report`."""
    done = subprocess.run(["trace-cmd", "report", "-t", "-i", file], capture_output=True, text=True,
                          check=True)
    assert not done.stderr, done.stderr
    return [(int(m[1]), int(m[2]) * 10**9 + int(m[3]), m[4], m[5])
            for m in LINE.finditer(done.stdout)]


def test_trace_cmd_reads_it(tmp_path: Path) -> None:
    kept, out = tmp_path / "a.json", tmp_path / "trace.dat"
    Recording("6.1", tracing.parse_events(EVENTS), linux=LINUX).write(kept)
    assert cli.main(["trace", "export", str(kept), "--trace-dat", str(out)]) == 0
    rows = report(out)
    switches = [(cpu, ns, re.sub(r":\d+ \[\d+\]( R)?", "", what))
                for cpu, ns, event, what in rows if event == "sched_switch"]
    assert switches == [
        (1, 100, "swapper ==> two words"), (0, 500, "swapper ==> bash"),
        (0, 950, "bash ==> RT b"),
        (0, 1900, "RT b ==> bash"), (1, 2000, "two words ==> RT c"),
        (1, 2100, "RT c ==> two words"), (0, 5000, "bash ==> swapper"),
        (0, 21200, "swapper ==> RT b"), (0, 22000, "RT b ==> swapper"),
        (0, 300_000_000, "swapper ==> bash")]
    others = [(ns, what) for _, ns, event, what in rows if event == "rt"]
    assert others == [(900, "timer Linux in user"), (1500, "irq b interrupt 9"),
                      (1600, "irq_end b interrupt 9"), (1900, "complete b"), (2100, "complete c"),
                      (22000, "complete b")]


def test_many_pages(tmp_path: Path) -> None:
    """Events of a CPU fill 4096 bytes many times; none is lost, and times stay exact."""
    events = [Event(0, n * 1000 + add, kind, "a", str(n * 1000))
              for n in range(5000) for kind, add in (("start", 7), ("complete", 300))]
    out = tmp_path / "trace.dat"
    out.write_bytes(tracedat.trace_dat(Recording("6.1", events)))
    rows = report(out)
    assert [ns for _, ns, event, _ in rows if event == "sched_switch"] == [
        n * 1000 + add for n in range(5000) for add in (7, 300)]
    assert sum(event == "rt" for *_, event, _ in rows) == 5000


def test_nothing_at_all(tmp_path: Path) -> None:
    out = tmp_path / "trace.dat"
    out.write_bytes(tracedat.trace_dat(Recording("6.1", [])))
    assert report(out) == []
