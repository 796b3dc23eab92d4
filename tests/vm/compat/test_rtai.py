# SPDX-License-Identifier: GPL-2.0-only
"""A program in the manner of RTAI's, built with its layer and run beside long cli sections."""

from __future__ import annotations

import re
import struct
from pathlib import Path

from harness.vmrun import Vm

from .test_rtl import build

SAMPLES = 5
SAMPLE_NS = 100_000_000
SAMPLE = struct.Struct("<qqqii")


def test_late(vm: Vm, tmp_path: Path) -> None:
    """100 us beside sections of 20 ms: late by 1 us at most; messages, semaphores, mailboxes."""
    module = build(tmp_path, "rtai_late", "rtai")
    done = vm("insmod /root/rtai_late.ko || exit 1; "
              "( while :; do echo process; done > /proc/hog ) & "
              f"timeout 9 head -c {SAMPLES * SAMPLE.size} /dev/rtf3 > /root/samples; "
              "kill $!; cat /proc/hog; rmmod rtai_late rtai_compat; dmesg | grep -a -o 'late: .*'",
              modules="tactus rtfifo rtai_compat hog", icount=True, busy=True, put=[module],
              get=["/root/samples"], timeout=150)
    assert done.status == 0, done.stderr
    hog = dict(re.findall(r"(\w+)=(\d+)", done.stdout))
    print("hog:", hog)
    # Interrupts were off for more than half of the measured time.
    assert int(hog["longest_ns"]) >= 20_000_000 and hog["leaked"] == "0"
    assert int(hog["total_ns"]) > SAMPLES * SAMPLE_NS // 2
    samples = list(SAMPLE.iter_unpack(done.get("samples")))
    assert len(samples) == SAMPLES
    print("min, max, average ns, index, overruns:", *samples, sep="\n")
    for least, most, average, _, overruns in samples:
        assert 0 < least <= average <= most <= 1000
        assert overruns == 0
    assert "late: sum 1055 timed fffe if 0\n" in done.stdout
    assert "late: got 0123456789 left 0 prio 3" in done.stdout
