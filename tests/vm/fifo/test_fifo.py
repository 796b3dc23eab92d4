# SPDX-License-Identifier: GPL-2.0-only
"""RT-FIFOs in the guest: /dev/rtfN against RT code in all contexts.

The tests proper are in the C program fifo_check, the RT side in the module fifo_test; one
boot runs them all, on one CPU and on two, where RT code and Linux really run at once.
"""

from __future__ import annotations

import re

import pytest

from harness import programs
from measure import fifo as figures

MODULES = "tactus_core tactus rtfifo fifo_test"
CASES = [f"{path.stem}-{case}" for path in sorted(programs.source("fifo_check").glob("*.c"))
         for case in re.findall(r"TEST\((\w+)\),", path.read_text())]


@pytest.fixture(scope="module", params=[
    pytest.param(("cloud", 2), id="cloud-2cpu"),
    pytest.param(("cloud", 1), id="cloud-1cpu"),
    pytest.param(("generic", 1), id="generic-1cpu", marks=pytest.mark.long),
])
def verdicts(request, vm_module) -> dict[str, str]:
    """Test name -> its line, of one run of fifo_check. In virtual time: a stream of 50 us is too
    much for a CPU that others of the host share."""
    flavour, smp = request.param
    done = vm_module("./fifo_check", modules=MODULES, put=[programs.build("fifo_check")],
                     flavour=flavour, smp=smp, icount=True if smp == 1 else None)
    lines = done.stdout.splitlines()
    # Failures last: a case with two lines, one of a process it started, has failed.
    return {re.split(r"[ :]", line.removeprefix("not ").removeprefix("ok "))[0]: line
            for line in sorted(lines, reverse=True) if re.match(r"(not )?ok ", line)}


@pytest.mark.parametrize("case", CASES)
def test_device(verdicts: dict[str, str], case: str) -> None:
    """Each case of fifo_check ran and passed."""
    name = case.split("-")[1]
    assert verdicts.get(name) == f"ok {name}"


def test_the_cases_are_found() -> None:
    """The list above is the program's own, or the test before would check nothing."""
    assert len(CASES) > 30


def test_a_failure_is_seen(vm) -> None:
    """Without an RT side each case fails, and says so."""
    done = vm("./fifo_check two_rings create", modules="tactus_core tactus rtfifo",
              put=[programs.build("fifo_check")])
    assert done.status == 1
    assert done.stdout.count("not ok ") == 2


LEFT_BEHIND = """
rt() { printf '%s' "$*" > /proc/fifo_test; }
rt linux create 0 100; rt linux create 5 100
rt linux put 5 last; rt linux handler 5 count
cat /dev/rtf5 > left & pid=$!
sleep 0.2
rmmod fifo_test || exit 9
wait $pid && cat left && echo
cat /dev/rtf0 2> /dev/null || echo gone
tail -n +2 /sys/kernel/tactus/fifos | wc -l
rmmod rtfifo && ls /dev/rtf* 2> /dev/null | wc -l
"""


def test_a_module_leaves_its_fifos_behind(vm) -> None:
    """They go with it: its reader gets what is left and the end, and rtfifo can be unloaded."""
    done = vm(LEFT_BEHIND, modules=MODULES, icount=True)
    assert done.status == 0
    assert done.stdout.split() == ["last", "gone", "0", "0"]


CREATE = """
calls() { awk '/^ *CAL:/ { print $2 + $3 }' /proc/interrupts; }
before=$(calls)
for n in $(seq 40); do printf 'linux create %s 10' $n > /proc/fifo_test; done
echo $(($(calls) - before)) $(tail -n +2 /sys/kernel/tactus/fifos | wc -l)
"""


def test_creating_interrupts_nobody(vm) -> None:
    """No RT code can be at work on a FIFO that has no number yet: nobody is waited for."""
    interrupts, created = map(int, vm(CREATE, modules=MODULES, smp=2).stdout.split())
    assert created == 40
    assert interrupts < 40, "calls of functions on the other CPU; four for each FIFO once"


NUMBERS = """
for count in 1 1024; do
    modprobe rtfifo nfifos=$count || exit 9
    echo $(ls /dev/rtf[0-9]* | wc -l) $(ls -l /dev/rtf[0-9]* | cut -c1-10 | sort -u)
    rmmod rtfifo
done
for count in 0 1025 -1 many; do
    modprobe rtfifo nfifos=$count 2> /dev/null && exit 8
    ls /dev/rtf* 2> /dev/null && exit 7
done
true
"""


def test_number_of_fifos(vm) -> None:
    """As many nodes as the parameter says, open to no others; a silly number is refused."""
    done = vm(NUMBERS, modules="tactus_core tactus", with_modules="rtfifo")
    assert done.status == 0
    assert done.stdout.splitlines() == ["1 crw-rw----", "1024 crw-rw----"]


@pytest.mark.slow
def test_speed(vm) -> None:
    """In instructions: read() beside a pipe's, the mapped reader, a wake-up beside an eventfd's,
    and puts while Linux is in the middle of a read."""
    done = vm("./fifo_speed", modules="tactus_core tactus rtfifo fifo_wake", icount=True, busy=True,
              put=[programs.build("fifo_speed")])
    told = figures.parse(done.stdout)
    assert figures.complaints(told) == []
    slow_read = told | {"read 64": (1000, 1001)}
    assert figures.complaints(slow_read) == ["read 64: 1001 ns, not at most 1000 ns"]


@pytest.mark.slow
def test_cost(vm) -> None:
    """In instructions, a put and a get cost no more than kfifo's, which cannot do half of it."""
    done = vm("head -c 40000 /dev/zero > /dev/rtf0; cat /proc/fifo_bench",
              modules="tactus_core tactus rtfifo fifo_bench", icount=True)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["op", "bytes", "rtf", "kfifo", "memcpy"]
    costs = {(op, int(size)): (int(rtf), int(kfifo)) for op, size, rtf, kfifo, _ in lines[1:]}
    for op in ("put", "get"):
        for size in (8, 64, 1024):
            rtf, kfifo = costs[op, size]
            assert 10 < rtf <= kfifo, done.stdout
