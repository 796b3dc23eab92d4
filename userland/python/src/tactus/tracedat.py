# SPDX-License-Identifier: GPL-2.0-only
"""A recording as trace.dat, the file of trace-cmd and KernelShark (trace-cmd.dat.v6(5)).

Events sched:sched_switch show what a CPU runs, as in Linux's own recordings: an RT task takes the
CPU from the thread of Linux that had it, and gives it back. The other events of the rings are
tactus:rt, a line of text each.
"""
from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from tactus.tracing import IDLE, LINUX, Event, Recording, describe, slices

PAGE = 4096
DATA = PAGE - 16
SWITCH, RT = 1, 2
COMM, TEXT = 16, 64
# Above all pids that Linux gives.
FIRST_PID = 1 << 22
# Of a thread of Linux: nobody asked for it.
PRIO = 120
RT_PRIO = 0
MOST_DELTA = (1 << 27) - 1
TIME_EXTEND = 30

HEADER_PAGE = """\
\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;
"""
HEADER_EVENT = """\
# compressed entry header
\ttype_len    :    5 bits
\ttime_delta  :   27 bits
\tarray       :   32 bits

\tpadding     : type == 29
\ttime_extend : type == 30
\ttime_stamp : type == 31
\tdata max type_len  == 28
"""
COMMON = """\
name: {name}
ID: {number}
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

"""
SWITCH_FORMAT = COMMON.format(name="sched_switch", number=SWITCH) + """\
\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;
\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;

print fmt: "prev_comm=%s prev_pid=%d prev_prio=%d ==> next_comm=%s next_pid=%d next_prio=%d", \
REC->prev_comm, REC->prev_pid, REC->prev_prio, REC->next_comm, REC->next_pid, REC->next_prio
"""
RT_FORMAT = COMMON.format(name="rt", number=RT) + """\
\tfield:char text[64];\toffset:8;\tsize:64;\tsigned:0;

print fmt: "%s", REC->text
"""


@dataclass(frozen=True)
class Task:
    """What has a CPU: an RT task, or a thread of Linux."""

    name: str
    pid: int
    prio: int = PRIO

    def fields(self) -> tuple[bytes, int, int]:
        return self.name.encode()[:COMM - 1], self.pid, self.prio


NOBODY = Task(IDLE, 0)


def linux_task(text: str) -> Task:
    """"name pid", as ftrace.parse() has it."""
    name, _, pid = text.rpartition(" ")
    return Task(name, int(pid)) if name and pid.isdecimal() else NOBODY


def record(kind: int, pid: int, body: bytes) -> bytes:
    return struct.pack("<HBBi", kind, 0, 0, pid) + body


def switch(before: Task, after: Task) -> bytes:
    prev, following = before.fields(), after.fields()
    return record(SWITCH, before.pid, struct.pack("<16siiq16sii", *prev, 0, *following))


def changes(recording: Recording, cpu: int, rt: dict[str, Task]) -> Iterator[tuple[int, bytes]]:
    """(ns, an event) of a CPU, in the order of time."""
    points: list[tuple[int, int, str, object]] = [
        (one.when, 1, "linux", linux_task(one.task)) for one in recording.linux if one.cpu == cpu]
    for piece in slices(recording.events):
        if piece.cpu == cpu:
            points += [(piece.start, 2, "rt", rt[piece.task]), (piece.end, 0, "rt", None)]
    points += [(event.when, 3, "event", event) for event in recording.events
               if event.cpu == cpu and event.kind not in ("start", "resume")]
    linux, running, shown = NOBODY, None, NOBODY
    for when, _, what, new in sorted(points, key=lambda point: point[:2]):
        if what == "event":
            assert isinstance(new, Event)
            name = "Linux" if new.task == LINUX else new.task
            text = f"{new.kind} {name} {describe(new)}".rstrip().encode()[:TEXT - 1]
            yield when, record(RT, shown.pid, text.ljust(TEXT, b"\0"))
            continue
        if what == "linux":
            assert isinstance(new, Task)
            linux = new
        else:
            assert new is None or isinstance(new, Task)
            running = new
        now = running or linux
        if now != shown:
            yield when, switch(shown, now)
            shown = now


def pages(events: Iterator[tuple[int, bytes]]) -> bytes:
    """The ring buffer's pages of a CPU."""
    made: list[bytes] = []
    data, begun, last = b"", 0, 0

    def close() -> None:
        if data:
            made.append((struct.pack("<QQ", begun, len(data)) + data).ljust(PAGE, b"\0"))

    for when, body in events:
        when = max(when, last)
        if len(data) + 12 + len(body) > DATA:
            close()
            data = b""
        if not data:
            begun = last = when
        delta = when - last
        if delta > MOST_DELTA:
            data += struct.pack("<II", TIME_EXTEND | (delta & MOST_DELTA) << 5, delta >> 27)
            delta = 0
        data += struct.pack("<I", len(body) // 4 | delta << 5) + body
        last = when
    close()
    return b"".join(made)


def sized(form: str, data: bytes) -> bytes:
    return struct.pack(form, len(data)) + data


def trace_dat(recording: Recording) -> bytes:
    """The file."""
    names = list(dict.fromkeys(event.task for event in recording.events if event.task != LINUX))
    rt = {name: Task(f"RT {name}", FIRST_PID + n, RT_PRIO) for n, name in enumerate(names)}
    known = {task.pid: task for task in (
        NOBODY, *(linux_task(one.task) for one in recording.linux), *rt.values())}
    cpus = 1 + max([0, *(event.cpu for event in recording.events),
                    *(one.cpu for one in recording.linux)])
    rings = [pages(changes(recording, cpu, rt)) for cpu in range(cpus)]
    head = b"\x17\x08\x44tracing6\0\0\x08" + struct.pack("<I", PAGE)
    head += b"header_page\0" + sized("<Q", HEADER_PAGE.encode())
    head += b"header_event\0" + sized("<Q", HEADER_EVENT.encode())
    head += struct.pack("<I", 0)                                    # events of ftrace itself
    head += struct.pack("<I", 2)
    head += b"sched\0" + struct.pack("<I", 1) + sized("<Q", SWITCH_FORMAT.encode())
    head += b"tactus\0" + struct.pack("<I", 1) + sized("<Q", RT_FORMAT.encode())
    head += sized("<I", b"") + sized("<I", b"")                     # symbols, formats of printk
    head += sized("<Q", "".join(f"{task.pid} {task.name[:COMM - 1]}\n" for task in known.values()
                                ).encode())
    head += struct.pack("<I", cpus) + b"flyrecord\0"
    at = -(-(len(head) + 16 * cpus) // PAGE) * PAGE
    table, begin = b"", at
    for ring in rings:
        table += struct.pack("<QQ", begin, len(ring))
        begin += len(ring)
    return (head + table).ljust(at, b"\0") + b"".join(rings)
