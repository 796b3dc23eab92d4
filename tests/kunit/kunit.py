# SPDX-License-Identifier: GPL-2.0-only
"""Run the KUnit suites on a kernel of our own.

A suite is tests/kunit/NAME_kunit.c. It includes the pure .c files it tests, becomes a
module of its own, and runs when it is loaded. Results are read by kunit.py of the
kernel's source; a splat in the log is a failure even when every test passed.

Exit status: 0 all passed, 1 a test failed or the log is not clean, 2 could not run.
"""
from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import guest
from harness import TOP, ownkernel
from harness.ownkernel import Kernel, SetupError, say

HERE = TOP / "tests/kunit"
SOURCES = ("kernel", "rtfifo", "tests/unit", "tests/kunit")  # what a suite may include from
TIMEOUT_S = 600
# How the bench boots them. The debug kernel's checkers need no second CPU, and it is slow enough
# with one. KCSAN waits 80 us at each access that it watches: in virtual time, 80,000 instructions.
HOW = {"debug": ["--icount"], "kcsan": ["--smp", "2"]}
OTHERS = ["--icount", "--smp", "2"]
ONE_BOOT_EACH = {"debug", "kcsan"}  # the first splat switches lockdep off for good


@dataclass(frozen=True)
class Suite:
    """One NAME_kunit.c; `name` is NAME."""

    name: str
    path: Path


def find_suites(folder: Path, wanted: list[str]) -> list[Suite]:
    found = {path.name.removesuffix("_kunit.c"): path
             for path in sorted(folder.glob("*_kunit.c"))}
    if unknown := [name for name in wanted if name not in found]:
        raise SetupError(f"no such suite: {', '.join(unknown)} (there are: {', '.join(found)})")
    if not found:
        raise SetupError(f"no suites in {folder}")
    return [Suite(name, path) for name, path in found.items() if not wanted or name in wanted]


def build(kernel: Kernel, suites: list[Suite], work: Path) -> dict[str, Path]:
    """Build the suites as modules in a copy of the tree; return name -> .ko."""
    if work.exists():
        shutil.rmtree(work)
    for part in SOURCES:
        for source in (*(TOP / part).rglob("*.[chS]"), *(TOP / part).rglob("*.mk")):
            target = work / source.relative_to(TOP)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    for suite in suites:
        shutil.copy(suite.path, work)
    kbuild = ["ccflags-y := -I$(src) -I$(src)/kernel -I$(src)/kernel/include"]
    kbuild += [f"obj-m += {suite.path.stem}.o" for suite in suites]
    (work / "Kbuild").write_text("\n".join(kbuild) + "\n")
    command = ["make", "-C", str(kernel.tree), f"M={work}", "W=1", *ownkernel.compiler(), "modules"]
    done = subprocess.run(command, capture_output=True, text=True,
                          env=ownkernel.build_environment())
    if done.returncode:
        raise SetupError(f"the suites do not build:\n{done.stdout}{done.stderr}")
    sys.stderr.write(done.stderr)  # warnings
    return {suite.name: work / f"{suite.path.stem}.ko" for suite in suites}


def guest_script(suites: list[Suite], leaks: bool) -> str:
    lines = ["failed=0"]
    for suite in suites:
        module = suite.path.stem
        lines += [f"insmod ./{module}.ko || failed=1", f"rmmod {module} || failed=1"]
    if leaks:
        lines += [ownkernel.LOOK_FOR_LEAKS]
    return "\n".join([*lines, "exit $failed"]) + "\n"


def ktap(log: list[str], count: int) -> list[str]:
    """The log as one KTAP document: suites that were loaded as modules have no header."""
    lines = [line for line in log if re.match(r"\s*(KTAP|#|\d+\.\.\d+|ok |not ok )", line)]
    numbered: list[str] = []
    for line in lines:  # the kernel counts suites since boot, kunit.py from 1
        if match := re.match(r"((?:not )?ok) \d+ (.*)", line):
            done = sum(bool(re.match(r"(?:not )?ok ", earlier)) for earlier in numbered)
            line = f"{match[1]} {done + 1} {match[2]}"
        numbered.append(line)
    return ["KTAP version 1", f"1..{count}", *numbered]


def judge(kernel: Kernel, suites: list[Suite], result: guest.Boot, work: Path) -> list[str]:
    """Print kunit.py's reading of one boot; return the reasons to fail."""
    report = work / "ktap.txt"
    report.write_text("\n".join(ktap(result.log, len(suites))) + "\n")
    parser = ownkernel.source() / "tools/testing/kunit/kunit.py"
    parsed = subprocess.run([sys.executable, str(parser), "parse", str(report)])
    reasons = []
    if parsed.returncode:
        reasons.append("kunit.py found a failure")
    if result.timed_out:
        reasons.append("the guest did not finish in time")
    elif result.status is None:
        reasons.append("the guest died on the way")
    elif result.status:
        reasons.append("a suite could not be loaded or unloaded")
    reasons += [f"in the log: {line.strip()}" for line in result.splats]
    if reasons:
        say(f"console of this boot ({kernel.name} kernel): {work / 'console.log'}")
    return reasons


def run(kernel_name: str, folder: Path, wanted: list[str], together: bool, leaks: bool) -> int:
    suites = find_suites(folder, wanted)
    kernel = ownkernel.kernel(kernel_name)
    work = TOP / "build" / f"kunit-{kernel_name}"
    with ownkernel.locked(work.with_name(work.name + ".lock")):
        return build_and_boot(kernel, suites, work, together, leaks and kernel_name == "debug")


def build_and_boot(kernel: Kernel, suites: list[Suite], work: Path, together: bool,
                   leaks: bool) -> int:
    modules = build(kernel, suites, work)
    apart = kernel.name in ONE_BOOT_EACH and not together
    boots = [[suite] for suite in suites] if apart else [suites]
    reasons = []
    for batch in boots:
        label = batch[0].name if len(batch) == 1 else "all"
        say(f"booting {kernel.release} ({kernel.name}) with "
            + ", ".join(suite.name for suite in batch))
        place = work / "boots" / label
        result = guest.boot(kernel, place, [modules[suite.name] for suite in batch],
                            guest_script(batch, leaks), TIMEOUT_S, HOW.get(kernel.name, OTHERS))
        reasons += judge(kernel, batch, result, place)
    for reason in reasons:
        say(f"FAIL: {reason}")
    if not reasons:
        say(f"ok: {len(suites)} suites on the {kernel.name} kernel, log clean")
    return 1 if reasons else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests/kunit/run", description=__doc__.splitlines()[0])
    parser.add_argument("--kernel", choices=sorted(ownkernel.FRAGMENTS), default="plain",
                        help="which kernel of our own (default: plain)")
    parser.add_argument("--suite", action="append", default=[], metavar="NAME",
                        help="only this suite; may be repeated")
    parser.add_argument("--dir", type=Path, default=HERE, metavar="DIR",
                        help="where the *_kunit.c are (default: tests/kunit)")
    parser.add_argument("--together", action="store_true",
                        help="one boot for all suites on the checking kernels, too: as strict, "
                        "but after a first splat the others say less")
    parser.add_argument("--no-leaks", action="store_true",
                        help="on the debug kernel, do not look for leaked memory afterwards, "
                        "which takes longer than a minute")
    parser.add_argument("--tree", action="store_true",
                        help="only see to the kernel; print the tree that make -C wants")
    args = parser.parse_args()
    try:
        if args.tree:
            print(ownkernel.kernel(args.kernel).tree)
            return 0
        return run(args.kernel, args.dir, args.suite, args.together, not args.no_leaks)
    except SetupError as problem:
        say(str(problem))
        return 2


if __name__ == "__main__":
    sys.exit(main())
