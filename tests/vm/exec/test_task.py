# SPDX-License-Identifier: GPL-2.0-only
"""RT tasks, RT timers and scheduling policies, from inside of the guest.

The checks themselves are in modules/task_test; each of them is a test here, with what the
module says about it as the reason of a failure. All of it runs in virtual time, so that a
release is never late because the host was busy.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.vmrun import Result, Vm, disturbed

TESTS = Path(__file__).parent / "modules" / "task_test" / "task_test.h"
MODULES = "tactus_core tactus task_test"
HEADER = "name\tcpu\tpriority\tperiod_ns\tstate\treleases\toverruns\tmax_late_ns"


def names(macro: str) -> list[str]:
    """The tests that the module lists, so that none can be forgotten here."""
    return re.findall(rf"^\t{macro}\((\w+)\)", TESTS.read_text(), re.MULTILINE)


def modules_for(smp: int) -> str:
    """While the host does not run one CPU, the other waits for its lock: a contended mutex takes
    seconds, and that is no fault of its tasks."""
    return MODULES.replace("tactus ", "tactus watchdog_ms=10000 ") if disturbed(smp) else MODULES


def verdict(result: Result, name: str) -> None:
    """Fail with what the module said about the test `name`, and the kernel's log meanwhile."""
    blocks = re.split(r"^(?=ok |FAIL )", result.stdout, flags=re.MULTILINE)
    mine = [block for block in blocks if block.split("\n")[0].split()[1:] == [name]]
    assert mine, f"{name} did not run:\n{result.stdout}"
    logged = re.search(rf"task_test: {name}\n(.*?)(^.*task_test: |\Z)", result.console, re.S | re.M)
    assert mine[0].startswith("ok "), mine[0] + (logged[1] if logged else "")


COMMAND = """
echo {group} > /proc/task_test; cat /proc/task_test
tail -n +2 /sys/kernel/tactus/tasks; cat /sys/kernel/tactus/policy
rmmod task_test && rmmod tactus
"""


@pytest.fixture(scope="module")
def one_cpu(vm_module: Vm) -> Result:
    return vm_module(COMMAND.format(group="one-cpu"), modules=MODULES, icount=True)


@pytest.fixture(scope="module")
def two_cpus(vm_module: Vm) -> Result:
    return vm_module(COMMAND.format(group="two-cpus"), modules=modules_for(2), smp=2)


@pytest.mark.parametrize("name", names("TEST"))
def test_one_cpu(one_cpu: Result, name: str) -> None:
    verdict(one_cpu, name)


@pytest.mark.parametrize("name", names("TEST2"))
def test_two_cpus(two_cpus: Result, name: str) -> None:
    verdict(two_cpus, name)


@pytest.mark.slow
def test_four_cpus(vm: Vm) -> None:
    """What needs two CPUs, with two more beside them."""
    result = vm(COMMAND.format(group="two-cpus"), modules=modules_for(4), smp=4)
    for name in names("TEST2"):
        verdict(result, name)


@pytest.mark.parametrize("cpus", ["one_cpu", "two_cpus"])
def test_nothing_is_left(cpus: str, request: pytest.FixtureRequest) -> None:
    """No task after the tests, the built-in policy, and both modules could be unloaded."""
    result: Result = request.getfixturevalue(cpus)
    assert result.status == 0
    assert re.split(r"^ok \w+\n", result.stdout, flags=re.MULTILINE)[-1] == "fixed_priority\n"


def test_the_report_can_fail(vm: Vm) -> None:
    result = vm("echo no_such > /proc/task_test; cat /proc/task_test", modules=MODULES)
    assert result.stdout == "FAIL no_such\n  no such test here\n"


@pytest.mark.long
def test_generic_kernel(vm: Vm) -> None:
    result = vm(COMMAND.format(group="one-cpu"), modules=MODULES, icount=True, flavour="generic")
    assert "FAIL" not in result.stdout, result.stdout
    assert result.stdout.count("ok ") == len(names("TEST"))


def test_module_leaves_tasks_behind(vm: Vm) -> None:
    """What a careless module leaves is gone before its memory is, and the log says so."""
    result = vm(
        """
        insmod /modules/task_test.ko leave=1; sleep 0.1
        cat /sys/kernel/tactus/tasks /sys/kernel/tactus/policy
        rmmod task_test; cat /sys/kernel/tactus/tasks /sys/kernel/tactus/policy
        sleep 0.1; dmesg | grep 'task_test went'; rmmod tactus && echo unloaded
        """,
        modules="tactus_core tactus",
        with_modules="task_test",
        icount=True,
    )
    lines = result.stdout.splitlines()
    assert lines[0] == HEADER
    rows = [line.split("\t") for line in lines[1:5]]
    assert [row[4] for row in rows] == ["dormant", "suspended", "waiting", "waiting"]
    assert int(rows[3][5]) > 900, "the timers that always start anew must not starve a task"
    assert lines[5:8] == ["backwards", HEADER, "fixed_priority"]
    said = result.stdout
    assert said.count("without deleting its task") == 4
    assert "without cancelling 2 RT timers" in said
    assert "without unregistering its policy backwards" in said
    assert lines[-1] == "unloaded"


def test_printk(vm: Vm) -> None:
    """Texts arrive whole, in order, at their level; lost ones are counted."""
    result = vm("echo printk > /proc/task_test; dmesg -r", modules=MODULES, icount=True)
    said = re.findall(r"^<(\d)>\[.*\] task_test says (\d+)$", result.stdout, re.MULTILINE)
    assert all(level == "5" for level, _ in said)
    numbers = [int(number) for _, number in said]
    assert numbers[:8] == list(range(8))
    assert numbers[8:] == list(range(len(numbers) - 8))
    lost = re.search(r"tactus: (\d+) messages of RT code were lost", result.stdout)
    assert lost and int(lost[1]) + len(numbers) == 5009


@pytest.mark.slow
def test_watchdog(vm: Vm) -> None:
    """The log names the task that was stopped; with watchdog_ms=0 Linux does not come back."""
    command = "echo watchdog > /proc/task_test; cat /proc/task_test; dmesg | grep stopped"
    result = vm(command, modules=MODULES, icount=True)
    assert result.stdout.startswith("ok watchdog\n")
    assert "tactus: task hog took the CPU for too long: stopped" in result.stdout
    result = vm(command, modules="tactus_core tactus watchdog_ms=0 task_test", icount=True,
                timeout=20, check=False)
    assert result.status == 124, "the test must be able to fail"


@pytest.mark.parametrize("policy", ["rm", "edf"])
def test_textbook(vm: Vm, policy: str) -> None:
    """C, T = (2, 5), (4, 7) in real tasks: what the hand computation says for each policy."""
    result = vm(
        f"echo textbook_{policy} > /proc/task_test; cat /proc/task_test /sys/kernel/tactus/policy",
        modules=f"{MODULES} tactus_{policy}",
        icount=True,
    )
    assert result.stdout == f"ok textbook_{policy}\n{policy}\n"


@pytest.mark.slow
def test_an_ejected_policy_leaves_its_dump(vm: Vm) -> None:
    """The log has the reason, and the ready tasks in the policy's own words; with policy_us=0 a
    slow policy stays."""
    command = ("echo policy_ejected > /proc/task_test; echo policy_too_slow > /proc/task_test; "
               "sleep 0.1; dmesg | sed -n 's/.*tactus: //p'; cat /proc/task_test")
    result = vm(command, modules=MODULES, icount=True)
    assert "policy liar picked a task that cannot run: ejected; its ready tasks on CPU 0:" \
        in result.stdout
    assert "policy slow took too long to pick: ejected" in result.stdout
    assert result.stdout.endswith("ok policy_ejected\nok policy_too_slow\n")
    assert re.search(r"each_release priority 1 period 1000000", result.console)
    result = vm(command, modules="tactus_core tactus policy_us=0 task_test", icount=True)
    assert "policy slow" not in result.stdout.replace("policy is slow", "")
    assert "FAIL policy_too_slow" in result.stdout


def test_textbook_can_fail(vm: Vm) -> None:
    """What EDF promises does not hold under rate monotonic."""
    result = vm(
        "echo textbook_edf > /proc/task_test; cat /proc/task_test",
        modules=f"{MODULES} tactus_rm",
        icount=True,
    )
    assert "tasks[1].misses is 10, not 0" in result.stdout


def test_events(vm: Vm) -> None:
    """Each job of real tasks is released, started, perhaps pre-empted, and completed, at moments
    that only grow; and b is pre-empted by a where the textbook says so."""
    result = vm(
        """
        P=/sys/module/taskset/parameters
        echo a 1900000 5000000 0 2000000 1 > $P/add; echo b 3900000 7000000 0 4000000 2 > $P/add
        echo 1 > $P/start; sleep 0.04; cat /sys/kernel/tactus/events; echo ---; wc -c < $P/results
        """,
        modules="tactus_core tactus events=200 taskset", icount=True)
    events, rest = result.stdout.split("---\n")
    rows = [line.split() for line in events.splitlines()]
    assert int(rest) > 0 and all(row[0] == "0" and len(row) == 5 for row in rows)
    moments = [int(row[1]) for row in rows]
    assert moments == sorted(moments)
    # Each release came by a one-shot event, which interrupted Linux or a task.
    assert {task for _, _, kind, task, _ in rows if kind == "timer"} >= {"-", "b"}
    rows = [row[:4] for row in rows if row[2] != "timer"]
    for name in "ab":
        kinds = " ".join(kind for _, _, kind, task in rows if task == name)
        assert re.fullmatch(r"((release start (preempt resume )*complete ?))*"
                            r"(release( start( preempt( resume)?)?)?)? ?", kinds), kinds
    mine = [(kind, task) for _, _, kind, task in rows if task in "ab"]
    assert mine[:9] == [
        ("release", "a"), ("release", "b"), ("start", "a"), ("complete", "a"), ("start", "b"),
        ("release", "a"), ("preempt", "b"), ("start", "a"), ("complete", "a"),
    ]


def test_unknown_order_is_refused(vm: Vm) -> None:
    result = vm(
        """
        insmod /modules/tactus_rm.ko order=chance || echo refused
        cat /sys/kernel/tactus/policy
        insmod /modules/tactus_rm.ko order=deadline; cat /sys/kernel/tactus/policy
        """,
        modules="tactus_core tactus",
        with_modules="tactus_rm",
        icount=True,
    )
    assert result.stdout.splitlines() == ["refused", "fixed_priority", "rm"]


def test_rate_monotonic(vm: Vm) -> None:
    """The policy's module takes over running tasks, and gives them back."""
    result = vm(
        """
        cat /sys/kernel/tactus/policy; insmod /modules/tactus_rm.ko; cat /sys/kernel/tactus/policy
        echo policy_swap_live > /proc/task_test; cat /proc/task_test; cat /sys/kernel/tactus/policy
        rmmod tactus_rm; cat /sys/kernel/tactus/policy
        cat /sys/module/tactus/refcnt; rmmod tactus || echo refused
        """,
        modules=MODULES,
        with_modules="tactus_rm",
        icount=True,
    )
    assert result.stdout.splitlines() == [
        "fixed_priority", "rm", "ok policy_swap_live", "rm", "fixed_priority", "1", "refused",
    ]


def test_a_job_that_never_ends_is_in_the_figures(vm: Vm) -> None:
    """What it has used, and that it is late, is to be seen before its end, which may never come."""
    done = vm("echo 'a 10000000000 20000000 0 0 1' > /sys/module/taskset/parameters/add; "
              "echo 1 > /sys/module/taskset/parameters/start; sleep 0.5; "
              "tail -n 1 /sys/kernel/tactus/tasks; tail -n 1 /sys/kernel/tactus/timing",
              modules="tactus watchdog_ms=50 taskset", icount=True)
    task, timing = (line.split() for line in done.stdout.splitlines())
    assert (task[0], task[4], task[5]) == ("a", "stopped", "1")
    assert timing[-1] == "1"
    assert 30_000_000 <= int(timing[-2]) <= 150_000_000
