# SPDX-License-Identifier: GPL-2.0
"""While there are periodic tasks Linux is asked not to sleep deeply: what its PM QoS says."""

from __future__ import annotations

import pytest

# Of all requests the least, us; reading it adds one that asks for nothing.
READ = "qos() { sleep 0.05; od -An -td4 -N4 /dev/cpu_dma_latency; }; "
NOTHING = 2_000_000_000


@pytest.mark.parametrize(("parameter", "bound_us"), [
    ("", 2),
    pytest.param("exit_latency_us=17 mode=hosted", 17, marks=pytest.mark.slow),
    pytest.param("exit_latency_us=-1", NOTHING, id="control", marks=pytest.mark.slow),
])
def test_exit_latency_is_bounded_while_tasks_are_periodic(vm, parameter: str,
                                                          bound_us: int) -> None:
    """From the first periodic task to the last; RT timers and RT interrupts do not count. A task
    that ends by itself goes as well."""
    done = vm(READ + "qos; modprobe rt_latency mode=tick; qos; rmmod rt_latency; "
              "modprobe rt_latency; qos; modprobe rtfifo; modprobe rt_hello; qos; "
              "rmmod rt_latency; qos; rmmod rt_hello; qos; "
              "echo exact_releases > /proc/task_test; cat /proc/task_test; qos; "
              "modprobe rt_latency; qos; echo 0 > /proc/rt_latency/running; qos; "
              "rmmod rt_latency task_test rtfifo tactus; qos",
              modules=f"tactus_core tactus {parameter} task_test",
              with_modules="rt_latency rtfifo rt_hello", icount=True)
    *values, last = done.stdout.splitlines()
    said = values.pop(6)
    assert said == "ok exact_releases"
    none, some = NOTHING, bound_us
    assert list(map(int, [*values, last])) == [
        none, none, some, some, some, none, none, some, none, none]
