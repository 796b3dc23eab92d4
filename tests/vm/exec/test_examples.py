# SPDX-License-Identifier: GPL-2.0-only
"""The small examples do what their READMEs say, and refuse what they should."""

from __future__ import annotations

from harness import TOP
from harness.vmrun import Vm

EXAMPLES = TOP / "examples"


def test_hello(vm: Vm) -> None:
    """It says hello twice a second through its FIFO, and leaves nothing behind."""
    done = vm("insmod /modules/rt_hello.ko; head -n 3 /dev/rtf0; rmmod rt_hello && lsmod; "
              "wc -l < /sys/kernel/tactus/tasks",
              modules="tactus_core tactus rtfifo", icount=True)
    assert done.status == 0, done.stderr
    assert done.stdout.startswith("hello, world\n" * 3)
    assert "rt_hello" not in done.stdout
    assert done.stdout.endswith("\n1\n")


def test_latency(vm: Vm) -> None:
    """The script prints one line a second; a restart counts from zero."""
    done = vm("sh latency 2; echo 1 > /proc/rt_latency/running; cat /proc/rt_latency/running; "
              "sed 's/^/again: /' /proc/rt_latency/summary; rmmod rt_latency; sh latency 1; "
              "echo status=$?", modules="tactus_core tactus rt_latency period_us=500",
              put=[EXAMPLES / "latency" / "latency"], icount=True)
    assert done.status == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "# period 500000 ns"
    assert lines[1].split("|")[0].strip() == "lat min"
    for line in lines[2:4]:
        fields = [int(field) for field in line.split("|")]
        assert 0 < fields[0] <= fields[2] <= fields[3] <= fields[4] < 20_000
        assert fields[1] <= fields[0]
        assert fields[5:] == [0, 0]
    assert lines[4] == "1"
    again = dict(word.split("=") for word in lines[5].removeprefix("again: ").split())
    assert int(again["releases"]) < 100
    assert lines[6] == "status=1"
    assert "rt_latency.ko is not loaded" in done.stderr


def test_latency_refuses(vm: Vm) -> None:
    """Parameters out of range are EINVAL, at loading and at a new start."""
    done = vm("for bad in mode=tock period_us=49 period_us=1000001 priority=0 priority=1000001 "
              "cpu=7; do insmod /modules/rt_latency.ko $bad 2>&1; echo $bad: $?; "
              "[ ! -e /proc/rt_latency ] || echo left behind; done; "
              "insmod /modules/rt_latency.ko && echo 0 > "
              "/sys/module/rt_latency/parameters/period_us; "
              "echo 1 > /proc/rt_latency/running; cat /proc/rt_latency/running; "
              "echo 200 > /sys/module/rt_latency/parameters/period_us; "
              "echo 1 > /proc/rt_latency/running; cat /proc/rt_latency/running; "
              "echo x > /proc/rt_latency/running; rmmod rt_latency",
              modules="tactus_core tactus", icount=True)
    assert done.status == 0, done.stderr
    assert "left behind" not in done.stdout
    assert done.stdout.count("nvalid argument") == 6 or done.stdout.count("nvalid param") == 6
    assert done.stdout.endswith("0\n1\n")
    assert done.stderr.count("nvalid argument") == 2


FILLED = {"a": 512, "b": 1024, "c": 2048}


def fullest_first() -> str:
    """The order of jobs of 64 bytes if the fullest FIFO's task runs, the one that waits longest
    first."""
    left, ready, order = dict(FILLED), list(FILLED), ""
    while ready:
        task = max(ready, key=lambda name: left[name])  # the first of equals
        order += task
        ready.remove(task)
        left[task] -= 64
        if left[task]:
            ready.append(task)
    return order


def test_finegrain(vm: Vm) -> None:
    """The fullest FIFO's task runs; by priority it would be another; what the README shows is
    so."""
    fill = "".join(f"head -c {size} /dev/zero > /dev/rtf{number}; "
                   for number, size in enumerate(FILLED.values()))
    run = fill + "echo 1 > $P/go; cat $P/order; "
    done = vm(f"P=/sys/module/rt_drain/parameters; {run} insmod /modules/rt_finegrain.ko; "
              f"cat /sys/kernel/tactus/policy; {run} rmmod rt_finegrain; {run} "
              "cat /sys/kernel/tactus/policy; rmmod rt_drain && echo gone",
              modules="tactus_core tactus rtfifo rt_drain", with_modules="rt_finegrain",
              icount=True)
    by_priority = "".join(name * (size // 64) for name, size in FILLED.items())
    assert done.stdout.splitlines() == [
        by_priority, "finegrain", fullest_first(), by_priority, "fixed_priority", "gone"]
    readme = (EXAMPLES / "finegrain/README.md").read_text()
    assert by_priority in readme and fullest_first() in readme
