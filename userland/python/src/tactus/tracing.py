# SPDX-License-Identifier: GPL-2.0-only
"""The executive's rings of events: how they are switched, read, explained and exported."""
from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tactus import gantt
from tactus.errors import ToolError, reason, save
from tactus.machine import Machine
from tactus.sysfs import FOLDER

TRACE = f"{FOLDER}/trace"
EVENTS = f"{FOLDER}/events"
KINDS = ("release", "start", "preempt", "block", "resume", "complete", "timer", "late", "demote",
         "irq", "irq_end")
FORMAT, VERSION = "tactus-trace", 1
LINUX = "-"  # the task of a timer that interrupts Linux
# The one-shot event's own part of a lateness may be so much longer than usual: ns.
USUAL_NS = 500
# The timer is set by so much sooner at most.
GRAVITY_NS = 10_000


@dataclass(frozen=True)
class Event:
    """@arg: of a release, start, completion the release's moment; of a timer where; of late ns;
    of a demotion "REASON:NUMBER@ADDRESS"; of an irq or its end the line's number."""

    cpu: int
    when: int
    kind: str
    task: str
    arg: str


@dataclass(frozen=True)
class LinuxSwitch:
    """Linux's scheduler gave @cpu to @task, at @when on the RT clock."""

    cpu: int
    when: int
    task: str


@dataclass(frozen=True)
class Slice:
    """@task had @cpu from @start to @end; @done: its job was over then."""

    cpu: int
    task: str
    start: int
    end: int
    done: bool


@dataclass
class Recording:
    """What `tactus trace record` keeps."""

    kernel: str
    events: list[Event]
    lost: int = 0
    smis: int | None = None
    linux: list[LinuxSwitch] = field(default_factory=list)

    def write(self, path: Path) -> None:
        save(path, json.dumps({
            "format": FORMAT, "version": VERSION, "kernel": self.kernel, "lost": self.lost,
            "smis": self.smis,
            "events": [[e.cpu, e.when, e.kind, e.task, e.arg] for e in self.events],
            "linux": [[s.cpu, s.when, s.task] for s in self.linux]}) + "\n")


def read_recording(path: Path) -> Recording:
    try:
        told = json.loads(path.read_text())
        if told["format"] != FORMAT or told["version"] != VERSION:
            raise ValueError
        return Recording(told["kernel"], [Event(*row) for row in told["events"]], told["lost"],
                         told["smis"], [LinuxSwitch(*row) for row in told["linux"]])
    except OSError as problem:
        raise ToolError(f"{path}: {problem.strerror}") from problem
    except (ValueError, KeyError, TypeError) as problem:
        raise ToolError(f"{path} is not a recording of `tactus trace record`") from problem


def parse_events(text: str) -> list[Event]:
    """Lines of /sys/kernel/tactus/events. Raises ValueError for anything else."""
    found = []
    for line in text.splitlines():
        cpu, when, kind, task, arg = line.split()
        if kind not in KINDS:
            raise ValueError(f"an event of kind {kind!r}")
        found.append(Event(int(cpu), int(when), kind, task, arg))
    return found


class Ring:
    """The rings of a machine, by their files."""

    def __init__(self, machine: Machine) -> None:
        self.folder = machine.path(TRACE)
        self.events_file = machine.path(EVENTS)
        if not machine.path(FOLDER).exists():
            raise ToolError("tactus is not loaded: tactus load", 3)
        if not self.folder.exists():
            raise ToolError("the loaded tactus has no trace folder: the module and this tool are "
                            "of different versions")

    def get(self, name: str) -> str:
        try:
            return (self.folder / name).read_text().strip()
        except PermissionError as problem:
            raise ToolError("tracing needs root: try sudo tactus trace") from problem
        except OSError as problem:
            raise ToolError(f"{self.folder / name}: {problem.strerror}") from problem

    def set(self, name: str, value: int) -> None:
        try:
            (self.folder / name).write_text(f"{value}\n")
        except PermissionError as problem:
            raise ToolError("tracing needs root: try sudo tactus trace") from problem
        except OSError as problem:
            raise ToolError(f"{self.folder / name}: {problem.strerror}") from problem

    def read(self) -> list[Event]:
        try:
            return parse_events(self.events_file.read_text())
        except PermissionError as problem:
            raise ToolError("tracing needs root: try sudo tactus trace") from problem
        except (OSError, ValueError) as problem:
            raise ToolError(f"{self.events_file} cannot be read: {reason(problem)}") from problem

    def clock(self) -> tuple[int, int]:
        """One moment: ns of the RT clock, ticks of the TSC."""
        now, tsc = self.get("clock").split()
        return int(now), int(tsc)


# ---- what ran when ----

def slices(events: list[Event]) -> Iterator[Slice]:
    """Who had which CPU, from the events of all of them; what is cut off by an end is left out."""
    running: dict[int, tuple[str, int]] = {}
    for event in events:
        had = running.get(event.cpu)
        if event.kind in ("start", "resume"):
            if had:
                yield Slice(event.cpu, had[0], had[1], event.when, False)
            running[event.cpu] = (event.task, event.when)
        elif event.kind in ("preempt", "block", "complete") and had and had[0] == event.task:
            yield Slice(event.cpu, had[0], had[1], event.when, event.kind == "complete")
            del running[event.cpu]


def handlers(events: list[Event]) -> Iterator[Slice]:
    """When RT handlers of lines ran; one may interrupt another. Their tasks are "interrupt N"."""
    begun: dict[tuple[int, str], int] = {}
    for event in events:
        if event.kind == "irq":
            begun[event.cpu, event.arg] = event.when
        elif event.kind == "irq_end" and (event.cpu, event.arg) in begun:
            yield Slice(event.cpu, f"interrupt {event.arg}", begun.pop((event.cpu, event.arg)),
                        event.when, True)


def lateness(event: Event) -> int:
    """Of a start, ns."""
    return event.when - int(event.arg)


def starts(events: list[Event], task: str | None = None) -> list[Event]:
    return [event for event in events
            if event.kind == "start" and (task is None or event.task == task)]


# ---- why the worst start was late ----

@dataclass(frozen=True)
class Part:
    """@ns of a lateness, and who took them."""

    ns: int
    who: str


@dataclass(frozen=True)
class Explanation:
    """The parts add up to @late_ns."""

    task: str
    cpu: int
    release: int
    late_ns: int
    parts: tuple[Part, ...]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        return {"task": self.task, "cpu": self.cpu, "release_ns": self.release,
                "late_ns": self.late_ns, "notes": list(self.notes),
                "parts": [{"ns": part.ns, "who": part.who} for part in self.parts]}

    def human(self) -> str:
        lines = [f"{self.task} on CPU {self.cpu} started {us(self.late_ns)} after its release at "
                 f"{self.release} ns:"]
        lines += [f"  {us(part.ns):>14}  {part.who}" for part in self.parts if part.ns]
        return "\n".join(lines + [f"  {note}" for note in self.notes])


def us(ns: int) -> str:
    return f"{ns / 1000:.3f} us"


def timer_delays(events: list[Event]) -> dict[Event, tuple[Event, int]]:
    """Start -> the one-shot event that released it, and how long after its release that came: less
    than 0 where the timer was set sooner, by its gravity."""
    found: dict[Event, tuple[Event, int]] = {}
    last: dict[int, Event] = {}
    released: dict[tuple[int, str], Event] = {}
    for event in events:
        if event.kind == "timer":
            last[event.cpu] = event
        elif event.kind == "release":
            released.pop((event.cpu, event.task), None)
            timer = last.get(event.cpu)
            if timer and timer.when >= int(event.arg) - GRAVITY_NS:
                released[event.cpu, event.task] = timer
        elif event.kind == "start" and (event.cpu, event.task) in released:
            timer = released[event.cpu, event.task]
            found[event] = (timer, timer.when - int(event.arg))
    return found


def who_held(timer: Event) -> str:
    """What the one-shot event interrupted, once it could."""
    if timer.task != LINUX:
        return f"interrupts were hard-off until RT task {timer.task} let them come"
    if timer.arg == "user":
        return "interrupts were hard-off, or the machine stood still, until Linux was in user mode"
    return f"interrupts were hard-off until {timer.arg}"


def overlaps(pieces: list[Slice], since: int, until: int) -> dict[str, int]:
    """Name -> ns of it from @since to @until."""
    found: dict[str, int] = {}
    for piece in pieces:
        ns = min(piece.end, until) - max(piece.start, since)
        if ns > 0:
            found[piece.task] = found.get(piece.task, 0) + ns
    return found


def handler_parts(ns_of: dict[str, int], most: int) -> list[Part]:
    """@most: what they can have taken in all, ns: those that nest are counted twice."""
    parts = []
    for name, ns in sorted(ns_of.items(), key=lambda pair: -pair[1]):
        parts.append(Part(min(ns, most), f"the RT handler of {name} ran"))
        most -= parts[-1].ns
    return parts


def explain(recording: Recording, task: str | None = None) -> Explanation | None:
    """Of the latest start, what came between the release and it. None: no job has started."""
    candidates = starts(recording.events, task)
    if not candidates:
        return None
    worst = max(candidates, key=lateness)
    release, late = int(worst.arg), lateness(worst)
    delays = timer_delays(recording.events)
    interrupts = [piece for piece in handlers(recording.events) if piece.cpu == worst.cpu]
    parts: list[Part] = []
    begun = release
    if worst in delays:
        timer, delay = delays[worst]
        usual = int(statistics.median(ns for _, ns in delays.values()))
        if delay > usual + USUAL_NS:
            usual = max(usual, 0)
            parts.append(Part(usual, "the one-shot event, as usual"))
            by_handlers = overlaps(interrupts, release, timer.when)
            shares = handler_parts(by_handlers, delay - usual)
            held = delay - usual - sum(part.ns for part in shares)
            parts += [*shares, Part(held, who_held(timer))]
        else:
            parts.append(Part(max(delay, 0), "the one-shot event, as usual"))
        begun = max(timer.when, release)
    parts += handler_parts(overlaps(interrupts, begun, worst.when), worst.when - begun)
    others: dict[str, int] = {}
    for piece in slices(recording.events):
        if piece.cpu == worst.cpu and piece.end > begun and piece.start < worst.when:
            since, until = max(piece.start, begun), min(piece.end, worst.when)
            others[piece.task] = others.get(piece.task, 0) + (
                until - since - sum(overlaps(interrupts, since, until).values()))
    parts += [Part(ns, f"RT task {name} ran") for name, ns in
              sorted(others.items(), key=lambda pair: -pair[1])]
    rest = late - sum(part.ns for part in parts)
    parts.append(Part(rest, "the executive: timers, the release, the switch"))
    notes = []
    if recording.smis:
        notes.append(f"{recording.smis} SMIs came during the recording: the firmware stops every "
                     "CPU for each")
    elif recording.smis is None:
        notes.append("SMIs could not be counted (no MSR 0x34)")
    if recording.lost:
        notes.append(f"{recording.lost} older events were overwritten")
    return Explanation(worst.task, worst.cpu, release, late, tuple(parts), tuple(notes))


# ---- for people ----

def demotion(arg: str) -> str:
    """"syscall:39@0x401234" -> a phrase."""
    what, _, address = arg.partition("@")
    reason, _, number = what.partition(":")
    kind = {"syscall": f"by system call {number}", "trap": f"by exception {number}",
            "leave": "by rt_leave()", "stopped": "by its budget or the watchdog",
            "memory": "since its memory changed", "signal": "by a signal"}.get(reason, reason)
    return f"{kind}, at {address}"


def describe(event: Event) -> str:
    """What an event says beside its kind and task; "" if nothing."""
    if event.kind == "start":
        return f"{us(lateness(event))} late"
    if event.kind == "timer":
        return f"in {event.arg}"
    if event.kind == "demote":
        return demotion(event.arg)
    if event.kind in ("irq", "irq_end"):
        return f"interrupt {event.arg}"
    return f"by {us(int(event.arg))}: recording stopped" if event.kind == "late" else ""


def listing(events: list[Event]) -> str:
    """A line an event; times in us from the first."""
    if not events:
        return "no events"
    first = min(event.when for event in events)
    lines = [f"{'us':>14} CPU {'event':<8} {'task':<15} "]
    for event in sorted(events, key=lambda event: event.when):
        lines.append(f"{(event.when - first) / 1000:>14.3f} {event.cpu:>3} {event.kind:<8} "
                     f"{event.task:<15} {describe(event)}".rstrip())
    return "\n".join(lines)


def svg(recording: Recording, title: str) -> str:
    """A Gantt chart of each CPU's RT tasks, in the order of their first jobs."""
    pieces = list(slices(recording.events))
    if not pieces:
        raise ToolError("no RT task ran meanwhile: there is nothing to draw")
    first = min(piece.start for piece in pieces)
    until = max(piece.end for piece in pieces) - first
    charts = []
    for cpu in sorted({piece.cpu for piece in pieces}):
        names = list(dict.fromkeys(piece.task for piece in pieces if piece.cpu == cpu))
        charts.append(gantt.Chart(
            f"{title}, CPU {cpu}", names, (),
            [(names.index(piece.task), piece.start - first, piece.end - first)
             for piece in pieces if piece.cpu == cpu], (),
            [(names.index(event.task), int(event.arg) - first) for event in recording.events
             if event.cpu == cpu and event.kind == "release" and event.task in names
             and 0 <= int(event.arg) - first <= until]))
    return gantt.draw(charts, until)


# ---- for Perfetto and chrome://tracing ----

def chrome(recording: Recording) -> dict[str, object]:
    """The Trace Event Format: a process for each CPU, a thread for each task on it.

    ui.perfetto.dev and chrome://tracing open it. Times are in us, with the ns as fractions.
    """
    rows: list[dict[str, object]] = []
    threads: dict[tuple[int, str], int] = {}

    def thread(cpu: int, name: str) -> int:
        key = (cpu, name)
        if key not in threads:
            threads[key] = len(threads) + 1
            rows.append({"ph": "M", "name": "thread_name", "pid": cpu, "tid": threads[key],
                         "args": {"name": name}})
        return threads[key]

    for cpu in sorted({event.cpu for event in recording.events}
                      | {switch.cpu for switch in recording.linux}):
        rows.append({"ph": "M", "name": "process_name", "pid": cpu, "tid": 0,
                     "args": {"name": f"CPU {cpu}"}})
    for piece in slices(recording.events):
        rows.append({"ph": "X", "name": piece.task, "cat": "rt", "pid": piece.cpu,
                     "tid": thread(piece.cpu, f"RT {piece.task}"), "ts": piece.start / 1000,
                     "dur": (piece.end - piece.start) / 1000, "args": {"done": piece.done}})
    for piece in handlers(recording.events):
        rows.append({"ph": "X", "name": piece.task, "cat": "irq", "pid": piece.cpu,
                     "tid": thread(piece.cpu, "RT interrupts"), "ts": piece.start / 1000,
                     "dur": (piece.end - piece.start) / 1000})
    for event in recording.events:
        if event.kind in ("release", "late", "timer", "demote"):
            name = "RT " + event.task if event.kind != "timer" else "one-shot event"
            rows.append({"ph": "i", "s": "p" if event.kind == "late" else "t", "name": event.kind,
                         "cat": "rt", "pid": event.cpu, "tid": thread(event.cpu, name),
                         "ts": event.when / 1000,
                         "args": {"arg": event.arg}})
        elif event.kind == "start":
            rows.append({"ph": "C", "name": f"lateness of {event.task}, us", "pid": event.cpu,
                         "tid": 0, "ts": event.when / 1000,
                         "args": {"us": lateness(event) / 1000}})
    before: dict[int, LinuxSwitch] = {}
    for switch in recording.linux:
        last = before.get(switch.cpu)
        if last and last.task != IDLE:
            rows.append({"ph": "X", "name": last.task, "cat": "linux", "pid": switch.cpu,
                         "tid": thread(switch.cpu, "Linux"), "ts": last.when / 1000,
                         "dur": (switch.when - last.when) / 1000})
        before[switch.cpu] = switch
    return {"displayTimeUnit": "ns", "traceEvents": rows,
            "otherData": {"kernel": recording.kernel, "lost": recording.lost}}


IDLE = "swapper"
