# SPDX-License-Identifier: GPL-2.0-only
"""Programs in the manner of RTLinux, built with its layer and run in virtual time."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import VM
from harness.vmrun import Vm

PROGRAMS = Path(__file__).parent / "programs"


def build(folder: Path, name: str, layer: str, kernel: str = "6.1") -> Path:
    """Builds a copy of a program with a layer; its module."""
    copy = folder / f"{name}-{kernel}"
    shutil.copytree(PROGRAMS / name, copy, ignore=shutil.ignore_patterns("*.o", "*.ko", ".*"))
    done = subprocess.run([str(VM), "build", "--kernel", kernel, f"--{layer}", str(copy)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return copy / f"{name}.ko"


def command(thread: int, on: int, period: int) -> str:
    """The bytes of one command, for printf."""
    data = (thread.to_bytes(4, "little") + on.to_bytes(4, "little")
            + period.to_bytes(8, "little"))
    return "printf '" + "".join(f"\\{byte:03o}" for byte in data) + "' > /dev/rtf3; "


@pytest.mark.parametrize("kernel", ["6.1", "7"])
def test_pair(vm: Vm, tmp_path: Path, kernel: str) -> None:
    """Commands reach threads from RT to RT; waits, conditions, floating point, join,
    MODULE_PARM."""
    module = build(tmp_path, "rtl_pair", "rtl", kernel)
    done = vm("insmod /root/rtl_pair.ko answer=42; sleep 0.05; "
              + command(0, 1, 1_000_000) + "timeout 5 head -c 6 /dev/rtf1; echo; "
              + command(1, 1, 500_000) + "timeout 5 head -c 6 /dev/rtf2; echo; "
              "cat /sys/kernel/tactus/tasks; " + command(0, 0, 0) + "sleep 0.05; "
              "cat /sys/kernel/tactus/tasks; rmmod rtl_pair; cat /sys/kernel/tactus/tasks; "
              "rmmod rtl_compat; dmesg | grep -a -o 'pair: .*'",
              modules="tactus rtfifo nfifos=16 rtl_compat", icount=True, kernel=kernel,
              put=[module], timeout=120)
    assert done.status == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["aaaaaa", "bbbbbb"]
    tasks = [line.split("\t") for line in lines if line.startswith("run")]
    assert sorted(task[3] for task in tasks) == ["1000000", "1000000", "500000", "500000"]
    assert sorted(task[4] for task in tasks) == ["suspended", "waiting", "waiting", "waiting"]
    assert re.search(r"^pair: said 230 after 110$", done.stdout, re.MULTILINE)
    assert lines[-2:] == ["pair: fp 230 answer 42", "pair: joined 7"]
    assert done.stdout.count("name\tcpu") == 3


def test_no_licence(tmp_path: Path) -> None:
    """A program without a licence is refused with the reason."""
    folder = tmp_path / "bare"
    folder.mkdir()
    (folder / "Kbuild").write_text("obj-m := bare.o\n")
    (folder / "bare.c").write_text("#include <rtl.h>\nint init_module(void)\n{\n\treturn 0;\n}\n")
    done = subprocess.run([str(VM), "build", "--rtl", str(folder)], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 123
    assert "bare has no MODULE_LICENSE(): Linux refuses such a module." in done.stderr
