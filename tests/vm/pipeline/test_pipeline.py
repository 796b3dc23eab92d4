"""The pipeline itself: lines, stages, switching on and off, refusals. Each test is a real boot."""

from __future__ import annotations

import re

import pytest

from harness import mutant
from harness.vmrun import skip_without_chroot

LOAD_ALL = "tactus tactus_rm rtfifo"
RTC_HZ = 8192


def fields(line: str) -> dict[str, int]:
    return {name: int(value) for name, value in (word.split("=") for word in line.split())}


def per_cpu(table: str) -> list[dict[str, int]]:
    header, *rows = (line.split("\t") for line in table.strip().splitlines())
    return [dict(zip(header, map(int, row))) for row in rows]


@pytest.mark.parametrize("rt", [True, False], ids=["beside_rt_irq", "alone"])
def test_stalled_level_line(vm, rt: bool) -> None:
    """Each level-triggered interrupt raised in an interrupts-off section is handled once, and
    while it waits RT's IRQ 8 keeps coming: the line must not hold the APIC's priority."""
    rounds, off_us = 10, 20000
    done = vm(
        f"echo {rounds} {off_us if rt else 500} > /sys/kernel/level/raise\n"
        "cat /sys/kernel/level/raise /sys/kernel/tactus/pipeline",
        modules=f"tactus level rt={rt:d}", icount=True, busy=True, qemu="-device edu")
    ledger, _, table = done.stdout.partition("\n")
    level = fields(ledger)
    cpu = per_cpu(table)[0]
    assert level["raised"] == level["handled"] == rounds
    assert level["late"] == 0
    if rt:
        assert cpu["lines_masked"] == rounds
        assert level["rt_during"] >= 0.99 * RTC_HZ * level["off_us"] / 1e6
    else:
        assert cpu["eoi_held"] == rounds


@pytest.mark.long
def test_a_vector_in_one_class_with_devices(vm, tmp_path) -> None:
    """Then the EOI of a level-triggered line that waits is never held: RT's timer would wait,
    too."""
    rounds = 10
    done = vm(f"modprobe level; echo {rounds} 500 > /sys/kernel/level/raise; "
              "cat /sys/kernel/level/raise /sys/kernel/tactus/pipeline; dmesg | grep \"RT's "
              "vector\"",
              modules=mutant.build(tmp_path, "class_e"), with_modules="level", icount=True,
              busy=True, qemu="-device edu")
    ledger, _, rest = done.stdout.partition("\n")
    table, _, said = rest.strip().rpartition("\n")
    assert fields(ledger)["handled"] == rounds
    assert re.search(r"RT's vector is 0xe[d-f]$", said)
    assert per_cpu(table)[0]["lines_masked"] == rounds
    assert per_cpu(table)[0]["eoi_held"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("kernel, append", [
    (("6.1", "cloud"), ""), pytest.param(("6.1", "generic"), "", marks=pytest.mark.long),
    pytest.param(("6.12", "cloud"), "preempt=full", marks=pytest.mark.long),
    pytest.param(("7", "cloud"), "", marks=pytest.mark.long),
], ids=["6.1-cloud", "6.1-generic", "6.12-cloud-preempt", "7-cloud"])
def test_load_and_unload_on_two_cpus(vm, kernel: tuple[str, str], append: str) -> None:
    """Switching on and off under load, all modules, two CPUs; the bench fails on any warning.
    Kernels that pre-empt themselves switch tasks inside our slots, too: more cycles there."""
    skip_without_chroot(kernel)
    cycles = 2 if kernel[0] == "6.1" else 6
    done = vm(
        "(while true; do ls / | cat > /dev/null; done) & load=$!\n"
        f"n=0; while [ $n -lt {cycles} ]; do\n"
        "modprobe rtfifo && modprobe tactus_rm || exit 1\n"
        "cat /sys/kernel/tactus/state\n"
        "rmmod rtfifo tactus_rm tactus || exit 1\n"
        "n=$((n+1)); done; kill $load; dmesg | grep -c 'tactus: inert'",
        with_modules=LOAD_ALL, kernel=kernel, smp=2, append=append)
    assert done.status == 0, done.stderr
    assert done.stdout.split() == ["active"] * cycles + [str(cycles)]


@pytest.mark.slow
def test_preemptible_kernel(vm) -> None:
    """The same on a kernel that pre-empts itself: the stacks are searched for slots in use."""
    done = vm(
        "(while true; do ls / | cat > /dev/null; done) & load=$!\n"
        "n=0; while [ $n -lt 2 ]; do modprobe rtfifo && rmmod rtfifo tactus || exit 1\n"
        "n=$((n+1)); done; kill $load; echo done",
        with_modules="tactus rtfifo", append="preempt=full", icount=True)
    assert done.stdout == "done\n", done.stderr


def test_core_stays_and_tactus_goes(vm) -> None:
    """Only the resident part is pinned, and tactus is pinned by who uses it."""
    done = vm(
        "rmmod tactus 2> /dev/null && echo 'tactus went'\n"
        "rmmod rtfifo tactus || exit 1\n"
        "rmmod tactus_core 2> /dev/null && echo 'core went'\n"
        "modprobe tactus && cat /sys/kernel/tactus/state",
        modules="tactus rtfifo", with_modules="tactus", icount=True)
    assert done.stdout == "active\n", done.stderr


NAPS = 60
SLEEPS = ("t0=$(cut -d' ' -f1 /proc/uptime); "
          f"i=0; while [ $i -lt {NAPS} ]; do usleep 1000; i=$((i+1)); done; "
          "echo $t0 $(cut -d' ' -f1 /proc/uptime)")


@pytest.mark.parametrize("order", [
    pytest.param("tactus {}", id="driver_later"),
    pytest.param("{} tactus", id="driver_first", marks=pytest.mark.slow),
])
def test_no_wakeup_is_lost_in_idle(vm, order: str) -> None:
    """A (fake) idle driver that falls asleep 2 ms after its last look, while every timer expires
    after 1 ms: wrapped, each nap ends with the window."""
    done = vm(SLEEPS + "; cat /sys/kernel/tactus/idle /sys/module/fake_idle/parameters/entered",
              modules=order.format("fake_idle window_us=2000"), icount=True)
    start, end, driver, entered = done.stdout.split()
    assert driver == "intel_idle"
    assert int(entered) >= NAPS
    assert float(end) - float(start) < NAPS * 0.004


def test_a_replayed_interrupt_shows_true_registers(vm) -> None:
    """Unwinders start from them."""
    done = vm("cat /sys/module/soft_sti/parameters/sp_off", modules="tactus soft_sti", icount=True)
    assert done.stdout == "0\n"


def test_idle_states_may_change(vm) -> None:
    """The driver fills in its table anew, with a state more, as ACPI does when the power supply
    changes: still no nap is missed, and after unloading the new state is entered like the old."""
    done = vm(f"""
        cd /sys/module/fake_idle/parameters; echo 1 > more; {SLEEPS}
        deeper=$(cat deeper); rmmod tactus; {SLEEPS}; echo $deeper $(cat deeper)
        """, modules="tactus fake_idle window_us=2000", icount=True)
    words = done.stdout.split()
    for start, end in (words[:2], words[2:4]):
        assert float(end) - float(start) < NAPS * 0.004
    assert NAPS / 2 < int(words[4]) < int(words[5]) - NAPS / 2, "the second state was not entered"


@pytest.mark.slow
def test_a_reopening_idle_driver_loses_wakeups(vm) -> None:
    """The control, and the reason for refusing drivers that are not known: one that enables and
    disables interrupts before it falls asleep makes naps last for ever."""
    done = vm(SLEEPS, modules="tactus fake_idle name=unknown window_us=2000 reopen=1", icount=True,
              timeout=25, check=False)
    assert "unknown, which came later, is not known to wake at every interrupt" in done.console
    if done.status == 0:
        start, end = map(float, done.stdout.split())
        assert end - start > NAPS * 0.02
    else:
        assert done.status == 124


def test_unknown_idle_driver_is_refused(vm) -> None:
    done = vm("modprobe tactus; dmesg | grep 'tactus: '", modules="fake_idle name=unknown",
              with_modules="tactus")
    assert "refused: the idle driver unknown is not known to wake" in done.stdout


@pytest.mark.slow
def test_periodic_tick_is_refused(vm) -> None:
    """Linux's own tick has to be one-shot; tactus waits some seconds for it after boot."""
    done = vm("modprobe tactus 2>&1; dmesg | grep 'tactus: '; ls -d /sys/kernel/tactus",
              with_modules="tactus", append="highres=off nohz=off")
    assert "Operation not supported" in done.stdout
    assert "refused: CPU 0's tick is not the local APIC's one-shot timer" in done.stdout
    assert done.status != 0


@pytest.mark.parametrize("parameters, errno, sentence", [
    ("mode=magic", "Invalid argument", "refused: mode=magic is unknown"),
    ("timer=sundial", "Invalid argument", "refused: timer=sundial is unknown"),
])
def test_unknown_parameters(vm, parameters: str, errno: str, sentence: str) -> None:
    done = vm(f"modprobe tactus {parameters} 2>&1; dmesg | grep 'tactus: '; ls -d "
              f"/sys/kernel/tactus",
              with_modules="tactus")
    assert errno in done.stdout
    assert sentence in done.stdout
    assert done.status != 0

PROBE = """
slot=$(awk '/ _raw_spin_lock_irq$/ { print $1 }' /proc/kallsyms)
T=/sys/kernel/tracing
modprobe tactus || exit 3
# The first slot of that function: the address behind the symbol's in the sorted list.
at=$( (echo $slot symbol; awk '$2 == "cli"' /sys/kernel/tactus/slots_list) | sort |
    grep -A1 symbol | sed -n '2s/ .*//p')
rmmod tactus
echo "p:probe 0x$at" > $T/kprobe_events && echo 1 > $T/events/kprobes/enable || exit 4
modprobe tactus 2> /dev/null && exit 5
echo 0 > $T/events/kprobes/enable; echo > $T/kprobe_events
modprobe tactus || exit 6
echo "p:probe 0x$at" > $T/kprobe_events 2> /dev/null && exit 7
# Beside it one can be set, and it works.
echo "p:probe _raw_spin_lock_irq" > $T/kprobe_events && echo 1 > $T/events/kprobes/enable || exit 8
ls -R /proc/self > /dev/null; awk '{ print "hits", $2 }' $T/kprobe_profile
echo 0 > $T/events/kprobes/enable; echo > $T/kprobe_events
rmmod tactus || exit 9
echo "p:probe 0x$at" > $T/kprobe_events || exit 10
dmesg | grep 'tactus: '
"""


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [
    ("6.1", "cloud"), pytest.param(("6.12", "cloud"), marks=pytest.mark.long)], ids="-".join)
def test_kprobe_on_a_slot(vm, kernel: tuple[str, str]) -> None:
    """One that is there first: the pipeline is refused. Once it is on, a probe on a slot is refused
    by the kernel, one elsewhere works; after it, all is as before."""
    done = vm(PROBE, with_modules="tactus", kernel=kernel)
    assert done.status == 0, f"{done.status}: {done.stdout}{done.stderr}"
    assert "refused: there is a kprobe at _raw_spin_lock_irq" in done.stdout
    assert int(re.findall(r"hits (\d+)", done.stdout)[0]) > 0


PAUSE_LIMIT_NS = 100_000


@pytest.mark.slow
@pytest.mark.parametrize("kernel, append", [
    (("6.1", "cloud"), ""),
    pytest.param(("6.12", "generic"), "preempt=full", marks=pytest.mark.long),
    pytest.param(("7", "cloud"), "", marks=pytest.mark.long),
], ids=["6.1-cloud", "6.12-generic-preempt", "7-cloud"])
def test_the_switch_over_is_short(vm, kernel: tuple[str, str], append: str) -> None:
    """How long Linux stands still, in virtual time, with processes to be looked at."""
    skip_without_chroot(kernel)
    done = vm(
        "i=0; while [ $i -lt 20 ]; do sleep 100 & i=$((i+1)); done\n"
        "for i in 1 2 3; do modprobe tactus || exit 3; cat /sys/kernel/tactus/pause_ns\n"
        "rmmod tactus || exit 4; done; kill $(jobs -p)",
        with_modules="tactus", kernel=kernel, append=append, icount=True)
    assert done.status == 0, done.stderr
    pauses = list(map(int, done.stdout.split()))
    assert len(pauses) == 3
    assert 1000 < min(pauses)
    assert max(pauses) <= PAUSE_LIMIT_NS, pauses
