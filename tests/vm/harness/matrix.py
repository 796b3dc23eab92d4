# SPDX-License-Identifier: GPL-2.0-only
"""What works on which stock kernel: each check on each, as a table and as JSON.

    tests/vm/python -m harness.matrix                        every kernel; some 15 minutes
    tests/vm/python -m harness.matrix 6.12:cloud 7:generic   these only

Checks, on one CPU in virtual time:

    slots     the run-time scan finds exactly the sites that the kernel's image lists
    text      after unloading, all code of the kernel is what it was before, byte for byte
    hello     an RT task's words arrive through its FIFO
    fifo      both directions carry a known stream
    unload    all modules go
    tick, task  max lateness in ns of a raw RT tick and of an RT task's release: idle, under load,
              and under load beside interrupts-off sections of 20 ms; at most 1000 and 2000

A kernel that refuses is shown with its reason. Figures go to out/matrix.json.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from measure.lateness import LIMIT_NS, MAIN_CONDITIONS, Case, MeasureError, complaints, measure_all

from . import FINAL_CLOCK, VM, programs
from .bench import kernels
from .bench.common import TREE, BenchError
from .truth import found_sites, true_sites

OUT = TREE / "out" / "matrix.json"

ALL = [(series, flavour) for series in kernels.SUITES for flavour in kernels.FLAVOURS]
# What the test suite looks at, first those of every day; `make test-matrix` looks at all.
# 6.1 is what all other tests are about.
TESTED = [("6.12", "cloud"), ("7", "cloud")]
MOST = [*TESTED, ("6.1", "cloud"), ("6.1", "generic"), ("6.12", "generic")]

FUNCTIONS = ("slots", "text", "hello", "fifo", "unload")
KINDS = ("tick", "task")
SECONDS = 0.3
_TIMEOUT_S = 300

_SCRIPT = FINAL_CLOCK + """
./ktext save /tmp/before || exit 1
modprobe tactus 2>&1 || { dmesg | sed -n 's/.*tactus: refused: /MATRIX refused /p'; exit 0; }
echo MATRIX slots; cat /sys/kernel/tactus/slots_list; echo MATRIX end
./ktext diff /tmp/before 2>/dev/null | sed 's/^/MATRIX active /'
modprobe rtfifo && modprobe fifo_test || exit 1
./fifo_check two_rings stream_out stream_in | sed 's/^/MATRIX fifo /'
modprobe rt_hello fifo=40 && head -n 3 /dev/rtf40 | sed 's/^/MATRIX hello /'
rmmod rt_hello fifo_test rtfifo tactus && echo MATRIX unload
./ktext diff /tmp/before | sed 's/^/MATRIX text /'
"""


@dataclass
class Row:
    """One kernel's results."""

    series: str
    flavour: str
    release: str = ""
    refused: str = ""
    """The module's reason, if it refused to load."""
    trouble: list[str] = field(default_factory=list)
    """What went wrong, one sentence each; empty if all is well."""
    passed: dict[str, bool] = field(default_factory=dict)
    """Check -> outcome, of FUNCTIONS."""
    max_ns: dict[str, dict[str, int]] = field(default_factory=dict)
    """Kind -> condition -> max lateness in ns."""
    sites: int = 0
    """cli, sti and save_fl sites that the image lists."""

    @property
    def name(self) -> str:
        return f"{self.series} {self.flavour}"

    @property
    def good(self) -> bool:
        """All checks were made and passed."""
        return not self.trouble and not self.refused


def functions(row: Row, text: str, true: dict[int, str]) -> None:
    """Judge what the guest printed against the true sites; fills in the row."""
    if refused := re.search(r"^MATRIX refused (.*)$", text, re.M):
        row.refused = refused[1].strip()
        return
    listing = re.search(r"^MATRIX slots\n(.*?)^MATRIX end$", text, re.M | re.S)
    found = found_sites(listing[1]) if listing else {}
    row.sites = len(true)
    differing = len(found.items() ^ true.items())
    fifo = re.findall(r"^MATRIX fifo (.*)$", text, re.M)

    def words(name: str) -> dict[str, int]:
        line = re.search(rf"^MATRIX {name} ktext: (.*)$", text, re.M)
        return {key: int(value)
                for key, value in re.findall(r"(\w+)=(\d+)", line[1] if line else "")}

    active, after = words("active"), words("text")
    row.passed = {
        "slots": len(true) > 1000 and not differing,
        # While active the text must differ, or the comparison would see nothing afterwards either.
        "text": active.get("different", 0) > 3000 and after.get("different") == 0
        and after.get("bytes", 0) > 8e6,
        "hello": re.findall(r"^MATRIX hello (.*)$", text, re.M) == ["hello, world"] * 3,
        "fifo": sorted(fifo) == ["ok stream_in", "ok stream_out", "ok two_rings"],
        "unload": re.search(r"^MATRIX unload$", text, re.M) is not None,
    }
    reasons = {"slots": f"{differing} of {len(true)} sites differ", "text": f"{active} {after}",
               "fifo": " ".join(fifo)}
    row.trouble += [f"{name}: {reasons.get(name, 'failed')}"
                    for name, passed in row.passed.items() if not passed]


def lateness(row: Row, seconds: float) -> None:
    """Measure tick and task under each condition; fills in the row."""
    cases = [Case(kind, condition, seconds)
             for kind in KINDS for condition in MAIN_CONDITIONS]
    try:
        results = measure_all(cases, kernel=row.series, flavour=row.flavour)
    except MeasureError as error:
        row.trouble.append(f"lateness: {error}")
        return
    for result in results:
        row.max_ns.setdefault(result.case.kind, {})[result.case.condition] = result.max_ns
        row.trouble += [f"{result.case.kind}, {result.case.condition}: {text}"
                        for text in complaints(result, LIMIT_NS[result.case.kind])]


def check(series: str, flavour: str, seconds: float = SECONDS) -> Row:
    """Make all checks on one kernel, in two boots."""
    row = Row(series, flavour)
    try:
        kernel = kernels.resolve(series, flavour)
    except BenchError as error:
        row.trouble.append(str(error))
        return row
    row.release = kernel.release
    command = [str(VM), "run", f"--kernel={series}", f"--flavour={flavour}", "--icount"]
    command += ["--append=nokaslr", f"--timeout={_TIMEOUT_S}", "--modules=tactus_core"]
    command += [f"--put={programs.build(name)}" for name in ("ktext", "fifo_check")]
    done = subprocess.run([*command, "--", _SCRIPT], capture_output=True, text=True,
                          errors="replace", check=False)
    if done.returncode:
        row.trouble.append(f"the bench exited with {done.returncode}: {done.stderr.strip()}")
        return row
    functions(row, done.stdout, true_sites(kernel.image))
    if not row.refused:
        lateness(row, seconds)
    return row


def table(rows: Sequence[Row]) -> str:
    """The rows as lines for people."""
    lines = [f"{'kernel':<28} " + " ".join(f"{name:<6}" for name in FUNCTIONS)
             + "".join(f" {kind + ' max ns':<15}" for kind in KINDS)]
    for row in rows:
        if row.refused:
            lines.append(f"{row.release:<28} refused: {row.refused}")
            continue
        marks = [{True: "ok", False: "FAIL", None: "-"}[row.passed.get(n)] for n in FUNCTIONS]
        figures = [" / ".join(str(row.max_ns.get(kind, {}).get(condition, "-"))
                              for condition in MAIN_CONDITIONS) for kind in KINDS]
        lines.append(f"{row.release or row.name:<28} " + " ".join(f"{mark:<6}" for mark in marks)
                     + "".join(f" {text:<15}" for text in figures))
    lines.append("max ns: idle / load / 20 ms irq-off; allowed: "
                 + ", ".join(f"{kind} {LIMIT_NS[kind]}" for kind in KINDS))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the kernels named, or all; 0 if all is well, 1 if not."""
    parser = argparse.ArgumentParser(prog="matrix.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="SERIES:FLAVOUR", help="default: all")
    parser.add_argument("--seconds", type=float, default=SECONDS,
                        help="virtual, per kind and condition; default %(default)s")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE", help="where the JSON goes")
    options = parser.parse_args(arguments)
    wanted = [tuple(name.split(":", 1)) for name in options.kernels] or ALL
    if unknown := [name for name in wanted if name not in ALL]:
        parser.error(f"no such kernel: {unknown}; there are "
                     + " ".join(":".join(name) for name in ALL))
    rows = []
    for series, flavour in wanted:
        begin = time.monotonic()
        row = check(series, flavour, options.seconds)
        rows.append(row)
        state = "refused" if row.refused else "ok" if row.good else "FAILED"
        print(f"{row.release or row.name}: {state} ({time.monotonic() - begin:.0f} s)",
              file=sys.stderr, flush=True)
    print(table(rows))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(
        json.dumps([dataclasses.asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    for row in rows:
        for text in row.trouble:
            print(f"FAILED: {row.release or row.name}: {text}", file=sys.stderr)
    return 0 if all(row.good or row.refused for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
