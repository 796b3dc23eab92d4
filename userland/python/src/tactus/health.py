# SPDX-License-Identifier: GPL-2.0-only
"""What `tactus doctor` knows: one function a subject, over the files of one machine.

The functions read /proc, /sys and /boot below the machine's root and nothing else, so a folder
can stand in for a machine. Whether the pipeline really can be switched on, the kernel decides:
`tactus load --dry-run` asks it.
"""
from __future__ import annotations

import dataclasses
import gzip
import os
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tactus.machine import Machine

LEVELS = ("fine", "advice", "unknown", "blocks")
OLDEST = (6, 1)
# Idle drivers whose states wake from a CPU that has interrupts off.
IDLE_DRIVERS = {"intel_idle", "acpi_idle", "haltpoll", "none"}
NEIGHBOURS = {
    "vboxdrv": "VirtualBox turns interrupts off by bare instructions",
    "vmmon": "VMware turns interrupts off by bare instructions",
    "nvidia": "the NVIDIA driver may turn interrupts off by bare instructions; RT code waits then",
    "lkrg": "LKRG takes the patched text for an attack",
    "p_lkrg": "LKRG takes the patched text for an attack",
}
BLOCKING_NEIGHBOURS = {"lkrg", "p_lkrg"}
DEEP_STATE_US = 20
MSR_SMI_COUNT = 0x34


@dataclass(frozen=True)
class Finding:
    """One line: @level of LEVELS, what it is about, why, and the command that mends it."""

    level: str
    subject: str
    text: str
    mend: str = ""

    def as_dict(self) -> dict[str, str]:
        return dataclasses.asdict(self)


class Facts:
    """The files of a machine, read when first asked for; absent ones are None."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.release = machine.release()

    def text(self, path: str) -> str | None:
        try:
            return self.machine.path(path).read_text(errors="replace").strip()
        except OSError:
            return None

    def data(self, path: str) -> bytes | None:
        try:
            return self.machine.path(path).read_bytes()
        except OSError:
            return None

    def exists(self, path: str) -> bool:
        return self.machine.path(path).exists()

    def config(self) -> dict[str, str] | None:
        """The kernel's configuration: name without CONFIG_ to value; None if nowhere."""
        text = None
        packed = self.data("/proc/config.gz")
        if packed:
            try:
                text = gzip.decompress(packed).decode()
            except OSError:
                pass
        for path in (f"/boot/config-{self.release}", f"/lib/modules/{self.release}/config",
                     f"/lib/modules/{self.release}/build/.config"):
            text = text or self.text(path)
        if text is None:
            return None
        return dict(re.findall(r"^CONFIG_(\w+)=(.*)$", text, re.M))

    def cpu(self) -> dict[str, str]:
        """The first CPU's lines of /proc/cpuinfo."""
        first = (self.text("/proc/cpuinfo") or "").split("\n\n")[0]
        pairs = (line.partition(":") for line in first.splitlines())
        return {name.strip(): value.strip() for name, _, value in pairs}

    def flags(self) -> set[str]:
        return set(self.cpu().get("flags", "").split())

    def command_line(self) -> list[str]:
        return (self.text("/proc/cmdline") or "").split()

    def virtual(self) -> bool:
        return "hypervisor" in self.flags()


Check = Callable[[Facts], Iterator[Finding]]


def kernel(facts: Facts) -> Iterator[Finding]:
    match = re.match(r"(\d+)\.(\d+)", facts.release)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    if version < OLDEST:
        yield Finding("blocks", "kernel", f"{facts.release} is older than 6.1",
                      "install a kernel of your distribution from 6.1 on")
    else:
        yield Finding("fine", "kernel", facts.release)
    config = facts.config()
    if config is None:
        yield Finding("unknown", "config", "the kernel's configuration is not to be found",
                      f"modprobe configs, or install it as /boot/config-{facts.release}")
        return
    if config.get("PARAVIRT_XXL") == "y":
        yield Finding("fine", "config", "PARAVIRT_XXL: cli and sti have room for a call")
    else:
        yield Finding("blocks", "config", "built without PARAVIRT_XXL: cli and sti cannot be found",
                      "use a distribution's kernel, or tactus load --param tactus.mode=hosted")
    if config.get("KPROBES") != "y":
        yield Finding("blocks", "config", "built without KPROBES, by which symbols are found",
                      "use a distribution's kernel")
    if config.get("CFI_CLANG") == "y" or config.get("CFI") == "y":
        off = config.get("FINEIBT") == "y" and "cfi=off" in facts.command_line()
        yield Finding("fine" if off else "blocks", "config",
                      "built with CFI, and booted with cfi=off" if off else
                      "built with CFI, which rejects the pipeline's calls",
                      "" if off else "boot with cfi=off if it has FINEIBT, else use another kernel")
    if config.get("KVM") == "y":
        yield Finding("blocks", "config", "KVM is built in, so its text cannot be left alone",
                      "use a kernel with KVM as a module")
    if config.get("LOCKDEP") == "y" or config.get("KASAN") == "y":
        yield Finding("advice", "config",
                      "a debug kernel: its own checks cost far more than RT code")


def firmware(facts: Facts) -> Iterator[Finding]:
    lockdown = facts.text("/sys/kernel/security/lockdown")
    secure = next((data for path in sorted(facts.machine.path("/sys/firmware/efi/efivars").glob(
        "SecureBoot-*")) if (data := facts.data(f"/sys/firmware/efi/efivars/{path.name}"))), None)
    enforced = facts.text("/sys/module/module/parameters/sig_enforce") == "Y"
    if lockdown and "[none]" not in lockdown or secure and secure[-1] == 1 or enforced:
        yield Finding("advice", "secure boot", "the kernel accepts signed modules only",
                      "install tactus-dkms (it signs), then mokutil --import /var/lib/dkms/mok.pub")
    elif not lockdown and not secure and facts.machine.path("/sys/firmware/efi").is_dir():
        yield Finding("unknown", "secure boot", "neither securityfs nor efivarfs is mounted")
    else:
        yield Finding("fine", "secure boot", "unsigned modules load")


def modules(facts: Facts) -> Iterator[Finding]:
    folder = facts.machine.path(f"/lib/modules/{facts.release}")
    if any(folder.rglob("tactus.ko*")):
        yield Finding("fine", "modules", f"built for {facts.release}")
    elif facts.exists(f"/lib/modules/{facts.release}/build/Makefile"):
        yield Finding("advice", "modules", "not built for this kernel; its headers are here",
                      "dkms autoinstall, or make && make install")
    else:
        yield Finding("advice", "modules",
                      "not built for this kernel, and no headers to build with",
                      f"apt install linux-headers-{facts.release}")
    loaded = facts.machine.modules()
    for name in sorted(set(loaded) & set(NEIGHBOURS)):
        level = "blocks" if name in BLOCKING_NEIGHBOURS else "advice"
        yield Finding(level, "neighbours", NEIGHBOURS[name], f"rmmod {name}")
    probes = facts.text("/sys/kernel/debug/kprobes/list")
    if probes:
        yield Finding("advice", "kprobes", f"{len(probes.splitlines())} are set; one inside a "
                      "function that is to be patched makes loading wait or fail",
                      "remove them before loading, set them again afterwards")


def processor(facts: Facts) -> Iterator[Finding]:
    flags, line = facts.flags(), facts.command_line()
    if not flags:
        yield Finding("unknown", "cpu", "/proc/cpuinfo says nothing")
        return
    if "lm" not in flags:
        yield Finding("blocks", "cpu", "not an x86-64 CPU")
    if "fred" in flags and "fred=off" not in line:
        yield Finding("blocks", "cpu", "may deliver interrupts by FRED, which is not handled yet",
                      "boot with fred=off")
    if "tdx_guest" in flags or facts.virtual() and flags & {"sev_es", "sev_snp"}:
        yield Finding("blocks", "cpu", "an encrypted guest: the hypervisor hides its interrupts")
    if facts.text("/sys/hypervisor/type") == "xen" and "hvm" not in (
            facts.text("/sys/hypervisor/guest_type") or "").lower():
        yield Finding("blocks", "cpu", "a Xen PV guest: its interrupts are the hypervisor's")
    if facts.virtual():
        yield Finding("advice", "cpu", "a virtual machine: lateness is up to its host")
    if facts.exists("/sys/devices/cpu_atom"):
        yield Finding("advice", "cpu", "hybrid: efficient cores are slower, so budget tasks there",
                      "bind tasks to a performance core by rt_task_set_cpu()")
    if facts.text("/sys/devices/system/cpu/smt/active") == "1":
        yield Finding("advice", "cpu", "hyper-threads share a core, so Linux slows RT code down",
                      "echo off > /sys/devices/system/cpu/smt/control")


def clock(facts: Facts) -> Iterator[Finding]:
    flags = facts.flags()
    source = facts.text("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    available = (facts.text("/sys/devices/system/clocksource/clocksource0/available_clocksource")
                 or "").split()
    if "tsc=unstable" in facts.command_line():
        yield Finding("blocks", "clock", "the TSC was declared unstable on the command line",
                      "boot without tsc=unstable")
    elif source and source not in ("tsc", "kvm-clock", "tsc-early") and "tsc" not in available:
        yield Finding("blocks", "clock", f"Linux found the TSC unstable and uses {source}",
                      "look for 'TSC' in dmesg; update the firmware")
    elif source == "tsc-early":
        yield Finding("advice", "clock", "the TSC's rate is still being measured: wait a second")
    else:
        yield Finding("fine", "clock", f"clock source {source or 'unknown'}")
    for flag, what in (("constant_tsc", "changes its rate with the CPU's frequency"),
                       ("nonstop_tsc", "stops in deep idle states")):
        if flags and flag not in flags:
            yield Finding("advice" if facts.virtual() else "blocks", "clock",
                          f"the TSC {what} (no {flag})")


def timer(facts: Facts) -> Iterator[Finding]:
    device = facts.text("/sys/devices/system/clockevents/clockevent0/current_device")
    if device is None:
        yield Finding("unknown", "timer", "the tick's device is not to be seen")
    elif device.startswith("lapic"):
        yield Finding("fine", "timer", f"the tick is the local APIC's ({device})")
    else:
        yield Finding("blocks", "timer", f"the tick is {device}, not the local APIC's",
                      "boot without nolapic_timer, lapic=no and clock=")
    if set(facts.command_line()) & {"noapic", "nolapic"}:
        yield Finding("blocks", "timer", "the APICs are switched off on the command line",
                      "boot without noapic and nolapic")
    flags = facts.flags()
    if flags and "arat" not in flags and not facts.virtual():
        yield Finding("advice", "timer", "the APIC's timer stops in deep idle states (no arat)",
                      "boot with processor.max_cstate=1")


def idle(facts: Facts) -> Iterator[Finding]:
    driver = facts.text("/sys/devices/system/cpu/cpuidle/current_driver")
    if driver is None:
        yield Finding("fine", "idle", "no cpuidle driver: the CPUs halt")
        return
    if driver not in IDLE_DRIVERS:
        yield Finding("blocks", "idle", f"the idle driver {driver} is not known",
                      "boot with idle=halt")
        return
    deepest = 0
    for path in facts.machine.path("/sys/devices/system/cpu/cpu0/cpuidle").glob("state*/latency"):
        deepest = max(deepest, int(path.read_text().strip() or 0))
    if deepest > DEEP_STATE_US:
        yield Finding("advice", "idle", f"{driver}: the deepest state takes {deepest} us to leave;"
                      " tactus keeps out of it while RT code is there",
                      "tactus load --param tactus.exit_latency_us=N sets the bound")
    else:
        yield Finding("fine", "idle", f"{driver}, {deepest} us to leave at most")


def interrupts(facts: Facts) -> Iterator[Finding]:
    text = facts.text("/proc/interrupts") or ""
    if re.search(r"^\s*0:.*\bhpet|^\s*8:.*\bhpet", text, re.M) or re.search(
            r"\bhpet\b", text) and "hpet=disable" not in facts.command_line():
        yield Finding("advice", "irq 8", "the HPET may have taken the RTC's interrupt "
                      "(rt_speaker clock=rtc needs it)", "boot with hpet=disable")
    if "IR-IO-APIC" in text or "IR-PCI-MSI" in text:
        yield Finding("fine", "remapping", "interrupts are remapped")
    names = set()
    for process in facts.machine.path("/proc").glob("[0-9]*/comm"):
        try:
            names.add(process.read_text().strip())
        except OSError:
            continue
    if "irqbalance" in names:
        yield Finding("advice", "irqbalance", "moves interrupts to the CPUs of RT tasks",
                      "systemctl stop irqbalance, or IRQBALANCE_BANNED_CPULIST=")


def isolation(facts: Facts) -> Iterator[Finding]:
    full = facts.text("/sys/devices/system/cpu/nohz_full")
    isolated = facts.text("/sys/devices/system/cpu/isolated")
    if full and full not in ("(null)", ""):
        yield Finding("fine", "isolation", f"nohz_full on CPUs {full}: good places for RT tasks")
    elif isolated:
        yield Finding("fine", "isolation", f"CPUs {isolated} are isolated: good for RT tasks")


def frequency(facts: Facts) -> Iterator[Finding]:
    governor = facts.text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    if governor and governor != "performance":
        yield Finding("advice", "frequency", f"governor {governor}: RT code runs slower at first",
                      "cpupower frequency-set -g performance")


CHECKS: tuple[Check, ...] = (kernel, firmware, modules, processor, clock, timer, idle, interrupts,
                             isolation, frequency)


def examine(machine: Machine) -> list[Finding]:
    """Every finding, in the order of CHECKS."""
    facts = Facts(machine)
    return [finding for check in CHECKS for finding in check(facts)]


def smi_counts(machine: Machine) -> dict[str, int] | None:
    """CPU -> SMIs since boot, from MSR 0x34; None where there is no such register."""
    counts = {}
    for path in sorted(machine.path("/dev/cpu").glob("[0-9]*/msr")):
        try:
            fd = os.open(path, os.O_RDONLY)
            try:
                counts[path.parent.name] = struct.unpack("<Q", os.pread(fd, 8, MSR_SMI_COUNT))[0]
            finally:
                os.close(fd)
        except OSError:
            return None
    return counts or None


def hardware_gap_us(folder: Path, seconds: float, sleep: Callable[[float], None]) -> int | None:
    """The longest gap that the kernel's hwlat tracer sees, 0 for none; None without it.

    The tracer's settings are put back as they were.
    """
    tracer = folder / "current_tracer"
    try:
        if "hwlat" not in (folder / "available_tracers").read_text().split():
            return None
        before = tracer.read_text().strip()
        tracer.write_text("hwlat")
        try:
            (folder / "tracing_max_latency").write_text("0")
            sleep(seconds)
            return int((folder / "tracing_max_latency").read_text())
        finally:
            tracer.write_text(before)
    except OSError:
        return None


def watch(machine: Machine, seconds: float, sleep: Callable[[float], None]) -> list[Finding]:
    """What only time shows: SMIs, and gaps in which no code of the CPU ran."""
    before = smi_counts(machine)
    gap = hardware_gap_us(machine.path("/sys/kernel/tracing"), seconds, sleep)
    if gap is None:
        sleep(seconds)
    after = smi_counts(machine)
    found = []
    if before is None or after is None:
        found.append(Finding("unknown", "smi", "SMIs cannot be counted (no MSR 0x34, or not root)",
                             "modprobe msr; run as root on an Intel CPU"))
    else:
        new = sum(after.values()) - sum(before.values())
        found.append(Finding("advice" if new else "fine", "smi",
                             f"{new} SMIs in {seconds:g} s" + (
                                 ": the firmware stops every CPU for each" if new else ""),
                             "switch USB legacy support and power management off in the firmware"
                             if new else ""))
    if gap is None:
        found.append(Finding("unknown", "gaps", "the hwlat tracer is not there, or not for us",
                             "run as root on a kernel with CONFIG_HWLAT_TRACER"))
    else:
        found.append(Finding("advice" if gap > 10 else "fine", "gaps",
                             f"the longest gap in {seconds:g} s was {gap} us"))
    return found
