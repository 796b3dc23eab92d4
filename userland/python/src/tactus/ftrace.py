# SPDX-License-Identifier: GPL-2.0-only
"""Linux's own sched_switch events, by an instance of ftrace of our own, on the RT clock."""
from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tactus.errors import ToolError
from tactus.machine import Machine
from tactus.tracing import LinuxSwitch

INSTANCE = "/sys/kernel/tracing/instances/tactus"
CLOCK = "x86-tsc"
KBYTES = 4096
# "   sh-71   [000] d..2. 4711: sched_switch: prev_comm=sh ... ==> next_comm=a b next_pid=72 ..."
SWITCH = re.compile(r"\[(\d+)\]\s+(?:\S+\s+)?(\d+): sched_switch: .* ==> "
                    r"next_comm=(.*) next_pid=(\d+) next_prio=")


@contextmanager
def recording(machine: Machine) -> Iterator[Path]:
    """Linux's switches are noted meanwhile, in the instance's folder; it is gone afterwards."""
    folder = machine.path(INSTANCE)
    if not folder.parent.is_dir():
        raise ToolError("--linux needs the kernel's tracing: "
                        "mount -t tracefs nodev /sys/kernel/tracing")
    try:
        folder.mkdir()
    except FileExistsError as problem:
        raise ToolError(f"{folder} is there already: another recording, or rmdir it") from problem
    except OSError as problem:
        raise ToolError(f"{folder}: {problem.strerror}") from problem
    try:
        (folder / "trace_clock").write_text(CLOCK)
        (folder / "buffer_size_kb").write_text(str(KBYTES))
        (folder / "events/sched/sched_switch/enable").write_text("1")
        yield folder
    except OSError as problem:
        raise ToolError(f"{problem.filename}: {problem.strerror}") from problem
    finally:
        folder.rmdir()


def stop(folder: Path) -> None:
    (folder / "tracing_on").write_text("0")


def parse(text: str, clocks: tuple[tuple[int, int], tuple[int, int]]) -> list[LinuxSwitch]:
    """@clocks: two moments around what is in @text: ns of the RT clock, ticks of the TSC."""
    (ns0, tsc0), (ns1, tsc1) = clocks
    rate = (ns1 - ns0) / (tsc1 - tsc0) if tsc1 > tsc0 else 1.0
    found = []
    for match in SWITCH.finditer(text):
        cpu, tsc, name, pid = match.groups()
        task = "swapper" if pid == "0" else f"{name} {pid}"
        found.append(LinuxSwitch(int(cpu), ns0 + round((int(tsc) - tsc0) * rate), task))
    return sorted(found, key=lambda switch: switch.when)
