# SPDX-License-Identifier: GPL-2.0-only
"""System calls of 32-bit code, and `sysenter`, which keeps neither its place nor the flag IF.
Intel's CPUs have it in 64-bit code, too; they have no `syscall` in 32-bit code. In QEMU, all have
`sysenter` in 32-bit code."""

from __future__ import annotations

import pytest

from harness import programs
from harness.vmrun import Vm

INTEL = "-cpu max,vendor=GenuineIntel"
MADE = ("made", "made, reason 2 nr 20 vector 0 at it, then 0")
# Linux lets it go on in the vDSO of a 32-bit process, which this is not.
LOST = ("signal 11", "signal 11, reason 2 nr 20 vector 0, then 0")
ILLEGAL = ("signal 4 at it", "signal 4 at it, reason 3 nr 0 vector 6 at it, then 0")
# What comes of it in Linux, and in RT mode.
EVERYWHERE = {"int80": MADE, "sysenter": LOST, "sysenter-step": LOST}
AMD = EVERYWHERE | {
    "syscall": ("signal 11", "signal 11, reason 2 nr 20 vector 0 at it, then 0"),
    "sysenter64": ILLEGAL}
ON_INTEL = EVERYWHERE | {"sysenter64": LOST}


def run(vm: Vm, hows: list[str], qemu: str, **options) -> dict[str, tuple[str, ...]]:
    done = vm(f"for how in {' '.join(hows)}; do\n"
              "./user_compat $how linux; ./user_compat $how rt; done",
              modules="tactus tactus_user", put=[programs.build("user_compat")], icount=True,
              qemu=qemu, **options)
    said = done.stdout.splitlines()
    return {how: tuple(said[2 * i:2 * i + 2]) for i, how in enumerate(hows)}


@pytest.mark.parametrize(("want", "qemu"), [(AMD, ""), (ON_INTEL, INTEL)], ids=["amd", "intel"])
def test_each_way_demotes(vm: Vm, want: dict[str, tuple[str, str]], qemu: str) -> None:
    assert run(vm, list(want), qemu) == want


@pytest.mark.long
@pytest.mark.parametrize(("kernel", "append"), [
    (("6.1", "generic"), ""), (("6.1", "cloud"), "pti=on"), (("6.12", "cloud"), ""),
    (("7", "cloud"), "")],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else value)
def test_on_other_kernels(vm: Vm, kernel: tuple[str, str], append: str) -> None:
    assert run(vm, list(ON_INTEL), INTEL, kernel=kernel, append=append) == ON_INTEL
