# SPDX-License-Identifier: GPL-2.0-only
"""Runs what several CPUs do under many schedules, and tells the first that breaks it.

    tests/vm/explore --all --seeds 1000
    tests/vm/explore --subject fifo --subject post --seeds 100
    tests/vm/explore tests/vm/exec/test_task.py::test_four_cpus --seeds 10
    tests/vm/explore --planted

A schedule is where the turns of the CPUs end (`vm run --schedule`): one seed, one schedule, to the
last digit. A subject does one thing again and again, each round under the schedule of the next
seed: one boot is enough for many. A TEST is pytest's, and takes a boot for each seed. --planted is
the control: six races made on purpose, each of which must be found.

Exit status: 0 nothing found (with --planted: all found), 1 otherwise.
"""

from __future__ import annotations

import argparse
import functools
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from . import TOP, VM, mutant, programs
from .bench.common import EXIT_SETUP

PROGRESS_S = 15.0
# A boot, and so much for a round, of the host's time; far more than they take.
BOOT_S = 60
PLANTED_EACH_BOOT = 100
SHELL = """
n=0
while [ $n -lt {rounds} ]; do
    n=$((n + 1))
    ./mark
    %s
done
"""


@dataclass(frozen=True)
class Subject:
    """What is done in rounds. `each_boot`: so many rounds have a boot together."""

    name: str
    command: str
    modules: str = "tactus"
    also: str = ""
    cpus: int = 2
    each_boot: int = 500
    round_s: float = 0.5
    programs: tuple[str, ...] = ()
    planted: tuple[int, ...] = field(default=())     # `races` of mutant.py


def duel(name: str, planted: tuple[int, ...] = (), modules: str = "tactus",
         cpus: int = 2) -> Subject:
    """One of those that the module duel has."""
    return Subject(name, f"taskset 1 modprobe duel what={name} rounds={{rounds}} ||"
                   " {{ dmesg | grep duel:; exit 1; }}; rmmod duel tactus", modules, "duel", cpus,
                   planted=planted)


def shell(name: str, steps: str, also: str, each_boot: int, round_s: float) -> Subject:
    """Steps of a shell's; one that fails ends the rounds."""
    return Subject(name, SHELL % steps, "tactus", also, each_boot=each_boot, round_s=round_s,
                   programs=("mark",))


CPU1 = "/sys/devices/system/cpu/cpu1/online"
SUBJECTS = {subject.name: subject for subject in (
    duel("cancel", (1, 6)),
    duel("delete", (2,)),
    duel("wakeup", (3,)),
    duel("suspend"),
    duel("semaphore", (4,)),
    duel("mutex"),
    duel("mailbox"),
    duel("post"),
    duel("poke", (5,), "tactus mode=hosted", 3),
    Subject("fifo", "./fifo_duel {rounds} && rmmod fifo_echo rtfifo tactus",
            "tactus rtfifo fifo_echo", programs=("fifo_duel",)),
    shell("hotplug", f"echo 0 > {CPU1} || exit 3; echo 1 > {CPU1} || exit 4\n"
          "    modprobe rt_latency cpu=1 || exit 5; usleep 2000; rmmod rt_latency || exit 6",
          "rt_latency", 50, 10),
    shell("policy", "modprobe rt_latency cpu=1 period_us=100 || exit 3\n"
          "    modprobe tactus_edf || exit 4; modprobe tactus_rm || exit 5\n"
          "    rmmod tactus_edf || exit 6; rmmod rt_latency tactus_rm || exit 7",
          "rt_latency tactus_edf tactus_rm", 50, 10),
    shell("load", "rmmod tactus || exit 3; modprobe tactus || exit 4\n"
          "    modprobe rt_latency cpu=1 || exit 5; usleep 2000; rmmod rt_latency || exit 6",
          "rt_latency", 10, 60),
)}


@dataclass(frozen=True)
class Found:
    """A seed that breaks something: the command that repeats it, and what it said."""

    seed: int
    command: str
    said: str


def say(text: str) -> None:
    print(f"explore: {text}", file=sys.stderr, flush=True)


def run_test(test: str, seeds: range) -> Found | None:
    """One run of a test of pytest's, under the first of `seeds`."""
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", test]
    done = subprocess.run(words, cwd=TOP, env=os.environ | {"TACTUS_SCHEDULE": str(seeds.start)},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode in (0, 1):
        command = re.search(r"^-+ to repeat it -+\n(.*?)\n(?:-{3,}|={3,})", done.stdout,
                            re.M | re.S)
        repeat = command[1] if command else f"TACTUS_SCHEDULE={seeds.start} {shlex.join(words)}"
        return Found(seeds.start, repeat, done.stdout[-3000:]) if done.returncode else None
    raise SystemExit(f"explore: {test} could not be run:\n{done.stdout}{done.stderr}")


def words_of(subject: Subject, seeds: range, tactus: str = "", planted: int = 0) -> list[str]:
    """The command of one boot. The first mark begins the schedule after the one it boots under;
    `tactus` names the modules of a mutant, if it is one."""
    modules = subject.modules
    if tactus:
        modules = re.sub(r"\btactus\b", tactus, modules) + f" planted={planted}"
    put = [word for name in subject.programs for word in ("--put", str(programs.build(name)))]
    return [str(VM), "run", "--icount", "--smp", str(subject.cpus), "--schedule",
            str(seeds.start - 1), "--timeout", str(int(BOOT_S + len(seeds) * subject.round_s)),
            "--modules", modules, "--with-modules", subject.also, *put, "--",
            subject.command.format(rounds=len(seeds))]


def run_subject(subject: Subject, seeds: range, tactus: str = "",
                planted: int = 0) -> Found | None:
    """One boot, a round for each of `seeds`."""
    done = subprocess.run(words_of(subject, seeds, tactus, planted), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    # The guest boots under the schedule before.
    last = re.findall(r"the last schedule was (\d+)", done.stderr)
    if done.returncode == EXIT_SETUP and not (last and int(last[-1]) in seeds):
        raise SystemExit(f"explore: {subject.name} could not be run:\n{done.stderr}")
    said = done.stdout[-1000:] + done.stderr[-2000:]
    # A duel tells its round, the first time: modprobe tries twice. All else ends in its last one.
    rounds = re.findall(r"duel: \w+: round (\d+)", said)[:1]
    count = int(rounds[0]) if rounds else int(last[-1]) - seeds.start + 1 if last else len(seeds)
    upto = seeds[:max(count, 1)]
    return Found(upto[-1], shlex.join(words_of(subject, upto, tactus, planted)), said)


def search(run: Callable[[range], Found | None], seeds: range, at_once: int, jobs: int,
           name: str) -> Found | None:
    """The lowest of `seeds` that breaks, of those begun before one was known."""
    left: Iterator[range] = iter([seeds[at:at + at_once] for at in range(0, len(seeds), at_once)])
    found: list[Found] = []
    ended, told = 0, time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        waiting: dict[Future[Found | None], range] = {}

        def more() -> None:
            if (part := next(left, None)) is not None:
                waiting[pool.submit(run, part)] = part

        for _ in range(jobs):
            more()
        while waiting:
            over = wait(waiting, timeout=PROGRESS_S, return_when=FIRST_COMPLETED).done
            for future in over:
                ended += len(waiting.pop(future))
                if result := future.result():
                    found.append(result)
                elif not found:
                    more()
            if time.monotonic() - told > PROGRESS_S:
                told = time.monotonic()
                say(f"{name}: {ended} of {len(seeds)} schedules")
    return min(found, key=lambda one: one.seed, default=None)


def tell(name: str, seeds: range, found: Found | None, began: float) -> None:
    if found:
        print(f"{name}: seed {found.seed}\n{found.command}\n{found.said}", flush=True)
    else:
        print(f"{name}: nothing found with seeds {seeds.start} to {seeds.stop - 1}"
              f" ({time.monotonic() - began:.0f} s)", flush=True)


def reason(found: Found) -> str:
    """The one line of what a subject said that tells most."""
    lines = [line.lstrip("| ") for line in found.said.splitlines()]
    told = [line for line in lines if re.search(r"duel: |panic|BUG|WARNING|Oops", line)]
    return (told or lines or [""])[0].strip()


def explore_planted(seeds: range, jobs: int, names: Iterable[str] = SUBJECTS) -> int:
    """The control, of the subjects named; 0 if every race was found."""
    plants = [(SUBJECTS[name], planted) for name in names for planted in SUBJECTS[name].planted]
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        tactus = mutant.build(Path(folder) / "races", "races")
        for subject, planted in plants:
            name = f"race {planted}, {subject.name}"
            run = functools.partial(run_subject, subject, tactus=tactus, planted=planted)
            found = search(run, seeds, min(subject.each_boot, PLANTED_EACH_BOOT), jobs, name)
            count += found is not None
            print(f"{name}: " + (f"found within {found.seed} seeds: {reason(found)}" if found
                                 else "NOT found"), flush=True)
    print(f"{count} of {len(plants)} planted races found")
    return 0 if count == len(plants) else 1


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="explore", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", metavar="TEST", help="as pytest names it")
    parser.add_argument("--subject", action="append", default=[], choices=list(SUBJECTS),
                        metavar="NAME", help="one of " + ", ".join(SUBJECTS))
    parser.add_argument("--all", action="store_true", help="all subjects")
    parser.add_argument("--planted", action="store_true",
                        help="the control, of all subjects or those named")
    parser.add_argument("--seeds", type=int, default=250, metavar="N", help="default: %(default)s")
    parser.add_argument("--from", type=int, default=1, dest="first", metavar="SEED",
                        help="the first (default: 1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                        help="how many at a time (default: the host's CPUs)")
    options = parser.parse_args()
    subjects = list(SUBJECTS) if options.all else options.subject
    if not (options.tests or subjects or options.planted):
        parser.error("a TEST, --subject, --all or --planted is wanted")
    if min(options.seeds, options.jobs, options.first) < 1:
        parser.error("--seeds, --from and --jobs take numbers from 1")
    seeds = range(options.first, options.first + options.seeds)
    if options.planted:
        return explore_planted(seeds, options.jobs, options.subject or SUBJECTS)
    results = []
    for test in options.tests:
        began = time.monotonic()
        run = functools.partial(run_test, test)
        results.append(search(run, seeds, 1, options.jobs, test))
        tell(test, seeds, results[-1], began)
    for subject in map(SUBJECTS.__getitem__, subjects):
        began = time.monotonic()
        run = functools.partial(run_subject, subject)
        results.append(search(run, seeds, subject.each_boot, options.jobs, subject.name))
        tell(subject.name, seeds, results[-1], began)
    return 1 if any(results) else 0


if __name__ == "__main__":
    sys.exit(main())
