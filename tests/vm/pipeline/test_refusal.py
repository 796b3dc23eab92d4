# SPDX-License-Identifier: GPL-2.0-only
"""A kernel that cannot be taken over is refused with one clear sentence.

The fixture is real: the plain kernel of tests/kunit is built without PARAVIRT_XXL.
"""
from __future__ import annotations

import errno
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import TOP, ownkernel

pytestmark = pytest.mark.slow


def build_product(kernel: ownkernel.Kernel, into: Path) -> Path:
    """Build the product's modules alone: the tests' need more than this kernel has."""
    for part in ("kernel", "rtfifo"):
        shutil.copytree(TOP / part, into / part)
    lines = (TOP / "Kbuild").read_text().splitlines()
    wanted = [line for line in lines if not line.startswith(("obj-m += tests/",
                                                             "obj-m += examples/"))]
    (into / "Kbuild").write_text("\n".join(wanted) + "\n")
    done = subprocess.run(["make", "-C", str(kernel.tree), f"M={into}", *ownkernel.compiler(),
                           "modules"], env=ownkernel.build_environment(), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return into


@pytest.mark.long
def test_without_paravirt_xxl(vm, tmp_path: Path) -> None:
    own = ownkernel.kernel("plain")
    assert "CONFIG_PARAVIRT_XXL=y" not in (own.tree / ".config").read_text()
    built = build_product(own, tmp_path / "product")
    script = """
        insmod tactus_core.ko
        insmod tactus.ko
        echo "status $?"
        dmesg | grep tactus: | sed 's/^[^]]*] //' | uniq  # busybox tries twice
        grep ^tactus /proc/modules | cut -d' ' -f1
        ls -d /sys/kernel/tactus
    """
    done = vm(script, put=[built / "tactus_core.ko", built / "tactus.ko"],
              extra=["--no-tree", "--kdir", str(own.tree), "--image", str(own.image)])
    assert "Operation not supported" in done.stderr
    assert done.stdout == (
        f"status {errno.EOPNOTSUPP}\n"  # busybox: the error number
        "tactus: refused: this kernel is built without CONFIG_PARAVIRT_XXL, so its cli and sti "
        "cannot be found; nothing was changed\n"
        "tactus_core\n")  # which changes nothing by itself
