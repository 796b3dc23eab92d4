# SPDX-License-Identifier: GPL-2.0-only
"""How a machine ends while tactus is loaded and an RT task runs: it must end as Linux alone does.

And where it must not: suspend is refused.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from harness import programs
from harness.vmrun import VM, Result, Vm

RT = "tactus rt_latency period_us=100"
INERT = "tactus: inert: Linux has its interrupts back"


def end(vm: Vm, command: str, smp: int = 2, **options: object) -> Result:
    """A run whose command is the machine's last."""
    done = vm(f"[ $(cat /proc/rt_latency/running) = 1 ] || exit 3; {command}; sleep 20; exit 4",
              modules=RT, smp=smp, check=False, timeout=180, **options)
    assert done.status not in (3, 4, 123, 124), done.stderr
    assert "tactus: active" in done.console
    return done


@pytest.mark.slow
@pytest.mark.parametrize("command, last", [
    ("reboot -f", "reboot: machine restart"), ("poweroff -f", "reboot: Power down"),
], ids=["reboot", "poweroff"])
def test_orderly(vm: Vm, command: str, last: str) -> None:
    """RT code ends first, then Linux goes down as ever."""
    done = end(vm, command)
    assert "reset or powered off" in done.stderr
    assert INERT in done.console
    assert done.console.index(INERT) < done.console.index(last)


@pytest.mark.parametrize("smp", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_panic(vm: Vm, smp: int) -> None:
    """All of a panic's text arrives, and the machine resets when it was told to (panic=-1)."""
    done = end(vm, "echo c > /proc/sysrq-trigger", smp)
    assert done.status == 125
    assert "Kernel panic - not syncing: sysrq triggered crash" in done.console
    assert re.search(r"Call Trace:.*sysrq_handle_crash", done.console, re.S)
    # Printed behind all else; QEMU then ends by itself, or the run would be a time-out.
    assert "Rebooting immediately" in done.console or "Kernel Offset" in done.console


@pytest.mark.slow
def test_sysrq(vm: Vm) -> None:
    """The key's other functions, by /proc: lists of tasks, CPUs, memory; then a reset at once,
    which waits for nothing: the console gets a moment to print what came before."""
    done = end(vm, "for key in h m t w l q; do echo $key > /proc/sysrq-trigger; done; sleep 2; "
               "echo b > /proc/sysrq-trigger", allow=["NMI backtrace"])
    assert "reset or powered off" in done.stderr
    for text in ("sysrq: HELP", "Mem-Info:", "task:", "NMI backtrace for cpu", "sysrq: Resetting"):
        assert text in done.console


def image() -> str:
    """The kernel image to start by kexec: the one that runs."""
    out = subprocess.run([VM, "fetch", "--json"], stdout=subprocess.PIPE, check=True).stdout
    return str(json.loads(out)["image"])


@pytest.mark.long
@pytest.mark.parametrize("crash", [False, True], ids=["kexec", "crash"])
def test_another_kernel(vm: Vm, crash: bool) -> None:
    """Another kernel started from this one has its interrupts, whether this one left in order or by
    a panic, RT code running."""
    arguments = "console=ttyS0,115200 panic=-1 maxcpus=1 second_kernel=1"
    command = f"./kexec vmlinuz '{arguments}'"
    if crash:
        command += " crash && echo c > /proc/sysrq-trigger"
    done = end(vm, command, append="crashkernel=160M",
               put={programs.build("kexec"): "/root/kexec", Path(image()): "/root/vmlinuz"})
    first, second = re.split(r"(?=\[ +0\.000000\] Linux version)", done.console)[1:]
    assert (INERT in first) == (not crash)
    assert ("sysrq triggered crash" in first) == crash
    assert "second_kernel=1" in second
    # Its timers tick, and it comes as far as it can without a disk.
    assert "Switched to clocksource" in second
    assert "Unable to mount root fs" in second


# Functions of the kernel on its way to an end, in which a cli is the CPU's own.
LAST = {"stop_this_cpu", "machine_kexec", "native_machine_crash_shutdown"}


@pytest.mark.parametrize(("kernel", "panic"), [
    ("6.1", "panic"), pytest.param("7", "vpanic", marks=pytest.mark.slow)])
def test_suspend_is_refused_and_the_last_cli_is_hard(vm: Vm, kernel: str, panic: str) -> None:
    """A machine that sleeps would lose the APIC's timer. And no RT code behind the point of no
    return: there the kernel's cli stays native."""
    done = vm("for state in $(cat /sys/power/state); do echo $state > /sys/power/state; "
              "echo $state=$?; done 2> /dev/null; dmesg | grep -c 'tactus: the machine cannot "
              "sleep'; "
              "cat /sys/kernel/tactus/state",
              modules=RT, icount=True, kernel=kernel,
              get=["/sys/kernel/tactus/slots_list", "/proc/kallsyms"])
    *states, refusals, state = done.stdout.split()
    assert len(states) >= 1
    assert all(re.fullmatch(r"\w+=[1-9]\d*", word) for word in states), states
    assert int(refusals) == len(states)
    assert state == "active"

    last = LAST | {panic}
    functions = {}
    for line in done.get("kallsyms").decode().splitlines():
        address, kind, name, *module = line.split()
        if kind in "tT" and name in last and not module:
            functions[name] = int(address, 16)
    kinds: dict[str, list[str]] = {}
    for line in done.get("slots_list").decode().splitlines():
        address, kind = line.split()
        near = [(int(address, 16) - start, name) for name, start in functions.items()
                if 0 <= int(address, 16) - start < 0x300]
        if near and kind.startswith("cli"):
            kinds.setdefault(min(near)[1], []).append(kind)
    assert set(kinds) == last
    assert all(found[0] == "cli_hard" for found in kinds.values()), kinds
