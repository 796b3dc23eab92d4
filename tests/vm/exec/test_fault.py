# SPDX-License-Identifier: GPL-2.0-only
"""Faults of RT code end that code, by name in the log, and nothing else.

The faults themselves are in modules/fault_test. What the executive does not contain, a policy
that fails inside of it, shows that the checks can fail."""

from __future__ import annotations

import re

import pytest

from harness.vmrun import Vm

# The name in the module, the exception in the log, the function that caused it.
TASKS = [
    ("null", "#PF", "null_read"),
    ("divide", "#DE", "divide"),
    ("invalid", "#UD", "invalid"),
    ("protection", "#GP", "protection"),
    ("jump", "#PF", "0x0"),
    ("floating", "#NM", "floating"),
    ("x87", "#MF", "x87"),
    ("sse", "#XM", "sse"),
    ("overflow", "#DF", "overflow"),
    ("owner", "#PF", "null_read"),
]
RUN = """
P=/sys/module/fault_test/parameters
for name in {names}; do
    echo $name > $P/run || echo "$name: could not run"
    tail -n +2 /sys/kernel/tactus/tasks | grep "^$name" | cut -f 1,5,6
done
echo timer > $P/run; echo irq > $P/run; tail -n +2 /sys/kernel/tactus/irqs
cat $P/survived $P/irqs $P/inherited
grep '^witness\\|^watch' /sys/kernel/tactus/tasks | cut -f 5,6,7; cat $P/witnessed
awk '$1 == "8:" {{ print "linux", ($2 > 0) }}' /proc/interrupts
rmmod fault_test; tail -n +2 /sys/kernel/tactus/tasks; rmmod tactus; echo unloaded
"""


@pytest.mark.parametrize("series", ["6.1", pytest.param("6.12", marks=pytest.mark.long)])
def test_each_fault_ends_what_caused_it(vm: Vm, series: str) -> None:
    names = " ".join(name for name, _, _ in TASKS)
    done = vm(RUN.format(names=names), modules="tactus fault_test", icount=True, kernel=series)
    lines = done.stdout.splitlines()
    for name, exception, function in TASKS:
        assert lines.pop(0) == f"{name}\tfaulted\t1"
        assert re.search(rf"tactus: CPU 0: task {name} stopped: {exception}, .* at {function}",
                         done.console), name
    assert re.search(r"RT timer function fail_in_timer.* left: #PF, .* at null_read", done.console)
    assert re.search(r"RT handler removed: #PF, .* at null_read", done.console)
    assert "interrupt 8: its RT handler failed and is removed" in done.console
    assert "interrupt 8 given back to its Linux driver" in done.console
    survived, irqs, inherited = map(int, lines[:3])
    assert survived == 0, "code behind a fault ran"
    assert irqs == 3, "interrupts that the handler got: the third was its last"
    assert inherited == -130, "EOWNERDEAD: a mutex of the faulted task was passed on"
    state, releases, overruns = lines[3].split("\t")
    assert state == "waiting" and int(overruns) == 0
    assert int(releases) > 12 * 20, "the witness ran all the time"
    assert 0 <= int(lines[4]) - int(releases) < 50, "its jobs, looked at a little later"
    assert lines[5:] == ["linux 1", "unloaded"]


def test_registers_are_in_the_log(vm: Vm) -> None:
    done = vm("echo divide > /sys/module/fault_test/parameters/run", icount=True,
              modules="tactus fault_test")
    block = done.console.split("task divide stopped", 1)[1].splitlines()[1:8]
    assert re.search(r"ax 0000000000000001 .* dx 0000000000000000", block[2])
    assert re.search(r"sp ff[0-9a-f]{14} ", block[1])


def test_inside_the_executive_it_is_not_contained(vm: Vm) -> None:
    done = vm("echo policy > /sys/module/fault_test/parameters/run", icount=True,
              modules="tactus fault_test", check=False)
    assert done.status == 125


@pytest.mark.parametrize("series", ["6.1", *(pytest.param(s, marks=pytest.mark.slow)
                                             for s in ("6.12", "7"))])
def test_rt_interrupts_have_a_stack_of_their_own(vm: Vm, series: str) -> None:
    """A timer function that needs 8 KiB interrupts a Linux process that has 3 left. One that needs
    more than there is of its own stack ends, and nothing else does."""
    done = vm("""
        P=/sys/module/fault_test/parameters; echo deep > $P/run; cat $P/dug
        echo timer_overflow > $P/run; echo deep > $P/run; cat $P/survived $P/dug
        rmmod fault_test; rmmod tactus; echo unloaded
        """, modules="tactus fault_test", icount=True, kernel=series)
    assert done.stdout.splitlines() == ["1", "0", "2", "unloaded"]
    assert re.search(r"timer function overflow_in_timer.* left: #DF, stack overflow, at overflow",
                     done.console)


def test_a_linux_nmi_handler_fails_for_itself(vm: Vm) -> None:
    """It has interrupted an RT task, which is not to blame: Linux has its oops."""
    done = vm("echo nmi > /sys/module/fault_test/parameters/run", icount=True,
              modules="tactus fault_test", check=False)
    assert done.status == 125
    assert "BUG: kernel NULL pointer dereference" in done.console
    assert "task nmi stopped" not in done.console


def test_the_handler_of_a_level_triggered_line(vm: Vm) -> None:
    """Its line stays asserted, because nobody serves the device: it must not fire for ever."""
    done = vm("""
        P=/sys/module/fault_test/parameters; echo level > $P/run; cat $P/levels $P/survived
        tail -n +2 /sys/kernel/tactus/irqs; sleep 0.1
        tail -n +2 /sys/kernel/tactus/tasks | grep '^watch' | cut -f 5,7
        rmmod fault_test; rmmod tactus; echo unloaded
        """, modules="tactus fault_test", qemu="-device edu", icount=True)
    assert done.stdout.splitlines() == ["1", "0", "waiting\t0", "unloaded"]
    assert "its RT handler failed and is removed" in done.console


def test_the_rt_handler_of_a_fifo(vm: Vm) -> None:
    """It is left and forgotten; the write that called it, the FIFO and Linux go on."""
    done = vm("""
        rt() { printf '%s' "$*" > /proc/fifo_test; }
        rt linux create 0 100; rt linux rthandler 0 3
        printf first > /dev/rtf0 && printf second > /dev/rtf0 && echo written
        rt linux rthandler 0 1; printf third > /dev/rtf0
        exec 3<> /proc/fifo_test; printf 'irq get 0 16' >&3; dd bs=80 count=1 <&3; echo
        exec 3<&-; rmmod fifo_test && rmmod rtfifo && rmmod tactus && echo unloaded
        """, modules="tactus rtfifo fifo_test", icount=True)
    assert done.stdout.splitlines() == ["written", "16 firstsecondthird", "unloaded"]
    assert "rtfifo: FIFO 0: its RT handler rt_handler [fifo_test] failed" in done.console
    assert done.console.count("is forgotten") == 1
    assert re.search(r"RT handler removed: #PF, .* at rt_handler", done.console)
