# SPDX-License-Identifier: GPL-2.0-only
"""Makes the tables' figures in the bench; keeps them as results.json and report.html."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from harness import TOP, programs
from harness.bench import emulator

from .. import costs, figures, path
from ..figures import UART, MeasureError
from . import reference, report
from .model import SYSTEMS, Figure, System, parse, script
from .tables import TABLES, Asked, Table

RAM_DISKS = "brd rd_nr=2 rd_size=16384 crc32c_generic ext4"


def make(table: Table, system: System, asked: Asked, kernel: str) -> tuple[str, list[Figure]]:
    """(the kernel, its figures) of a table on a system, in a boot of its own."""
    jobs = table.jobs(system.name, asked)
    seconds = sum(job.seconds for job in jobs)
    text = figures.boot(
        script(jobs, table.poll), "--icount", *(["--busy"] if table.poll else []),
        f"--timeout={120 + seconds * 60:g}", f"--modules={RAM_DISKS} hog {system.modules}",
        *(f"--put={programs.build(name)}" for name in ("measure", "load", "awake")),
        f"--qemu={UART}", kernel=kernel, flavour=system.flavour)
    return parse(text, table.name, system.name, jobs)


def counts(kernel: str) -> dict[str, dict[str, int]]:
    """What is counted in instructions and not timed: calls, and a release by stage."""
    releases = path.as_dict(path.measure(kernel=kernel))["median"]
    found = {"calls": costs.costs(kernel).raw}
    for direction, title in (("to_job", "release, up to the job"), ("back", "release, back")):
        part = releases[direction]
        totals = ("instructions", "code_lines", "data_lines", "pages")
        found[title] = {**{stage: part["stages"].get(stage, 0) for stage, _ in path.STAGES},
                        **{name.replace("_", " "): part[name] for name in totals}}
    return found


def tools() -> dict[str, str]:
    """What the figures depend on beside the tree: the compiler and the emulator."""
    def first_line(*command: str) -> str:
        return subprocess.run(command, capture_output=True, text=True,
                              check=True).stdout.partition("\n")[0]

    return {"compiler": first_line("gcc", "--version"),
            "emulator": first_line(emulator.PROGRAM, "--version")}


def results(found: Sequence[Figure], kernels: dict[str, str], asked: Asked,
            counted: dict[str, dict[str, int]]) -> dict[str, Any]:
    """What results.json has."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=TOP, check=False,
                            capture_output=True, text=True).stdout.strip()
    return {"about": "virtual time under -icount shift=0: an instruction takes 1 ns, one CPU; says "
                     "nothing of real hardware",
            "date": datetime.now(UTC).strftime("%Y-%m-%d"), "commit": commit,
            "kernels": kernels, **tools(), "seconds": asked.seconds, "readings": asked.readings,
            "counts": counted, "figures": [one.as_dict() for one in found]}


def run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    """Every table asked for on every system asked for; progress goes to stderr."""
    asked = Asked(options.seconds, options.readings)
    tables = [TABLES[name] for name in options.table or TABLES]
    systems = [SYSTEMS[name] for name in options.system or SYSTEMS]
    pairs = [(table, system) for table in tables for system in systems]
    begun = time.monotonic()
    done = 0

    def one(pair: tuple[Table, System]) -> tuple[str, list[Figure]]:
        nonlocal done
        got = make(*pair, asked, options.kernel)
        done += 1
        print(f"[{done:2}/{len(pairs)}] {pair[0].name} on {pair[1].title}: {len(got[1])} figures, "
              f"{time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
        return got

    found: list[Figure] = []
    kernels: dict[str, str] = {}
    trouble: list[str] = []
    counted: dict[str, dict[str, int]] = {}
    with ThreadPoolExecutor(options.jobs) as pool:
        # The rest of what a whole run has.
        rest = None if options.table or SYSTEMS["tactus"] not in systems else pool.submit(
            counts, options.kernel)
        waiting = [(pair, pool.submit(one, pair)) for pair in pairs]
        for table in tables:
            mine: list[Figure] = []
            for (whose, system), future in waiting:
                if whose is not table:
                    continue
                try:
                    kernel, got = future.result()
                except MeasureError as error:
                    # What the guest printed until then is long.
                    trouble.append(f"{whose.name} on {system.title}: {str(error)[:500]}")
                    continue
                kernels[system.name] = kernel
                mine += got
            found += mine
            yield figures.Outcome([figure.as_dict() for figure in mine],
                                  report.terminal(table, mine), [])
        if rest:
            try:
                counted = rest.result()
            except MeasureError as error:
                trouble.append(f"counts: {str(error)[:500]}")
            yield figures.Outcome([counted], report.terminal_counts(counted), [])
    data = results(found, kernels, asked, counted)
    kept, shown = reference.results_of(options.kernel), reference.report_of(options.kernel)
    kept.parent.mkdir(parents=True, exist_ok=True)
    if (options.table or options.system) and kept.exists():
        data = reference.merged(data, json.loads(kept.read_text(encoding="utf-8")))
    kept.write_text(json.dumps(data) + "\n", encoding="utf-8")
    shown.write_text(report.page(data), encoding="utf-8")
    print(f"{kept.relative_to(TOP)}, {shown.relative_to(TOP)}", file=sys.stderr)
    if options.check:
        try:
            known = reference.load(options.kernel)
        except FileNotFoundError:
            trouble.append(f"there is no reference of {options.kernel}: `make figures` makes one")
        else:
            trouble += reference.complaints(results(found, kernels, asked, counted), known)
    yield figures.Outcome([], "", trouble)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Those of the command line."""
    parser.add_argument("--table", action="append", choices=TABLES,
                        help="may be repeated; default: all")
    parser.add_argument("--system", action="append", choices=SYSTEMS,
                        help="may be repeated; default: all")
    figures.add_seconds(parser, 0.5, "of each figure")
    parser.add_argument("--readings", type=int, default=1_000_000,
                        help="of the clock, for its gaps; default %(default)s")
    parser.add_argument("--jobs", type=int, default=2, help="guests at a time; default %(default)s")
    parser.add_argument("--check", action="store_true", help="fail when a maximum or a count of "
                        f"Tactus grew by more than {reference.GROWTH_PERCENT} %% against the "
                        "committed reference")


MEASUREMENTS = (figures.Measurement(
    "systems", "the classic tables on Linux, PREEMPT_RT and Linux with Tactus, beside each other",
    run, add_options, where=("kernel",)),)
