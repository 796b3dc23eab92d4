# SPDX-License-Identifier: GPL-2.0-only
"""Runs a test of several CPUs under many schedules, and tells the first seed that breaks it.

    tests/vm/explore tests/vm/exec/test_task.py::test_four_cpus --seeds 100
    tests/vm/explore --duels --seeds 1000
    tests/vm/explore --planted

A schedule is where the turns of the CPUs end (`vm run --schedule`): one seed, one run, to the last
digit. --duels are the module's of that name, on the product as it is. --planted is the control:
four races made on purpose, each of which must be found.

Exit status: 0 nothing found (with --planted: all found), 1 otherwise.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from . import TOP, VM, mutant

PROGRESS_S = 15.0


@dataclass(frozen=True)
class Duel:
    """What the module duel does, and the race that mutant.py plants for it."""

    what: str
    planted: int
    rounds: int = 200


DUELS = (Duel("cancel", 1), Duel("delete", 2), Duel("wakeup", 3), Duel("semaphore", 4))


@dataclass(frozen=True)
class Found:
    """A seed that breaks a test: the command that repeats it, and what it said."""

    seed: int
    command: str
    said: str


def say(text: str) -> None:
    print(f"explore: {text}", file=sys.stderr, flush=True)


def run_test(test: str, seed: int) -> Found | None:
    """One run of a test of pytest's."""
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", test]
    done = subprocess.run(words, cwd=TOP, env=os.environ | {"TACTUS_SCHEDULE": str(seed)},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode in (0, 1):
        command = re.search(r"^-+ to repeat it -+\n(.*?)\n(?:-{3,}|={3,})", done.stdout,
                            re.M | re.S)
        repeat = command[1] if command else f"TACTUS_SCHEDULE={seed} {shlex.join(words)}"
        return Found(seed, repeat, done.stdout[-3000:]) if done.returncode else None
    raise SystemExit(f"explore: {test} could not be run:\n{done.stdout}{done.stderr}")


def run_duel(duel: Duel, seed: int, tactus: str, planted: int = 0) -> Found | None:
    """One boot with one duel; `tactus` names the modules of the product, or of the mutant."""
    parameters = f" planted={planted}" if planted else ""
    words = [str(VM), "run", "--icount", "--smp", "2", "--schedule", str(seed), "--timeout",
             "60", "--modules", tactus + parameters, "--with-modules", "duel", "--",
             f"taskset 1 modprobe duel what={duel.what} rounds={duel.rounds} && rmmod duel tactus"]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    if done.returncode == 123:
        raise SystemExit(f"explore: {duel.what} could not be run:\n{done.stderr}")
    if done.returncode == 0:
        return None
    if done.returncode == 124 and not re.search(r"duel: \w+: round", done.stderr):
        say(f"{duel.what}: seed {seed} has no end within its time")
    return Found(seed, shlex.join(words), done.stdout[-1000:] + done.stderr[-2000:])


def search(run: Callable[[int], Found | None], seeds: range, jobs: int, name: str) -> Found | None:
    """The lowest of `seeds` that breaks, of those begun before one was known."""
    left: Iterator[int] = iter(seeds)
    found: list[Found] = []
    ended, told = 0, time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        waiting: set[Future[Found | None]] = {pool.submit(run, seed) for seed, _ in
                                              zip(left, range(jobs))}
        while waiting:
            over, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in over:
                ended += 1
                if result := future.result():
                    found.append(result)
                elif not found and (seed := next(left, None)) is not None:
                    waiting.add(pool.submit(run, seed))
            if time.monotonic() - told > PROGRESS_S:
                told = time.monotonic()
                say(f"{name}: {ended} of {len(seeds)} seeds")
    return min(found, key=lambda one: one.seed, default=None)


def tell(name: str, seeds: range, found: Found | None) -> None:
    if found:
        print(f"{name}: seed {found.seed}\n{found.command}\n{found.said}", flush=True)
    else:
        print(f"{name}: nothing found with seeds {seeds.start} to {seeds.stop - 1}", flush=True)


def explore_planted(seeds: range, jobs: int) -> int:
    """The control; 0 if every race was found."""
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        tactus = mutant.build(Path(folder) / "races", "races")
        for duel in DUELS:
            found = search(partial(run_duel, duel, tactus=tactus, planted=duel.planted), seeds,
                           jobs, duel.what)
            count += found is not None
            print(f"{duel.what}: " + (f"found by seed {found.seed}" if found else "NOT found"),
                  flush=True)
    print(f"{count} of {len(DUELS)} planted races found")
    return 0 if count == len(DUELS) else 1


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="explore", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", metavar="TEST", help="as pytest names it")
    parser.add_argument("--duels", action="store_true", help="the module duel, each of its kinds")
    parser.add_argument("--planted", action="store_true", help="the control")
    parser.add_argument("--seeds", type=int, default=50, metavar="N", help="default: %(default)s")
    parser.add_argument("--from", type=int, default=1, dest="first", metavar="SEED",
                        help="the first (default: 1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                        help="how many at a time (default: the host's CPUs)")
    options = parser.parse_args()
    if not (options.tests or options.duels or options.planted):
        parser.error("a TEST, --duels or --planted is wanted")
    if min(options.seeds, options.jobs) < 1 or options.first < 0:
        parser.error("--seeds and --jobs take numbers from 1, --from one from 0")
    seeds = range(options.first, options.first + options.seeds)
    if options.planted:
        return explore_planted(seeds, options.jobs)
    results = []
    for test in options.tests:
        results.append(search(partial(run_test, test), seeds, options.jobs, test))
        tell(test, seeds, results[-1])
    for duel in DUELS if options.duels else ():
        results.append(search(partial(run_duel, duel, tactus="tactus_core tactus"), seeds,
                              options.jobs, duel.what))
        tell(duel.what, seeds, results[-1])
    return 1 if any(results) else 0


if __name__ == "__main__":
    sys.exit(main())
