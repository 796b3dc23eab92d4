# SPDX-License-Identifier: GPL-2.0-only
"""A machine inside the machine, by KVM, while tactus comes and goes.

The CPU of QEMU's emulation has AMD's SVM, so it is kvm_amd that runs.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import EXACT_TIMERS, mutant, programs
from harness.vmrun import Result, Vm

SECONDS = 0.15
# The inner machine is kicked by timers.
SCRIPT = f"""
{EXACT_TIMERS}
echo native: $(./nested {SECONDS})
modprobe tactus || exit 3
echo active: $(./nested {SECONDS})
rmmod kvm_amd kvm || exit 4
modprobe kvm_amd || exit 5
echo again: $(./nested {SECONDS})
rmmod tactus || exit 6
echo after: $(./nested {SECONDS})
"""


def nested(vm: Vm, modules: str = "tactus") -> tuple[Result, dict[str, dict[str, float]]]:
    """One run; the inner machine's figures by stage."""
    done = vm(SCRIPT, modules="kvm_amd", with_modules=modules, icount=True,
              put=[programs.build("nested")], check=False, timeout=90)
    figures = {
        stage: {key: float(value) for key, value in re.findall(r"(\w+)=([\d.]+)", rest)}
        for stage, rest in re.findall(r"^(\w+): nested: (.*)$", done.stdout, re.M)
    }
    return done, figures


@pytest.mark.slow
def test_a_signal_gets_the_inner_machine_out(vm: Vm) -> None:
    """Also one that comes between KVM's last look and the entry; before, during, after tactus, and
    with KVM loaded before it or after it."""
    done, figures = nested(vm)
    assert done.status == 0, done.stdout + done.stderr
    assert list(figures) == ["native", "active", "again", "after"]
    for stage in figures.values():
        assert stage["wrong"] == 0
        assert stage["kicks"] > 1200  # twice through all phases
        assert stage["outs"] == 16 * stage["kicks"]
        assert stage["max_late_ms"] < 1


@pytest.mark.long
def test_a_logged_interrupt_would_not(vm: Vm, tmp_path: Path) -> None:
    """The control: with a soft cli in KVM's modules the inner machine runs on till something else
    interrupts it."""
    modules = mutant.build(tmp_path / "mutant", "soft_kvm")
    done, figures = nested(vm, modules)
    assert done.status == 124 or figures["active"]["max_late_ms"] > 1, done.stdout
