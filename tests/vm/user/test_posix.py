# SPDX-License-Identifier: GPL-2.0-only
"""libtactus-posix: programs of POSIX in RT mode, preloaded and linked; and cyclictest itself."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import programs
from measure import cyclictest

MODULES = "tactus rtfifo tactus_user"
_TEXT = programs.source("posix_check").read_text(encoding="utf-8")
CASES = re.findall(r"do\((\w+)\)", _TEXT.split("#define CASES(do)", 1)[1].split("\n\n", 1)[0])
# Where it first asks for a policy.
LINE = _TEXT.partition("sched_setscheduler(0, SCHED_RR")[0].count("\n") + 1
NAMES = ("clock_gettime", "clock_nanosleep", "gettimeofday", "mq_close", "mq_getattr", "mq_notify",
         "mq_open", "mq_receive", "mq_send", "mq_setattr", "mq_timedreceive", "mq_timedsend",
         "mq_unlink", "nanosleep", "pthread_create", "pthread_exit", "pthread_setschedparam",
         "sched_setscheduler", "sem_clockwait", "sem_close", "sem_destroy", "sem_getvalue",
         "sem_init", "sem_open", "sem_post", "sem_timedwait", "sem_trywait", "sem_unlink",
         "sem_wait", "usleep")
# What the C library's headers make of a call when they are to check it.
CHECKED = {"__mq_open_2"}


@pytest.fixture(name="put")
def _put(tmp_path: Path) -> dict[Path, str]:
    """The libraries, and the check as two programs: linked with them, and not."""
    put = cyclictest.library(tmp_path)
    source = programs.source("posix_check")
    for name, library in (("check", []), ("linked", [f"-L{tmp_path}", "-Wl,--no-as-needed",
                                                     "-ltactus-posix", "-Wl,-rpath-link",
                                                     str(tmp_path)])):
        subprocess.run(["gcc", "-std=gnu11", "-O2", "-Wall", "-Werror", "-o", tmp_path / name,
                        source, *library], check=True)
        put[tmp_path / name] = f"/root/{name}"
    return put


def test_it_has_what_its_page_says(tmp_path: Path) -> None:
    library, _ = cyclictest.library(tmp_path)
    names = subprocess.run(["nm", "-D", "--defined-only", library], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    page = (programs.LIBTACTUS.parent / "man" / "libtactus-posix.7").read_text(encoding="utf-8")
    assert set(re.findall(r" T (\w+)$", names, re.M)) == set(NAMES) | CHECKED
    assert set(re.findall(r"\b(\w+)\(\)", page.partition(".SH DESCRIPTION")[0])) == set(NAMES)


def run_all(vm, put: dict[Path, str], **options) -> None:
    """Preloaded and linked; beside sections, without a module, and with a small budget."""
    done = vm(f"""
        ./load --json --seconds=3 --irqoff=process,timer --min-sections=10 > sections &
        sleep 0.1; LD_PRELOAD=libtactus-posix.so.1 ./check {' '.join(CASES)}; wait $!
        ./linked {' '.join(CASES)} little
        TACTUS_PERIOD_US=500 TACTUS_BUDGET_US=100 ./linked thread demoted
        TACTUS_BUDGET_US=lots ./linked thread 2>&1; echo $?
        rmmod tactus_user && echo unloaded
        ./linked ordinary policy 2>&1; echo $?""",
              modules=f"hog {MODULES}", icount=True,
              put={programs.build("load"): "/root/load", **put}, **options)
    said = done.stdout.splitlines()
    assert said == [
        *(f"ok {case}" for case in [*CASES, *CASES, "little", "thread",
                                            "demoted"]),
        "libtactus-posix: TACTUS_BUDGET_US=lots: want microseconds, up to 1000000", "2",
        "unloaded", "ok ordinary",
        "libtactus-posix: not in RT mode: /dev/rt cannot be opened: is tactus_user loaded?",
        f"line {LINE}: !sched_setscheduler(0, SCHED_RR, &param)", "1"]


def test_programs_of_posix(vm, put: dict[Path, str]) -> None:
    run_all(vm, put)


@pytest.mark.parametrize("series", [
    pytest.param("6.12", marks=pytest.mark.long), pytest.param("7", marks=pytest.mark.long)])
def test_on_other_kernels(vm, put: dict[Path, str], series: str) -> None:
    run_all(vm, put, kernel=series)


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("cyclictest"), reason="no cyclictest, which is an extra")
def test_cyclictest() -> None:
    """Debian's, in RT mode and, as the control, as Linux runs it."""
    results = cyclictest.measure(1)
    print(cyclictest.table(results))
    assert cyclictest.judge(results) == []
    assert results[0].cycles == 1000 and not results[0].beyond
