# SPDX-License-Identifier: GPL-2.0-only
"""Floating point: RT tasks, Linux programs and the kernel itself compute known results while they
pre-empt one another. What is expected is what the host's own CPU computes from the same source."""

from __future__ import annotations

import subprocess

import pytest

from harness import programs
from harness.vmrun import Result, Vm

SSE, X87, AVX = range(3)
NEAREST, DOWN, UP, ZERO = range(4)
ROUNDS = 5000
TASKS = [(SSE, UP), (X87, DOWN), (AVX, ZERO)]
USERS = [(SSE, NEAREST), (X87, UP), (AVX, DOWN)]


def on_the_host(kind: int, mode: int) -> int:
    words = [str(programs.build("fp_user")), str(kind), str(mode), str(ROUNDS)]
    return int(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def compute(vm: Vm, tactus: str = "", **options: object) -> Result:
    """A quarter of a second of everything; prints jobs and wrong results of each program, then
    those of the three tasks and of the kernel."""
    users = [what for what in USERS if what[0] != AVX or "append" not in options]
    return vm(
        f"""
        cd /root; P=/sys/module/fp_test/parameters; {start(users)}
        for i in 1 2 3 4 5; do echo 20 > $P/kernel_jobs; done
        wait; sleep 0.01; cat u?; cat $P/jobs $P/wrong
        """,
        modules=f"tactus {tactus} fp_test {parameters()}", icount=True, busy=True,
        put={programs.build("fp_user"): "/root/fp_user"}, **options)


def start(users: list[tuple[int, int]]) -> str:
    """The command that starts the programs."""
    return "".join(f"./fp_user {kind} {mode} {ROUNDS} {on_the_host(kind, mode)} 250 > u{n} & "
                   for n, (kind, mode) in enumerate(users))


def parameters() -> str:
    """Of fp_test."""
    expected = [on_the_host(*what) for what in [*TASKS, (SSE, NEAREST)]]
    return f"rounds={ROUNDS} expected={','.join(map(str, expected))}"


def counts(done: Result, users: int) -> tuple[list[int], list[int]]:
    """(jobs, wrong results): the programs', then the tasks', then the kernel's."""
    lines = done.stdout.splitlines()
    pairs = [list(map(int, line.split())) for line in lines[:users]]
    jobs, wrong = ([int(n) for n in line.split(",")] for line in lines[users:users + 2])
    return [pair[0] for pair in pairs] + jobs, [pair[1] for pair in pairs] + wrong


@pytest.mark.parametrize("series", ["6.1", pytest.param("6.12", marks=pytest.mark.long)])
def test_everybody_has_registers_of_his_own(vm: Vm, series: str) -> None:
    done = compute(vm, kernel=series)
    jobs, wrong = counts(done, users=3)
    assert min(jobs) > 20 and jobs[-1] == 100, jobs
    assert wrong == [0] * 7


def test_a_cpu_without_xsave(vm: Vm) -> None:
    done = compute(vm, append="noxsave")
    jobs, wrong = counts(done, users=2)
    assert min(jobs[:2] + jobs[2:4]) > 20 and jobs[4] == 0 and jobs[5] == 100, jobs
    assert wrong == [0] * 6


def test_without_saving_the_numbers_are_wrong(vm: Vm) -> None:
    """The same check must be able to fail: tasks that have not said rt_use_fp(), and are let. They
    end before the shell goes on, whose registers would be as wrong as anybody's."""
    done = vm(
        f"""
        cd /root; P=/sys/module/fp_test/parameters; {start(USERS)}
        insmod /modules/fp_test.ko {parameters()} use_fp=0 most=200; wait; cat u?
        cat $P/jobs $P/wrong
        """,
        modules="tactus fp_trap=0", with_modules="fp_test", icount=True,
        put={programs.build("fp_user"): "/root/fp_user"})
    jobs, wrong = counts(done, users=3)
    assert min(jobs[:3]) > 20 and jobs[3:6] == [200] * 3, jobs
    # The x87 program works on the stack's next free register, and its control word is Linux's.
    assert wrong[0] and wrong[2], f"programs: {wrong}"
    assert all(count > 0 for count in wrong[3:6]), f"tasks: {wrong}"
