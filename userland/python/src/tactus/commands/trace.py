# SPDX-License-Identifier: GPL-2.0-only
"""Record what RT tasks did, show it, say why the latest start was late, export it.

  record   note events for some seconds, or until a job starts later than --late-us
  show     print a recording, or what the rings hold now, a line an event
  explain  say what came between the release and the start of the latest job
  export   write a recording for ui.perfetto.dev, chrome://tracing, trace-cmd or KernelShark, or
           draw it as a Gantt chart

Without FILE, show, explain and export take what the rings hold now.

Exit status: 0 done, 1 it could not be, 2 a wrong command line, 3 tactus is not loaded; record
with --late-us: 5 a job started later.
"""
from __future__ import annotations

import argparse
import contextlib
import json
import time
from pathlib import Path

from tactus import ftrace, tracedat, tracing
from tactus.errors import ToolError, save
from tactus.health import smi_counts
from tactus.machine import Machine
from tactus.tracing import Recording, Ring

HELP = "record who ran when, and why a start was late"
LATE = 5
LOOK_S = 0.05
MOST_EVENTS = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("do", choices=("record", "show", "explain", "export"), help="see above")
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE",
                        help="a recording; record writes it (default tactus-trace.json)")
    parser.add_argument("--seconds", type=float, default=5.0, metavar="S",
                        help="record: how long; 0: until ^C or --late-us (default 5)")
    parser.add_argument("--late-us", type=float, metavar="US",
                        help="record: stop when a job starts later than this after its release")
    parser.add_argument("--events", type=int, default=16384, metavar="N",
                        help="record: keep the last N of each CPU (default 16384)")
    parser.add_argument("--linux", action="store_true",
                        help="record: note Linux's switches as well, by ftrace")
    parser.add_argument("--task", metavar="NAME", help="show, explain: of this task")
    parser.add_argument("--perfetto", type=Path, metavar="OUT", help="export: the file to write")
    parser.add_argument("--trace-dat", type=Path, metavar="OUT",
                        help="export: the file to write, for trace-cmd and KernelShark")
    parser.add_argument("--svg", type=Path, metavar="OUT", help="export: the chart to write")
    parser.add_argument("--title", default="RT tasks", help="export: of the chart")
    parser.add_argument("--json", action="store_true", help="for programs")


def check(args: argparse.Namespace) -> None:
    if args.do == "export" and not (args.perfetto or args.trace_dat or args.svg):
        raise ToolError("export needs --perfetto OUT, --trace-dat OUT or --svg OUT", 2)
    if args.seconds < 0 or args.late_us is not None and not 0 < args.late_us < 1e9:
        raise ToolError("--seconds and --late-us must be above 0", 2)
    if not 2 <= args.events <= MOST_EVENTS:
        raise ToolError(f"--events must be 2 to {MOST_EVENTS}", 2)


def smis(machine: Machine) -> int | None:
    counts = smi_counts(machine)
    return None if counts is None else sum(counts.values())


def wait(ring: Ring, seconds: float) -> None:
    """Until the time is over, ^C, or a late start has stopped the rings."""
    end = time.monotonic() + seconds if seconds else float("inf")
    with contextlib.suppress(KeyboardInterrupt):
        while time.monotonic() < end and ring.get("on") == "1":
            time.sleep(max(0.0, min(LOOK_S, end - time.monotonic())))


def record(args: argparse.Namespace, machine: Machine) -> Recording:
    ring = Ring(machine)
    before_slots, before_late = int(ring.get("slots")), int(ring.get("late_ns"))
    linux = ftrace.recording(machine) if args.linux else contextlib.nullcontext()
    text = ""
    try:
        ring.set("late_ns", round((args.late_us or 0) * 1000))
        ring.set("slots", args.events)
        with linux as folder:
            smis_before, began = smis(machine), ring.clock()
            ring.set("on", 1)
            wait(ring, args.seconds)
            ring.set("on", 0)
            ended, smis_after = ring.clock(), smis(machine)
            if folder is not None:
                ftrace.stop(folder)
                text = (folder / "trace").read_text(errors="replace")
        found = Recording(machine.release(), ring.read(), int(ring.get("lost")))
    finally:
        ring.set("slots", before_slots)
        ring.set("late_ns", before_late)
        if before_slots:
            ring.set("on", 1)
    if smis_before is not None and smis_after is not None:
        found.smis = smis_after - smis_before
    found.linux = ftrace.parse(text, (began, ended))
    return found


def held_now(machine: Machine) -> Recording:
    ring = Ring(machine)
    if ring.get("slots") == "0":
        raise ToolError("no events are kept: tactus trace record, or load with "
                        "--param tactus.events=1024")
    return Recording(machine.release(), ring.read(), int(ring.get("lost")))


def say_explanation(args: argparse.Namespace, recording: Recording) -> None:
    why = tracing.explain(recording, args.task)
    if args.json:
        print(json.dumps(why.as_dict() if why else None))
    else:
        print(why.human() if why else "no job started meanwhile")


def run(args: argparse.Namespace, machine: Machine) -> int:
    check(args)
    if args.do == "record":
        out = args.file or Path("tactus-trace.json")
        recording = record(args, machine)
        recording.write(out)
        if not args.json:
            more = f", {len(recording.linux)} switches of Linux" if args.linux else ""
            print(f"{out}: {len(recording.events)} events{more}, {recording.lost} overwritten")
        say_explanation(args, recording)
        return LATE if any(event.kind == "late" for event in recording.events) else 0
    recording = tracing.read_recording(args.file) if args.file else held_now(machine)
    if args.do == "explain":
        say_explanation(args, recording)
    elif args.do == "export":
        if args.perfetto:
            save(args.perfetto, json.dumps(tracing.chrome(recording)) + "\n")
        if args.trace_dat:
            save(args.trace_dat, tracedat.trace_dat(recording))
        if args.svg:
            save(args.svg, tracing.svg(recording, args.title))
    else:
        events = [event for event in recording.events if args.task in (None, event.task)]
        if args.json:
            for event in events:
                print(json.dumps(vars(event)))
        else:
            print(tracing.listing(events))
    return 0
