# SPDX-License-Identifier: GPL-2.0-only
"""Admission in the kernel: what is refused, by whom, with which figure in the log; that what was
refused left nothing changed; and that policies are changed only when everything fits the new
one."""

from __future__ import annotations

from harness.vmrun import Vm

ADD = """
P=/sys/module/taskset/parameters
# `add NAME ...`: says what became of it
add() { if echo "$*" > $P/add 2> /dev/null; then echo "$1 in"; else echo "$1 out"; fi; }
names() { tail -n +2 /sys/kernel/tactus/tasks | cut -f 1 | sort | tr '\\n' ' '; echo; }
# busybox's insmod tries a module that fails twice, and other refusals may be alike.
said() { dmesg | sed -n 's/.*tactus: CPU 0[,:] //p' | uniq; }
"""
# The textbook's: EDF meets it, rate monotonic does not.
TEXTBOOK = """
add a 0 5000000 0 2000000 1
add b 0 7000000 0 4000000 2
"""


LATE_B = ("policy {policy}: task b would answer within 8000000 ns, its deadline is 7000000 ns: "
          "{then}")


def test_enforced(vm: Vm) -> None:
    """What does not fit is refused, with its figure; what was there before is as it was."""
    done = vm(
        ADD + TEXTBOOK + """
        add bare 0 9000000 0 0 5; names; cat $P/from_rt
        insmod /modules/tactus_edf.ko; add b 0 7000000 0 4000000 2; names
        add c 0 100000000 0 1000000 9
        insmod /modules/tactus_rm.ko 2> /dev/null || cat /sys/kernel/tactus/policy
        echo a 2100000 > $P/budget 2> /dev/null || echo kept
        echo a 1900000 > $P/budget && echo lowered
        add d 0 100000000 800000 900000 9; names
        rmmod tactus_edf; cat /sys/kernel/tactus/policy; said
        """,
        modules="tactus admission=enforce linux_share=2 taskset",
        with_modules="tactus_rm tactus_edf", icount=True)
    assert done.stdout.splitlines() == [
        "a in", "b out", "bare out", "a ", "-1,-1,-1",
        "b in", "a b ",
        "c out",
        "edf",
        "kept", "lowered",
        "d out", "a b ",
        "fixed_priority",
        LATE_B.format(policy="fixed_priority", then="refused"),
        "task bare is periodic and has no budget: refused",
        "policy edf: utilisation 98.14 % is above 98.00 % (linux_share=2), "
        "task b has the most: refused",
        LATE_B.format(policy="rm", then="refused"),
        "policy edf: utilisation 99.14 % is above 98.00 % (linux_share=2), "
        "task b has the most: refused",
        "policy edf: 900000 ns are due within 800000 ns, a deadline of task d: refused",
    ]


def test_the_whole_cpu(vm: Vm) -> None:
    """Without a share for Linux EDF takes a set of exactly 1, and not a nanosecond more; with one
    of 5 % exactly the rest."""
    done = vm(
        ADD + """
        add a 0 3000000 0 1000000 1; add b 0 6000000 0 2000000 2; add c 0 9000000 0 3000000 3
        add d 0 3600000000000 0 1 4; said
        rmmod taskset tactus_edf tactus; insmod /modules/tactus.ko admission=enforce
        insmod /modules/taskset.ko; add e 0 2000000 0 1000000 1; add f 0 4000000 0 1800000 2
        add g 0 3600000000000 0 1 4
        """,
        modules="tactus admission=enforce linux_share=0 tactus_edf taskset", icount=True)
    assert done.stdout.splitlines()[:4] == ["a in", "b in", "c in", "d out"]
    assert done.stdout.splitlines()[-3:] == ["e in", "f in", "g out"]
    assert "utilisation 100.00 % is above 100.00 %" in done.stdout


def test_warned(vm: Vm) -> None:
    done = vm(ADD + TEXTBOOK + "cat $P/from_rt; said; cat /sys/kernel/tactus/timing",
              modules="tactus taskset", icount=True)
    *lines, header, b, a = done.stdout.splitlines()
    assert header.split() == ["name", "cpu", "priority", "period_ns", "deadline_ns", "budget_ns",
                              "max_exec_ns", "misses"]
    assert a.split() == ["a", "0", "1", "5000000", "0", "2000000", "0", "0"]
    assert b.split() == ["b", "0", "2", "7000000", "0", "4000000", "0", "0"]
    assert lines == [
        "a in", "b in", "0,0,0",
        # After its period has been set, and again by nothing else.
        "policy fixed_priority: utilisation 97.14 % is above 95.00 % (linux_share=5), "
        "task b has the most: admitted all the same",
    ]


def test_parameters(vm: Vm) -> None:
    done = vm(
        ADD + """
        insmod /modules/tactus.ko admission=perhaps 2> /dev/null || echo refused
        insmod /modules/tactus.ko linux_share=100 2> /dev/null || echo refused
        insmod /modules/tactus.ko admission=off && insmod /modules/taskset.ko
        """ + TEXTBOOK + "said; dmesg | grep -c 'tactus: refused: [al]'",
        modules="tactus_core", with_modules="tactus taskset", icount=True)
    assert done.stdout.splitlines() == ["refused", "refused", "a in", "b in", "4"]


def test_suspension(vm: Vm) -> None:
    """What jobs wait for counts against less urgent tasks, and not against Linux's share."""
    done = vm(
        ADD + """
        say() { if echo $1 > $P/suspension 2> /dev/null; then echo in; else echo out; fi; }
        add a 0 10000000 0 4000000 1; add b 0 12000000 10000000 5000000 2
        say 'a 6000000'; say 'a -1'; say 'a 1000000'; said
        """,
        modules="tactus admission=enforce linux_share=10 taskset", icount=True)
    assert done.stdout.splitlines() == [
        "a in", "b in", "out", "out", "in",
        "policy fixed_priority: utilisation 141.66 % is above 100.00 % (linux_share=10), "
        "task a has the most: refused",
    ]


def test_sections(vm: Vm) -> None:
    """What a task keeps mutexes for blocks those before it, whether it has a period or not; and
    beside waits inside of jobs there is no test."""
    done = vm(
        ADD + """
        say() { if echo $2 > $P/$1 2> /dev/null; then echo in; else echo out; fi; }
        add a 0 10000000 0 4000000 1; add b 0 50000000 0 9000000 2; add c 0 0 0 0 3
        say section 'b 6000001'; say section 'b -1'; say section 'b 5000000'
        say section 'c 1000001'; say section 'c 1000000'; say suspension 'a 1'; names
        insmod /modules/tactus_edf.ko && say section 'c 1000001'; said
        """,
        modules="tactus admission=enforce taskset", with_modules="tactus_edf", icount=True)
    assert done.stdout.splitlines() == [
        "a in", "b in", "c in", "out", "out", "in", "out", "in", "out", "a b c ", "out",
        "policy fixed_priority: task a would answer within 10000001 ns, its deadline is "
        "10000000 ns: refused",
        "task a waits inside its jobs, and a task has a section; no test is for both: refused",
        "policy edf: 10000001 ns are due within 10000000 ns, a deadline of task a: refused",
    ]


HOSTED = ADD + """
add a 500000 10000000 0 1000000 1; add b 5000000 50000000 0 6000000 2
add c 15000000 100000000 0 16000000 3; said
echo 1 > $P/start; sleep 2; cut -d ' ' -f 1,3 $P/results
"""


def test_hosted(vm: Vm) -> None:
    """Jobs do not pre-empt one another: with enforce a task is refused whose jobs would keep a more
    urgent one waiting for too long. Those that are admitted miss nothing; with it, they do."""
    late = ("policy fixed_priority: task a would answer within 17000000 ns, "
            "its deadline is 10000000 ns")
    done = vm(HOSTED, modules="tactus mode=hosted admission=enforce taskset", icount=True)
    assert done.stdout.splitlines() == ["a in", "b in", "c out", f"{late}: refused", "a 0", "b 0"]
    done = vm(HOSTED, modules="tactus mode=hosted taskset", icount=True)
    *lines, a, b, c = done.stdout.splitlines()
    assert lines == ["a in", "b in", "c in", f"{late}: admitted all the same"]
    assert (b, c) == ("b 0", "c 0") and int(a.split()[1]) > 0


def test_hosted_waits(vm: Vm) -> None:
    """After each wait inside of its jobs a task may meet another's job again: no test knows."""
    done = vm(
        ADD + """
        add a 0 10000000 0 1000000 1; echo 'a 1000' > $P/suspension 2> /dev/null || echo out; said
        """, modules="tactus mode=hosted admission=enforce taskset", icount=True)
    assert done.stdout.splitlines() == [
        "a in", "out",
        "task a waits inside its jobs, and jobs do not pre-empt one another; no test is for both: "
        "refused"]
