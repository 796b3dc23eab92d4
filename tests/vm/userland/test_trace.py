# SPDX-License-Identifier: GPL-2.0-only
"""`tactus trace` in a guest: who ran when, why a start was late, and Linux's switches beside it."""

from __future__ import annotations

import json
import re

import pytest

from harness import guest_python
from harness.guest_python import Step
from tactus import tracing

pytestmark = pytest.mark.slow
MODULES = "tactus_core tactus rt_latency"

# `neighbour` turns hardware interrupts off in a way that no slot catches.
STEPS = {
    "in time": "tactus trace record /tmp/a.json --seconds 0.05 --late-us 50 --json",
    "late": "(while ! [ -e /tmp/stop ]; do sleep 0.1; echo 1 1500 > /sys/kernel/neighbour/hard; "
            "done)"
            " & "
            "tactus trace record /tmp/b.json --seconds 2 --late-us 50 --events 64; "
            "status=$?; touch /tmp/stop; wait; (exit $status)",
    "the last event": "tactus trace show /tmp/b.json | tail -1",
    "explain": "tactus trace explain /tmp/b.json --json",
    "linux": "mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null; "
             "tactus trace record /tmp/c.json --seconds 0.1 --linux",
    "export": "tactus trace export /tmp/c.json --perfetto /tmp/p.json && cat /tmp/p.json",
    "left": "cat /sys/kernel/tactus/trace/slots /sys/kernel/tactus/trace/late_ns; "
            "ls /sys/kernel/tracing/instances",
    "no ring": "tactus trace show",
}


@pytest.fixture(scope="module", params=[
    "6.1", *(pytest.param(series, marks=pytest.mark.long) for series in ("6.12", "7"))])
def steps(request: pytest.FixtureRequest, vm_module,
          tmp_path_factory: pytest.TempPathFactory) -> dict[str, Step]:
    return guest_python.run_steps(vm_module, STEPS, tmp_path_factory.mktemp("python"),
                                  modules=MODULES + " neighbour", icount=True,
                                  kernel=(request.param, "cloud"))


def test_in_time_it_ends_with_its_seconds(steps: dict[str, Step]) -> None:
    assert steps["in time"].status == 0
    why = json.loads(steps["in time"].said)
    assert why["task"] == "latency" and why["late_ns"] < 50_000
    assert sum(part["ns"] for part in why["parts"]) == why["late_ns"]


def test_a_late_start_ends_it_and_names_who_held_interrupts(steps: dict[str, Step]) -> None:
    assert steps["late"].status == 5, steps["late"].said
    why = json.loads(steps["explain"].said)
    assert 50_000 < why["late_ns"] < 1_600_000
    held = max(why["parts"], key=lambda part: part["ns"])
    assert re.search(r"hard-off until hard_section", held["who"]), why
    assert held["ns"] > why["late_ns"] - 5_000
    assert "late" in steps["the last event"].said


def test_linux_is_beside_it_on_one_clock(steps: dict[str, Step]) -> None:
    assert steps["linux"].status == 0, steps["linux"].said
    rows = json.loads(steps["export"].said)["traceEvents"]
    assert {row["ph"] for row in rows} <= {"M", "X", "i", "C"}
    names = {(row["pid"], row["tid"]): row["args"]["name"] for row in rows
             if row["name"] == "thread_name"}
    assert {"RT latency", "Linux"} <= set(names.values())
    jobs = [row for row in rows if row["ph"] == "X" and row["cat"] == "rt"]
    linux = [row for row in rows if row["ph"] == "X" and row["cat"] == "linux"]
    assert len(jobs) >= 90 and linux
    assert all(row["dur"] >= 0 and (row["pid"], row["tid"]) in names for row in jobs + linux)
    # The tool's own process slept and looked; it lies within the tasks' jobs.
    assert min(row["ts"] for row in jobs) < max(row["ts"] for row in linux)
    assert min(row["ts"] for row in linux) < max(row["ts"] for row in jobs)


def test_it_leaves_the_rings_as_they_were(steps: dict[str, Step]) -> None:
    assert steps["left"].said == "0\n0\n"
    assert steps["no ring"].status == 1
    assert "no events are kept" in steps["no ring"].said


def test_both_cpus_are_on_one_clock(vm_module, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Virtual CPUs take turns, so nothing is said of lateness."""
    steps = guest_python.run_steps(
        vm_module, {"sound": "modprobe rt_speaker raw=1 mode=slope clock=rtc; "
                             "(exec cat /dev/urandom > /dev/rtf0) & true",
                    "record": "tactus trace record /tmp/a.json --seconds 0.1 --linux",
                    "read": "cat /tmp/a.json"},
        tmp_path_factory.mktemp("python"), modules=f"{MODULES} cpu=1 rtfifo",
        with_modules="rt_speaker", icount=True, busy=True, smp=2)
    assert steps["record"].status == 0, steps["record"].said
    told = json.loads(steps["read"].said)
    for own in (0, 1):
        whens = [when for cpu, when, *_ in told["events"] if cpu == own]
        assert whens == sorted(whens)
    starts = [(cpu, task) for cpu, _, kind, task, _ in told["events"] if kind == "start"]
    assert len(starts) >= 90 and set(starts) == {(1, "latency")}
    assert {cpu for cpu, *_ in told["linux"]} == {0, 1}
    ticks = [(event.task, event.end - event.start)
             for event in tracing.handlers([tracing.Event(*row) for row in told["events"]])]
    assert len(ticks) >= 90 and {task for task, _ in ticks} == {"interrupt 8"}
    assert all(0 < ns < 10_000 for _, ns in ticks)
