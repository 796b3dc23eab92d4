# SPDX-License-Identifier: GPL-2.0-only
"""Say what this machine is and how Tactus does on it, for a report that others can read.

It prints all that a report holds, and nothing else is ever in it: processor, board, firmware,
kernel, what `tactus doctor` says, and figures. No names of hosts, users, disks, networks, modules
or tasks of yours; no serial numbers; of the kernel's command line only options about timing.

--write shows the report first and asks; --yes is the answer. With --seconds an RT task is measured
for so long, which needs root and a loaded executive. Nothing is sent anywhere.

Exit status: 0 done, 1 it could not be or the answer was no, 2 a wrong command line, 3 tactus is
not loaded and was to be measured.
"""
from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from pathlib import Path

import tactus
from tactus import health, modules, sysfs
from tactus.commands import latency
from tactus.errors import ToolError, reason
from tactus.health import Facts
from tactus.machine import Machine
from tactus.sysfs import Status

HELP = "write down this machine and its figures, to show to others"
FORMAT = 1
CPU = ("vendor_id", "cpu family", "model", "model name", "stepping", "microcode", "flags", "bugs")
# Never product_serial, product_uuid, *_asset_tag, board_serial, chassis_serial.
BOARD = ("sys_vendor", "product_name", "product_version", "board_vendor", "board_name",
         "board_version", "bios_vendor", "bios_version", "bios_date", "chassis_type")
FILES = {
    "clocksource": "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "clock_events": "/sys/devices/system/clockevents/clockevent0/current_device",
    "idle_driver": "/sys/devices/system/cpu/cpuidle/current_driver",
    "governor": "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "cpus_online": "/sys/devices/system/cpu/online",
    "preempt": "/sys/kernel/debug/sched/preempt",
    "realtime": "/sys/kernel/realtime",
}
# Options whose values say nothing of a person or a network; others are counted.
OPTIONS = {
    "acpi", "amd_iommu", "apic", "clocksource", "hpet", "idle", "intel_idle.max_cstate",
    "intel_iommu", "intel_pstate", "iommu", "irqaffinity", "isolcpus", "lapic", "maxcpus",
    "mitigations", "nmi_watchdog", "noapic", "nohz", "nohz_full", "nolapic", "nosmt", "nox2apic",
    "preempt", "processor.max_cstate", "rcu_nocbs", "skew_tick", "spectre_v2", "threadirqs", "tsc",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--write", type=Path, metavar="FILE",
                        help="show the report, ask, then write it; never over a file")
    parser.add_argument("--yes", action="store_true", help="with --write: do not ask")
    parser.add_argument("--seconds", type=float, default=0.0, metavar="S",
                        help="measure the lateness of an RT task for so long (default: not)")
    parser.add_argument("--dir", type=Path, metavar="DIR",
                        help="take the module that measures from this build folder")
    parser.add_argument("--json", action="store_true",
                        help="print the report as one line of JSON, for programs")


def command_line(words: list[str]) -> dict[str, object]:
    known = [word for word in words if word.partition("=")[0] in OPTIONS]
    return {"options": known, "others": len(words) - len(known)}


def figures(status: Status) -> dict[str, object]:
    """What the executive says; of tasks and FIFOs only counts and extremes."""
    if status.state == "not loaded":
        return {"state": status.state}
    kept = ("state", "mode", "pause_ns", "slots", "cpus", "timer", "clock", "policy", "pipeline",
            "irqs")
    told = dataclasses.asdict(status)
    return {**{name: told[name] for name in kept}, "tasks": len(status.tasks),
            "releases": sum(int(row.get("releases", 0)) for row in status.tasks),
            "overruns": sum(int(row.get("overruns", 0)) for row in status.tasks),
            "max_late_ns": max((int(row.get("max_late_ns", 0)) for row in status.tasks),
                               default=None)}


def lateness(args: argparse.Namespace, machine: Machine) -> dict[str, object] | None:
    if not args.seconds:
        return None
    wanted = argparse.Namespace(period_us=1000, cpu=0, tick=False, dir=args.dir, show="hist",
                                seconds=args.seconds, json=True, stop_on=None)
    if not latency.start(wanted, machine):
        raise ToolError("rt_latency is loaded already: rmmod rt_latency")
    try:
        return {"period_us": 1000, **latency.measure(wanted, machine, ours=True).as_dict()}
    finally:
        modules.remove(machine, latency.MODULE)


def gather(args: argparse.Namespace, machine: Machine) -> dict[str, object]:
    facts = Facts(machine)
    cpu = facts.cpu()
    findings = [{"level": finding.level, "subject": finding.subject, "text": finding.text}
                for finding in health.examine(machine)]
    return {
        "report": FORMAT, "tactus": tactus.__version__,
        "kernel": machine.release(),
        "cpu": {name: cpu[name] for name in CPU if name in cpu},
        "virtual": facts.virtual(),
        "board": {name: text for name in BOARD
                  if (text := facts.text(f"/sys/class/dmi/id/{name}"))},
        "linux": {name: text for name, path in FILES.items() if (text := facts.text(path))},
        "command_line": command_line(facts.command_line()),
        "doctor": findings,
        "status": figures(sysfs.read(machine.root)),
        "lateness_ns": lateness(args, machine),
    }


def agreed() -> bool:
    if not sys.stdin.isatty():
        raise ToolError("nobody can be asked here: read the report, then say --yes", 2)
    return input("write this? [y/N] ").strip().lower() in ("y", "yes")


def run(args: argparse.Namespace, machine: Machine) -> int:
    if args.yes and not args.write:
        raise ToolError("--yes goes with --write", 2)
    if not 0 <= args.seconds <= 3600:
        raise ToolError("--seconds must be 0 to 3600", 2)
    report = gather(args, machine)
    text = json.dumps(report, indent=2) + "\n"
    print(json.dumps(report) if args.json else text, end="\n" if args.json else "", flush=True)
    if not args.write:
        return 0
    if not args.yes and not agreed():
        print("nothing was written", file=sys.stderr)
        return 1
    try:
        with os.fdopen(os.open(args.write, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644),
                       "w") as file:
            file.write(text)
    except OSError as problem:
        raise ToolError(f"{args.write}: {reason(problem)}") from problem
    print(f"written: {args.write}", file=sys.stderr)
    return 0
