# SPDX-License-Identifier: GPL-2.0-only
"""rt_libm: what an RT thread computes, beside what the C library of this machine does."""

from __future__ import annotations

import ctypes
import math
import re
import struct
import subprocess
from pathlib import Path

import pytest

from harness import TOP, VM
from harness.vmrun import Vm

from .test_rtl import PROGRAMS

HEADER = (TOP / "kernel/include/libm/math.h").read_text()
ONE = re.findall(r"^double (\w+)\(double x\);", HEADER.replace("lgamma", ""), re.MULTILINE)
TWO = re.findall(r"^double (\w+)\(double x, double y\);", HEADER, re.MULTILINE)
# Of either library against the other. The C library's manual allows its tgamma() ten.
ULPS, ULPS_OF = 3, {"tgamma": 10}
VALUES = (0.0, -0.0, 0.5, -0.5, 1.0, 2.0, 3.0, -7.25, 0.1, 1e-9, 1e9, 20.7, -20.7, 700.0, 1e300,
          math.pi, math.inf, -math.inf, math.nan)
# What they make of them fits into the program's FIFO.
PAIRS = [(x, y) for x in VALUES for y in VALUES]
PAIRS += [(k * 0.0637 - 3, k * 0.5 + 0.1) for k in range(90)]


def libm(name: str, single: bool) -> ctypes._FuncPointer:  # type: ignore[name-defined]
    """The host's function."""
    kind = ctypes.c_float if single else ctypes.c_double
    function = getattr(ctypes.CDLL("libm.so.6"), name + ("f" if single else ""))
    function.restype = kind
    function.argtypes = [kind, kind] if name in TWO else [kind]
    return function


def near(ours: float, theirs: float, single: bool, ulps: int) -> bool:
    """Equal but for a few units in the last place."""
    if math.isnan(ours) or math.isnan(theirs):
        return math.isnan(ours) and math.isnan(theirs)
    if math.isinf(ours) or math.isinf(theirs):
        return ours == theirs
    unit = max(abs(theirs) * 2.0 ** -23, 2.0 ** -149) if single else math.ulp(theirs)
    return abs(ours - theirs) <= ulps * unit


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["6.1", *(pytest.param(series, marks=pytest.mark.long)
                                             for series in ("6.12", "7"))])
def test_against_the_host(vm: Vm, tmp_path: Path, kernel: str) -> None:
    """All functions of one and two doubles, and those of one float, over hard values and easy."""
    assert len(ONE) > 25 and len(TWO) == 10
    fetched = subprocess.run([TOP / "tools/source-package", "musl"], capture_output=True, text=True,
                             check=False)
    if fetched.returncode:
        pytest.skip(fetched.stderr.strip())
    library, program = tmp_path / "libm", tmp_path / "rtl_math"
    subprocess.run([TOP / "tools/libm", library], check=True)
    subprocess.run(["cp", "-r", PROGRAMS / "rtl_math", program], check=True)
    symbols = f"KBUILD_EXTRA_SYMBOLS={library}/Module.symvers"
    for words in ([str(library)], ["--rtl", "--make", symbols, str(program)]):
        subprocess.run([VM, "build", "--kernel", kernel, *words], check=True)
    (tmp_path / "in").write_bytes(
        b"".join(struct.pack("<2d", *pair) for pair in PAIRS))
    columns = 2 * len(ONE) + len(TWO)
    done = vm("insmod rt_libm.ko && insmod rtl_math.ko && "
              # Not head alone: busybox runs it in the shell, where the end of cat interrupts it.
              "(cat in > /dev/rtf1 & "
              f"timeout 60 head -c {len(PAIRS) * columns * 8} /dev/rtf2 > out); "
              "rmmod rtl_math rt_libm && echo unloaded",
              modules="tactus rtfifo rtl_compat", icount=True, kernel=kernel, get=["/root/out"],
              put=[library / "rt_libm.ko", program / "rtl_math.ko", tmp_path / "in"])
    assert done.stdout == "unloaded\n"
    rows = list(struct.iter_unpack(f"<{columns}d", done.get("out")))
    assert len(rows) == len(PAIRS)
    wrong = []
    functions = [(name, single, libm(name, single))
                 for names, single in ((ONE, False), (TWO, False), (ONE, True)) for name in names]
    for (x, y), row in zip(PAIRS, rows, strict=True):
        for (name, single, function), ours in zip(functions, row, strict=True):
            theirs = function(x, y) if name in TWO else function(x)
            if not near(ours, theirs, single, ULPS_OF.get(name, ULPS)):
                wrong.append(f"{name}{'f' * single}({x}, {y}): {ours}, not {theirs}")
    print(f"{len(rows) * columns} values, {len(wrong)} differ by more than their ulps")
    assert not wrong, "\n".join(wrong[:20])
