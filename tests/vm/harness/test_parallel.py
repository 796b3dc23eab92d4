# SPDX-License-Identifier: GPL-2.0-only
"""CPUs that run at the same time: storms of NMIs, and whose fault it is if such a guest dies.

It is the emulator's only if a witness saw it execute what memory did not hold
(tests/vm/harness/witness.c). All in the host's time, so only `make test-parallel` runs it.
"""

from __future__ import annotations

import pytest

from harness.bench import parallel
from harness.vmrun import PARALLEL, Vm
from pipeline.test_nmi import NATIVE, SWITCH, check, storm

in_the_hosts_time = pytest.mark.skipif(not PARALLEL, reason="by make test-parallel")
CYCLES = 10


@in_the_hosts_time
@pytest.mark.slow
@pytest.mark.parametrize("kernel, append", [
    (("6.1", "cloud"), ""), (("6.12", "cloud"), "preempt=full"),
], ids=["6.1", "6.12-preempt"])
@pytest.mark.parametrize("what", ["native", "loaded", "switching"])
def test_storm(vm: Vm, what: str, kernel: tuple[str, str], append: str) -> None:
    """Linux alone; Tactus, which stays on; and Tactus on and off."""
    done = storm(vm, CYCLES, SWITCH if what == "switching" else NATIVE, kernel=kernel,
                 append=append, loaded="tactus" if what == "loaded" else "")
    check(done, CYCLES)
    assert "the emulator" not in done.stderr


@in_the_hosts_time
@pytest.mark.slow
def test_the_emulators_own_fault_is_told(vm: Vm) -> None:
    """The control: without the plug-in that mends it, Linux alone dies of it or hangs."""
    done = storm(vm, 300, NATIVE, extra=["--unmended"], timeout=60, check=False)
    assert done.status == 122, done.stdout + done.stderr
    assert "executed int3 at ffffffff" in done.stderr


@in_the_hosts_time
def test_the_guests_own_fault_stays_its_own(vm: Vm) -> None:
    done = vm("echo c > /proc/sysrq-trigger", smp=2, check=False)
    assert done.status == 125 and "the emulator" not in done.stderr


@in_the_hosts_time
def test_a_hang_tells_where_each_cpu_is(vm: Vm) -> None:
    done = vm("while :; do :; done", smp=2, timeout=8, check=False)
    assert done.status == 124
    assert "CPU 0 at " in done.stderr and "CPU 1 at " in done.stderr


def test_each_stale_place_is_told_once() -> None:
    line = "CPU 1 executed int3 at ffffffffc0000000, memory has 66 90 00 00 00"
    assert parallel.stale(f"{line}\n{line}\n") == [f"{line} (2 times)"]
    assert parallel.stale("") == []
