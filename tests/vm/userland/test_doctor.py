# SPDX-License-Identifier: GPL-2.0-only
"""`tactus doctor` in guests, well and with defects that it tells and loading refuses."""

from __future__ import annotations

import json
import re

import pytest

from harness.vmrun import Vm

COMMAND = "tactus doctor --json; echo \"=== $?\"; tactus load --policy fixed_priority 2>&1; " \
    "echo \"=== $?\""

# name: (the kernel's arguments, subject and level of the finding, words of loading's refusal)
DEFECTS = {
    "unstable TSC": ("tsc=unstable", ("clock", "blocks"), "TSC unstable"),
    "no I/O APIC": ("noapic", ("timer", "blocks"), "refused: "),
    "no APIC timer": ("nolapic_timer", ("timer", "blocks"), "refused: "),
    "signatures": ("module.sig_enforce=1", ("secure boot", "advice"), "takes signed modules only"),
}
# Of make test-long.
RARELY = ("no APIC timer", "signatures")


def look(vm: Vm, append: str = "") -> tuple[int, dict[str, str], int, str]:
    """Doctor's status and its findings, the worst of each subject; loading's status and words."""
    done = vm(COMMAND, append=append, extra=["--tactus"], icount=True,
              with_modules="tactus_core tactus rtfifo", allow=["is rejected"])
    said, first, loading, second, _ = re.split(r"=== (\d+)\n", done.stdout)
    order = ("fine", "unknown", "advice", "blocks")
    worst: dict[str, str] = {}
    for finding in json.loads(said)["findings"]:
        subject = finding["subject"]
        worst[subject] = max(worst.get(subject, "fine"), finding["level"], key=order.index)
    return int(first), worst, int(second), loading


@pytest.mark.slow
def test_a_well_machine_loads(vm: Vm) -> None:
    status, worst, loaded, loading = look(vm)
    assert status == 0 and "blocks" not in worst.values(), worst
    assert worst["timer"] == worst["secure boot"] == "fine", worst
    assert loaded == 0, loading


@pytest.mark.slow
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.long) if name in RARELY else name for name in DEFECTS])
def test_a_defect_is_seen_and_refused(vm: Vm, name: str) -> None:
    append, (subject, level), words = DEFECTS[name]
    status, worst, loaded, loading = look(vm, append)
    assert worst[subject] == level, worst
    assert status == (5 if level == "blocks" else 0)
    assert loaded == 1 and words in loading, loading
