# SPDX-License-Identifier: GPL-2.0-only
"""Builds the stick: two kernels of Debian's, a file system in memory for each, GRUB, a partition.

The image is an ISO 9660 file system that a BIOS and UEFI boot from a stick or a CD. Behind it lies
a FAT partition for reports. GRUB reads all the rest, so that Linux needs no driver for anything
but USB sticks: it cannot write to a disk that stays in the PC.
"""
from __future__ import annotations

import argparse
import gzip
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import TOP, programs
from harness.bench import initrd, kernels, modules, tool, tree
from harness.bench.common import BenchError, output_of, say
from harness.bench.initrd import Cpio
from harness.bench.kernels import Kernel

HERE = Path(__file__).resolve().parent
GUEST = HERE / "guest"
MOST_BYTES = 150_000_000
REPORT_SECTORS = 32768          # 16 MB
LABEL = "TACTUS"
# USB sticks, USB keyboards, the report's file system, the CPU's clock and MSRs. No other disks.
STOCK_MODULES = ("xhci_pci", "ehci_pci", "ohci_pci", "uhci_hcd", "usbhid", "hid_generic",
                 "sd_mod", "usb_storage", "uas", "vfat", "nls_cp437", "nls_ascii", "nls_utf8",
                 "nls_iso8859-1", "acpi_cpufreq", "msr")
# Whoever has one of these can write to a disk that stays in the PC.
DISKS = re.compile(r"^(libata|ahci|ata_\w+|nvme\w*|mmc_\w+|sdhci\w*|virtio_\w+|md_mod|dm_mod|"
                   r"\w*raid\w*|mpt\w+|vmd|ufs\w*|loop)$")
TOOLS = {"grub-mkrescue": "grub-common", "xorriso": "xorriso", "mformat": "mtools",
         "mcopy": "mtools"}
GRUB_PARTS = {"/usr/lib/grub/i386-pc": "grub-pc-bin",
              "/usr/lib/grub/x86_64-efi": "grub-efi-amd64-bin"}


def missing() -> list[str]:
    """The packages that building takes and this machine has not."""
    found = [package for name, package in TOOLS.items() if not shutil.which(name)]
    found += [package for path, package in GRUB_PARTS.items() if not Path(path).is_dir()]
    return sorted(set(found))


def volume_number(parts: list[bytes]) -> str:
    """The report partition's number: equal parts, equal number."""
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)
                          ).hexdigest()[:8].upper()


def grub_config(template: str, stock: str, rt: str, number: str) -> str:
    """grub.cfg with its blanks filled. Raises BenchError when one is left."""
    version = re.search(r'TACTUS_VERSION="([^"]+)"', (TOP / "Kbuild").read_text(encoding="utf-8"))
    blanks = {"NAME": f"Tactus {version[1] if version else ''}".strip(), "STOCK": stock, "RT": rt,
              "UUID": f"{number[:4]}-{number[4:]}"}
    text = re.sub(r"@([A-Z]+)@", lambda found: blanks.get(found[1], found[0]), template)
    left = re.findall(r"@[A-Z]+@", text)
    if left:
        raise BenchError(f"grub.cfg has blanks that nothing fills: {' '.join(left)}")
    return text


def check_modules(names: list[str]) -> None:
    """Raises BenchError for a driver that could write to a disk that stays in the PC."""
    disks = [name for name in names if DISKS.match(name)]
    if disks:
        raise BenchError(f"the image would have drivers of disks: {' '.join(disks)}")


def common_archive(folder: Path) -> Cpio:
    """What both kernels have: busybox, Python, the commands."""
    cpio = Cpio()
    for name in ("bin", "sbin", "usr/bin", "usr/sbin", "proc", "sys", "dev", "run", "tmp", "root"):
        cpio.folder(name)
    cpio.device("dev/console", 5, 1)
    cpio.device("dev/null", 1, 3)
    cpio.file("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n")
    cpio.file("etc/group", b"root:x:0:\n")
    cpio.file("init", (GUEST / "init").read_bytes(), 0o755)
    cpio.file("bin/busybox", initrd.BUSYBOX.read_bytes(), 0o755)
    puts = tool.put(folder, "tty", "termios")
    library = folder / "library"
    own = library / "first-look"
    own.mkdir()
    for name in ("look.py", "strips.py", "stick.py"):
        shutil.copy(GUEST / name, own)
    speech = own / "speech.au"
    output_of([str(TOP / "examples/speaker/make_au"), str(speech)], "making the speech")
    # Compiled here: the guest's memory forgets what it compiles.
    output_of([str(tool.PYTHON), "-m", "compileall", "-q", "--invalidation-mode=unchecked-hash",
               "-s", str(library), "-p", "/usr/lib", str(library)], "compiling Python's files")
    puts[programs.build("measure")] = "/usr/bin/tactus-measure"
    for host, guest in puts.items():
        initrd.put(cpio, f"{host}:{guest}")
    for applet in output_of([str(initrd.BUSYBOX), "--list"], "busybox").split():
        cpio.link(f"bin/{applet}", "busybox")
    for name in ("insmod", "rmmod", "modprobe", "lsmod"):
        cpio.link(f"sbin/{name}", "../bin/busybox")
    return cpio


def kernel_archive(kernel: Kernel, with_tactus: bool) -> Cpio:
    """The modules for one kernel."""
    ours: dict[str, Path] = {}
    if with_tactus:
        tree.build_tree(kernel, product=True)
        ours = {name: path for name, path in tree.tree_modules(kernel, product=True).items()
                if not name.endswith("_alsa")}
    planner = modules.Planner(kernel, ours)
    plan = planner.want([], [modules.Wanted(name) for name in STOCK_MODULES])
    check_modules([name for name, origin in plan.origin.items() if origin == "kernel"])
    cpio = Cpio()
    initrd.add_modules(cpio, kernel.release, plan)
    cpio.file("etc/first-look/modules", "\n".join(STOCK_MODULES).encode() + b"\n")
    if kernel.config:
        cpio.file(f"boot/config-{kernel.release}", kernel.config.read_bytes())
    return cpio


def report_partition(path: Path, number: str) -> None:
    """An empty FAT16 volume with GRUB's note in it."""
    output_of(["mformat", "-i", str(path), "-C", "-T", str(REPORT_SECTORS), "-c", "4", "-h", "16",
               "-s", "63", "-v", LABEL, "-N", number, "::"], "making the report's partition")
    with tempfile.TemporaryDirectory(prefix="tactus-iso-") as name:
        for file, data in (("grubenv", b"# GRUB Environment Block\n".ljust(1024, b"#")),
                           ("README.TXT", (GUEST / "README.TXT").read_bytes())):
            Path(name, file).write_bytes(data)
            output_of(["mcopy", "-m", "-i", str(path), str(Path(name, file)), f"::{file}"],
                      "filling the report's partition")


def build(out: Path, wanted: str) -> None:
    """The image `out`. Raises BenchError with a sentence."""
    stock, rt = kernels.resolve(wanted, "generic"), kernels.resolve(wanted, "rt")
    with tempfile.TemporaryDirectory(prefix="tactus-iso-") as name:
        folder = Path(name)
        disc = folder / "disc"
        home = disc / "tactus"
        home.mkdir(parents=True)
        say("gathering the file systems")
        parts = {"common": common_archive(folder / "common"),
                 "stock": kernel_archive(stock, with_tactus=True),
                 "rt": kernel_archive(rt, with_tactus=False)}
        data = {part: cpio.bytes() for part, cpio in parts.items()}
        number = volume_number(list(data.values()))
        volume = Cpio()
        volume.file("etc/first-look/volume", number.encode() + b"\n")
        for part, archive in (data | {"volume": volume.bytes()}).items():
            (home / f"{part}.cpio.gz").write_bytes(gzip.compress(archive, 6, mtime=0))
        for part, kernel in (("stock", stock), ("rt", rt)):
            shutil.copy(kernel.image, home / f"{part}.linux")
        grub = disc / "boot/grub/grub.cfg"
        grub.parent.mkdir(parents=True)
        grub.write_text(grub_config((HERE / "grub.cfg").read_text(encoding="utf-8"), stock.release,
                                    rt.release, number), encoding="utf-8")
        report_partition(folder / "report.img", number)
        say("writing the image")
        fresh = out.with_name(f".{out.name}.new")
        out.parent.mkdir(parents=True, exist_ok=True)
        output_of(["grub-mkrescue", "--locales=", "--fonts=", "--themes=", "-o", str(fresh),
                   str(disc), "-volid", "TACTUS_ISO", "-append_partition", "3", "0x0c",
                   str(folder / "report.img"), "-appended_part_as_gpt"], "grub-mkrescue")
    size = fresh.stat().st_size
    if size > MOST_BYTES:
        fresh.unlink()
        raise BenchError(f"the image has {size} bytes; {MOST_BYTES} are allowed")
    fresh.replace(out)
    print(f"{out}: {size / 1e6:.0f} MB, {stock.release} and {rt.release}")


def main(arguments: list[str]) -> int:
    """The command line; its exit status."""
    parser = argparse.ArgumentParser(
        prog="make iso", description="Build an image that a PC boots from a stick to try Tactus.")
    parser.add_argument("out", type=Path, nargs="?", default=TOP / "out/tactus.iso")
    parser.add_argument("--kernel", default=kernels.DEFAULT, metavar="SERIES",
                        help=f"Debian's kernel: {', '.join(kernels.SUITES)} (default: %(default)s)")
    args = parser.parse_args(arguments)
    try:
        if packages := missing():
            raise BenchError(f"the image needs {', '.join(packages)}: apt-get install "
                             + " ".join(packages))
        build(args.out, args.kernel)
    except BenchError as problem:
        print(f"iso: {problem}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as problem:
        print(f"iso: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
