# SPDX-License-Identifier: GPL-2.0-only
"""Measure what the pages' tables say, and write the tables.

    tests/vm/python -m measure.pages                     write the tables from the figures kept
    tests/vm/python -m measure.pages --measure [NAME...]  measure these tables, or all; then write

A table of figures stands on one of PAGES between <!-- figures: NAME --> and <!-- end -->. The
figures of all are kept, with what they were made with, in pages.json; the demos' and the matrix's
come from out/, where `make demo`, `make demo-cnc`, `make test-matrix` and the tests named in
LEFT_BY leave theirs.
test_pages.py holds page and figures together; test_lateness.py, figures and today's measurement.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness import TOP
from harness.bench import kernels

from . import backup, cliroom, costs, heavy, kernel_tasks, ltp, rtla
from .lateness import LIMIT_NS, PIT_LIMIT_NS, Lateness
from .overhead import LIMIT_PERCENT
from .systems.model import SYSTEMS
from .systems.report import fill, markdown_rows
from .systems.runner import tools
from .user import LATENESS_GOAL_NS

KEPT = Path(__file__).with_name("pages.json")
RUN = TOP / "tests/vm/measure/run"
PAGES = tuple(TOP / page for page in (
    "README.md", "docs/measuring.md", "docs/applications.md", "docs/userspace.md", "docs/tap.md",
    "docs/fifo.md", "docs/scheduling.md", "docs/measuring-6.12.md", "examples/linuxcnc/README.md",
    "docs/decisions/0011-kernels-without-paravirt-xxl.md"))
# By how much a measurement of today may differ from the page, with the same kernel and tools:
# where modules land, and with them the load's phase, moves a maximum by some 10 %.
MEAN_PERCENT = 5
MAX_PERCENT = 25
# Or so much: with gravity what is left is small, and the phase of the load decides.
MEAN_NS, MAX_NS = 15, 150

Figures = list[dict[str, Any]]


def _lateness_rows(figures: Figures, limits: Mapping[str, int]) -> list[list[str]]:
    titles = {"tick": "RT tick", "task": "RT task", "hrtimer": "Linux hrtimer"}
    found = {(one["case"]["kind"], one["case"]["condition"]): one for one in figures}
    conditions = list(dict.fromkeys(condition for _, condition in found))
    rows = [["", *(f"{condition}: {what}" for condition in conditions for what in ("mean", "max")),
             "promised max"]]
    for kind, title in titles.items():
        cells = [f"{found[kind, condition][name]:,.0f}" for condition in conditions
                 if (kind, condition) in found for name in ("mean_ns", "max_ns")]
        rows += [[title, *cells, f"{limits[kind]:,}" if kind in limits else "-"]] if cells else []
    return rows


def _apic(figures: Figures) -> list[list[str]]:
    return _lateness_rows(figures, LIMIT_NS)


def _pit(figures: Figures) -> list[list[str]]:
    return _lateness_rows(figures, PIT_LIMIT_NS)


def _contexts(figures: Figures) -> list[list[str]]:
    rows = [[one["case"]["condition"].removeprefix("irqoff-"), f"{one['max_ns']:,}"]
            for one in figures]
    return [["Sections in", "max"], *rows]


def _hosted(figures: Figures) -> list[list[str]]:
    return [["", *(f"hosted, {one['case']['condition']}" for one in figures[:-1]),
             "pipeline, irqoff"], ["RT task", *(f"{one['max_ns']:,}" for one in figures)]]


def _device_irq(figures: Figures) -> list[list[str]]:
    return [["", "interrupts", "mean", "max"],
            *([one["condition"], f"{one['count']} of {one['expected']}",
               f"{one['mean_ns']:.0f}", f"{one['max_ns']:,}"] for one in figures)]


def _overhead(figures: Figures) -> list[list[str]]:
    jobs = {"shells": "200 times `sh -c :`", "pipe": "`dd`, 32 MB through a pipe to `dd`",
            "gzip": "`gzip`, 8 MB"}
    return [["Job", "Instructions, off", "on", "more", "allowed"],
            *([jobs[one["job"]], f"{one['off']:,}", f"{one['on']:,}",
               f"{(one['on'] / one['off'] - 1) * 100:.2f} %", f"{LIMIT_PERCENT[one['job']]} %"]
              for one in figures)]


def _drift(figures: Figures) -> list[list[str]]:
    return [["", "looked at", "reads", "back", "rate, ppb", "off the line, ns"],
            *([one["part"], str(one["bursts"]), f"{one['reads']:,}", str(one["back"]),
               f"{one['rate_ppb']:,}", f"{one['wander_ns']:,}"] for one in figures)]


def _matrix(figures: Figures) -> list[list[str]]:
    def of(row: Mapping[str, Any], kind: str) -> str:
        return row["refused"] or " / ".join(str(ns) for ns in row["max_ns"].get(kind, {}).values())

    return [["Kernel", "Checks passed", "RT tick", "RT task"],
            *([row["release"], f"{sum(row['passed'].values())} of {len(row['passed'])}",
               of(row, "tick"), of(row, "task")] for row in figures)]


def _speech(figures: Figures) -> list[list[str]]:
    def least(one: Mapping[str, Any]) -> str:
        return "-" if one["min_snr_db"] is None else f"{one['min_snr_db']:.0f} dB"

    return [["Mode", "ticks/s", "SNR", "promised", "interval off by up to", "missed"],
            *([f"`{one['mode']}`", f"{one['rate_hz']:,.0f}", f"{one['snr_db']:.1f} dB",
               least(one), f"{one['interval_max_dev_ns'] / 1000:.2f} us", str(one["missed"])]
              for one in figures)]


CONDITIONS = {"idle": "idle", "load": "load",
              "irqoff": "load, interrupts off for 20 ms at a time"}


def _us(ns: float) -> str:
    return f"{ns / 1000:,.2f} us"


def _ticks(figures: Figures) -> list[list[str]]:
    clocks = {"rtc": "CMOS", "task": "task"}
    return [["Clock", "", "ticks", "missed", "interval between two writes", "off by up to",
             "late by up to"],
            *([f"{clocks[one['clock']]}, {1e9 / one['period_ns']:,.0f} Hz",
               CONDITIONS[one["condition"]], f"{one['ticks']:,}", str(one["missed"]),
               f"{one['interval_min_ns'] / 1000:.2f} to {_us(one['interval_max_ns'])}",
               _us(one["interval_max_dev_ns"]),
               _us(one["late_max_ns"]) if one["clock"] == "task" else "-"] for one in figures)]


def _twins(figures: Figures) -> list[list[str]]:
    players = {"naive idle": "program, idle", "naive load": "program, under load",
               "driver load": "driver, the same load"}
    return [["", "half-waves", "shortest", "longest", "off by up to"],
            *([players[one["player"]], str(one["half_waves"]), _us(one["min_ns"]),
               _us(one["max_ns"]), _us(one["worst_off_ns"])] for one in figures)]


def _pcsp(figures: Figures) -> list[list[str]]:
    return [["`snd-pcsp`, 18,643 Hz, 64 levels", "SNR", "interval off by up to",
             "lasts, of the sound"],
            *([CONDITIONS[one["condition"]], f"{one['snr_db']:.1f} dB",
               f"{one['worst_off_us']:,.1f} us", f"{one['lasted']:.3f}"] for one in figures)]


def _compare(figures: Figures) -> list[list[str]]:
    return [["`rt_speaker`", "", "ticks/s", "SNR", "interval off by up to", "missed",
             "lasts, of the sound"],
            *([f"`mode={one['mode']}`", CONDITIONS[one["condition"]], f"{one['rate_hz']:,.0f}",
               f"{one['snr_db']:.1f} dB", _us(one["worst_off_ns"]), str(one["missed"]),
               f"{one['lasted']:.3f}"] for one in figures)]


def _tap(figures: Figures) -> list[list[str]]:
    return [["", "", "messages", "mean", "shortest", "longest", "added", "lost, out of order"],
            *([f"`{one['port']}`", CONDITIONS[one["condition"]], f"{one['inputs']:,}",
               f"{one['mean_us']:.3f} us", f"{one['min_us']:.3f} us", f"{one['max_us']:.3f} us",
               _us(one["added_max_ns"]), str(one["lost"])] for one in figures)]


def _tap_delay(figures: Figures) -> list[list[str]]:
    return [["Delay", "taps", "answers", "mean, off by", "worst, off by"],
            *([f"{one['delay_ms']} ms", f"{one['taps']:,}", f"{one['answers']:,}",
               _us(one["late_ns"]), _us(one["worst_ns"])] for one in figures)]


def _cyclictest(figures: Figures) -> list[list[str]]:
    who = {"rt": "in RT mode", "linux": "SCHED_FIFO 99"}
    return [["", "cycles", "min", "avg", "max"],
            *([who[one["who"]], f"{one['cycles']:,}", _us(one["min_ns"]), _us(one["mean_ns"]),
               _us(one["max_ns"])] for one in figures)]


def _skins(figures: Figures) -> list[list[str]]:
    rows = [["", "", "ns"]]
    titles = {"latency": "RTAI latency, 100 us", "preempt": "RTAI preempt",
              "switches": "RTAI switches", "rtlinux": "RTLinux rt_process, 500 us"}
    for one in figures:
        cells = ", ".join(f"{name} {value:,}" for name, value in one["columns"].items())
        rows.append([titles[one["test"]], one["condition"], cells])
    return rows


def _gate(figures: Figures) -> list[list[str]]:
    titles = {"pl_sys_stubs": "the gate: is this CPU's ring 3 RT code?",
              "pl_sti": "the soft sti: is anything logged?",
              "syscall_enter_from_user_mode": "Linux's own, whose sti that was",
              "all": "the whole call"}
    return [["getppid()", "Function", "Off", "On", "More"],
            *([titles.get(one["name"], ""), f"`{one['name']}`" if one["name"] != "all" else "",
               str(one["off"]), str(one["on"]), f"{one['on'] - one['off']:+}"]
              for one in figures)]


def _promotion(figures: Figures) -> list[list[str]]:
    return [["The first promotion", "Instructions"],
            *([one["name"], f"{one['count']:,}"] for one in figures)]


def _user(figures: Figures) -> list[list[str]]:
    rows = [["", "Instructions", "Goal"]]
    for one in figures:
        if "instructions" in one:
            what, value, goal = one["what"], one["instructions"], one["goal"]
        else:
            period_us = one["case"]["period_us"]
            what = f"lateness beside sections, a period of {period_us:,} us: max"
            value, goal = one["max_ns"], LATENESS_GOAL_NS
        rows.append([what, f"{value:,.0f}", "" if goal is None else f"{goal:,.0f}"])
    return rows


def _kernel_tasks(figures: Figures) -> list[list[str]]:
    titles = {"idle": "idle", "irqoff": "sections"}
    rows = [["A kernel's task of 1 kHz", "switch", "release with 10 ready",
             *(f"late, {titles[condition]}: {what}" for condition in kernel_tasks.CONDITIONS
               for what in ("mean", "99.9 %", "max"))]]
    for one in figures:
        rows.append([kernel_tasks.SYSTEMS[one["system"]], str(one["switch"]),
                     str(one["release_10"]),
                     *(f"{value:,.0f}" for condition in kernel_tasks.CONDITIONS
                       for value in one["late"][condition])])
    return rows


def _cnc(figures: Figures) -> list[list[str]]:
    titles = {"tactus": "LinuxCNC's HAL on Tactus, stock 6.1 kernel",
              "hosted": "the same HAL on Linux's timers (`mode=hosted`)",
              "preempt_rt": "a `SCHED_FIFO` thread on Debian's PREEMPT_RT kernel"}
    rows = [["What runs the base thread of 25 us", "Steps", "Latest", "At the end off by, x and y"]]
    for one in figures:
        late = (f"{one['latest_ns']:,} ns" if one["latest_ns"] < 10_000
                else f"{one['latest_ns'] / 1e6:.1f} ms")
        rows.append([titles[one["name"]], f"{one['steps']:,}", late,
                     f"{one['off_x']:.2f}, {one['off_y']:.2f} mm"])
    return rows


def _counts(counts: Sequence[int]) -> str:
    return "; ".join(f"{count:,}" for count in counts)


def _fifo(figures: Figures) -> list[list[str]]:
    one = figures[0]
    read, drain = ([one[f"{what} {size}"] for size in (64, 4096)] for what in ("read", "drain"))
    return [["", "Linux's own", "FIFO"],
            ["`read()` of 64 bytes, of 4096 bytes", f"pipe: {_counts([pair[0] for pair in read])}",
             _counts([pair[1] for pair in read])],
            ["a record of 64, of 4096 bytes that a mapped reader looks at",
             f"pipe: {_counts([pair[0] for pair in drain])}", _counts([pair[1] for pair in drain])],
            ["from the put to the woken reader's next instruction",
             f"eventfd, from an hrtimer: {one['wake'][1]:,}", f"{one['wake'][0]:,}"],
            ["a put of 64 bytes, Linux idle, and while it copies 4 MB out of the same FIFO", "",
             _counts(one["stall"])]]


def _costs(figures: Figures) -> list[list[str]]:
    found = {name: value for figure in figures for name, value in figure.items()}
    own, rm = found["costs"], found["tactus_rm"]
    ready = (1, 10, 100, 1000)
    return [["", "Instructions", "Promised"],
            ["switch from RT task to RT task, beside the call that causes it",
             f"{own['rt_rt'] - own['suspend']:.0f}", f"{costs.SWITCH_LIMIT}"],
            ["Linux to an RT task that suspends itself at once, and back, likewise",
             f"{own['linux_rt_linux'] - own['suspend'] - own['wakeup']:.0f}",
             f"{costs.LINUX_RT_LINUX_LIMIT}"],
            ["floating point, in addition", f"{own['fp_linux'] - own['linux_rt_linux']:.0f}", ""],
            ["a switch's event, if they are kept", f"{found['event']:.0f}",
             f"{costs.EVENT_LIMIT}"],
            ["a release with 1, 10, 100, 1000 tasks ready",
             _counts([own[f"release_{count}"] for count in ready]),
             f"{costs.RELEASE_10_LIMIT} with 10; twice from 10 to 1000"],
            ["the same under `tactus_rm`, with its key and its supervision",
             _counts([rm[f"release_{count}"] for count in ready]),
             f"{costs.POLICY_RELEASE_LIMIT} more with 10"],
            ["`local_irq_disable()` and `local_irq_enable()`, both, with their calls",
             f"{own['irq_off_on']}", f"{costs.IRQ_OFF_ON_LIMIT}"],
            ["`local_irq_save()` and `local_irq_restore()`, likewise",
             f"{own['irq_save_restore']}", ""]]


def _tap_in_full(figures: Figures) -> list[list[str]]:
    return [["", "Messages in", "Mean", "Longest", "Passes", "Gap at most",
             "Lateness of output: mean", "Worst", "Lost"],
            *([f"`{one['name']}`", f"{one['inputs']:,}", f"{one['mean_us']:.3f} us",
               f"{one['longest_us']:.3f} us", f"{one['passes']:,}",
               f"{one['gap_max_ns'] / 1000:.1f} us", f"{one['late_mean_ns'] / 1000:.3f} us",
               f"{one['late_max_ns'] / 1000:.3f} us",
               f"{one['bytes_lost'] + one['records_lost']}"] for one in figures)]


def _stress(figures: Figures) -> list[list[str]]:
    worst = max(one["max_ns"] for one in figures)
    return [[f"Beside: {len(figures)} of {len(heavy.LOADS)} loads", "releases", "missed", "mean",
             "99.9 %", "max, ns"],
            *([f"`{one['load']}`", f"{one['releases']:,}", str(one["missed"]),
               f"{one['mean_ns']:,.0f}", f"{one['p99_9_ns']:,}",
               f"**{one['max_ns']:,}**" if one["max_ns"] == worst else f"{one['max_ns']:,}"]
              for one in sorted(figures, key=lambda one: heavy.LOADS.index(one["load"])))]


def _backup(figures: Figures) -> list[list[str]]:
    return [["system", "backups", "bytes of one", "wrong", "MB in a second, alone",
             "beside the tasks", "less", "releases of each task", "missed", "latest"],
            *([SYSTEMS[one.system].title, str(2 * one.rounds), f"{one.bytes:,}", str(one.wrong),
               f"{one.per_second(one.alone_ns):.2f}", f"{one.per_second(one.beside_ns):.2f}",
               f"{one.percent:.2f} %", f"{one.releases:,}", str(one.missed), f"{one.max_ns:,} ns"]
              for one in (backup.Backup(**figure) for figure in figures))]


def _rtla(figures: Figures) -> list[list[str]]:
    rows = [["", "timerlat, interrupt: mean", "max", "thread: mean", "max",
             "osnoise: looked", "noise", "longest", "gaps of hardware",
             "RT task: max beside either"]]
    late = " / ".join(f"{one['max_ns']:,}" for one in figures if "tool" in one)
    rows += [[rtla.STATES[one["state"]],
              *(f"{one[what]:,}" for what in
                ("irq_avg_ns", "irq_max_ns", "thread_avg_ns", "thread_max_ns", "runtime_us",
                 "noise_us", "single_max_us", "hardware")),
              late if one["state"] == "task" else "-"] for one in figures if "state" in one]
    return rows


def _ltp(figures: Figures) -> list[list[str]]:
    late = {one["program"]: ltp.Beside(**one).late for one in figures if "max_ns" in one}
    ran: dict[str, list[ltp.Ran]] = {}
    for one in figures:
        if "state" in one:
            ran.setdefault(one["program"], []).append(ltp.Ran(**one))
    titles = (title[0].upper() + title[1:] for title in ltp.STATES.values())
    return [["Program", *titles, "RT task: max, ns"],
            *([f"`{ltp.called(of[0])}`", *(ltp.said(one) for one in of), late[program]]
              for program, of in sorted(ran.items())),
            *([f"`{one['program']}`", f"not run: it {one['why']}", "", "", "-"]
              for one in figures if "why" in one)]


def _demo_sound(figures: Figures) -> list[list[str]]:
    places = list(CONDITIONS)
    return [["", "bytes", "bits played", "faults found", "worst interval, off by"],
            *([CONDITIONS[one["condition"]], f"{one['bytes']:,}", f"{one['writes']:,}",
               str(len(one["problems"])), _us(one["worst_deviation_ns"])]
              for one in sorted(figures, key=lambda one: places.index(one["condition"])))]


def _demo(figures: Figures) -> list[list[str]]:
    found = {(one["case"]["kind"], one["case"]["condition"]): one["max_ns"] / 1000
             for one in figures}
    return [["A 1 kHz job, while a driver holds interrupts off for 20 ms at a time",
             "Latest start"],
            ["Tactus RT task, stock 6.1 kernel", f"**{found['task', 'irqoff']:.2f} us**"],
            ["Linux timer, the same kernel, untouched", f"{found['hrtimer', 'irqoff']:,.0f} us"],
            ["Tactus RT timer, no task switch", f"{found['tick', 'irqoff']:.2f} us"]]


@dataclass(frozen=True)
class Table:
    """A table of the pages."""

    rows: Callable[[Figures], list[list[str]]]
    commands: Sequence[str] = ()
    """What makes its figures: words for ``tests/vm/measure/run``."""
    kernel: str = "6.1"
    flavour: str = "cloud"
    kept: str = ""
    """Or the file below out/ that has them."""
    part: str = "lateness"
    """Under which key, if that file has more than rows; "": each key is the name of a row."""


def _cli_room(figures: Figures) -> list[list[str]]:
    return [["", "places: cli, sti, pushf", "runs in 10^6 instructions: cli, sti, pushf",
             "off at most, instructions"],
            *([cliroom.CLASSES[one["class"]], cliroom.triple(one["places"]), cliroom.often(one),
               f"{one['longest']:,} (`{one['where']}`)"] for one in figures)]


def _cli_detour(figures: Figures) -> list[list[str]]:
    plain = figures[0]["work_ns"]
    rows = [["", "places written: jumps, breakpoints", "some programs and calls, ns", "",
             "a lock taken and left, instructions", "cli and sti by breakpoints, instructions"]]
    for one in figures:
        written = (sum(map(int, one[way].split(","))) for way in ("jumps", "breakpoints"))
        rows.append([one["way"], ", ".join(map(str, written)), f"{one['work_ns']:,}",
                     f"{round((one['work_ns'] / plain - 1) * 100, 1) + 0.0:+.1f} %",
                     f"{int(one['locks_ns']) / 1000:.0f}",
                     f"{int(one['breakpoint_pairs_ns']) / 1000:.0f}"])
    return rows


ALL_CONDITIONS = " ".join(f"--condition {name}" for name in CONDITIONS)

TABLES: dict[str, Table] = {
    "demo": Table(_demo, kept="demo/results.json"),
    "demo's sound": Table(_demo_sound, kept="demo/results.json", part="speaker"),
    "lateness": Table(_apic, ["lateness"]),
    "lateness on 6.12": Table(_apic, ["lateness --kernel 6.12 --kind tick --kind task"], "6.12"),
    "lateness on 7": Table(_apic, ["lateness --kernel 7 --kind tick --kind task"], "7"),
    "contexts": Table(_contexts, ["lateness --kind tick --seconds 1 " + " ".join(
        f"--condition irqoff-{name}" for name in
        ("process", "tasklet", "timer", "hrtimer", "spinlock"))]),
    "8254": Table(_pit, ["lateness --kind tick --kind task --timer pit --seconds 0.5"]),
    "hosted": Table(_hosted, ["lateness --kind task --mode hosted --seconds 0.5",
                              "lateness --kind task --condition irqoff --seconds 0.5"]),
    "matrix": Table(_matrix, kept="matrix.json"),
    "device-irq": Table(_device_irq, ["device-irq"]),
    "overhead": Table(_overhead, ["overhead"]),
    "overhead beside a task": Table(_overhead, ["overhead --task-us 1000"]),
    "drift": Table(_drift, ["drift"]),
    "speech": Table(_speech, ["speaker-speech"]),
    "speaker-timing": Table(_ticks, ["speaker-timing"]),
    "twins": Table(_twins, ["twins"]),
    "pcsp": Table(_pcsp, ["pcsp --seconds 1 " + ALL_CONDITIONS], "6.1", "generic"),
    "compare": Table(_compare, ["compare --seconds 1 --mode slope --mode sigma --mode pwm "
                                + ALL_CONDITIONS],
                     "6.1", "generic"),
    "cnc": Table(_cnc, kept="cnc/results.json", part=""),
    "tap-in-full": Table(_tap_in_full, kept="tap/in_full.json", part=""),
    "fifo": Table(_fifo, ["fifo"]),
    "costs": Table(_costs, ["costs"]),
    "user": Table(_user, ["user"]),
    "kernel-tasks": Table(_kernel_tasks, ["kernel-tasks"]),
    "promotion": Table(_promotion, ["promotion"]),
    "gate": Table(_gate, ["gate"]),
    "skins": Table(_skins, ["skins"]),
    "backup": Table(_backup, ["backup"]),
    "backup on 6.12": Table(_backup, ["backup --kernel 6.12"], "6.12"),
    "cli-room": Table(_cli_room, ["cli-room"], cliroom.KERNEL),
    "cli-detour": Table(_cli_detour, ["cli-detour"], cliroom.KERNEL),
    "rtla": Table(_rtla, ["rtla"], flavour="rt"),
    "rtla on 6.12": Table(_rtla, ["rtla --kernel 6.12"], "6.12", "rt"),
    "ltp": Table(_ltp, kept="bench/ltp.json"),
    "stress": Table(_stress, kept="bench/stress.json"),
    "cyclictest": Table(_cyclictest, ["cyclictest"]),
    "cyclictest on 6.12": Table(_cyclictest, ["cyclictest --kernel 6.12"], "6.12"),
    "tap": Table(_tap, ["tap --runs 1"]),
    "tap-delay": Table(_tap_delay, ["tap-delay"]),
}


# What leaves its figures in a folder or a file of out/.
LEFT_BY = {"demo": "`make demo`", "cnc": "`make demo-cnc`", "matrix.json": "`make test-matrix`",
           "bench/stress.json": "`tests/vm/measure/run stress --long --seconds 0.3`",
           "bench/ltp.json": "`tests/vm/measure/run ltp --source DIR --long`",
           "tap": "the tests `-k in_full` of test_tap_user.py"}


class PagesError(Exception):
    """A table's figures could not be made."""


def load() -> dict[str, Any]:
    """The figures kept: of each table {"made": {...}, "figures": [...]}."""
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def _short(figure: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in figure.items() if name not in ("histogram", "upper_ns")}


def measured(table: Table) -> Figures:
    """Its figures, measured now; raises PagesError if a promise does not hold."""
    found: Figures = []
    for command in table.commands:
        done = subprocess.run([str(RUN), *command.split(), "--json"], capture_output=True,
                              text=True, check=False)
        if done.returncode:
            raise PagesError(f"{command}: {done.stderr.strip()}")
        found += [_short(json.loads(line)) for line in done.stdout.splitlines()]
    return found


def left(table: Table) -> Figures | None:
    """Its figures, if another command left them in out/."""
    file = TOP / "out" / table.kept
    if not table.kept or not file.exists():
        return None
    data = json.loads(file.read_text(encoding="utf-8"))
    rows: Figures = (data if isinstance(data, list) else data[table.part] if table.part
                     else [{"name": name, **row} for name, row in data.items()])
    return [_short(row) for row in rows]


def made(table: Table) -> dict[str, str]:
    """What figures made now are made with."""
    return {"kernel": kernels.resolve(table.kernel, table.flavour).release,
            "date": datetime.now(UTC).strftime("%Y-%m-%d"), **tools()}


def command_of(name: str) -> str:
    """What makes a table's figures, for people."""
    table = TABLES[name]
    return "; ".join(f"`tests/vm/measure/run {one}`" for one in table.commands) or (
        LEFT_BY.get(table.kept) or LEFT_BY[table.kept.partition("/")[0]])


def render(name: str, data: Mapping[str, Any]) -> str:
    """A table and what it was made with, or a sentence if there are no figures."""
    if name not in data:
        return f"No figures yet: {command_of(name)}, then `make figures`."
    one = data[name]
    with_ = one["made"]
    kernel = "" if name == "matrix" else f" on {with_['kernel']}"
    rows = TABLES[name].rows(one["figures"])
    return (markdown_rows(rows, 1 if rows[0][1] else 2)
            + f"\n\nBy {command_of(name)}{kernel}, {with_['date']}.")


def page(text: str, data: Mapping[str, Any]) -> str:
    """A page with its tables written; those of measure.systems stay."""
    return fill(text, lambda name: render(name, data) if name in TABLES else None)


def differences(name: str, results: Sequence[Lateness]) -> list[str]:
    """Where a measurement of lateness differs from the page's; none if another kernel or other
    tools made it, since then there is nothing to compare."""
    data = load()
    if name not in data:
        return [f"{name}: no figures kept; `tests/vm/python -m measure.pages --measure {name}`"]
    now, then = made(TABLES[name]), data[name]["made"]
    if any(now[what] != then[what] for what in now if what != "date"):
        return []
    known = {(one["case"]["kind"], one["case"]["condition"]): one for one in data[name]["figures"]}
    found = []
    for result in results:
        key = (result.case.kind, result.case.condition)
        for what, percent, least_ns in (("mean_ns", MEAN_PERCENT, MEAN_NS),
                                        ("max_ns", MAX_PERCENT, MAX_NS)):
            old, new = known[key][what], getattr(result, what)
            if abs(new - old) > max(old * percent / 100, least_ns):
                found.append(f"{', '.join(key)}: {what} {new:.0f}, {old:.0f} on the page; "
                             f"`tests/vm/python -m measure.pages --measure {name}`")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="measure.pages", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", nargs="*", metavar="NAME",
                        help=f"of: {', '.join(TABLES)}; default: all")
    options = parser.parse_args(arguments)
    wanted = options.measure if options.measure else list(TABLES)
    if unknown := [name for name in wanted if name not in TABLES]:
        parser.error(f"no such table: {', '.join(unknown)}; there are {', '.join(TABLES)}")
    data = load() if KEPT.exists() else {}
    failed = False
    for name in wanted:
        try:
            table = TABLES[name]
            figures = left(table)
            if options.measure is not None and table.commands:
                print(f"measuring {name} ...", file=sys.stderr, flush=True)
                figures = measured(table)
            if figures and figures != data.get(name, {}).get("figures"):
                data[name] = {"made": made(table), "figures": figures}
        except PagesError as error:
            print(f"FAILED: {name}: {error}", file=sys.stderr)
            failed = True
    KEPT.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    for file in PAGES:
        file.write_text(page(file.read_text(encoding="utf-8"), data), encoding="utf-8")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
