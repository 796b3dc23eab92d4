# SPDX-License-Identifier: GPL-2.0-only
"""Boot one of our own kernels in QEMU with a busybox initrd and read its console.

This is not the bench (tests/vm): these kernels have no PCI, no ACPI and nothing
to boot from but an initrd, and all that is wanted back is the kernel's log.
"""
from __future__ import annotations

import gzip
import re
import resource
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness.ownkernel import LINUX_RACES, Kernel

# A guest that waits for ever uses no CPU time: it has that many times as much of the host's.
HALTED = 10
BEGIN, END = "tactus-guest: begin", "tactus-guest: end"
# Each is a reason to fail even when every test says ok.
SPLAT = re.compile(
    r"BUG:|WARNING:|KASAN|UBSAN|KCSAN|ODEBUG:|INFO: rcu|INFO: task|possible circular|"
    r"inconsistent lock state|suspicious RCU|Oops|general protection|Kernel panic|"
    r"unreferenced object|kernel tried to execute|stack-protector")

INIT = f"""#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp
/bin/busybox mount -t proc none /proc
/bin/busybox mount -t sysfs none /sys
/bin/busybox mount -t devtmpfs none /dev
/bin/busybox --install -s /bin
export PATH=/bin
[ -d /sys/kernel/debug ] && mount -t debugfs none /sys/kernel/debug
echo "{BEGIN}" > /dev/kmsg
sh /run > /tmp/out 2>&1
status=$?
while read -r line; do echo "run: $line" > /dev/kmsg; done < /tmp/out
echo "{END} $status" > /dev/kmsg
sleep 0.2
reboot -f
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


def write_initrd(path: Path, files: dict[str, Path], script: str) -> None:
    """Pack busybox, @files (guest path -> host file) and the script to run."""
    root = path.with_suffix(".root")
    shutil.rmtree(root, ignore_errors=True)
    (root / "bin").mkdir(parents=True)
    busybox = shutil.which("busybox")
    assert busybox, "ownkernel.check_programs() has looked for it"
    shutil.copy(busybox, root / "bin/busybox")
    for guest, host in files.items():
        target = root / guest.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(host, target)
    (root / "run").write_text(script)
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    names = "\n".join(str(p.relative_to(root)) for p in sorted(root.rglob("*")))
    packed = subprocess.run(["cpio", "-o", "-H", "newc", "--quiet", "-R", "0:0"], cwd=root,
                            input=names.encode(), capture_output=True, check=True)
    path.write_bytes(gzip.compress(packed.stdout, 1))
    shutil.rmtree(root)


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


def boot(kernel: Kernel, work: Path, files: dict[str, Path], script: str,
         timeout_s: int, smp: int = 2) -> Boot:
    """Boot @kernel, run @script in its initrd, power off; `work` keeps initrd and console.

    @timeout_s: of CPU time, so that a busy host changes nothing about it.
    """
    work.mkdir(parents=True, exist_ok=True)
    initrd, console = work / "initrd.gz", work / "console.log"
    write_initrd(initrd, files, script)
    command = [
        # Without cx16, see tests/vm/harness/bench/guest.py.
        "qemu-system-x86_64", "-accel", "tcg,thread=single", "-cpu", "max,-cx16", "-smp", str(smp),
        "-m", "1024", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
        "-serial", f"file:{console}", "-kernel", str(kernel.image), "-initrd", str(initrd),
        "-append",
        "console=ttyS0 ignore_loglevel log_buf_len=4M oops=panic panic=-1 no_timer_check",
    ]
    console.unlink(missing_ok=True)
    timed_out = False
    try:
        done = subprocess.run(command, timeout=timeout_s * HALTED, stdin=subprocess.DEVNULL,
                              preexec_fn=lambda: resource.setrlimit(
                                  resource.RLIMIT_CPU, (timeout_s, timeout_s)))
        timed_out = done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
        if not timed_out:
            done.check_returncode()
    except subprocess.TimeoutExpired:
        timed_out = True
    log, status = between_marks(console.read_text(errors="backslashreplace"))
    return Boot(log, status, timed_out)
