# SPDX-License-Identifier: GPL-2.0-only
"""RT code in ring 3 beside a process with rights and registers of its own: neither has anything of
the other's."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import mutant, programs
from harness.fixtures import have
from harness.vmrun import Vm

HOW = ("tsc", "breakpoint", "port", "rtc")
# RT code is turned back by the port, which it may not use, and by nothing else.
TRAPS = {"port": "traps 1 others 0 vector 13"}
UNKNOWN = "NMI received for unknown reason|Dazed and confused"
# Of 1,638 in the jobs' 200 ms: Linux has a tenth of the CPU.
FEWEST_TICKS = 300


def run(vm: Vm, core: str = "tactus_core tactus", after: str = "", **options) -> dict[str, str]:
    """What it said, by HOW; and a word and a figure that `after` prints."""
    done = vm("for how in " + " ".join(HOW) + "; do echo $how $(./user_neighbour $how); done; "
              + after, modules=f"{core} tactus_user", put=[programs.build("user_neighbour")],
              icount=True, **options)
    print(done.stdout)
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert [how for how in said if how in HOW] == list(HOW)
    return said


def judge(said: dict[str, str]) -> None:
    for how, line in said.items():
        words, ticks = line.split("; ticks ")
        assert words == (f"jobs 200 {TRAPS.get(how, 'traps 0 others 0 vector 0')}"
                         "; neighbour right, kept"), how
        assert how != "rtc" or int(ticks) > FEWEST_TICKS


def test_neither_has_the_others(vm: Vm) -> None:
    judge(run(vm))


def test_beside_nmis(vm: Vm) -> None:
    """From outside, most of them while RT code computes; Linux knows no reason for them."""
    said = run(vm, nmi=200, allow=[UNKNOWN],
               after="awk '/NMI:/ { print \"nmis\", $2 }' /proc/interrupts")
    assert int(said.pop("nmis")) > 50
    judge(said)


@pytest.mark.long
@pytest.mark.parametrize(("kernel", "append"), [
    (("6.1", "generic"), ""), (("6.1", "rt"), ""), (("6.1", "cloud"), "pti=on"),
    (("6.12", "cloud"), ""), (("7", "cloud"), ""), (("7", "cloud"), "pti=on")],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else value)
def test_on_other_kernels(vm: Vm, kernel: tuple[str, str], append: str) -> None:
    judge(run(vm, kernel=kernel, append=append, timeout=600))


@pytest.mark.long
def test_on_a_checking_kernel(vm: Vm) -> None:
    """KASAN, lockdep and the rest have nothing to say of registers that change with each job."""
    have("debug")
    judge(run(vm, kernel="debug", timeout=1800, extra=["--memory=1G"]))


@pytest.mark.long
def test_careless(vm: Vm, tmp_path: Path) -> None:
    """The control: with the neighbour's rights each goes wrong in its way."""
    said = run(vm, core=mutant.build(tmp_path, "careless"))
    assert said["tsc"].startswith("jobs 200 traps 200 others 0 vector 13;")
    assert said["breakpoint"].startswith("jobs 200 traps 200 others 0 vector 1;")
    assert said["port"].startswith("jobs 200 traps 0 others 0 vector 0;")
