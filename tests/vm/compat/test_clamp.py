# SPDX-License-Identifier: GPL-2.0-only
"""The porting guide's dynamic clamp: parameters in and samples out by FIFOs, floating point."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from harness.vmrun import Vm

from .test_rtl import build

SAMPLE = struct.Struct("<2d")
SAMPLES = 800
LEAK, REST = 0.01, -70.0
G, E = 0.03, 0.0


def test_clamp(vm: Vm, tmp_path: Path) -> None:
    """The cell goes to rest, then to where the conductance pulls it, with the current it says."""
    module = build(tmp_path, "rtl_clamp", "rtl")
    (tmp_path / "conductance").write_bytes(struct.pack("<2d", G, E))
    done = vm("insmod rtl_clamp.ko && timeout 5 head -c 16000 /dev/rtf0 > rest && "
              "cat conductance > /dev/rtf1 && "
              f"timeout 5 head -c {SAMPLES * SAMPLE.size} /dev/rtf0 > clamped && "
              "rmmod rtl_clamp rtl_compat && dmesg | grep -o 'clamp: .*'",
              modules="tactus rtfifo rtl_compat", icount=True, get=["/root/rest", "/root/clamped"],
              put=[module, tmp_path / "conductance"])
    assert done.stdout == "clamp: left at -17.50 mV\n", done.stderr
    rest = list(SAMPLE.iter_unpack(done.get("rest")))
    assert len(rest) == 1000 and rest[0] == (-60, 0)
    assert rest[-1][0] == pytest.approx(REST, abs=0.01)
    clamped = list(SAMPLE.iter_unpack(done.get("clamped")))
    assert len(clamped) == SAMPLES
    assert clamped[-1][0] == pytest.approx((LEAK * REST + G * E) / (LEAK + G), abs=0.01)
    # From one sample on, and never again without.
    begins = next(n for n, (_, i) in enumerate(clamped) if i)
    assert all(i == (G * (E - v) if n >= begins else 0) for n, (v, i) in enumerate(clamped))
