# SPDX-License-Identifier: GPL-2.0-only
"""32-bit code's system calls and programs, and `sysenter`, which keeps neither its place nor the
flag IF. Intel's CPUs have it in 64-bit code, too; they have no `syscall` in 32-bit code. In QEMU,
all have `sysenter` in 32-bit code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import libc32, mutant, programs
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


def run(vm: Vm, hows: list[str], qemu: str, core: str = "tactus_core tactus",
        **options) -> dict[str, tuple[str, ...]]:
    done = vm(f"for how in {' '.join(hows)}; do\n"
              "./user_compat $how linux; ./user_compat $how rt; done",
              modules=f"{core} tactus_user", put=[programs.build("user_compat")], icount=True,
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


SCRIPT = """
both() { echo $1: $(./user_32 $2), $(./user_32 $2 int80); }
both before 20
for name in tactus rtfifo tactus_user; do modprobe $name; done
both loaded 20
./user_32 device
./user_compat selectors > jobs & sleep 0.1
both beside 4000; cut -f 4 /sys/kernel/tactus/users | tail -n +2
wait $!; cat jobs
rmmod tactus_user rtfifo tactus; cat /sys/kernel/tactus/state 2> /dev/null
both after 20
"""


def run_32(vm: Vm, qemu: str, core: str = "tactus_core tactus", **options) -> list[str]:
    """What a 32-bit process says before tactus is loaded, then, beside RT mode, and afterwards."""
    done = vm(SCRIPT, with_modules=f"{core} rtfifo tactus_user", icount=True,
              qemu=qemu,
              put=[programs.build("user_32"), programs.build("user_compat")], **options)
    return done.stdout.splitlines()


@pytest.mark.parametrize(("instruction", "qemu"), [("syscall", ""), ("sysenter", INTEL)])
def test_a_32_bit_process(vm: Vm, instruction: str, qemu: str) -> None:
    """Linux makes its calls, whatever RT code is beside it, and RT mode refuses it."""
    right = f"{instruction}, right, {instruction}, right"
    assert run_32(vm, qemu) == [
        f"before: {right}", f"loaded: {right}", "error 95: only 64-bit code can run in RT mode",
        f"beside: {right}", "rt", "bad 0, promotions 1", f"after: {right}"]


ROUNDS = 50
PHASES = ("before", "loaded", "beside", "after")
LIBC_SCRIPT = f"""
each() {{
	for kind in static dynamic; do echo $1: $(./user_libc_${{kind}}_32 {ROUNDS} 2>&1); done
}}
each before
for name in tactus rtfifo tactus_user; do modprobe $name; done
each loaded
./user_compat selectors > jobs & sleep 0.1
each beside; cut -f 4 /sys/kernel/tactus/users | tail -n +2
wait $!; cat jobs
rmmod tactus_user rtfifo tactus; cat /sys/kernel/tactus/state 2> /dev/null
each after
"""


def run_libc(vm: Vm, qemu: str, core: str = "tactus_core tactus", **options) -> list[str]:
    """What 32-bit programs with a C library say; what they say first is right, if it ends so."""
    put = {program: f"/root/{program.name}" for program in (
        *(libc32.build("user_libc", static=static) for static in (True, False)),
        programs.build("user_compat"))}
    done = vm(LIBC_SCRIPT, with_modules=f"{core} rtfifo tactus_user", icount=True, qemu=qemu,
              put=libc32.libraries() | put, **options)
    print(done.stdout)
    return done.stdout.splitlines()


@pytest.mark.parametrize("qemu", ["", INTEL], ids=["amd", "intel"])
def test_32_bit_programs_with_a_c_library(vm: Vm, qemu: str) -> None:
    """Threads, their storage, signals and children, by the vDSO's `syscall` or `sysenter`."""
    said = run_libc(vm, qemu)
    right = said[0].removeprefix("before: ")
    assert re.fullmatch(r"(\d+ ){3}"
                        f"shared {3 * ROUNDS} children {ROUNDS // 10} heard 1 timer right", right)
    assert said == [*(f"{phase}: {right}" for phase in PHASES[:3] for _ in range(2)),
                    "rt", "bad 0, promotions 1", *(f"after: {right}" for _ in range(2))]


@pytest.mark.long
def test_careless(vm: Vm, tmp_path: Path) -> None:
    """The control. In RT mode the registers are as the CPU leaves them; Linux's sysenter goes
    astray; a 32-bit process has the selectors of RT code."""
    core = mutant.build(tmp_path, "careless_32")
    said = run(vm, list(ON_INTEL), INTEL, core=core)
    assert said.pop("int80") == MADE
    assert {in_rt for _, in_rt in said.values()} == {
        LOST[1].replace(",", ", interrupts off in ring 3,", 1)}
    said32 = run_32(vm, INTEL, core=core)
    assert said32[1] == "loaded: sysenter, sysenter, right"
    assert said32[3].startswith("beside: sysenter, sysenter") and "right" not in said32[3]
    libc = run_libc(vm, INTEL, core=core)
    right = libc[0].removeprefix("before: ")
    assert f"loaded: {right}" not in libc and f"beside: {right}" not in libc
