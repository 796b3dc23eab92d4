# SPDX-License-Identifier: GPL-2.0-only
"""What Linux must not notice: its clocks, its text, its wake-ups while the executive is active.

The bench fails each of these runs when the kernel's log holds a warning, an oops or a stall.
"""

from __future__ import annotations

import re

import pytest

from harness import FINAL_CLOCK, programs
from harness.vmrun import Vm
from measure.figures import UART

ACTIVE = "tactus_core tactus"
PREEMPTION = [pytest.param("none", marks=pytest.mark.long),
              pytest.param("voluntary", marks=pytest.mark.slow), "full"]


def numbers(line: str) -> dict[str, float]:
    """The name=value words of a line."""
    return {name: float(value) for name, value in re.findall(r"(\w+)=(-?[\d.]+)", line)}


def line_of(text: str, start: str) -> dict[str, float]:
    """The figures of the one line that begins so."""
    (line,) = [line for line in text.splitlines() if line.startswith(start)]
    return numbers(line)


def check_clocks(text: str, seconds: float, late_us: float) -> None:
    """Clocks go forward, at their rate; sleeps last as long as they should."""
    clocks = line_of(text, "clocks:")
    assert clocks["reads"] > 1000 * seconds
    assert clocks["back"] == 0
    assert abs(clocks["rate_ppm"]) < 100
    assert abs(clocks["drift_us"]) < 100
    assert clocks["early"] == 0
    assert clocks["sleeps"] >= 10 * seconds
    # Two ticks of 4 ms, and what kept the tick away.
    assert clocks["tick_gap_us"] < 9_000 + late_us
    assert clocks["sleep_late_us"] < 1_000 + late_us


def test_time_goes_on(vm: Vm) -> None:
    """Idle but for the clocks' readers and an RT task of 10 kHz."""
    done = vm("./clocks 1; cat /proc/rt_latency/summary", icount=True,
              modules=f"{ACTIVE} rt_latency period_us=100", put=[programs.build("clocks")])
    assert done.status == 0, done.stderr
    check_clocks(done.stdout, 1, 0)
    assert line_of(done.stdout, "period_ns")["releases"] > 10_000


@pytest.mark.slow
def test_time_goes_on_under_load(vm: Vm) -> None:
    """With the load and interrupts-off sections, which delay Linux by their length at most."""
    done = vm("./load --seconds=2.5 --irqoff=process,timer,hrtimer,tasklet & "
              "sleep 0.2; ./clocks 2; wait; cat /proc/rt_latency/summary", icount=True, qemu=UART,
              modules=f"hog {ACTIVE} rt_latency",
              put=[programs.build("clocks"), programs.build("load")])
    assert done.status == 0, done.stderr
    # A process waits for its turn among the load's as well.
    check_clocks(done.stdout, 2, 100_000)
    assert line_of(done.stdout, "load:")["sections"] >= 8
    assert line_of(done.stdout, "period_ns")["skipped"] == 0


def check_wakes(wakes: dict[str, float], posts: int, lag: int = 1) -> None:
    """Every post arrived, in the right context, never inside of a section; of those handled, the
    thread may have `lag` still to see."""
    assert wakes["posts"] >= posts
    # The last one may be on its way while the line is written.
    assert wakes["posts"] - wakes["merged"] - wakes["handled"] in (0, 1)
    assert wakes["woken"] >= wakes["handled"] - lag
    assert wakes["inside_section"] == 0
    assert wakes["wrong_context"] == 0
    assert wakes["late_replays"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("preempt", PREEMPTION)
def test_rt_task_wakes_linux(vm: Vm, preempt: str) -> None:
    """From user mode, from the idle loop, and from inside interrupts-off sections.

    A post that interrupted user mode or the idle loop is handled at once; were it left for the
    next tick of Linux, it would be up to 4 ms late.
    """
    done = vm(
        "cat /sys/kernel/debug/sched/preempt; "
        "echo reset > /proc/wake_test; sleep 0.3; sed 's/^/idle: /' /proc/wake_test; "
        "(while :; do :; done) & spin=$!; echo reset > /proc/wake_test; sleep 0.3; "
        "sed 's/^/user: /' /proc/wake_test; kill $spin; "
        "for i in 1 2 3 4 5 6 7 8 9 10; do echo section > /proc/wake_test; done; "
        "sed 's/^/sections: /' /proc/wake_test",
        icount=True, modules=f"{ACTIVE} wake_test", append=f"preempt={preempt}",
    )
    assert done.status == 0, done.stderr
    assert f"({preempt})" in done.stdout
    for where in ("idle", "user"):
        wakes = line_of(done.stdout, f"{where}:")
        check_wakes(wakes, 250)
        assert wakes["merged"] == 0
        assert 0 < wakes["max_handle_ns"] < 100_000
        assert 0 < wakes["max_wake_ns"] < 200_000
    wakes = line_of(done.stdout, "sections:")
    # A kernel that does not pre-empt itself may be at something else for some posts.
    check_wakes(wakes, 700, lag=5)
    assert wakes["sections"] == 10
    # RT code ran in the sections: 20 of its jobs in each, whose posts became one.
    assert wakes["section_posts"] >= 10 * 19
    assert wakes["merged"] >= 10 * 18


@pytest.mark.slow
def test_rt_task_wakes_linux_under_load(vm: Vm) -> None:
    """The same where preemption is possible everywhere, in the middle of the load."""
    done = vm("./load --seconds=1 --irqoff=process,timer,hrtimer,tasklet && cat /proc/wake_test",
              icount=True, modules=f"hog {ACTIVE} wake_test period_us=200", qemu=UART,
              append="preempt=full", put=[programs.build("load")])
    assert done.status == 0, done.stderr
    check_wakes(line_of(done.stdout, "posts="), 4500, lag=5)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [
    ("6.1", "cloud"), pytest.param(("6.1", "generic"), marks=pytest.mark.long)], ids="-".join)
def test_text_is_the_same_after_unload(vm: Vm, kernel: tuple[str, str]) -> None:
    """Every byte of the kernel's and the modules' code, read through /proc/kcore.

    While the executive is active the text differs, so the comparison would see what is left.
    hog is loaded before, brd in between.
    """
    done = vm(
        FINAL_CLOCK + "./load --seconds=0.3 >/dev/null; ./ktext save /tmp/before || exit 3; "
        "./load --nice=19 --seconds=1.5 --irqoff=process,tasklet & sleep 0.2; "
        "modprobe tactus || exit 4; ./ktext diff /tmp/before 2>/dev/null | sed 's/^/active: /'; "
        "modprobe brd rd_nr=1; sleep 0.3; rmmod tactus || exit 5; "
        "./ktext diff /tmp/before | sed 's/^/after: /'; wait; cat /proc/hog",
        icount=True, modules="hog tactus_core", with_modules="brd", kernel=kernel, qemu=UART,
        put=[programs.build("load"), programs.build("ktext")],
    )
    assert done.status == 0, done.stderr
    active, after = line_of(done.stdout, "active:"), line_of(done.stdout, "after:")
    assert active["different"] > 3000
    assert active["regions"] >= 2
    assert after["regions"] == active["regions"]
    assert after["bytes"] > 8e6
    assert after["different"] == 0, done.stderr
    assert line_of(done.stdout, "load:")["forks"] > 20


@pytest.mark.long
@pytest.mark.parametrize("smp", [1, 2])
def test_load_and_unload_many_times(vm: Vm, smp: int) -> None:
    """Cycles under load, with an RT task in each; nothing is left and nothing breaks."""
    cycles = 12 if smp == 1 else 6
    done = vm(
        f"./load --nice=19 --seconds=600 --irqoff=process,timer,tasklet & load=$!; "
        f"i=0; while [ $i -lt {cycles} ]; do i=$((i + 1)); "
        "modprobe rt_latency period_us=200 || exit 3; usleep 10000; "
        "cat /proc/rt_latency/summary || exit 4; "
        "rmmod rt_latency || exit 5; rmmod tactus || exit 6; done; "
        "echo cycles=$i; kill -0 $load || exit 7; kill $load; "
        "[ ! -e /sys/kernel/tactus ] || exit 8; dmesg | grep -c 'tactus: active'",
        modules="hog tactus_core", icount=True, smp=smp, qemu=UART,
        put=[programs.build("load")], timeout=280,
    )
    assert done.status == 0, done.stdout + done.stderr
    assert f"cycles={cycles}" in done.stdout
    assert done.stdout.splitlines()[-1] == str(cycles)
    summaries = [numbers(x) for x in done.stdout.splitlines() if x.startswith("period_ns")]
    assert len(summaries) == cycles
    assert all(summary["releases"] > 20 for summary in summaries)
    if smp == 1:
        assert max(summary["max_ns"] for summary in summaries) < 2000


@pytest.mark.slow
def test_a_driver_loaded_afterwards_is_caught_too(vm: Vm) -> None:
    """The hostile driver comes when the executive is active already: its code is rewritten."""
    done = vm("insmod /modules/hog.ko && echo 1 > /proc/rt_latency/running && "
              "./load --seconds=1 --irqoff=process,timer,hrtimer,tasklet --min-sections=8 && "
              "echo 0 > /proc/rt_latency/running && cat /proc/rt_latency/summary",
              icount=True, modules=f"{ACTIVE} rt_latency", qemu=UART,
              put=[programs.build("load")])
    assert done.status == 0, done.stderr
    summary = line_of(done.stdout, "period_ns")
    assert summary["skipped"] == 0
    assert summary["releases"] >= 1000
    assert summary["max_ns"] <= 2000
