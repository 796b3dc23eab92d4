# SPDX-License-Identifier: GPL-2.0-only
"""What works on which machine: each check on each model that QEMU emulates, on CPUs in Bochs, and
on kernels of our own with the options that distributions differ in; as tables and as JSON.

    tests/vm/python -m harness.platforms                every one; some 20 minutes, and an
                                                        hour for the kernels, once
    tests/vm/python -m harness.platforms q35 uefi       these only
    tests/vm/python -m harness.platforms --page         put the tables into docs/platforms.md

Checks, on Debian's 6.1 unless it is about the kernel, in virtual time:

    load      tactus loads, which takes a passed self-test on every CPU
    task      an RT task of 1 kHz on the last CPU has every release; on one CPU none is later than
              2000 ns
    unload    all modules go
    text      then all code of the kernel is what it was before, byte for byte
    again     it loads and unloads once more

In Bochs, which has what QEMU lacks, lateness is not looked at, and there are more checks:

    deadline  RT time comes from the TSC's deadline
    idle      Linux waits by mwait or intel_idle
    fifo      what an RT task puts into an RT-FIFO comes out
    fault     a task that divides by zero is stopped, by SSE's exception, too (QEMU raises none)
    ibt       indirect branch tracking is on, and nothing of all this has raised its #CP
    hotplug   CPU 1 goes and comes twice beside an RT task on CPU 0 that has every release
    kvm       kvm_intel's guest runs right beside an RT task of 1 kHz that has every release

The last three are for machines that have these.

A machine that is refused is shown with its reason. With Secure Boot on there is one row where the
modules are not signed, and Linux must refuse them, and one where they are. "timer" is the device
that RT time comes from. Results go to out/platforms.json; those of machines not named stay there.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from measure.lateness import LIMIT_NS

from . import FINAL_CLOCK, VM, programs
from .bench import kernels, secureboot, tree
from .bench.common import TREE

OUT = TREE / "out" / "platforms.json"
PAGE = TREE / "docs" / "platforms.md"
UEFI = Path("/usr/share/ovmf/OVMF.fd")
CHECKS = ("load", "task", "unload", "text", "again")
BOCHS_CHECKS = (*CHECKS, "deadline", "idle", "fifo", "fault")
MORE_CHECKS = ("ibt", "hotplug", "kvm")
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
# In Bochs beside the rest: how Linux waits, a FIFO, and faults.
_BOCHS = """
modprobe tactus && modprobe rt_hello && modprobe fault_test || exit 1
echo PLATFORM idle $(cat /sys/kernel/tactus/idle)
echo PLATFORM fifo $(timeout 3 head -n 2 /dev/rtf0)
for name in divide sse; do
    echo $name > /sys/module/fault_test/parameters/run
done
dmesg | sed -n \
    's/.*: task \\([a-z]*\\) stopped: \\(#[A-Z]*\\), .* at \\(.*\\)/PLATFORM fault.\\1 \\2 \\3/p'
rmmod fault_test && rmmod rt_hello && rmmod rtfifo && rmmod tactus || exit 1
"""
# What some machines in Bochs have beside that: before the rest, or behind it.
_BEFORE = {
    "hotplug": """
modprobe tactus && modprobe rt_latency cpu=0 period_us=2000 || exit 1
cpu=/sys/devices/system/cpu/cpu1/online
for turn in 1 2; do
    echo 0 > $cpu || exit 1
    off=$(cat /sys/kernel/tactus/cpus)
    echo 1 > $cpu || exit 1
    until [ "$(cat /sys/kernel/tactus/cpus)" = 0-1 ]; do sleep 0.01; done
    echo PLATFORM hotplug.$turn $off $(cat /sys/kernel/tactus/cpus)
done
sed 's/^/PLATFORM hotplug.task /' /proc/rt_latency/summary
rmmod rt_latency && rmmod tactus || exit 1
""",
    "kvm": """
modprobe tactus && modprobe rt_latency period_us=1000 || exit 1
echo PLATFORM kvm $(./nested 0.3)
sed 's/^/PLATFORM kvm.task /' /proc/rt_latency/summary
rmmod rt_latency && rmmod tactus || exit 1
""",
}
_BEHIND = {
    "ibt": """
dmesg | grep -o 'Indirect Branch Tracking enabled' | sed 's/^/PLATFORM ibt /'
dmesg | grep -i 'ENDBR\\|#CP' | sed 's/^/PLATFORM ibt.cp /'
""",
}
_REFUSED = """
modprobe tactus 2>/dev/null && {{ echo PLATFORM load refused by none; exit 0; }}
grep -q '^tactus ' /proc/modules && exit 1
dmesg | sed -n 's/.*tactus: refused: /PLATFORM refused /p'
"""
# Linux is locked down, and its own sentence is what the user gets.
_UNSIGNED = FINAL_CLOCK + """
mount -t securityfs securityfs /sys/kernel/security
grep -q '\\[integrity\\]' /sys/kernel/security/lockdown || exit 1
./ktext save /tmp/before || exit 1
modprobe tactus 2>/dev/null && {{ echo PLATFORM load unsigned; exit 0; }}
grep -q '^tactus' /proc/modules && exit 1
./ktext diff /tmp/before | grep -qw different=0 || exit 1
dmesg | grep -o -m1 'Loading of unsigned module is rejected' | sed 's/^/PLATFORM refused /'
"""
# Linux's own word on an emulated CPU that lacks a microcode, at boot.
_ALLOWED = "Speculative Return Stack Overflow: WARNING"


@dataclass(frozen=True)
class Platform:
    """A machine model: words for QEMU, and what the guest is beside it."""

    name: str
    qemu: str = ""
    cpus: int = 1
    modules: str = ""
    flavour: str = "cloud"
    kernel: str = kernels.DEFAULT
    append: str = ""
    icount: bool = True
    """Virtual time; without it the newer QEMU runs the machine in the host's time."""
    secure_boot: str = ""
    """"unsigned" or "signed": Secure Boot on, and modules so."""
    refused: str = ""
    """It must be, in a sentence with these words."""
    bochs: str = ""
    """The model of its CPU, if it is Bochs."""
    more: tuple[str, ...] = ()
    """Which of MORE_CHECKS, in Bochs."""

    @property
    def what(self) -> str:
        """Which table it is in: it is about the machine, or about the kernel."""
        if self.bochs:
            return "CPU in Bochs"
        return "machine" if self.kernel == kernels.DEFAULT else "kernel"

    @property
    def checks(self) -> tuple[str, ...]:
        """What is checked on it."""
        return (*BOCHS_CHECKS, *self.more) if self.bochs else CHECKS


def _numa(cpus: int, nodes: int, mib: int) -> str:
    each = cpus // nodes
    # A node has sockets of its own, as Linux expects.
    return f"-smp {cpus},sockets={nodes},cores={each} " + " ".join(
        f"-object memory-backend-ram,id=node{n},size={mib // nodes}M"
        f" -numa node,nodeid={n},memdev=node{n},cpus={n * each}-{n * each + each - 1}"
        for n in range(nodes))


# The generations that QEMU has names for; what its emulation lacks of them it leaves out.
GENERATIONS = ("core2duo", "Nehalem", "SandyBridge", "Haswell", "Broadwell", "Skylake-Server",
               "Cascadelake-Server", "Icelake-Server", "Opteron_G3", "EPYC", "EPYC-Milan")

# Kernels of our own, with the options that distributions differ in (config/NAME.config) -> is it to
# be refused, and with what words?
CONFIGURED = {"desktop": "", "server": "", "kprobeless": "symbol table cannot be reached",
              "bare": "built without CONFIG_PARAVIRT_XXL", "desktop-6.12": "",
              "cfi-6.12": "(CONFIG_CFI)"}

# Models of Bochs's CPU, and kernels: the generic one has intel_idle.
BOCHS = (("corei7_sandy_bridge_2600k", "cloud"), ("corei7_ivy_bridge_3770k", "cloud"),
         ("corei7_ivy_bridge_3770k", "generic"))
_IVY = "corei7_ivy_bridge_3770k"

_DISK = "-blockdev null-co,node-name={0},size=16777216,read-zeroes=on"

PLATFORMS = {platform.name: platform for platform in (
    Platform("pc"),
    *(Platform(f"pc, {cpus} CPUs", cpus=cpus) for cpus in (2, 4, 8, 16)),
    Platform("q35", "-machine q35"),
    Platform("intel-iommu", "-machine q35 -device intel-iommu,intremap=on"),
    # In virtual time QEMU resets this one while Linux boots, before any module is there.
    Platform("intel-iommu, x2APIC", "-machine q35 -device intel-iommu,intremap=on,eim=on", 2,
             icount=False),
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
    *(Platform(f"kernel {name}", kernel=name, refused=refused)
      for name, refused in CONFIGURED.items()),
    Platform("kernel cfi-6.12, cfi=off", kernel="cfi-6.12", append="cfi=off"),
    # Of CPUs such as this one Linux counts the depth of calls, if it is told to.
    Platform("kernel 6.12, retbleed=stuff", "-cpu Skylake-Server", kernel="6.12",
             append="retbleed=stuff spectre_v2=retpoline", refused="counts the depth of calls"),
    Platform("kernel 6.12, Skylake-Server", "-cpu Skylake-Server", kernel="6.12"),
    Platform("uefi, Secure Boot, unsigned", secure_boot="unsigned",
             refused="Loading of unsigned module is rejected"),
    Platform("uefi, Secure Boot, signed", secure_boot="signed"),
    Platform("uefi, Secure Boot, by the owner's key", secure_boot="mok"),
    *(Platform(f"bochs {model}, {flavour}", bochs=model, icount=False, flavour=flavour)
      for model, flavour in BOCHS),
    Platform(f"bochs {_IVY}, 2 CPUs", bochs=_IVY, icount=False, cpus=2, more=("hotplug",)),
    Platform(f"bochs {_IVY}, KVM", bochs=_IVY, icount=False, modules="kvm_intel", more=("kvm",),
             append="mitigations=off"),
    Platform("bochs arrow_lake, 6.12", bochs="arrow_lake", icount=False, kernel="6.12",
             more=("ibt",)),
)}
# What `make test` looks at.
TESTED = ("q35", "cpu SandyBridge")


@dataclass
class Row:
    """One machine's results."""

    name: str
    refused: str = ""
    wanted: str = ""
    """Words of the refusal that is wanted here."""
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
        """All checks were made and passed, or the machine was refused as it should be."""
        if self.wanted:
            return self.wanted in self.refused and not self.trouble
        return not self.trouble and not self.refused and all(self.passed.values())


def _every_release(task: dict[str, int]) -> bool:
    """An RT task missed none, and there were some."""
    return (task.get("releases", 0) > 100 and task["releases"] == task["expected"]
            and task["skipped"] == 0)


def judge(row: Row, text: str, cpus: int, exact: bool = True, divss: str = "",
          more: Sequence[str] = ()) -> None:
    """What the guest printed; fills in the row. `exact`: lateness means something; `divss`: in
    Bochs, where the instruction is that has to raise #XM; `more`: of MORE_CHECKS."""
    if refused := re.search(r"^PLATFORM refused (.*)$", text, re.M):
        row.refused = refused[1].strip()
        if row.wanted not in row.refused:
            row.trouble.append(f"it was refused for another reason: {row.refused}")
        return
    if row.wanted:
        row.trouble.append("it was not refused")
        return

    def words(name: str) -> str:
        line = re.search(rf"^PLATFORM {name}(?: (.*))?$", text, re.M)
        return (line[1] or "yes") if line else ""

    row.cpu, row.timer, row.x2apic = words("cpu"), words("timer"), bool(words("x2apic"))

    def figures(name: str) -> dict[str, int]:
        return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", words(name))}

    task = figures("task")
    exact = exact and cpus == 1
    if exact:
        row.max_ns = task.get("max_ns")
    all_cpus = "0" if cpus == 1 else f"0-{cpus - 1}"
    row.passed = {
        "load": words("load") == f"active {all_cpus}",
        "task": task.get("releases", 0) >= TASK_MS * 0.9
        and task["releases"] == task["expected"] and task["skipped"] == 0
        and (not exact or task["max_ns"] <= LIMIT_NS["task"]),
        "unload": bool(words("unload")),
        "text": " different=0 " in f"{words('text')} ",
        "again": bool(words("again")),
    }
    if divss:
        row.passed |= {
            "deadline": row.timer == "tsc-deadline",
            "idle": words("idle") in ("mwait", "intel_idle"),
            "fifo": words("fifo") == "hello, world hello, world",
            "fault": words("fault.divide").startswith("#DE divide+")
            and words("fault.sse").startswith(f"#XM {divss}"),
        }
    inner = figures("kvm")
    extra = {
        "ibt": bool(words("ibt")) and not words("ibt.cp"),
        "hotplug": words("hotplug.1") == words("hotplug.2") == "0 0-1"
        and _every_release(figures("hotplug.task")),
        # Each kick is a way out of the inner machine, by a timer.
        "kvm": inner.get("kicks", 0) > 100 and inner["outs"] == 16 * inner["kicks"]
        and inner["wrong"] == 0 and _every_release(figures("kvm.task")),
    }
    row.passed |= {name: extra[name] for name in more}
    row.trouble += [f"{name}: {words(name) or 'missing'}"
                    for name, passed in row.passed.items() if not passed]


def check(platform: Platform) -> Row:
    """Make all checks on one machine, in one boot."""
    row = Row(platform.name, wanted=platform.refused)
    command = [str(VM), "run", f"--kernel={platform.kernel}", f"--flavour={platform.flavour}",
               f"--smp={platform.cpus}", f"--timeout={_TIMEOUT_S}", f"--allow={_ALLOWED}",
               f"--put={programs.build('ktext')}", f"--put={programs.build('nested')}",
               f"--machine=bochs:{platform.bochs}" if platform.bochs else
               "--icount" if platform.icount else "--new-qemu"]
    # Several CPUs say nothing of lateness, and a busy loop on each costs the host its time.
    # In Bochs it is to be idle.
    command += ["--busy"] if platform.cpus == 1 and not platform.bochs else []
    with tempfile.TemporaryDirectory() as folder:
        command += _modules(platform, Path(folder))
        return _boot(row, platform, command)


def _modules(platform: Platform, folder: Path) -> list[str]:
    """Which modules the guest gets, in the words of `vm run`."""
    own = ["tactus_core", "tactus", "rt_latency"]
    if not platform.secure_boot:
        more = " rt_hello fault_test" * bool(platform.bochs)
        return [f"--modules=tactus_core {platform.modules}", f"--with-modules=rt_latency{more}"]
    if platform.secure_boot == "unsigned":
        return ["--secure-boot", f"--with-modules={' '.join(own)}"]
    kernel = kernels.resolve(kernels.DEFAULT, platform.flavour)
    built = subprocess.run([str(VM), "build", "--flavour", platform.flavour, "--json"],
                           stdout=subprocess.PIPE, check=True)
    paths = {Path(path).stem: Path(path) for path in json.loads(built.stdout)["modules"]}
    if platform.secure_boot == "mok":
        key, certificate = secureboot.own_key(folder)
        words = ["--mok", str(certificate)]
    else:
        key, certificate = secureboot.KEY, secureboot.CERTIFICATE
        words = ["--secure-boot"]
    signed = [str(secureboot.sign(paths[name], kernel, folder, key, certificate)) for name in own]
    return [*words, f"--with-modules={' '.join(signed)}"]


def _boot(row: Row, platform: Platform, command: list[str]) -> Row:
    command += [f"--qemu={platform.qemu}"] if platform.qemu else []
    command += [f"--append={platform.append}"] if platform.append else []
    script = (_UNSIGNED if platform.secure_boot == "unsigned" else
              _REFUSED if platform.refused else _SCRIPT)
    script = "".join([*(_BEFORE.get(name, "") for name in platform.more),
                      _BOCHS * bool(platform.bochs), script,
                      *(_BEHIND.get(name, "") for name in platform.more)])
    script = script.format(last=platform.cpus - 1, seconds=TASK_MS / 1000)
    done = subprocess.run([*command, "--", script], capture_output=True, text=True,
                          errors="replace", check=False)
    if done.returncode in (123, 124, 125):
        row.trouble.append(f"the bench exited with {done.returncode}: {done.stderr.strip()}")
    else:
        judge(row, done.stdout, platform.cpus, platform.icount,
              divss_of(platform) if platform.bochs else "", platform.more)
    return row


def divss_of(platform: Platform) -> str:
    """Where fault_test's division by SSE is, as the log says it: behind it is an `int`, which ends
    the task where an emulator raises nothing."""
    kernel = kernels.resolve(platform.kernel, platform.flavour)
    module = tree.tree_modules(kernel)["fault_test"]
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "--disassemble=sse", str(module)],
                          capture_output=True, text=True, check=True).stdout
    start = re.search(r"^([0-9a-f]+) <sse>:", text, re.M)
    at = re.search(r"^ *([0-9a-f]+):\s+divss", text, re.M)
    if not start or not at:
        raise SystemExit("platforms: fault_test has no divss")
    return f"sse+{int(at[1], 16) - int(start[1], 16):#x}"


def checks_of(name: str) -> tuple[str, ...]:
    """What is checked on a machine."""
    return PLATFORMS[name].checks if name in PLATFORMS else CHECKS


def cells(rows: Sequence[Row]) -> tuple[int, int]:
    """How many checks passed, and of how many; a refusal is one."""
    good = sum(1 if row.wanted and row.good else sum(row.passed.values()) for row in rows)
    return good, sum(1 if row.wanted else len(checks_of(row.name)) for row in rows)


def kept(path: Path) -> list[Row]:
    """The rows of the last runs that still are machines here."""
    try:
        rows = [Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        return []
    return [row for row in rows if row.name in PLATFORMS]


def page(rows: Sequence[Row], what: str = "machine") -> str:
    """A table for the documentation."""
    made = {name for row in rows for name in checks_of(row.name)}
    checks = [name for name in (*BOCHS_CHECKS, *MORE_CHECKS) if name in made]
    lines = [f"| {what} | {' | '.join(checks)} | max ns | timer |",
             "|---|" + "---|" * (len(checks) + 2)]
    for row in rows:
        if row.trouble:
            raise SystemExit(f"platforms: {row.name} failed; the page is for what works")
        if row.refused:
            lines.append(f"| {row.name} | refused: `{row.refused}`" + " |" * (len(checks) + 2))
            continue
        late = "-" if row.max_ns is None else str(row.max_ns)
        lines.append(f"| {row.name} | " + " | ".join("ok" if row.passed.get(name) else "-"
                                                     for name in checks)
                     + f" | {late} | {row.timer}{', x2APIC' * row.x2apic} |")
    good, total = cells(rows)
    return "\n".join([*lines, "", f"{good} of {total} cells passed.", ""])


def name_of(line: str) -> str:
    """Whose row of a table of the page it is."""
    return line.partition("|")[2].partition("|")[0].strip()


def renewed(old: str, rows: Sequence[Row], what: str) -> str:
    """A table of the page with these rows in it. Those of machines that were not run now stay;
    each machine has one."""
    head, rule, *new = page(rows, what).splitlines()[:-2]
    lines = {name_of(line): line for line in old.splitlines()[2:] if line.startswith("|")
             and old.startswith(head)}
    lines |= {name_of(line): line for line in new}
    wanted = [name for name, one in PLATFORMS.items() if one.what == what]
    if lacking := sorted(set(wanted) - set(lines)):
        raise SystemExit(f"platforms: not run: {'; '.join(lacking)}")
    good = sum("refused: `" in lines[name] or lines[name].count("| ok") for name in wanted)
    total = sum("refused: `" in lines[name] or len(checks_of(name)) for name in wanted)
    return "\n".join([head, rule, *(lines[name] for name in wanted), "",
                      f"{good} of {total} cells passed.", ""])


def write_page(rows: Sequence[Row]) -> None:
    """Renew the tables of docs/platforms.md, between the marks, of which rows were run."""
    if not rows:
        raise SystemExit("platforms: nothing was run")
    for what in ("machine", "kernel", "CPU in Bochs"):
        found = [row for row in rows if PLATFORMS[row.name].what == what]
        if not found:
            continue
        mark = what.partition(" ")[0]
        begin, end = f"<!-- {mark}s: begin -->\n", f"<!-- {mark}s: end -->\n"
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
        old, _, after = rest.partition(end)
        PAGE.write_text(f"{before}{begin}{renewed(old, found, what)}{end}{after}",
                        encoding="utf-8")


def table(rows: Sequence[Row]) -> str:
    """The rows as lines for people."""
    lines = [f"{'machine':<28} " + " ".join(f"{name:<6}" for name in CHECKS)
             + f" {'max ns':<7} timer"]
    for row in rows:
        if row.refused:
            lines.append(f"{row.name:<28} refused: {row.refused}")
            continue
        marks = [{True: "ok", False: "FAIL", None: "-"}[row.passed.get(name)] for name in CHECKS]
        more = [f"{name} {'ok' if row.passed.get(name) else 'FAIL'}"
                for name in checks_of(row.name)[len(CHECKS):]]
        late = "-" if row.max_ns is None else str(row.max_ns)
        lines.append(f"{row.name:<28} " + " ".join(f"{mark:<6}" for mark in marks)
                     + f" {late:<7} {row.timer}{', x2APIC' * row.x2apic}"
                     + "".join(f", {text}" for text in more))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the machines named, or all; 0 if all is well, 1 if not."""
    parser = argparse.ArgumentParser(prog="platforms.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="default: all: " + "; ".join(PLATFORMS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N",
                        help="how many at a time (default: the host's CPUs)")
    parser.add_argument("--page", action="store_true",
                        help="run nothing: put what FILE says into docs/platforms.md")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE", help="where the JSON goes")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(PLATFORMS):
        parser.error(f"no such machine: {', '.join(sorted(unknown))}")
    if options.page:
        write_page(kept(options.out))
        return 0
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
    print("{} of {} cells".format(*cells(rows)))
    every = {row.name: row for row in [*kept(options.out), *rows]}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(
        json.dumps([dataclasses.asdict(every[name]) for name in PLATFORMS if name in every],
                   indent=1) + "\n", encoding="utf-8")
    for row in rows:
        for text in row.trouble:
            print(f"FAILED: {row.name}: {text}", file=sys.stderr)
    return 0 if all(row.good for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
