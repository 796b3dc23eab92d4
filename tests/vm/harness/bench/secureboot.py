# SPDX-License-Identifier: GPL-2.0-only
"""UEFI with Secure Boot on, and modules that such a machine takes.

Debian's package ovmf has a firmware that can do it, and variables that hold one pair of keys meant
for tests ("snakeoil"); the private key comes with its passphrase. Debian's kernels take modules
that are signed by a key of the firmware's.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from .common import BenchError, output_of
from .kernels import Kernel

CODE = Path("/usr/share/OVMF/OVMF_CODE_4M.secboot.fd")
VARIABLES = Path("/usr/share/OVMF/OVMF_VARS_4M.snakeoil.fd")
KEY = Path("/usr/share/ovmf/PkKek-1-snakeoil.key")
CERTIFICATE = Path("/usr/share/ovmf/PkKek-1-snakeoil.pem")
PASSPHRASE = "snakeoil"


def _present(*paths: Path) -> None:
    for path in paths:
        if not path.is_file():
            raise BenchError(f"{path} is missing: install ovmf")


def qemu_args() -> list[str]:
    """The machine; only its firmware, in system management mode, can write the variables."""
    _present(CODE, VARIABLES)
    return [
        "-machine", "q35,smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on",
        "-global", "ICH9-LPC.disable_s3=1",
        "-drive", f"if=pflash,format=raw,unit=0,readonly=on,file={CODE}",
        "-drive", f"if=pflash,format=raw,unit=1,snapshot=on,file={VARIABLES}",
    ]


def sign(module: Path, kernel: Kernel, folder: Path) -> Path:
    """A signed copy of a module in `folder`, made by the tool of the kernel's headers."""
    _present(KEY, CERTIFICATE)
    tools = sorted(kernel.root.glob("usr/lib/linux-kbuild-*/scripts/sign-file"))
    if not tools:
        raise BenchError(f"{kernel.release}: its headers have no sign-file")
    copy = folder / module.name
    output_of(["strip", "--strip-debug", "-o", str(copy), str(module)], f"stripping {module.name}")
    done = subprocess.run([str(tools[0]), "sha256", str(KEY), str(CERTIFICATE), str(copy)],
                          env=os.environ | {"KBUILD_SIGN_PIN": PASSPHRASE}, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise BenchError(f"signing {module.name} failed:\n{done.stdout}{done.stderr}")
    return copy
