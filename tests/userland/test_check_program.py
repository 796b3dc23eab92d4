# SPDX-License-Identifier: GPL-2.0-only
"""`tactus check` of programs: what their RT loops reach, in shared libraries and without any."""
from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from fakes import FakeMachine
from tactus import cli, progcheck

TOP = Path(__file__).resolve().parents[2]
LIBRARY = TOP / "userland" / "libtactus"
HEAD = """
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <tactus/rt.h>
static volatile double v;
static volatile long count;
static char bytes[64];
static void *volatile kept;
static struct rt_job job;
#define noinline __attribute__((noinline))
"""
MAIN = """
int main(void)
{
	struct rt_attr attr = { .period_ns = 1000000 };

	kept = malloc(9);
	if (rt_enter(&attr))
		printf("%%s\\n", rt_why());
	while (%s)
		%s
	rt_leave();
	return printf("%%g\\n", v) < 0;
}
"""
WAIT = "!rt_wait(&job) && job.number < 100"
GOOD = MAIN % (WAIT, "{ v = sin(v + 1); memcpy(bytes, (void *)&v, 8); rt_fifo_put(0, bytes, 8); }")
WAITER = "static noinline int next(void) { count++; return rt_wait(&job); }\n"
# name: (source, what is said of it)
BAD = {
    "printf": (MAIN % (WAIT, "if (v > count) printf(\"%g\\n\", v);"), r"calls \w*printf\w*\(\)"),
    "deeper": ("static noinline void more(void) { kept = malloc(count); }\n"
               "static noinline void work(void) { more(); count++; }\n" + MAIN % (WAIT, "work();"),
               r"calls \w*malloc\(\)"),
    "clock": ("static struct timespec now;\n" +
              MAIN % (WAIT, "clock_gettime(CLOCK_MONOTONIC, &now);"), r"calls \w*clock_gettime"),
    "ours": (MAIN % (WAIT, "rt_sem_open(\"name\", 1);"), r"calls rt_sem_open\(\)"),
    "waiter": (WAITER + MAIN % ("!next()", "printf(\"x%d\", (int)count);"), r"calls \w*printf"),
    "in the waiter": (WAITER.replace("count++", "count = getppid()") + MAIN % ("!next()", ";"),
                      r"(calls getppid|\w*getppid\(\) makes a system call)"),
    "instruction": (MAIN % (WAIT, "__asm__ volatile(\"syscall\" : : \"a\" (39) : "
                    "\"rcx\", \"r11\");"),
                    r"main\(\) makes a system call"),
    "unlikely": ("static noinline __attribute__((cold)) void tell(void)\n"
                 "{ puts(\"x\"); count++; }\n"
                 + MAIN % (WAIT, "if (__builtin_expect(v > count, 0)) tell();"), r"calls \w*puts"),
    "sleep": (MAIN % ("count++ < 9", "{ rt_sleep_until(rt_now() + 1000); usleep(1); }"),
              r"calls \w*usleep"),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    gcc(folder / "libtactus.so", LIBRARY / "rt.c", "-shared", "-fPIC")
    return folder


def gcc(into: Path, *options: str | Path) -> None:
    subprocess.run(["gcc", "-std=gnu11", "-O2", f"-I{LIBRARY}", f"-I{TOP / 'kernel' / 'include'}",
                    "-o", into, *options], check=True)


def build(into: Path, source: str, library: Path, static: bool) -> Path:
    program = into / "program"
    (into / "program.c").write_text(HEAD + source, encoding="utf-8")
    gcc(program, into / "program.c", *(["-static", LIBRARY / "rt.c"] if static
                                       else [f"-L{library}", "-ltactus"]), "-lm")
    return program


def look(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str]:
    status = cli.main(["check", *map(str, words)], FakeMachine(Path("/nonexistent")))
    return status, capsys.readouterr().out


@pytest.mark.parametrize("static", [False, True])
def test_a_good_one(tmp_path: Path, capsys: pytest.CaptureFixture[str], library: Path,
                    static: bool) -> None:
    """What comes before the loop and after it may be anything."""
    program = build(tmp_path, GOOD, library, static)
    status, said = look(capsys, program)
    assert status == 0 and said.endswith(f"{program}: fine\n")
    assert f"{program}: main (its loop waits)" in said


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("name", BAD)
def test_a_bad_one(tmp_path: Path, capsys: pytest.CaptureFixture[str], library: Path, name: str,
                   static: bool) -> None:
    source, wanted = BAD[name]
    status, said = look(capsys, build(tmp_path, source, library, static))
    assert status == 5 and re.search(f"RT code {wanted}", said)


def test_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str], library: Path) -> None:
    source, _ = BAD["deeper"]
    status, said = look(capsys, "--json", build(tmp_path, source, library, static=False))
    (report,) = json.loads(said)
    assert status == 5 and not report["ok"]
    assert report["complaints"][0]["path"] == ["main", "work", "more", "malloc"]


def test_without_a_loop(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                        library: Path) -> None:
    """None is found; --rt names a function that runs in RT mode."""
    source = ("noinline void other(void) { puts(\"x\"); count++; }\n"
              "int main(void) { other(); return 0; }\n")
    program = build(tmp_path, source, library, static=False)
    assert look(capsys, program) == (
        5, f"{program}: no RT code was found; name it with --rt FUNCTION\n")
    status, said = look(capsys, "--rt", "other", program)
    assert status == 5 and "RT code calls puts()" in said


def test_each_call_of_the_library_is_known() -> None:
    page = (TOP / "userland" / "man" / "libtactus.3").read_text(encoding="utf-8")
    title = page.split(".SH NAME\n", 1)[1].split(r" \- ", 1)[0]
    names = set(re.findall(r"\w+", title))
    assert {name for name in names if not progcheck.OURS.fullmatch(name)} == progcheck.STAYS
