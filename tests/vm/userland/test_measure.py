# SPDX-License-Identifier: GPL-2.0-only
"""`tactus measure` in a guest, in virtual time: its RT task, and its program in RT mode, beside
Linux's programs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness import guest_python, programs
from harness.guest_python import Step
from measure.lateness import LIMIT_NS
from tactus.commands import measure

pytestmark = pytest.mark.slow
SECONDS = 0.2
PERIOD_NS = 1_000_000
SECTION_NS = 20_000_000  # of the driver hog
NO_DEVICE = "no /dev/rt for us, so there is no program in RT mode beside these"

_JITTER = f"tactus measure jitter --seconds {SECONDS} --json"
# The clock of the guest before and after, for what can have been released at most.
_TIMED = "cut -d ' ' -f 1 /proc/uptime; {}; status=$?; cut -d ' ' -f 1 /proc/uptime; (exit $status)"
_WITH_SECTIONS = ("(while [ ! -e /tmp/stop ]; do echo process > /proc/hog; sleep 0.02; done) & {};"
                  " status=$?; touch /tmp/stop; wait; rm /tmp/stop; (exit $status)")
_AS_NOBODY = ("import os, sys; os.setgroups([]); os.setuid(65534); "
              "os.execvp(sys.argv[1], sys.argv[1:])")
STEPS = {
    "not loaded": "tactus measure jitter --seconds 0.01 --json",
    "load": "modprobe tactus && cat /sys/kernel/tactus/state",
    "idle": _TIMED.format(_JITTER),
    "sections": _WITH_SECTIONS.format(_TIMED.format(_JITTER)),
    "arithmetic": _TIMED.format(f"{_JITTER} --load arithmetic"),
    "the others": "tactus measure gaps suspend audio --seconds 0.02 --readings 1000 --json",
    "left": "grep -c rt_latency /proc/modules",
    "in RT mode": "modprobe tactus_user && " + _WITH_SECTIONS.format(
        "tactus measure --seconds 0.1 --readings 20000 --json"),
    "not for all": f"python3 -c '{_AS_NOBODY}' tactus measure gaps --readings 1000 --json",
    "stopped": "tactus-measure late --by=rt_wait --as=rt --count=1000 & sleep 0.3; "
               "kill -STOP $!; kill -CONT $!; wait $!",
    "watched": "modprobe rt_latency && tactus measure jitter --seconds 0.01 --json",
}


@pytest.fixture(scope="module")
def steps(vm_module, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Step]:
    return guest_python.run_steps(
        vm_module, STEPS, tmp_path_factory.mktemp("python"), icount=True, modules="hog",
        with_modules="tactus_core tactus rt_latency rtfifo tactus_user",
        also={programs.build("measure"): "/usr/bin/tactus-measure"})


def rows(step: Step) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """(the figures by what they are of, the other lines)."""
    lines = step.said.splitlines()
    found = [json.loads(line) for line in lines if line.startswith("{")]
    return ({one["what"]: one for one in found},
            [line for line in lines if not line.startswith("{")])


def rt_row(step: Step, load: str = "none") -> dict[str, Any]:
    """The RT task's, within what the run's own time allows."""
    found, (before, said, after) = rows(step)
    assert said == NO_DEVICE
    (one,) = (row for what, row in found.items() if what.startswith("RT task"))
    assert (one["name"], one["load"], one["missed"]) == ("jitter", load, 0)
    # The first release is two periods after the beginning; /proc/uptime has hundredths.
    run_ns = (float(after) - float(before) + 0.01) * 1e9
    assert SECONDS * 1e9 / PERIOD_NS - 3 <= one["count"] <= run_ns / PERIOD_NS
    assert 0 <= one["min_ns"] <= one["avg_ns"] <= one["max_ns"] < PERIOD_NS
    assert one["min_ns"] <= one["p99_9_ns"] <= one["max_ns"]
    assert 0 <= one["sd_ns"] <= one["max_ns"] - one["min_ns"]
    assert sum(count for *_, count in one["histogram"]) == one["count"]
    low, high, _ = one["histogram"][-1]
    assert low <= one["max_ns"] < high
    assert one["max_ns"] <= LIMIT_NS["task"]
    return one


def test_without_tactus_there_is_no_rt_row(steps: dict[str, Step]) -> None:
    step = steps["not loaded"]
    found, other = rows(step)
    assert step.status == 0 and len(found) == len(measure.RATES_HZ)
    assert not any(what.startswith("RT") for what in found)
    assert other == ["tactus is not loaded, so there is no RT task beside these"]


def test_the_rt_task_beside_linux(steps: dict[str, Step]) -> None:
    assert steps["load"] == Step("active\n", 0)
    step = steps["idle"]
    assert step.status == 0, step.said
    rt_row(step)
    found, _ = rows(step)
    assert len(found) == len(measure.RATES_HZ) + 1
    for hz in measure.RATES_HZ:
        (one,) = (row for what, row in found.items() if what.startswith(f"{hz} Hz"))
        # A gap is never below 0, so it is never further below its period than that.
        assert one["count"] == max(20, round(SECONDS * hz)) and one["min_ns"] > -1e9 / hz


def test_sections_hold_up_linux_and_not_the_rt_task(steps: dict[str, Step]) -> None:
    step = steps["sections"]
    assert step.status == 0, step.said
    rt_row(step)
    found, _ = rows(step)
    # Some beat of a kHz falls into the first half of a section, whose sections take half of all.
    (linux,) = (row for what, row in found.items() if what.startswith("1024 Hz"))
    assert SECTION_NS / 2 < linux["max_ns"]


def test_beside_a_load(steps: dict[str, Step]) -> None:
    step = steps["arithmetic"]
    assert step.status == 0, step.said
    rt_row(step, "arithmetic")


def test_without_its_device_there_is_no_rt_mode(steps: dict[str, Step]) -> None:
    step = steps["the others"]
    found, other = rows(step)
    assert step.status == 0 and other == [NO_DEVICE]
    assert {one["name"] for one in found.values()} == {"gaps", "suspend", "audio"}
    assert not any(what.startswith("RT") for what in found)


def test_in_rt_mode_sections_hold_up_nobody(steps: dict[str, Step]) -> None:
    """Each of the four, beside 20 ms without interrupts, which Linux's programs show."""
    step = steps["in RT mode"]
    assert step.status == 0, step.said
    found, other = rows(step)
    assert not other
    in_rt = {what: one for what, one in found.items() if what.endswith("RT mode") or
             "RT mode," in what}
    assert sorted(one["name"] for one in in_rt.values()) == sorted(
        ["gaps", "suspend", *["jitter"] * len(measure.RATES_HZ), "audio"])
    assert all(one["missed"] == 0 for one in in_rt.values())
    for what, one in in_rt.items():
        # Between readings there is at most a release of the kernel's; a beat moves by its lateness.
        assert max(-one["min_ns"], one["max_ns"]) < LIMIT_NS["task"], what
    assert found["RT mode"]["count"] == 20000
    linux = max(one["max_ns"] for what, one in found.items()
                if what not in in_rt and one["name"] == "jitter")
    assert linux > SECTION_NS / 2


def test_who_may_not_has_none_in_rt_mode(steps: dict[str, Step]) -> None:
    found, other = rows(steps["not for all"])
    assert list(found) == ["user"], steps["not for all"].said
    assert other == ["not root: ordinary priority alone, and no /dev/rtc0", NO_DEVICE]


def test_who_was_demoted_has_no_figure(steps: dict[str, Step]) -> None:
    assert steps["stopped"] == Step(
        "tactus-measure: RT mode: rt_wait: Interrupted system call\n", 1)


def test_it_leaves_nothing_and_disturbs_nobody(steps: dict[str, Step]) -> None:
    assert steps["left"] == Step("0\n", 1)
    step = steps["watched"]
    found, other = rows(step)
    assert step.status == 0 and not any(what.startswith("RT") for what in found)
    assert other == ["an RT task beside these: tactus latency"]
