# SPDX-License-Identifier: GPL-2.0-only
"""The layers' calls between tasks on two CPUs, which take turns in exact virtual time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.vmrun import Vm

from .test_rtl import build

PARTS = {
    "rtai": "semaphores mutex spinning readers mailboxes typed calls conditions flags",
    "rtl": "semaphores mutex spinning conditions queues signals own",
}


@pytest.mark.slow
@pytest.mark.parametrize("schedule", [0, pytest.param(7, marks=pytest.mark.long)])
@pytest.mark.parametrize("layer", PARTS)
def test_two_cpus(vm: Vm, tmp_path: Path, layer: str, schedule: int) -> None:
    """Each part ends on both CPUs, nothing is lost, and the module goes."""
    module = build(tmp_path, f"{layer}_cpus", layer)
    extra = [f"--schedule={schedule}"] if schedule else []
    done = vm(f"insmod {layer}_cpus.ko && sleep 1; rmmod {layer}_cpus && "
              f"dmesg | grep -a -o 'cpus: .*'; rmmod {layer}_compat && echo unloaded",
              modules=f"tactus rtfifo {layer}_compat", icount=True, smp=2, put=[module],
              extra=extra)
    found = re.findall(r"cpus: (\w+) on ([01]) wrong (\d+)", done.stdout)
    assert sorted((part, cpu) for part, cpu, _ in found) == sorted(
        (part, cpu) for part in PARTS[layer].split() for cpu in "01"), done.stdout
    assert {wrong for *_, wrong in found} == {"0"}, done.stdout
    assert done.stdout.endswith("unloaded\n")
