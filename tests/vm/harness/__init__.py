# SPDX-License-Identifier: GPL-2.0-only
"""The bench, and what tests and measurements share to run it."""

from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
VM = TOP / "tests/vm/vm"


def _until(test: str) -> str:
    """A line of the guest's shell: wait for @test, for 5 s at most."""
    return f"for i in $(seq 50); do {test} && break; sleep 0.1; done\n"


# In the first second Linux's timers go by the jiffy: no fair thing to compare with.
EXACT_TIMERS = _until("grep -q 'hres_active *: 1' /proc/timer_list")
# Linux changes text of its own (static keys) when it gets its final clock, for which a load waits.
FINAL_CLOCK = _until(
    "grep -qx tsc /sys/devices/system/clocksource/clocksource0/current_clocksource") + "sleep 0.1\n"
