# SPDX-License-Identifier: GPL-2.0-only
"""NMIs at any moment, that of the switch-over among them, while text is rewritten on two CPUs.

tests/vm/pipeline/modules/storm sends them and rewrites, tests/vm/pipeline/modules/ledger keeps
books of the devices' interrupts meanwhile. All in virtual time, but for one long test with NMIs
from outside. The native control does the same without
tactus: what fails there is not tactus's fault.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import mutant
from harness.vmrun import Result, Vm
from pipeline.test_ledger import EDU, balanced, books

SCRIPT = """
cd /sys/kernel
T=/sys/kernel/tracing
echo 'schedule vfs_* __do_softirq' > $T/set_ftrace_filter
echo 1 > storm/running
echo 1 > ledger/running
echo tactus:pl_text_write > storm/probe || exit 3
echo tactus:switch_cpu > ledger/probe || exit 3
n=0
while [ $n -lt {cycles} ]; do
    n=$((n + 1))
    {on}
    echo function > $T/current_tracer
    usleep 60000
    echo nop > $T/current_tracer
    {off}
    usleep 20000
done
echo 0 > storm/running
echo 0 > ledger/running
cat storm/counts ledger/ledger
"""
SWITCH = {"on": "modprobe tactus || exit 4", "off": "rmmod tactus || exit 5"}
NATIVE = {"on": "usleep 60000", "off": ":"}


def storm(vm: Vm, cycles: int, switch: dict[str, str], modules: str = "tactus",
          period_us: int = 150, nmi_hz: float = 0, loaded: str = "", **options: object) -> Result:
    """One run: `cycles` times on and off in the storm, with the modules `loaded` before it."""
    return vm(SCRIPT.format(cycles=cycles, **switch),
              modules=f"{loaded} storm period_us={period_us} ledger",
              with_modules=modules, smp=2, nmi=nmi_hz, qemu=EDU, **options)


def counts(text: str) -> dict[str, int]:
    """The line "storm ...", and what the bench says that it injected."""
    (line,) = re.findall(r"^storm (.*)$", text, re.M)
    return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", line)}


def healthy(text: str) -> bool:
    """Every NMI that was asked for came, text that changed was right at every call, no section with
    interrupts off was opened, and no interrupt was lost."""
    got = counts(text)
    return (got["sent"] == got["answered"] and got["unanswered"] == got["wrong"] == 0
            and got["opened"] == 0 and balanced(books(text)))


def check(done: Result, cycles: int) -> None:
    """The storm was one, and did no harm."""
    assert done.status == 0, done.stdout + done.stderr
    assert healthy(done.stdout), done.stdout
    got = counts(done.stdout)
    assert got["sent"] > 400 * cycles
    assert got["toggles"] > 2 * cycles
    assert got["hits"] > 1000 * cycles


def test_storm(vm: Vm) -> None:
    """A few switches, for every day; NMIs come at the switch-over each time."""
    done = storm(vm, 2, SWITCH)
    check(done, 2)
    assert counts(done.stdout)["at_probe"] >= 2 * 2 * 2


@pytest.mark.long
def test_storm_with_others_from_outside(vm: Vm) -> None:
    """QEMU's monitor injects more, in the host's time: moments that no program chose."""
    done = storm(vm, 3, SWITCH, nmi_hz=40, icount=False)
    check(done, 3)
    injected = int(re.findall(r"(\d+) NMIs were injected", done.stderr)[0])
    assert 0 < counts(done.stdout)["others"] <= injected


@pytest.mark.long
@pytest.mark.parametrize("kernel, append", [
    (("6.1", "cloud"), ""), (("6.12", "cloud"), "preempt=full"),
], ids=["6.1", "6.12-preempt"])
@pytest.mark.parametrize("switch", [SWITCH, NATIVE], ids=["switching", "native"])
def test_long_storm(vm: Vm, switch: dict[str, str], kernel: tuple[str, str], append: str) -> None:
    """25 switches on and off in 10,000 NMIs and more, and beside it Linux alone."""
    cycles = 25
    done = storm(vm, cycles, switch, kernel=kernel, append=append, timeout=900)
    check(done, cycles)


@pytest.mark.long
def test_a_trace_left_shows(vm: Vm, tmp_path: Path) -> None:
    """The control: an NMI leaves Linux unstalled whatever it interrupted. Sections are opened,
    or so many that the machine hangs."""
    modules = mutant.build(tmp_path / "mutant", "nmi_unstalls")
    done = storm(vm, 3, SWITCH, modules, timeout=40, check=False)
    assert done.status != 0 or not healthy(done.stdout)
    if done.status == 0:
        assert counts(done.stdout)["opened"] > 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["half_written", "half_written_no_gate"])
def test_nobody_runs_into_half_a_slot(vm: Vm, tmp_path: Path, name: str) -> None:
    """NMIs come to the CPUs that stand still, and none is let in while slots are half written. The
    control lets them: it ends in the handler, which has such slots."""
    modules = mutant.build(tmp_path / "mutant", name)
    done = storm(vm, 3, SWITCH, modules, period_us=0, timeout=60, check=False)
    if name == "half_written":
        assert done.status == 0, done.stdout + done.stderr
        assert healthy(done.stdout), done.stdout
        assert counts(done.stdout)["at_probe"] >= 3 * 2 * 2
    else:
        assert done.status in (124, 125), done.stdout + done.stderr  # it may hang, too
