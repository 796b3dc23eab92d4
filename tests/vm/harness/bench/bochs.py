# SPDX-License-Identifier: GPL-2.0-only
"""Bochs, the second bench: it has what QEMU's emulation lacks (TSC deadline, mwait, IBT, VMX).

It loads no kernel by itself, so GRUB does, from a disk; the kernel and the initrd are the files of
a tar archive on a second disk. It has no memory to share with the host either: what the guest tells
goes over the second serial line, as with Secure Boot.
"""

from __future__ import annotations

import functools
import io
import os
import re
import subprocess
import tarfile
from pathlib import Path

from . import packages, sources
from .common import BenchError, cache_dir, output_of

NAME = "bochs"
# Where its source may be; of sid's 3.1 the archive could not be fetched.
SOURCES = ("sid", "trixie")
SUITE = "trixie"
PACKAGES = ("bochsbios", "vgabios", "grub-pc-bin", "grub-common")
PATCH = Path(__file__).with_name("bochs.patch")
# All that a kernel uses, and what is fast; no window, no sound, no plug-ins, no debugger.
OPTIONS = ("--with-nogui", "--disable-docbook", "--disable-plugins", "--disable-readline",
           "--enable-smp", "--enable-cpu-level=6", "--enable-x86-64", "--enable-fpu",
           "--enable-pci", "--enable-a20-pin", "--enable-memtype", "--enable-all-optimizations",
           "--enable-vmx=2", "--enable-svm", "--enable-avx", "--enable-evex", "--enable-cet",
           "--enable-amx", "--enable-uintr", "--enable-protection-keys", "--enable-monitor-mwait")
# Its 128-bit numbers are read as signed and as unsigned: idiv of Debian's 3.1 divides the stack.
FLAGS = "-O2 -fno-strict-aliasing"
# With the TSC deadline and mwait.
DEFAULT_MODEL = "corei7_ivy_bridge_3770k"
# One instruction takes so many parts of a second, and a cycle of the TSC is one instruction. With
# several CPUs the idle ones are executed too, and a fast clock would leave the host no time.
IPS, IPS_SMP = 200_000_000, 50_000_000
QUANTUM = 32        # instructions of a turn
SECTOR = 512


def was_reset(log: bytes) -> bool:
    """Has the guest reset the machine? The first reset is the start."""
    return log.count(b"bx_pc_system_c::Reset(HARDWARE) called") > 1


def _build(folder: Path) -> Path:
    sources.run_in(folder, ["./configure", *OPTIONS, f"CC={sources.compiler('gcc')}",
                            f"CXX={sources.compiler('g++')}", f"CFLAGS={FLAGS}",
                            f"CXXFLAGS={FLAGS}"])
    sources.run_in(folder, ["make", f"-j{os.cpu_count() or 1}"])
    return folder / NAME


@functools.cache
def _program() -> Path:
    return sources.program(NAME, SOURCES, cache_dir() / "bochs-built", [*OPTIONS, FLAGS],
                           PATCH, _build)


@functools.cache
def _root() -> packages.Root:
    """The firmware and the boot loader."""
    return packages.newest(SUITE, PACKAGES, cache_dir() / NAME)


def models() -> list[str]:
    """The CPU models that it has."""
    done = subprocess.run([str(_program()), "--help", "cpu"], text=True, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True)
    return re.findall(r"^(\w+)$", done.stdout + done.stderr, re.M)


def model_of(machine: str) -> str:
    """The model in `bochs[:MODEL]`. Raises BenchError if there is none of that name."""
    name, _, model = machine.partition(":")
    if name != NAME:
        raise BenchError(f"--machine {machine}: bochs or bochs:MODEL is wanted")
    model = model or DEFAULT_MODEL
    known = models()
    if model not in known:
        raise BenchError(f"--machine {machine}: Bochs has no such CPU; it has {' '.join(known)}")
    return model


def ips(cpus: int) -> int:
    """Instructions a second of the guest's time, and the TSC's frequency."""
    return IPS if cpus == 1 else IPS_SMP


def kernel_words(cpus: int) -> str:
    """What Linux must be told: measuring the TSC takes ticks, which get lost in early boot."""
    return f"tsc_early_khz={ips(cpus) // 1000} "


def _padded(data: bytes) -> bytes:
    # The emulator wants whole cylinders.
    return data + b"\0" * (-len(data) % (16 * 63 * SECTOR))


def _disks(root: packages.Root, folder: Path, image: Path, initrd: bytes, append: str) -> None:
    """Writes the disk with the boot loader and the one with what it loads."""
    words = " ".join(f"'{word}'" for word in append.split())
    (folder / "grub.cfg").write_text(
        f"linux (hd1)/vmlinuz {words}\ninitrd (hd1)/initrd\nboot\n", encoding="utf-8")
    modules = root.path / "usr/lib/grub/i386-pc"
    output_of([*root.words("usr/bin/grub-mkimage"), "-O", "i386-pc", "-d", str(modules),
               "-p", "(hd1)/", "-c", str(folder / "grub.cfg"), "-o", str(folder / "core.img"),
               "biosdisk", "linux", "tar"], "making the boot loader")
    (folder / "boot.disk").write_bytes(_padded(
        (modules / "boot.img").read_bytes() + (folder / "core.img").read_bytes()))
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in (("vmlinuz", image.read_bytes()), ("initrd", initrd)):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    (folder / "data.disk").write_bytes(_padded(archive.getvalue()))


def command(folder: Path, model: str, cpus: int, mib: int, kernel: Path, initrd: bytes, append: str,
            console: str, line: str, said: str) -> list[str]:
    """How to start the machine; its files go to `folder`.

    `console` and `line` are what the serial lines are written to, `said` is the emulator's log.
    """
    root = _root()
    _disks(root, folder, kernel, initrd, append)
    text = f"""\
config_interface: textconfig
display_library: nogui
romimage: file={root.path}/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file={root.path}/usr/share/vgabios/vgabios.bin
cpu: model={model}, count={cpus}, ips={ips(cpus)}, quantum={QUANTUM}, \
reset_on_triple_fault=0, ignore_bad_msrs=1
memory: guest={mib}, host={mib}
pci: enabled=1, chipset=i440fx
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=disk, path={folder}/boot.disk, mode=flat
ata0-slave: type=disk, path={folder}/data.disk, mode=flat
boot: disk
clock: sync=none, time0=1767225600, rtc_sync=0
com1: enabled=1, mode=file, dev={console}
com2: enabled=1, mode=file, dev={line}
log: {said}
panic: action=fatal
error: action=report
info: action=report
debug: action=ignore
mouse: enabled=0
speaker: enabled=0
"""
    (folder / "bochsrc").write_text(text, encoding="utf-8")
    return [str(_program()), "-q", "-f", str(folder / "bochsrc")]
