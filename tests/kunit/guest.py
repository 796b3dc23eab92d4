# SPDX-License-Identifier: GPL-2.0-only
"""Runs a script in the bench (tests/vm) on one of our own kernels, and reads the kernel's log."""
from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness import VM
from harness.bench.common import EXIT_SETUP, EXIT_TIMEOUT
from harness.bench.kernels import OWN
from harness.ownkernel import LINUX_RACES, Kernel, SetupError

BEGIN, END = "tactus-guest: begin", "tactus-guest: end"
# Each is a reason to fail even when every test says ok.
SPLAT = re.compile(
    r"BUG:|WARNING:|KASAN|UBSAN|KCSAN|ODEBUG:|INFO: rcu|INFO: task|possible circular|"
    r"inconsistent lock state|suspicious RCU|Oops|general protection|Kernel panic|"
    r"unreferenced object|kernel tried to execute|stack-protector")

SHELL = f"""
echo "{BEGIN}" > /dev/kmsg
sh ./run > /tmp/out 2>&1
status=$?
while read -r line; do echo "run: $line" > /dev/kmsg; done < /tmp/out
echo "{END} $status" > /dev/kmsg
"""


@dataclass(frozen=True)
class Boot:
    """What one boot gave: the log between the marks, and how it ended."""

    log: list[str]
    status: int | None  # exit status of the script; None: it never got there
    timed_out: bool

    @property
    def splats(self) -> list[str]:
        """The lines that are a failure: races between functions of Linux alone are not."""
        return [line for line in self.log
                if SPLAT.search(line) and not re.search(LINUX_RACES, line)]


def strip_stamp(line: str) -> str:
    return re.sub(r"^\[\s*\d+\.\d+\](\[[^\]]*\])? ?", "", line)


def between_marks(console: str) -> tuple[list[str], int | None]:
    """The log from BEGIN to END without time stamps, and the script's status."""
    lines = [strip_stamp(line.rstrip("\r")) for line in console.splitlines()]
    start = next((n + 1 for n, line in enumerate(lines) if BEGIN in line), 0)
    for n in range(start, len(lines)):
        if match := re.search(re.escape(END) + r" (\d+)", lines[n]):
            return lines[start:n], int(match[1])
    return lines[start:], None


def boot(kernel: Kernel, work: Path, modules: list[Path], script: str, timeout_s: int,
         how: list[str]) -> Boot:
    """Run @script on @kernel, with @modules beside it; `work` keeps the console.

    @timeout_s: the bench's, of the host's time without waits for other processes.
    @how: more words for `vm run`.
    Raises SetupError with the bench's reason if there is no guest to be had.
    """
    work.mkdir(parents=True, exist_ok=True)
    run, console = work / "run", work / "console.log"
    run.write_text(script)
    which = ["--kernel", kernel.name] if kernel.name in OWN else ["--kdir", str(kernel.tree)]
    put = (word for path in (run, *modules) for word in ("--put", str(path)))
    done = subprocess.run(
        [VM, "run", *which, *how, "--no-tree", "--timeout", str(timeout_s), "--log", console,
         "--allow", LINUX_RACES, *put, "--", SHELL],
        stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode == EXIT_SETUP:
        raise SetupError(done.stderr.strip())
    log, status = between_marks(console.read_text(errors="backslashreplace"))
    return Boot(log, status, done.returncode == EXIT_TIMEOUT)
