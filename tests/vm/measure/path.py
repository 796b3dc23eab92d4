# SPDX-License-Identifier: GPL-2.0-only
"""Where the time of a release goes: its instructions by stage, and the memory that it touches.

A plug-in of the emulator (path_trace.c) writes down every instruction before and after the first of
an RT task's job (tests/vm/measure/modules/path_mark.h). A release begins at the first instruction
of the interrupt's gate; it ends at the job's first one. The way back ends at the return from that
interrupt.

What a release was late beyond its instructions, the CPU had its interrupts off: the code that ran
when it was due is named.

Lines and pages have owners: whoever executes or touches them, Linux before all others. Owner by
owner there is a floor, too: so few lines would hold the bytes that were executed, or touched.
"""

from __future__ import annotations

import argparse
import bisect
import json
import re
import struct
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import programs
from harness.bench.plugins import plugin

from . import figures
from .figures import MeasureError

SOURCE = Path(__file__).with_name("path_trace.c")
MOST = 250	# releases: the module keeps the lateness of some more

# Whose a line or a page is, the first of those who use it.
OWNERS = ("hardware", "Linux", "Tactus", "job")
# The kernel's map of devices' registers; of these a release needs the APIC's only.
FIXMAP = range(0xffffffffff200000, 0xffffffffff600000)
# Where each CPU has the stacks that it enters the kernel on.
ENTRY_AREA = range(0xfffffe0000000000, 0xfffffe8000000000)
# Beyond that a variable does not reach.
FARTHEST = 0x2000

# A record of the plug-in: address, kind, length.
RECORD = struct.Struct("<QII")
INSTRUCTION, LOAD, STORE, HERE = range(4)

# Stages by the names of functions, the first that matches; what matches none belongs to its caller.
STAGES = tuple((stage, re.compile(names)) for stage, names in (
    ("entry", r"asm_|irq_entries|error_entry|common_interrupt|paranoid|sync_regs|pl_gate|pl_thunk"),
    ("return", r"error_return|swapgs_restore|restore_regs|native_i?ret|native_irq_return|irqentry"),
    ("clock", r"pl_clock|pl_tsc_clock|rt_get_time"),
    ("one-shot", r"pl_oneshot|program|pl_timer_arm|count_arm|deadline_arm|native_apic|pl_shot"),
    ("release", r"rt_exec_timer|core_release|begin_job|set_job|await_release|rq_enqueue|timerq|"
                r"core_budget|core_watch"),
    ("policy", r"fixed_priority|pick_first|core_pick|rt_rq_|ignore$"),
    ("switch", r"rt_exec_resched|rt_exec_switch|rt_switch|rt_fp|rt_exec_job_done|resched$"),
    ("call", r"rt_task_wait|rt_exec_note|core_wait|rt_context|pl_oob$|pl_in_irq"),
    ("dispatch", r"pl_|irq_(enter|exit)"),
    ("job", r"rt_measure"),
))


@dataclass
class Share:
    """What one owner has of a part."""

    code_lines: int = 0
    code_floor: int = 0
    data_lines: int = 0
    data_floor: int = 0
    pages: int = 0


@dataclass(frozen=True)
class Line:
    """One cache line."""

    owner: str
    kind: str
    """code or data"""
    address: int
    used: int
    """How many of its 64 bytes."""
    name: str
    """What lies there, as far as a symbol says so."""
    users: tuple[str, ...]
    """The functions that it is part of, or that touch it."""


@dataclass
class Part:
    """One direction: up to the job, or back from it."""

    stages: Counter[str] = field(default_factory=Counter)
    functions: Counter[str] = field(default_factory=Counter)
    code_lines: int = 0
    data_lines: int = 0
    pages: int = 0
    shares: dict[str, Share] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)

    @property
    def instructions(self) -> int:
        """All of them."""
        return sum(self.stages.values())


@dataclass(frozen=True)
class Release:
    """One release, late by late_ns in all."""

    late_ns: int
    to_job: Part
    back: Part
    held: str
    """The code that ran when it was due."""


class Symbols:
    """/proc/kallsyms; a CPU's own variables are where its begin."""

    def __init__(self, text: str, per_cpu: int = 0) -> None:
        rows = [(int(words[0], 16), words[1], words[2], "".join(words[3:]))
                for words in map(str.split, text.splitlines())]
        found = sorted({(address, name, module) for address, kind, name, module in rows
                        if kind in "tTwW"})
        self._at = [address for address, _, _ in found]
        self._names = [name for _, name, _ in found]
        self._modules = [module.strip("[]") for _, _, module in found]
        data = sorted({(address + (per_cpu if kind in "aA" else 0), name)
                       for address, kind, name, _ in rows if kind in "aAbBdDrR"})
        self._data_at = [address for address, _ in data]
        self._data = [name for _, name in data]

    def of(self, address: int) -> tuple[str, int]:
        """(the function at an address, how far in)."""
        place = bisect.bisect_right(self._at, address) - 1
        if place < 0 or address < 1 << 63:
            return "user mode", address
        return self._names[place], address - self._at[place]

    def data(self, address: int) -> str:
        """What a data line at an address belongs to: a variable, or a region; "" if unknown."""
        if address in FIXMAP:
            return "the APIC's registers"
        if address in ENTRY_AREA:
            return "the stack that the CPU enters on"
        place = bisect.bisect_right(self._data_at, address) - 1
        offset = address - self._data_at[place] if place >= 0 else FARTHEST
        return f"{self._data[place]}+{offset:#x}" if offset < FARTHEST else ""

    def owner(self, address: int) -> str:
        """Whose the code at an address is."""
        module = self._modules[max(0, bisect.bisect_right(self._at, address) - 1)]
        return "Linux" if not module else "Tactus" if module.startswith("tactus") else "job"


def _sum(shares: Iterable[Share]) -> Share:
    return Share(*(sum(column) for column in zip(*(vars(one).values() for one in shares),
                                                 strict=True)))


def _stage(name: str, before: str) -> str:
    return next((stage for stage, names in STAGES if names.match(name)), before)


def _shares(used: Mapping[tuple[str, int], str]) -> dict[str, Share]:
    """Of bytes, each ("code" or "data", its address) with its first owner."""
    def first(bits: int, both: str = "") -> dict[tuple[str, int], str]:
        found: dict[tuple[str, int], str] = {}
        for (kind, address), owner in used.items():
            place = (both or kind, address >> bits)
            found[place] = min(owner, found.get(place, owner), key=OWNERS.index)
        return found

    shares = {owner: Share() for owner in OWNERS}
    lines = first(6)
    count: Counter[tuple[str, str]] = Counter(
        (kind, lines[kind, address >> 6]) for kind, address in used)
    for (kind, _), owner in lines.items():
        name = f"{kind}_lines"
        setattr(shares[owner], name, getattr(shares[owner], name) + 1)
    for (kind, owner), octets in count.items():
        setattr(shares[owner], f"{kind}_floor", -(-octets // 64))
    for owner in first(12, "code or data").values():
        shares[owner].pages += 1
    return shares


def _lines(used: Mapping[tuple[str, int], str], users: Mapping[tuple[str, int], set[str]],
           symbols: Symbols) -> list[Line]:
    """The lines of these bytes; @users: of each line the functions."""
    octets: dict[tuple[str, int], list[int]] = {}
    for kind, address in used:
        octets.setdefault((kind, address >> 6), []).append(address)
    lines = []
    for (kind, line), found in octets.items():
        if kind == "code":
            # Several short functions may share it: the first one's name, and where it is used.
            name, offset = symbols.of(min(found))
            name = f"{name}+{offset:#x}"
        else:
            name = symbols.data(min(found))
        owner = min((used[kind, address] for address in found), key=OWNERS.index)
        lines.append(Line(owner, kind, line << 6, len(found), name,
                          tuple(sorted(users[kind, line]))))
    return sorted(lines, key=lambda one: (OWNERS.index(one.owner), one.kind, one.address))


def _part(records: Sequence[tuple[int, int, int]], symbols: Symbols) -> Part:
    part, stage, runs = Part(), "entry", "Linux"
    used: dict[tuple[str, int], str] = {}
    users: dict[tuple[str, int], set[str]] = {}
    name = ""
    for address, kind, length in records:
        octets = range(address, address + max(1, length))
        if kind in (INSTRUCTION, HERE):
            name, _ = symbols.of(address)
        for line in range(octets[0] >> 6, (octets[-1] >> 6) + 1):
            users.setdefault(("code" if kind in (INSTRUCTION, HERE) else "data", line),
                             set()).add(name)
        if kind in (INSTRUCTION, HERE):
            stage, runs = _stage(name, stage), symbols.owner(address)
            part.stages[stage] += 1
            part.functions[name] += 1
            used |= {("code", octet): runs for octet in octets}
            continue
        owner = "hardware" if address in FIXMAP else runs
        for octet in octets:
            used["data", octet] = min(owner, used.get(("data", octet), owner), key=OWNERS.index)
    part.shares = _shares(used)
    part.lines = _lines(used, users, symbols)
    part.code_lines = sum(share.code_lines for share in part.shares.values())
    part.data_lines = sum(share.data_lines for share in part.shares.values())
    part.pages = sum(share.pages for share in part.shares.values())
    return part


def analyze(trace: bytes, kallsyms: str, late_ns: Sequence[int],
            per_cpu: int = 0) -> list[Release]:
    """The releases in what the plug-in wrote; MeasureError where it is not what it should be."""
    symbols = Symbols(kallsyms, per_cpu)
    records = list(RECORD.iter_unpack(trace[:len(trace) // RECORD.size * RECORD.size]))
    marks = [place for place, record in enumerate(records) if record[1] == HERE]
    if not marks or len(late_ns) != len(marks):
        raise MeasureError(f"{len(marks)} marks for {len(late_ns)} releases")
    releases = []
    # The first was released by its call, and the emulator translated anew meanwhile.
    for number, mark in list(enumerate(marks))[1:]:
        begin = mark
        while begin > marks[number - 1] + 1:
            begin -= 1
            if records[begin][1] == INSTRUCTION:
                name, offset = symbols.of(records[begin][0])
                if name.startswith("asm_") and not offset:
                    break
        else:
            raise MeasureError(f"release {number}: no interrupt before its job")
        end = mark + 1
        last = marks[number + 1] if number + 1 < len(marks) else len(records)
        while end < last and not (records[end][1] == INSTRUCTION
                                  and symbols.of(records[end][0])[0] == "native_irq_return_iret"):
            end += 1
        if end == last:
            raise MeasureError(f"release {number}: its interrupt does not return")
        # What the gate itself pushes and reads comes before its first instruction.
        to_job = _part(records[begin:mark], symbols)
        back = _part(records[mark:end + 1], symbols)
        hold = max(0, late_ns[number] - to_job.instructions)
        # The hold-th instruction before the gate: it ran when the release was due.
        place, left = begin, max(1, hold)
        while left and place:
            place -= 1
            left -= records[place][1] == INSTRUCTION
        releases.append(Release(late_ns[number], to_job, back, symbols.of(records[place][0])[0]))
    return releases


def measure(releases: int = 100, load: str = "none", kernel: str = "6.1",
            flavour: str = "cloud") -> list[Release]:
    """Trace so many releases of a 1 kHz task; MeasureError when the trace is not whole."""
    if not 2 <= releases <= MOST:
        raise MeasureError(f"releases must be 2 to {MOST}: {releases}")
    with tempfile.TemporaryDirectory() as scratch:
        trace, names = Path(scratch, "trace"), Path(scratch, "kallsyms")
        text = figures.boot(
            "ip link set lo up; cat /proc/kallsyms > /tmp/names; ./measure file /proc/rt_measure "
            f"'path 1000000 0 5 {releases}' --load={load}; "
            "cd /sys/module/rt_measure/parameters; cat path_ns path_base",
            "--icount", "--busy", "--timeout=900", "--modules=tactus gravity=0 rt_measure",
            f"--put={programs.build('measure')}", f"--get=/tmp/names:{names}",
            f"--qemu=-plugin {plugin(SOURCE)},out={trace}", kernel=kernel, flavour=flavour)
        late, per_cpu = text.strip().splitlines()[-2:]
        return analyze(trace.read_bytes(), names.read_text(encoding="ascii"),
                       [int(word) for word in late.split(",")], int(per_cpu))


def as_dict(releases: Sequence[Release]) -> dict[str, dict[str, Any]]:
    """The typical release (the median) and the latest, for programs."""
    ordered = sorted(releases, key=lambda one: one.late_ns)
    return {name: {"late_ns": one.late_ns, "held_ns": one.late_ns - one.to_job.instructions,
                   "held_by": one.held,
                   **{direction: {"instructions": part.instructions, "stages": dict(part.stages),
                                  "functions": dict(part.functions), "code_lines": part.code_lines,
                                  "data_lines": part.data_lines, "pages": part.pages,
                                  "shares": {owner: vars(share) for owner, share
                                             in part.shares.items()}}
                      for direction, part in (("to_job", one.to_job), ("back", one.back))}}
            for name, one in (("median", ordered[len(ordered) // 2]), ("worst", ordered[-1]))}


def table(releases: Sequence[Release]) -> str:
    """For people."""
    ordered = sorted(releases, key=lambda one: one.late_ns)
    chosen = (ordered[len(ordered) // 2], ordered[-1])
    lines = [f"{'instructions':<22} {'median: to job':>15} {'back':>6} "
             f"{'worst: to job':>15} {'back':>6}"]
    rows: list[tuple[str, list[int]]] = [
        (stage, [part.stages[stage] for one in chosen for part in (one.to_job, one.back)])
        for stage, _ in STAGES]
    for title, name in (("all", "instructions"), ("cache lines of code", "code_lines"),
                        ("cache lines of data", "data_lines"), ("pages", "pages")):
        rows.append((title, [getattr(part, name) for one in chosen
                             for part in (one.to_job, one.back)]))
    lines += [f"{title:<22} {a:>15} {b:>6} {c:>15} {d:>6}" for title, (a, b, c, d) in rows]
    for name, one in zip(("median", "worst"), chosen, strict=True):
        hold = one.late_ns - one.to_job.instructions
        lines.append(f"{name}: {one.late_ns} ns late; due {hold} ns before the interrupt's gate, "
                     f"in {one.held}")
    return "\n".join(lines)


def owners(releases: Sequence[Release]) -> str:
    """Whose the median release's lines and pages are, and the floor: so few lines would do."""
    one = sorted(releases, key=lambda one: one.late_ns)[len(releases) // 2]
    lines = [f"{'up to the job':<14} {'code':>5} {'floor':>6} {'data':>5} {'floor':>6} "
             f"{'pages':>6}"]
    rows = [*one.to_job.shares.items(), ("all", _sum(one.to_job.shares.values()))]
    lines += [f"{owner:<14} {share.code_lines:>5} {share.code_floor:>6} {share.data_lines:>5} "
              f"{share.data_floor:>6} {share.pages:>6}" for owner, share in rows]
    return "\n".join(lines)


def all_lines(releases: Sequence[Release]) -> str:
    """Each line that the median release touches up to the job."""
    one = sorted(releases, key=lambda one: one.late_ns)[len(releases) // 2]
    return "\n".join(f"{line.owner:<9} {line.kind} {line.address:#x} {line.used:>2} of 64  "
                     f"{line.name or 'without a name'}: {', '.join(line.users)}"
                     for line in one.to_job.lines)


def functions(releases: Sequence[Release]) -> str:
    """The median release's functions."""
    one = sorted(releases, key=lambda one: one.late_ns)[len(releases) // 2]
    return "\n".join(f"{title:<8} {name:<36} {count:>4}" for title, part in
                     (("to job", one.to_job), ("back", one.back))
                     for name, count in part.functions.most_common())


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    releases = measure(options.releases, options.load, options.kernel, options.flavour)
    text = f"{table(releases)}\n{owners(releases)}"
    text += f"\n{functions(releases)}" if options.functions else ""
    text += f"\n{all_lines(releases)}" if options.lines else ""
    yield figures.Outcome([json.loads(json.dumps(as_dict(releases)))], text)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--releases", type=int, default=100, help="how many; default %(default)s")
    parser.add_argument("--load", default="none", help="of tools/measure; default %(default)s")
    parser.add_argument("--functions", action="store_true", help="each function of the median")
    parser.add_argument("--lines", action="store_true",
                        help="each cache line of the median up to its job, and who uses it")


MEASUREMENTS = (figures.Measurement(
    "path", "the instructions of a release by stage, and the cache lines and pages it touches",
    _run, _add_options),)
