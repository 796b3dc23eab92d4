# SPDX-License-Identifier: GPL-2.0-only
"""Nothing is lost: interrupts raised by devices are the interrupts handled by Linux, exactly, while
the pipeline is switched on and off; and those forced to be pending at the switch-off are handed
over. tests/vm/pipeline/modules/ledger tells what raises them, and why no two can become one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import mutant
from harness.vmrun import Vm

EDU = "-device edu -device edu"
# A probe on the function that each stopped CPU runs to switch over. On the way off its hits come
# with Linux stalled, just before the hardware's interrupts go off, so what they raise can only be
# pending; on the way on they come with the hardware's off, and the pipeline gets what they raise.
SCRIPT = """
cd /sys/kernel/ledger
echo 1 > running
echo tactus:switch_cpu > probe || exit 4
n=0
while [ $n -lt {cycles} ]; do
    n=$((n + 1))
    modprobe tactus || exit 3
    usleep {stay_us}
    cat /sys/kernel/tactus/pipeline > /tmp/pipeline
    rmmod tactus || exit 5
    usleep {stay_us}
done
echo 0 > running
cat ledger /tmp/pipeline
dmesg | grep 'tactus: inert'
"""

Books = dict[str, dict[str, int]]


def books(text: str) -> Books:
    """The lines "level ..." and "edge ..." of the ledger."""
    return {
        name: {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", rest)}
        for name, rest in re.findall(r"^(level|edge) (.*)$", text, re.M)
    }


def balanced(ledger: Books) -> bool:
    """Each raise was handled, once."""
    return len(ledger) == 2 and all(
        line["raised"] == line["handled"] and line["lost"] == 0 and line["spurious"] == 0
        for line in ledger.values())


def handed_over(text: str) -> list[tuple[int, int]]:
    """(edge, level) interrupts that waited for Linux at each switch-off."""
    found = re.findall(r"(\d+) edge- and (\d+) level-triggered were waiting", text)
    return [(int(edge), int(level)) for edge, level in found]


def logged(text: str) -> int:
    """Interrupts that found Linux stalled, on all CPUs."""
    header, *rows = re.findall(r"^(?:cpu|\d+)\t.*$", text, re.M)
    at = header.split("\t").index("logged")
    return sum(int(row.split("\t")[at]) for row in rows)


def check(text: str, cycles: int, at_least: int, at_probe: float = 1) -> None:
    """`cycles` switches on and off, `at_least` interrupts of each kind, nothing lost; `at_probe` is
    the share of switches at which both lines must have been raised."""
    ledger = books(text)
    assert balanced(ledger), text
    assert min(line["raised"] for line in ledger.values()) >= at_least
    # The lines raise all the time; for much of it modprobe is at work, the pipeline not yet on.
    assert logged(text) > at_least / 4
    handed = handed_over(text)
    assert len(handed) == cycles
    for kind, waiting in zip(("edge", "level"), zip(*handed)):
        assert sum(1 for number in waiting if number) >= at_probe * cycles, text
        assert ledger[kind]["at_probe"] >= at_probe * 2 * cycles, text


def test_nothing_is_lost(vm: Vm) -> None:
    """A short run, for every day."""
    done = vm(SCRIPT.format(cycles=3, stay_us=20000), modules="ledger", with_modules="tactus",
              icount=True, qemu=EDU)
    assert done.status == 0, done.stdout + done.stderr
    check(done.stdout, 3, 500)


@pytest.mark.slow
@pytest.mark.parametrize("kernel, smp, append, cycles", [
    pytest.param(("6.1", "cloud"), 1, "", 50, marks=pytest.mark.long),
    pytest.param(("6.1", "cloud"), 1, "", 15, marks=pytest.mark.long),
    (("6.1", "cloud"), 2, "", 6),
    pytest.param(("6.12", "cloud"), 2, "preempt=full", 20, marks=pytest.mark.long),
], ids=["6.1-one-cpu-long", "6.1-one-cpu", "6.1-two-cpus", "6.12-preempt-two-cpus"])
def test_nothing_is_lost_in_many_switches(vm: Vm, kernel: tuple[str, str], smp: int, append: str,
                                          cycles: int) -> None:
    """200 level- and 200 edge-triggered interrupts at the least, each time on and off; in the long
    run 10,000 of each in 50 times."""
    done = vm(SCRIPT.format(cycles=cycles, stay_us=20000), modules="ledger pause_us=300",
              with_modules="tactus", kernel=kernel, smp=smp, icount=True, append=append,
              qemu=EDU, timeout=400)
    assert done.status == 0, done.stdout + done.stderr
    # A raise that a raiser which was pre-empted has under way keeps the
    # probe from another.
    exact = smp == 1
    check(done.stdout, cycles, 200 * cycles, at_probe=1 if exact else 0.4)


@pytest.mark.long
def test_nothing_is_lost_at_the_devices_own_moments(vm: Vm) -> None:
    """The same, raised by the device's own thread as well: it lives on the host's time."""
    done = vm(SCRIPT.format(cycles=50, stay_us=20000), modules="ledger pause_us=200 thread=1",
              with_modules="tactus", smp=2, icount=False, qemu=EDU, timeout=400)
    assert done.status == 0, done.stdout + done.stderr
    check(done.stdout, 50, 10_000, at_probe=0.4)


@pytest.mark.slow
@pytest.mark.parametrize("name", [
    pytest.param("no_replay", marks=pytest.mark.long), "no_hand_over"])
def test_a_loss_shows(vm: Vm, tmp_path: Path, name: str) -> None:
    """The controls: devices' interrupts that found Linux stalled are not replayed, or what waits at
    the switch-off is not handed over. The ledger must see it."""
    modules = mutant.build(tmp_path / "mutant", name)
    done = vm(SCRIPT.format(cycles=2, stay_us=20000), modules="ledger patience_ms=20",
              with_modules=modules, icount=True, qemu=EDU, check=False)
    assert done.status == 0, done.stdout + done.stderr
    ledger = books(done.stdout)
    assert not balanced(ledger)
    for line in ledger.values():
        assert line["lost"] > 0
        assert line["raised"] > line["handled"]


IRR = "cat /sys/kernel/ledger/irr"


def seen_by_linux(text: str) -> bool:
    before, after = map(int, re.findall(r"=(\d+)", text))
    return after > before


@pytest.mark.parametrize("kernel", [
    ("6.1", "cloud"), pytest.param(("6.12", "cloud"), marks=pytest.mark.long)], ids="-".join)
def test_linux_finds_what_waits(vm: Vm, kernel: tuple[str, str]) -> None:
    """Linux looks into the APIC for interrupts that have arrived, before it frees a vector: what
    waits in the pipeline's log must show there, as it does without the pipeline."""
    done = vm(f"{IRR}; modprobe tactus && {IRR}; cat /sys/kernel/ledger/ledger",
              modules="ledger", with_modules="tactus", kernel=kernel, icount=True, qemu=EDU)
    native, active, *_ = done.stdout.splitlines()
    assert seen_by_linux(native)
    assert seen_by_linux(active), active
    assert balanced(books(done.stdout))


@pytest.mark.long
def test_the_log_alone_is_not_found(vm: Vm, tmp_path: Path) -> None:
    """The control: without the hook."""
    modules = mutant.build(tmp_path / "mutant", "log_hidden")
    done = vm(f"modprobe tactus && {IRR}", modules="ledger", with_modules=modules, icount=True,
              qemu=EDU)
    assert not seen_by_linux(done.stdout)


def test_the_books_can_disagree() -> None:
    """Of the checks themselves: one more raised, lost or spurious is not balanced."""
    good = {kind: {"raised": 9, "handled": 9, "lost": 0, "spurious": 0}
            for kind in ("level", "edge")}
    assert balanced(good)
    for name in ("raised", "lost", "spurious"):
        assert not balanced({**good, "edge": {**good["edge"], name: good["edge"][name] + 1}})
    assert not balanced({"edge": good["edge"]})


def test_the_controls_are_up_to_date() -> None:
    """Each edit of a mutant still has its one place in the sources."""
    for edits in mutant.EDITS.values():
        for old, new in edits.items():
            assert mutant.edit(mutant.sources(mutant.TOP), old, new)
