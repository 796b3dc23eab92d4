# SPDX-License-Identifier: GPL-2.0-only
"""`tactus check`: good and bad modules, compiled as the kernel compiles, without a kernel."""
from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from fakes import FakeMachine
from tactus import cli, modcheck

TOP = Path(__file__).resolve().parents[2]
HEAD = """
typedef long long RTIME; typedef struct { int x[64]; } RT_TASK;
struct rt_timer { void (*fn)(struct rt_timer *); RTIME expires; };
int rt_task_init(RT_TASK *, void (*)(int), int, int, int);
int request_RTirq(unsigned int, void (*)(void));
int rt_timer_start(struct rt_timer *, RTIME);
int rt_task_wait(void); int rt_printk(const char *, ...); int _printk(const char *, ...);
void rt_use_fp(int); void mutex_lock(void *); void *__kmalloc(unsigned long, int);
int rtf_create(unsigned int, int); int rtf_put(unsigned int, const void *, int);
static RT_TASK task; static struct rt_timer timer; volatile double number; volatile int count;
#define noinline __attribute__((noinline))
"""
INIT = "int start(void) { return rt_task_init(&task, body, 0, 4096, 1); }\n"
GOOD = "static void body(int n) { do rt_printk(\"tick\"); while (!rt_task_wait()); }\n" + INIT
# name: (source, what is said of it)
BAD = {
    "printk": ("static void body(int n) { do _printk(\"x\"); while (!rt_task_wait()); }\n" + INIT,
               "calls _printk()"),
    "unlikely": ("__attribute__((section(\".text.unlikely\"))) static void body(int n)\n"
                 "{ do _printk(\"x\"); while (!rt_task_wait()); }\n" + INIT, "calls _printk()"),
    "deeper": ("static noinline void *more(int n) { return __kmalloc(n, 0); }\n"
               "static noinline int less(int n) { return more(n) != 0; }\n"
               "static void body(int n) { while (less(n)) rt_task_wait(); }\n" + INIT,
               "calls __kmalloc()"),
    "ours": ("static void body(int n) { rt_task_init(&task, body, 0, n, 1); rt_task_wait(); }\n"
             + INIT, "calls rt_task_init()"),
    "fp": ("static void body(int n) { do number = number * n; while (!rt_task_wait()); }\n" + INIT,
           "uses floating point"),
    "stack": ("static noinline void use(volatile char *p) { p[0] = 1; }\n"
              "static void body(int n) { char big[8000]; use(big); rt_task_wait(); use(big); }\n"
              + INIT, "bytes of stack"),
    "endless": ("static noinline int down(volatile int n) { int m = n ? down(n - 1) : 0; "
                "count += m; return m + n; }\n"
                "static void body(int n) { do down(n); while (!rt_task_wait()); }\n" + INIT,
                "has no bound"),
    "handler": ("static void irq(void) { mutex_lock(&task); rt_task_wait(); }\n"
                "int start(void) { return request_RTirq(7, irq); }\n", "calls mutex_lock()"),
    "timer": ("static void due(struct rt_timer *t) { mutex_lock(&task); rt_timer_start(t, 5); }\n"
              "int start(void) { timer.fn = due; return rt_timer_start(&timer, 9); }\n",
              "calls mutex_lock()"),
    "static timer": ("static void due(struct rt_timer *t) { mutex_lock(&task); count++; }\n"
                     "static struct rt_timer other = { .fn = due };\n"
                     "int start(void) { return rt_timer_start(&other, 9); }\n",
                     "calls mutex_lock()"),
}


def build(folder: Path, source: str) -> Path:
    (folder / "m.c").write_text(HEAD + source)
    subprocess.run(["gcc", "-c", "-O2", "-mcmodel=kernel", "-mno-red-zone", "-fno-pic", "-fno-pie",
                    "-fno-stack-protector", "-fno-optimize-sibling-calls",
                    "-fno-asynchronous-unwind-tables", "-o", "m.ko", "m.c"], cwd=folder, check=True)
    return folder / "m.ko"


def test_a_good_module(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", str(build(tmp_path, GOOD))]) == 0
    said = capsys.readouterr().out
    assert "body (rt_task_init) needs" in said and said.endswith("fine\n")


@pytest.mark.parametrize("name", BAD)
def test_a_bad_module(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, sentence = BAD[name]
    module = build(tmp_path, source)
    assert cli.main(["check", "--json", str(module)]) == 5
    (told,) = json.loads(capsys.readouterr().out)
    assert any(sentence in complaint["text"] for complaint in told["complaints"]), told
    assert cli.main(["check", str(module)]) == 5
    assert sentence in capsys.readouterr().out


def test_fp_by_one_who_says_so(tmp_path: Path) -> None:
    source = BAD["fp"][0].replace("do number", "rt_use_fp(1); do number")
    assert cli.main(["check", str(build(tmp_path, source))]) == 0


def test_linux_code_may_call_linux(tmp_path: Path) -> None:
    more = "int other(void) { return _printk(\"x\"); }"
    assert cli.main(["check", str(build(tmp_path, GOOD + more))]) == 0


def test_the_way_to_a_call_is_told(tmp_path: Path) -> None:
    report = modcheck.check(build(tmp_path, BAD["deeper"][0]), [])
    (complaint,) = report.complaints
    assert complaint.path == ("body", "less", "more", "__kmalloc")
    assert "init" in complaint.mend


def test_without_rt_code(tmp_path: Path, machine: FakeMachine,
                         capsys: pytest.CaptureFixture[str]) -> None:
    module = build(tmp_path, "int other(int n) { return _printk(\"x\") + n; }")
    assert cli.main(["check", str(module)]) == 5
    assert "no RT code was found" in capsys.readouterr().out
    assert cli.main(["check", "--rt", "other", str(module)]) == 5
    assert "calls _printk()" in capsys.readouterr().out
    assert cli.main(["check", "--rt", "nothing", str(module)], machine) == 2
    assert cli.main(["check", str(tmp_path / "absent.ko")], machine) == 1
    (tmp_path / "text.ko").write_text("no module")
    assert cli.main(["check", str(tmp_path / "text.ko")], machine) == 1


def test_the_list_is_the_headers() -> None:
    """Each function of the headers is on the list, as one for RT code if its context says so."""
    found: dict[str, bool] = {}
    for path in sorted((TOP / "kernel/include/rt").glob("*.h")):
        for doc, name in re.findall(r"/\*\*((?:(?!\*/).)*)\*/\n"
                                    r"(?:\w[^;{=]*?[ *])?(\w+)\([^;{]*\)[^;{]*;",
                                    path.read_text(), re.DOTALL):
            context = re.search(r"Context: ([^.\n]*)", doc)
            if context and not name.startswith("rt_sched") and not name.startswith("rt_rq"):
                found[name] = not context[1].startswith("Linux process")
    assert {name: may for name, may in found.items() if modcheck.OURS.get(name) is not may} == {}
    assert len(found) > 40
