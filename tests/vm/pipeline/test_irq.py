"""RT interrupts: documented errors, and a line taken from Linux and given back."""

from __future__ import annotations

import errno
import re

import pytest

RESULTS = "cat /sys/module/irq_test/parameters/results; "
# Linux's own use of interrupt 8: an alarm that goes off, counted in /proc/interrupts.
ALARM = ("echo 0 > /sys/class/rtc/rtc0/wakealarm; echo +2 > /sys/class/rtc/rtc0/wakealarm; "
         "sleep 3; awk '$1 == \"8:\" { print $2 }' /proc/interrupts; ")

# Where a level-triggered line of PCI goes through.
MACHINES = {
    "pc": "",
    "intel": "-machine q35 -device intel-iommu,intremap=on",
    "amd": "-machine q35 -device amd-iommu,intremap=on",
}


def words(line: str) -> dict[str, int]:
    return {name: int(value) for name, value in (word.split("=") for word in line.split())}


def test_every_misuse_has_its_errno(vm) -> None:
    done = vm(RESULTS + "cat /sys/kernel/tactus/irqs; grep tactus /proc/interrupts; "
              "rmmod irq_test; echo ---; grep -c tactus /proc/interrupts; cat "
              "/sys/kernel/tactus/irqs",
              modules="tactus irq_test", icount=True)
    results, *rest = done.stdout.splitlines()
    assert words(results) == {
        "null": -errno.EINVAL, "none": -errno.EINVAL, "huge": -errno.EINVAL,
        "linux": -errno.EBUSY, "rt": -errno.EPERM, "rtc": 0, "rtc_twice": -errno.EBUSY,
        "rtc_again": 0, "free": 0,
    }
    before, after = "\n".join(rest).split("\n---\n")
    assert "5\t0\t0" in before and "8\t" not in before
    assert re.search(r"^ *5: .*tactus$", before, re.M)
    assert after.splitlines() == ["0", "irq\tcount\ttaken"]


def test_the_rtc_is_not_taken_if_not_named(vm) -> None:
    done = vm(RESULTS, modules="tactus take_irq=-1 irq_test", icount=True)
    assert words(done.stdout)["rtc"] == -errno.EBUSY


def test_a_line_stays_on_its_cpu(vm) -> None:
    """Linux cannot finish a move whose interrupts it does not see; afterwards it may move the
    line."""
    done = vm("cpu() { echo 2 > /proc/irq/$1/smp_affinity; echo $1=$?; }; cpu 5 2>&1; cpu 8 2>&1; "
              "rmmod irq_test; cpu 8; cpu 8",
              modules="tactus irq_test keep=1", smp=2)
    refused = "sh: write error: Input/output error"
    assert done.stdout.splitlines() == [refused, "5=1", refused, "8=1", "8=0", "8=0"]


@pytest.mark.parametrize(("machine", "kernel"), [
    ("pc", "6.1"), ("intel", "6.1"), pytest.param("amd", "6.1", marks=pytest.mark.long),
    pytest.param("intel", "6.12", marks=pytest.mark.long),
])
def test_a_level_triggered_line(vm, machine: str, kernel: str) -> None:
    """RT's handler runs each time, at once; also behind interrupt remapping, where the local APIC's
    EOI alone does not end a level-triggered interrupt, and while Linux has the I/O APIC's lock."""
    done = vm("for how in locked=0 locked=1 fail=1; do\nmodprobe rt_level $how; "
              "cat /sys/module/rt_level/parameters/results; rmmod rt_level\ndone; "
              "dmesg | grep -c 'RT handler failed'",
              modules="tactus", with_modules="rt_level", qemu=f"{MACHINES[machine]} -device edu",
              flavour="generic" if "amd" in machine else "cloud", kernel=kernel, icount=True)
    chip = "IO-APIC" if machine == "pc" else "IR-IO-APIC"
    result = f"err=0 handled=100 missed=0 chip={chip} level=1"
    assert done.stdout.splitlines() == [result, result, result, "1"]


def test_linux_gets_its_line_back(vm) -> None:
    """While RT has interrupt 8 Linux's alarm does not reach its driver; afterwards it does."""
    done = vm(ALARM + "modprobe irq_test keep=1; " + ALARM + "rmmod irq_test; " + ALARM,
              modules="tactus", with_modules="irq_test", icount=True)
    first, taken, back = map(int, done.stdout.split())
    assert first >= 1
    assert taken == first
    assert back > taken
