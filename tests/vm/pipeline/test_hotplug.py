# SPDX-License-Identifier: GPL-2.0-only
"""CPUs that go offline and come back while the pipeline is on, on two and on four."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import pytest

from harness import mutant
from harness.vmrun import Vm, skip_without_chroot
from pipeline.test_ledger import EDU, balanced, books

# Interrupts of both kinds go to CPU 1, and are raised when it is about to give them away.
DYING = """
cd /sys/kernel/ledger
echo native_cpu_disable > probe
echo 1 > running
n=0
while [ $n -lt {cycles} ]; do
    n=$((n + 1))
    for irq in $(sed -n 's/^ *\\([0-9]*\\):.*\\(level\\|edge\\)$/\\1/p' /proc/interrupts); do
        echo 2 > /proc/irq/$irq/smp_affinity || exit 3
    done
    usleep 20000
    echo 0 > /sys/devices/system/cpu/cpu1/online || exit 4
    usleep 20000
    cat /sys/kernel/tactus/cpus
    echo 1 > /sys/devices/system/cpu/cpu1/online || exit 5
    cat /sys/kernel/tactus/cpus
done
echo 0 > running
cat ledger
"""


def run_dying(vm: Vm, cycles: int, modules: str = "tactus", **options):
    """With an RT interrupt, so that level-triggered lines are masked while Linux is stalled."""
    return vm(DYING.format(cycles=cycles), smp=2,
              modules=f"{modules} rt_speaker mode=slope clock=rtc "
                      "ledger together=1 patience_ms=100",
              qemu=EDU, timeout=300, **options)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [
    ("6.1", "cloud"), pytest.param(("6.12", "cloud"), marks=pytest.mark.long),
    pytest.param(("7", "cloud"), marks=pytest.mark.long),
], ids="-".join)
def test_a_dying_cpu_loses_nothing(vm: Vm, kernel: tuple[str, str]) -> None:
    """Interrupts that arrive on a CPU just before Linux moves them elsewhere are all handled."""
    skip_without_chroot(kernel)
    cycles = 4
    done = run_dying(vm, cycles, kernel=kernel)
    assert done.status == 0, done.stdout + done.stderr
    assert done.stdout.split("\n")[:2 * cycles] == ["0", "0-1"] * cycles
    ledger = books(done.stdout)
    assert balanced(ledger), done.stdout
    # A raise that was under way already is one fewer at the probe.
    assert min(line["at_probe"] for line in ledger.values()) >= cycles / 2, done.stdout


@pytest.mark.long
def test_without_the_hand_over_they_are_lost(vm: Vm, tmp_path: Path) -> None:
    """The control: what was logged stays in the log of the dying CPU, and Linux, which looks into
    the APIC for it, is not shown the log either. (One of the two would be enough for these.)"""
    modules = mutant.build(tmp_path / "mutant", "no_cpu_dies")
    done = run_dying(vm, 4, modules, check=False)
    assert "No irq handler for vector" in done.console or not balanced(books(done.stdout))


TASKS = """
cpu1=/sys/devices/system/cpu/cpu1/online
(while true; do ls / | cat > /dev/null; done) & load=$!
modprobe rt_latency cpu=1 || exit 3
echo 0 2> /dev/null > $cpu1 && exit 4
rmmod rt_latency
n=0
while [ $n -lt {cycles} ]; do
    n=$((n + 1))
    for cpu in {cpus}; do echo 0 > /sys/devices/system/cpu/cpu$cpu/online || exit 5; done
    modprobe rt_latency cpu=1 2> /dev/null && exit 6
    taskset 1 modprobe hog || exit 7
    for cpu in {cpus}; do echo 1 > /sys/devices/system/cpu/cpu$cpu/online || exit 8; done
    modprobe rt_latency cpu=1 || exit 9
    usleep 100000
    sed -n 's/.*releases=\\([0-9]*\\).*/\\1/p' /proc/rt_latency/summary
    rmmod rt_latency && taskset 2 rmmod hog || exit 10
done
kill $load
rmmod tactus_rm; rmmod tactus
echo 0 > $cpu1 && echo 1 > $cpu1 && dmesg | grep 'CPU 1 stays online'
"""


@pytest.mark.slow
@pytest.mark.parametrize("cpus, policy", [
    (2, ""), pytest.param(4, "tactus_rm", marks=pytest.mark.long)], ids=["two", "four"])
def test_cpus_go_and_come_under_load(vm: Vm, cpus: int, policy: str) -> None:
    """RT tasks keep their CPU online; without them it goes, comes back, and has RT tasks again,
    under the policy of the others; so does a pipeline switched off meanwhile leave it to Linux."""
    cycles = 3
    others = " ".join(map(str, range(1, cpus)))
    done = vm(TASKS.format(cycles=cycles, cpus=others), modules=f"tactus {policy}".strip(),
              with_modules="rt_latency hog", smp=cpus, timeout=300)
    assert done.status == 0, f"{done.status}: {done.stdout}{done.stderr}"
    *releases, last = done.stdout.strip().split("\n")
    assert len(releases) == cycles
    assert min(map(int, releases)) > 10
    assert "CPU 1 stays online: it has RT tasks or timers" in last


@pytest.mark.slow
@pytest.mark.parametrize("order", ["on_while_off", "off_while_off"])
def test_the_switch_while_a_cpu_is_offline(vm: Vm, order: str) -> None:
    """A CPU that was offline when the pipeline went on, or off, comes back right."""
    cpu1 = "/sys/devices/system/cpu/cpu1/online"
    load, unload = "modprobe tactus || exit 3", "rmmod tactus || exit 4"
    steps = {
        "on_while_off": [f"echo 0 > {cpu1}", load, f"echo 1 > {cpu1}",
                         "cat /sys/kernel/tactus/cpus", "modprobe rt_latency cpu=1",
                         "rmmod rt_latency", unload],
        "off_while_off": [load, f"echo 0 > {cpu1}", unload, f"echo 1 > {cpu1}", load,
                          "cat /sys/kernel/tactus/cpus", unload],
    }[order]
    done = vm("\n".join([*steps, "taskset 2 sleep 1; taskset 2 ls / > /dev/null"]),
              with_modules="tactus rt_latency", smp=2)
    assert done.status == 0, done.stderr
    assert done.stdout == "0-1\n"


@pytest.mark.slow
def test_a_cpu_that_comes_during_the_switch_off(vm: Vm, tmp_path: Path) -> None:
    """Its timer is Linux's again, on Linux's vector. The time in which it can come is stretched."""
    done = vm("echo 0 > /sys/devices/system/cpu/cpu1/online; rmmod tactus & sleep 1; "
              "echo 1 > /sys/devices/system/cpu/cpu1/online; wait; "
              "timeout 20 taskset 2 usleep 100000 && echo slept",
              modules=mutant.build(tmp_path, "slow_off"), smp=2)
    assert done.stdout == "slept\n"


def test_the_watchdog_keeps_no_cpu(vm: Vm) -> None:
    """Its timer stays for a while after the last task; the CPU may go all the same."""
    done = vm("echo remote > /proc/task_test; "
              "echo 0 > /sys/devices/system/cpu/cpu1/online && echo went",
              modules="tactus_core tactus watchdog_ms=10000 task_test", smp=2)
    assert done.stdout == "went\n"


@pytest.mark.parametrize("mode", ["pipeline", "hosted"])
def test_no_timer_on_a_cpu_that_leaves(vm: Vm, mode: str) -> None:
    """Linux still runs there when the CPU's timer queue is gone."""
    done = vm(f"""
        modprobe leaving; modprobe tactus mode={mode}
        echo 0 > /sys/devices/system/cpu/cpu1/online || exit 3
        cat /sys/module/leaving/parameters/result
        echo 1 > /sys/devices/system/cpu/cpu1/online || exit 4
        rmmod tactus leaving && echo unloaded
        """, modules="tactus_core", with_modules="tactus leaving", smp=2)
    assert done.stdout.split() == ["-19", "unloaded"], "ENODEV"


ADDED = """
cd /sys/devices/system/cpu
cat present
echo waits for a CPU > /dev/kmsg
while ! [ -e cpu1 ]; do sleep 0.1; done
cat present
echo 1 > cpu1/online || exit 4
cat /sys/kernel/tactus/cpus
modprobe rt_latency cpu=1 || exit 5
sleep 0.5
echo 0 > cpu1/online 2>/dev/null && exit 6
tr ' ' '\\n' < /proc/rt_latency/summary | grep releases
rmmod rt_latency
echo 0 > cpu1/online || exit 7
cat /sys/kernel/tactus/cpus
rmmod tactus_rm tactus
"""


def add_a_cpu(log: Path, monitor: Path) -> None:
    """Once the guest says that it waits."""
    end = time.monotonic() + 300
    while not (log.is_file() and "waits for a CPU" in log.read_text(errors="replace")):
        if time.monotonic() > end:
            return
        time.sleep(0.1)
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(monitor))
        line.sendall(b"device_add max-x86_64-cpu,socket-id=1,core-id=0,thread-id=0,id=new\n")
        line.settimeout(300)
        while line.recv(4096):      # until the guest ends: QEMU takes a line as it comes
            pass


@pytest.mark.slow
def test_a_cpu_that_is_added_has_rt_tasks(vm: Vm, tmp_path: Path) -> None:
    """A CPU that the machine did not have when tactus was loaded; for function, not in time."""
    monitor = tmp_path / "monitor"
    adder = threading.Thread(target=add_a_cpu, daemon=True,
                             args=(tmp_path / "run0.console", monitor))
    adder.start()
    done = vm(ADDED, modules="tactus tactus_rm", with_modules="rt_latency",
              qemu=f"-smp 1,maxcpus=2,sockets=2,cores=1,threads=1 "
                   f"-monitor unix:{monitor},server=on,wait=off")
    adder.join(10)
    assert done.status == 0, done.stdout + done.stderr
    words = done.stdout.split()
    assert words[:3] == ["0", "0-1", "0-1"] and words[-1] == "0", done.stdout
    counts = {name: int(value) for name, value in
              (word.split("=") for word in words if "=" in word)}
    assert counts["releases"] > 100, counts
