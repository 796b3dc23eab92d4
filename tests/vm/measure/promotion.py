# SPDX-License-Identifier: GPL-2.0-only
"""Where the first way to RT mode goes: its instructions by what they are for, and by function.

The program user_costs marks its end, and the emulator's plug-in of the measurement ``path`` writes
down what ran before it. What Linux takes to pin each page is the least that is possible.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import programs
from harness.bench.plugins import plugin

from . import figures
from .figures import MeasureError
from .gate import ENTRY, USER
from .path import HERE, INSTRUCTION, RECORD, SOURCE, Symbols
from .user import WITH_300_PAGES

MOST = 1 << 21  # records: some 300,000 instructions, and their loads and stores

# By names of functions, the first that matches.
PARTS = tuple((part, re.compile(names)) for part, names in (
    ("Linux pins the pages", r".*(get_user_pages|gup_|try_grab|mod_node_page_state|follow_page)"),
    ("Linux zeroes new pages: an instruction a byte", r"clear_page|memset"),
    ("the page tables are filled", r"shadow_|run_of|make$|find_area|enter_|fill_|watch"),
))
REST = "all else: tables and stack allocated, the task made, switches"
ALL = "all"
PAGES = "pages pinned"


@dataclass(frozen=True)
class Part(figures.Result):
    """What one part takes; instructions, or pages."""

    name: str
    count: int


def part_of(function: str) -> str:
    """What a function is for."""
    return next((part for part, names in PARTS if names.match(function)), REST)


def one_way(trace: bytes, kallsyms: str) -> Counter[str]:
    """The functions from the last system call before the mark up to there; MeasureError if the
    beginning is not in the trace."""
    symbols, found, begun = Symbols(kallsyms), Counter[str](), False
    for address, kind, _ in RECORD.iter_unpack(trace[:len(trace) // RECORD.size * RECORD.size]):
        if kind == HERE:
            if not begun:
                break
            return found
        name = symbols.of(address)[0] if kind == INSTRUCTION else ""
        # Others of Linux's are before it: the thread's last one is read() of /dev/rt.
        if name == ENTRY and symbols.of(address)[1] == 0:
            found, begun = Counter(), True
        if name and begun:
            found[name] += 1
    raise MeasureError("no whole way to RT mode in the trace")


def measure(kernel: str = "6.1", flavour: str = "cloud") -> tuple[list[Part], Counter[str]]:
    """Its parts, and its functions; one boot."""
    with tempfile.TemporaryDirectory() as scratch:
        trace, names = Path(scratch, "trace"), Path(scratch, "kallsyms")
        text = figures.boot(f"cat /proc/kallsyms > /tmp/names; {WITH_300_PAGES}marked-promotion",
                            "--icount", "--timeout=600", "--modules=tactus rtfifo tactus_user",
                            f"--put={programs.build('user_costs')}", f"--get=/tmp/names:{names}",
                            f"--qemu=-plugin {plugin(SOURCE)},out={trace},before={MOST}",
                            kernel=kernel, flavour=flavour)
        functions = one_way(trace.read_bytes(), names.read_text(encoding="ascii"))
    pages = int(float(text.split()[-1]))
    parts = Counter[str]()
    for name, count in functions.items():
        parts[part_of(name)] += count
    rows = [Part(name, parts[name]) for name, _ in PARTS]
    return [*rows, Part(REST, parts[REST]), Part(ALL, functions.total()),
            Part(PAGES, pages)], functions


def table(parts: Sequence[Part]) -> str:
    """For people."""
    found = {part.name: part.count for part in parts}
    lines = [f"{count:>9,}  {name}" for name, count in found.items()]
    each = found[PARTS[0][0]] / found[PAGES]
    return "\n".join([*lines, f"{each:>9.0f}  for each page: no way to pin them is shorter"])


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    parts, functions = measure(options.kernel, options.flavour)
    text = table(parts)
    if options.functions:
        text += "".join(f"\n{count:>9,}  {name}" for name, count in functions.most_common(40)
                        if name != USER)
    yield figures.Outcome([part.as_dict() for part in parts], text)


MEASUREMENTS = (figures.Measurement(
    "promotion", "where a program's first way to RT mode goes: its instructions by function", _run,
    lambda parser: parser.add_argument("--functions", action="store_true",
                                       help="the 40 functions that take most")),)
