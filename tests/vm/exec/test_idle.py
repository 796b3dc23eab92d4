# SPDX-License-Identifier: GPL-2.0-only
"""While there is RT code Linux is asked not to sleep deeply: what its PM QoS says."""

from __future__ import annotations

import pytest

# Of all requests the least, us; reading it adds one that asks for nothing. That timers have ended
# is noticed within a second.
READ = ("qos() { sleep 0.05; od -An -td4 -N4 /dev/cpu_dma_latency; }; "
        "later() { sleep 1.2; qos; }; ")
NOTHING = 2_000_000_000


def bounds(stdout: str) -> list[int]:
    return [int(line) for line in stdout.splitlines()]


@pytest.mark.parametrize(("parameter", "bound_us"), [
    ("", 2),
    pytest.param("exit_latency_us=17 mode=hosted", 17, marks=pytest.mark.slow),
    pytest.param("exit_latency_us=-1", NOTHING, id="control", marks=pytest.mark.slow),
])
def test_exit_latency_is_bounded_while_there_are_tasks(vm, parameter: str, bound_us: int) -> None:
    """From the first task to the last, also one that ends by itself."""
    done = vm(READ + "later; modprobe rt_latency; qos; modprobe rtfifo; modprobe rt_hello; qos; "
              "rmmod rt_latency; qos; rmmod rt_hello; qos; "
              "echo exact_releases > /proc/task_test; "
              "grep -q '^ok exact_releases' /proc/task_test || exit 3; later; modprobe rt_latency; "
              "qos; echo 0 > /proc/rt_latency/running; qos; "
              "rmmod rt_latency task_test rtfifo tactus; qos",
              modules=f"tactus_core tactus {parameter} task_test",
              with_modules="rt_latency rtfifo rt_hello", icount=True)
    none, some = NOTHING, bound_us
    assert bounds(done.stdout) == [none, some, some, some, none, none, some, none, none]


@pytest.mark.parametrize("mode", ["pipeline", pytest.param("hosted", marks=pytest.mark.slow)])
def test_exit_latency_is_bounded_without_a_period(vm, mode: str) -> None:
    """An RT timer, a line with an RT handler, and a task that nobody has started yet."""
    done = vm(READ + "later; modprobe rt_latency mode=tick; qos; later; rmmod rt_latency; later; "
              "modprobe qos_test irq=5; qos; later; rmmod qos_test; qos; "
              "modprobe qos_test task=1; qos; later; rmmod qos_test; qos; rmmod tactus; qos",
              modules=f"tactus_core tactus mode={mode}", with_modules="rt_latency qos_test",
              icount=True)
    none, some = NOTHING, 2
    assert bounds(done.stdout) == [
        none, some, some, none, some, some, none, some, some, none, none]
