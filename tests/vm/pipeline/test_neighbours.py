# SPDX-License-Identifier: GPL-2.0-only
"""Awkward neighbours: what else rewrites the kernel's text, hooks it, or turns interrupts off,
while tactus comes, works, and goes. docs/limits.md says what each costs."""

from __future__ import annotations

import re

import pytest

from harness import TOP, programs
from harness.vmrun import Vm
from pipeline.test_ledger import EDU, balanced, books


def figures(text: str, start: str) -> dict[str, int]:
    """The name=number words of the one line that begins so."""
    (line,) = [line for line in text.splitlines() if line.startswith(start)]
    return {key: int(value) for key, value in re.findall(r"(\w+)=(-?\d+)", line)}


TRACED = ("switchover.c", "patch/slots.c")
TRACE = """
cd /sys/kernel/tracing
grep -wE 'tactus|rtfifo|tactus_core' available_filter_functions
echo ':mod:rt_latency' > set_ftrace_filter
echo 'schedule vfs_*' >> set_ftrace_filter
for tracer in function function_graph; do
    echo $tracer > current_tracer
    usleep 30000
    echo $tracer: $(grep '^entries' per_cpu/cpu0/stats | tr ': ' '= ' | tr -d ' ')
    echo nop > current_tracer
done
cat /proc/rt_latency/summary
"""


def test_tracers_follow_rt_code(vm: Vm) -> None:
    """ftrace, also of the functions that RT tasks run: text is rewritten by breakpoints under
    them, and the graph tracer's stack of return addresses is not theirs. Of Tactus's functions
    only those are traced that rewrite text and switch over."""
    done = vm(TRACE, icount=True, timeout=120,
              modules="tactus rtfifo rt_latency mode=tick period_us=100")
    assert done.status == 0, done.stderr
    traced = re.findall(r"^(\w+)[.\w]* \[tactus.*\]$", done.stdout, re.M)
    assert done.stdout.count("[") == len(traced)
    assert {"pl_text_write", "switch_cpu"} <= set(traced)
    source = "".join((TOP / "kernel/pipeline/x86" / name).read_text() for name in TRACED)
    assert not [name for name in traced if not re.search(rf"^\w.*\b{name}\(", source, re.M)]
    assert figures(done.stdout, "function:")["entries"] > 200
    assert figures(done.stdout, "function_graph:")["entries"] > 20
    summary = figures(done.stdout, "period_ns")
    assert summary["releases"] > 60
    assert summary["skipped"] == 0


@pytest.mark.slow
def test_text_that_cannot_be_decoded(vm: Vm) -> None:
    """A module with such text keeps tactus out, and is kept out by it."""
    done = vm("modprobe tactus && exit 3; ls -d /sys/kernel/tactus && exit 4; rmmod odd; "
              "modprobe tactus || exit 5; modprobe odd && exit 6; grep odd /proc/modules && exit "
              "7; "
              "cat /sys/kernel/tactus/state; dmesg | grep 'cannot decode'",
              modules="odd", with_modules="tactus", icount=True)
    assert done.status == 0, done.stderr
    state, *lines = done.stdout.splitlines()
    assert state == "active"
    assert len(lines) >= 2
    assert all("refused: cannot decode odd_text" in line and "nothing was changed" in line
               for line in lines)


def test_a_slot_at_the_end_of_a_page_is_refused(vm: Vm) -> None:
    """Eight bytes are written for a slot of six, and there are seven left."""
    done = vm("modprobe brink && exit 3; dmesg | grep 'tactus: refused'; rmmod tactus; "
              "modprobe brink && echo loaded", modules="tactus", with_modules="brink", icount=True)
    assert "too close to the end of its text's last page; nothing was changed" in done.stdout
    assert done.stdout.endswith("loaded\n")


RAW_US = 300


@pytest.mark.slow
def test_raw_cli(vm: Vm) -> None:
    """A module that turns interrupts off by the bare instruction loses none, and keeps RT code
    waiting for just as long."""
    done = vm("cd /sys/kernel; echo 1 > ledger/running; modprobe tactus; modprobe rt_latency; "
              f"echo 200 {RAW_US} > neighbour/raw; echo stuck=$(cat neighbour/raw); "
              "cat /proc/rt_latency/summary; rmmod rt_latency tactus; "
              "echo 0 > ledger/running; cat ledger/ledger",
              modules="neighbour ledger", with_modules="tactus rt_latency", icount=True, qemu=EDU)
    assert done.status == 0, done.stderr
    assert figures(done.stdout, "stuck") == {"stuck": 0}
    assert balanced(books(done.stdout)), done.stdout
    assert 0.9e3 * RAW_US < figures(done.stdout, "period_ns")["max_ns"] < 1e3 * (RAW_US + 20)


# Probes before and after; tracers, a live patch, BPF programs on while tactus comes and goes.
CROWD = """
cd /sys/kernel/tracing
echo 1 > /sys/kernel/ledger/running
/root/bpf /tmp/stop > /tmp/bpf & bpf=$!
echo 'p:before _raw_spin_lock_irqsave' >> kprobe_events
echo 'p:before2 _raw_spin_unlock_irqrestore' >> kprobe_events
echo 'r:before3 vfs_read' >> kprobe_events
echo 1 > events/kprobes/enable
echo 'schedule* vfs_* *softirq* handle_*_irq' > set_ftrace_filter
n=0
while [ $n -lt {rounds} ]; do
    n=$((n + 1))
    echo function > current_tracer
    modprobe tactus || exit 3
    echo function_graph > current_tracer
    modprobe rt_latency period_us=2000 || exit 4
    modprobe patch || exit 5
    echo 'p:during handle_edge_irq' >> kprobe_events
    echo 1 > events/kprobes/during/enable
    usleep 50000
    i=0; while [ $(cat /sys/kernel/livepatch/patch/transition) = 1 ] && [ $i -lt 100 ]; do
        usleep 100000; i=$((i + 1)); done
    [ $(cat /proc/cmdline) = patched ] || exit 6
    echo 0 > events/kprobes/during/enable
    sed -n 's/^ *during *\\([0-9]*\\) .*/during=\\1/p' kprobe_profile
    echo '-:during' >> kprobe_events
    echo released: $(cat /proc/rt_latency/summary)
    echo function > current_tracer
    rmmod rt_latency tactus || exit 7
    [ $(cat /proc/cmdline) = patched ] || exit 8
    modprobe tactus || exit 9
    echo 0 > /sys/kernel/livepatch/patch/enabled
    i=0; while [ -e /sys/kernel/livepatch/patch ] && [ $i -lt 100 ]; do
        usleep 100000; i=$((i + 1)); done
    rmmod patch || exit 10
    grep -q patched /proc/cmdline && exit 11
    rmmod tactus || exit 12
    echo nop > current_tracer
done
echo > /tmp/stop
wait $bpf
cat /tmp/bpf
sed -n 's/^ *before \\([0-9 ]*\\).*/before=\\1/p' kprobe_profile | tr -d ' ' | head -1
echo 0 > events/kprobes/enable
echo 0 > /sys/kernel/ledger/running
cat /sys/kernel/ledger/ledger
"""


@pytest.mark.long
@pytest.mark.parametrize("kernel", [("6.1", "cloud"), ("6.12", "cloud")], ids="-".join)
def test_crowd(vm: Vm, kernel: tuple[str, str]) -> None:
    """All at once, two CPUs, tactus switched on and off four times; no interrupt is lost."""
    rounds = 2
    done = vm(CROWD.format(rounds=rounds), modules="ledger", kernel=kernel, smp=2, qemu=EDU,
              with_modules="tactus rt_latency patch", put=[programs.build("bpf")], timeout=300)
    assert done.status == 0, done.stdout + done.stderr
    assert balanced(books(done.stdout)), done.stdout
    bpf = figures(done.stdout, "bpf:")
    assert bpf["bytes"] > 50
    assert bpf["rounds"] > 10
    assert bpf["counted"] > 100
    assert done.stdout.count("during=") == rounds
    assert figures(done.stdout, "before=")["before"] > 1000
    released = re.findall(r"^released: .*releases=(\d+)", done.stdout, re.M)
    assert len(released) == rounds
    assert all(int(count) > 5 for count in released)
