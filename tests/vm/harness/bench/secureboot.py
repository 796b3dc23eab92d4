# SPDX-License-Identifier: GPL-2.0-only
"""UEFI with Secure Boot on, and modules that such a machine takes.

Debian's package ovmf has a firmware that can do it, and variables that hold one pair of keys meant
for tests ("snakeoil"); the private key comes with its passphrase. Debian's kernels take modules
that are signed by a key of the firmware's, or of the boot loader's (MOK).

For the latter the guest boots as an installed Debian does: a firmware with Microsoft's keys starts
shim, that GRUB, and that the kernel, each as Debian signed it. What a person at the machine would
enrol in shim's menu, virt-firmware writes into the firmware's variables.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from .apt import Apt
from .chroot import this_release
from .common import BenchError, cache_dir, locked, output_of, say
from .kernels import Kernel

CODE = Path("/usr/share/OVMF/OVMF_CODE_4M.secboot.fd")
VARIABLES = Path("/usr/share/OVMF/OVMF_VARS_4M.snakeoil.fd")
KEY = Path("/usr/share/ovmf/PkKek-1-snakeoil.key")
CERTIFICATE = Path("/usr/share/ovmf/PkKek-1-snakeoil.pem")
PASSPHRASE = "snakeoil"
MICROSOFT = Path("/usr/share/OVMF/OVMF_VARS_4M.ms.fd")
LOADERS = ("shim-signed", "grub-efi-amd64-signed")
OWNER = "f6a4b2de-2f0c-4b8c-9b0f-6a1f0f7b3c11"     # of the key, as shim's list has one; any will do


def _present(*paths: Path) -> None:
    for path in paths:
        if not path.is_file():
            raise BenchError(f"{path} is missing: install ovmf")


def qemu_args(variables: Path = VARIABLES) -> list[str]:
    """The machine; only its firmware, in system management mode, can write the variables."""
    _present(CODE, variables)
    return [
        "-machine", "q35,smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on",
        "-global", "ICH9-LPC.disable_s3=1",
        "-drive", f"if=pflash,format=raw,unit=0,readonly=on,file={CODE}",
        "-drive", f"if=pflash,format=raw,unit=1,snapshot=on,file={variables}",
    ]


def _loaders() -> Path:
    """Where shim and GRUB are unpacked, fetched once. Raises BenchError without a network."""
    folder = cache_dir() / "loaders"
    with locked(cache_dir() / "loaders.lock"):
        if not folder.is_dir():
            apt = Apt(this_release())
            apt.refresh()
            packages = apt.newest(LOADERS)
            if len(packages) < len(LOADERS):
                raise BenchError(f"apt has no {' or '.join(set(LOADERS) - set(packages))}")
            say(f"fetching {' and '.join(LOADERS)} (once, they are not installed)")
            fresh = folder.with_name("loaders.new")
            shutil.rmtree(fresh, ignore_errors=True)
            for deb in apt.download(packages.values(), fresh / "debs"):
                output_of(["dpkg-deb", "-x", str(deb), str(fresh)], f"unpacking {deb.name}")
            fresh.rename(folder)
    return folder


def _virt_fw_vars() -> str:
    """The tool that writes a firmware's variables, in an environment of its own."""
    folder = cache_dir() / "virt-firmware"
    tool = folder / "bin/virt-fw-vars"
    with locked(cache_dir() / "virt-firmware.lock"):
        if not tool.is_file():
            say("fetching virt-firmware (once, by pip)")
            output_of([sys.executable, "-m", "venv", str(folder)], "making an environment")
            output_of([str(folder / "bin/pip"), "install", "-q", "virt-firmware"],
                      "installing virt-firmware")
    return str(tool)


def mok_args(certificate: Path, folder: Path, image: Path, initrd: Path, append: str) -> list[str]:
    """The machine with @certificate among shim's keys, and a disk made in @folder to boot from."""
    _present(MICROSOFT)
    if not certificate.is_file():
        raise BenchError(f"there is no {certificate}")
    loaders, esp, variables = _loaders(), folder / "esp", folder / "variables.fd"
    for source, name in (
            (loaders / "usr/lib/shim/shimx64.efi.signed", "EFI/BOOT/BOOTX64.EFI"),
            (loaders / "usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed",
             "EFI/BOOT/grubx64.efi"),
            (image, "vmlinuz"), (initrd, "initrd")):
        (esp / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, esp / name)
    config = esp / "EFI/debian/grub.cfg"
    config.parent.mkdir()
    config.write_text(f"linux /vmlinuz {append}\ninitrd /initrd\nboot\n")
    output_of([_virt_fw_vars(), "-i", str(MICROSOFT), "-o", str(variables), "--add-mok", OWNER,
               str(certificate)], "writing the firmware's variables")
    return [*qemu_args(variables), "-drive", f"if=virtio,format=raw,readonly=on,file=fat:{esp}"]


def own_key(folder: Path) -> tuple[Path, Path]:
    """A new key and its certificate, both PEM, as an owner of a machine makes them."""
    key, certificate = folder / "mok.key", folder / "mok.pem"
    output_of(["openssl", "req", "-new", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "36500",
               "-subj", "/CN=A key of the machine's owner/", "-keyout", str(key), "-out",
               str(certificate)], "making a key")
    return key, certificate


def sign(module: Path, kernel: Kernel, folder: Path, key: Path = KEY,
         certificate: Path = CERTIFICATE) -> Path:
    """A signed copy of a module in `folder`, made by the tool of the kernel's headers."""
    _present(key, certificate)
    tools = sorted(kernel.root.glob("usr/lib/linux-kbuild-*/scripts/sign-file"))
    if not tools:
        raise BenchError(f"{kernel.release}: its headers have no sign-file")
    copy = folder / module.name
    output_of(["strip", "--strip-debug", "-o", str(copy), str(module)], f"stripping {module.name}")
    done = subprocess.run([str(tools[0]), "sha256", str(key), str(certificate), str(copy)],
                          env=os.environ | {"KBUILD_SIGN_PIN": PASSPHRASE}, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise BenchError(f"signing {module.name} failed:\n{done.stdout}{done.stderr}")
    return copy
