# SPDX-License-Identifier: GPL-2.0-only
"""What works on which machine: each check on each model that QEMU emulates, as a table and as JSON.

    tests/vm/python -m harness.platforms                every machine; some 20 minutes
    tests/vm/python -m harness.platforms q35 uefi       these only

Checks, on Debian's 6.1 in virtual time:

    load      tactus loads, which takes a passed self-test on every CPU
    task      an RT task of 1 kHz on the last CPU has every release; on one CPU none is later than
              2000 ns
    unload    all modules go
    text      then all code of the kernel is what it was before, byte for byte
    again     it loads and unloads once more

A machine that is refused is shown with its reason. "timer" is the device that RT time comes from.
Results go to out/platforms.json.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from measure.lateness import LIMIT_NS

from . import FINAL_CLOCK, VM, programs
from .bench.common import TREE

OUT = TREE / "out" / "platforms.json"
UEFI = Path("/usr/share/ovmf/OVMF.fd")
CHECKS = ("load", "task", "unload", "text", "again")
TASK_MS = 300
_TIMEOUT_S = 400

_SCRIPT = FINAL_CLOCK + """
./ktext save /tmp/before || exit 1
modprobe tactus 2>&1 || {{ dmesg | sed -n 's/.*tactus: refused: /PLATFORM refused /p'; exit 0; }}
echo PLATFORM load $(cat /sys/kernel/tactus/state /sys/kernel/tactus/cpus)
echo PLATFORM timer $(cat /sys/kernel/tactus/timer)
grep -m1 'model name' /proc/cpuinfo | sed 's/.*: /PLATFORM cpu /'
dmesg | grep -q 'x2apic enabled' && echo PLATFORM x2apic
modprobe rt_latency cpu={last} period_us=1000 && sleep {seconds} &&
    sed 's/^/PLATFORM task /' /proc/rt_latency/summary
rmmod rt_latency && rmmod tactus && echo PLATFORM unload
./ktext diff /tmp/before | sed 's/^/PLATFORM text /'
modprobe tactus && rmmod tactus && echo PLATFORM again
"""


@dataclass(frozen=True)
class Platform:
    """A machine model: words for QEMU, and what the guest is beside it."""

    name: str
    qemu: str = ""
    cpus: int = 1
    modules: str = ""
    flavour: str = "cloud"
    append: str = ""


def _numa(cpus: int, nodes: int, mib: int) -> str:
    each = cpus // nodes
    return " ".join(
        f"-object memory-backend-ram,id=node{n},size={mib // nodes}M"
        f" -numa node,nodeid={n},memdev=node{n},cpus={n * each}-{n * each + each - 1}"
        for n in range(nodes))


# The generations that QEMU has names for; what its emulation lacks of them it leaves out.
GENERATIONS = ("core2duo", "Nehalem", "SandyBridge", "Haswell", "Broadwell", "Skylake-Server",
               "Cascadelake-Server", "Icelake-Server", "Opteron_G5", "EPYC", "EPYC-Milan")

_DISK = "-blockdev null-co,node-name={0},size=16777216,read-zeroes=on"

PLATFORMS = {platform.name: platform for platform in (
    Platform("pc"),
    *(Platform(f"pc, {cpus} CPUs", cpus=cpus) for cpus in (2, 4, 8, 16)),
    Platform("q35", "-machine q35"),
    Platform("intel-iommu", "-machine q35 -device intel-iommu,intremap=on"),
    Platform("intel-iommu, x2APIC", "-machine q35 -device intel-iommu,intremap=on,eim=on", 2),
    Platform("amd-iommu", "-machine q35 -device amd-iommu,intremap=on"),
    *(Platform(f"cpu {name}", f"-cpu {name}") for name in GENERATIONS),
    Platform("numa, 2 nodes", _numa(4, 2, 512), 4),
    Platform("numa, 4 nodes", _numa(8, 4, 512), 8),
    Platform("uefi", f"-bios {UEFI}"),
    Platform("uefi, q35", f"-machine q35 -bios {UEFI}"),
    Platform("devices", "-machine q35 " + " ".join(map(_DISK.format, ("a", "b", "c")))
             + " -device nvme,serial=1,drive=a -device virtio-blk-pci,drive=b"
             " -device ide-hd,drive=c -device e1000e -device virtio-net-pci -device qemu-xhci",
             modules="nvme virtio_pci virtio_blk ahci sd_mod e1000e virtio_net xhci_pci",
             flavour="generic"),
    Platform("hpet", append="hpet=force"),
)}
# What `make test` looks at.
TESTED = ("q35", "cpu SandyBridge")


@dataclass
class Row:
    """One machine's results."""

    name: str
    refused: str = ""
    trouble: list[str] = field(default_factory=list)
    """What went wrong, one sentence each; empty if all is well."""
    passed: dict[str, bool] = field(default_factory=dict)
    """Check -> outcome, of CHECKS."""
    cpu: str = ""
    timer: str = ""
    x2apic: bool = False
    max_ns: int | None = None
    """The RT task's largest lateness, on one CPU."""

    @property
    def good(self) -> bool:
        """All checks were made and passed."""
        return not self.trouble and not self.refused and all(self.passed.values())


def judge(row: Row, text: str, cpus: int) -> None:
    """What the guest printed; fills in the row."""
    if refused := re.search(r"^PLATFORM refused (.*)$", text, re.M):
        row.refused = refused[1].strip()
        return

    def words(name: str) -> str:
        line = re.search(rf"^PLATFORM {name}(?: (.*))?$", text, re.M)
        return (line[1] or "yes") if line else ""

    row.cpu, row.timer, row.x2apic = words("cpu"), words("timer"), bool(words("x2apic"))
    task = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", words("task"))}
    if cpus == 1:
        row.max_ns = task.get("max_ns")
    all_cpus = "0" if cpus == 1 else f"0-{cpus - 1}"
    row.passed = {
        "load": words("load") == f"active {all_cpus}",
        "task": task.get("releases", 0) >= TASK_MS * 0.9
        and task["releases"] == task["expected"] and task["skipped"] == 0
        and (cpus > 1 or task["max_ns"] <= LIMIT_NS["task"]),
        "unload": bool(words("unload")),
        "text": " different=0 " in f"{words('text')} ",
        "again": bool(words("again")),
    }
    row.trouble += [f"{name}: {words(name) or 'missing'}"
                    for name, passed in row.passed.items() if not passed]


def check(platform: Platform) -> Row:
    """Make all checks on one machine, in one boot."""
    row = Row(platform.name)
    command = [str(VM), "run", f"--flavour={platform.flavour}", "--icount",
               f"--smp={platform.cpus}", f"--timeout={_TIMEOUT_S}",
               f"--modules=tactus_core {platform.modules}",
               "--with-modules=rt_latency", f"--put={programs.build('ktext')}"]
    # Several CPUs say nothing of lateness, and a busy loop on each costs the host its time.
    command += ["--busy"] if platform.cpus == 1 else []
    command += [f"--qemu={platform.qemu}"] if platform.qemu else []
    command += [f"--append={platform.append}"] if platform.append else []
    script = _SCRIPT.format(last=platform.cpus - 1, seconds=TASK_MS / 1000)
    done = subprocess.run([*command, "--", script], capture_output=True, text=True,
                          errors="replace", check=False)
    if done.returncode in (123, 124, 125):
        row.trouble.append(f"the bench exited with {done.returncode}: {done.stderr.strip()}")
    else:
        judge(row, done.stdout, platform.cpus)
    return row


def table(rows: Sequence[Row]) -> str:
    """The rows as lines for people."""
    lines = [f"{'machine':<24} " + " ".join(f"{name:<6}" for name in CHECKS)
             + f" {'max ns':<7} timer"]
    for row in rows:
        if row.refused:
            lines.append(f"{row.name:<24} refused: {row.refused}")
            continue
        marks = [{True: "ok", False: "FAIL", None: "-"}[row.passed.get(name)] for name in CHECKS]
        late = "-" if row.max_ns is None else str(row.max_ns)
        lines.append(f"{row.name:<24} " + " ".join(f"{mark:<6}" for mark in marks)
                     + f" {late:<7} {row.timer}{', x2APIC' * row.x2apic}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the machines named, or all; 0 if all is well, 1 if not."""
    parser = argparse.ArgumentParser(prog="platforms.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="default: all: " + "; ".join(PLATFORMS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                        help="how many at a time (default: the host's CPUs)")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE", help="where the JSON goes")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(PLATFORMS):
        parser.error(f"no such machine: {', '.join(sorted(unknown))}")
    wanted = [PLATFORMS[name] for name in options.names] or list(PLATFORMS.values())

    def timed(platform: Platform) -> Row:
        begin = time.monotonic()
        row = check(platform)
        state = "refused" if row.refused else "ok" if row.good else "FAILED"
        print(f"{row.name}: {state} ({time.monotonic() - begin:.0f} s)", file=sys.stderr,
              flush=True)
        return row

    with ThreadPoolExecutor(max(options.jobs, 1)) as pool:
        rows = list(pool.map(timed, wanted))
    print(table(rows))
    good = sum(row.passed.get(name, False) for row in rows for name in CHECKS)
    print(f"{good} of {len(rows) * len(CHECKS)} cells")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(
        json.dumps([dataclasses.asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    for row in rows:
        for text in row.trouble:
            print(f"FAILED: {row.name}: {text}", file=sys.stderr)
    return 0 if all(row.good for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
