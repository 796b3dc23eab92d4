"""RT interrupts: documented errors, and a line taken from Linux and given back."""

from __future__ import annotations

import errno
import re

RESULTS = "cat /sys/module/irq_test/parameters/results; "
# Linux's own use of interrupt 8: an alarm that goes off, counted in /proc/interrupts.
ALARM = ("echo 0 > /sys/class/rtc/rtc0/wakealarm; echo +2 > /sys/class/rtc/rtc0/wakealarm; "
         "sleep 3; awk '$1 == \"8:\" { print $2 }' /proc/interrupts; ")


def words(line: str) -> dict[str, int]:
    return {name: int(value) for name, value in (word.split("=") for word in line.split())}


def test_every_misuse_has_its_errno(vm) -> None:
    done = vm(RESULTS + "cat /sys/kernel/tactus/irqs; grep tactus /proc/interrupts; "
              "rmmod irq_test; echo ---; grep -c tactus /proc/interrupts; cat /sys/kernel/tactus/irqs",
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
    """Linux cannot finish a move whose interrupts it does not see; afterwards it may move the line."""
    done = vm("cpu() { echo 2 > /proc/irq/$1/smp_affinity; echo $1=$?; }; cpu 5 2>&1; cpu 8 2>&1; "
              "rmmod irq_test; cpu 8; cpu 8",
              modules="tactus irq_test keep=1", smp=2)
    refused = "sh: write error: Input/output error"
    assert done.stdout.splitlines() == [refused, "5=1", refused, "8=1", "8=0", "8=0"]


def test_linux_gets_its_line_back(vm) -> None:
    """While RT has interrupt 8 Linux's alarm does not reach its driver; afterwards it does."""
    done = vm(ALARM + "modprobe irq_test keep=1; " + ALARM + "rmmod irq_test; " + ALARM,
              modules="tactus", with_modules="irq_test", icount=True)
    first, taken, back = map(int, done.stdout.split())
    assert first >= 1
    assert taken == first
    assert back > taken
