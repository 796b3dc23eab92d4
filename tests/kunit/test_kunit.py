# SPDX-License-Identifier: GPL-2.0-only
"""`tests/kunit/run`: the suites pass, and a suite that should fail does."""
from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import guest
from harness import ownkernel
from harness.fixtures import have

HERE = Path(__file__).resolve().parent

SUITE = """// SPDX-License-Identifier: GPL-2.0-only
#include <kunit/test.h>
#include <linux/delay.h>
static void only(struct kunit *test) {{ {body} }}
static struct kunit_case cases[] = {{ KUNIT_CASE(only), {{}} }};
static struct kunit_suite suite = {{ .name = "{name}", .test_cases = cases }};
kunit_test_suite(suite);
MODULE_LICENSE("GPL");
"""


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([HERE / "run", *words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "words"), [
    ("debug", ["--no-leaks"]),
    pytest.param("debug", [], marks=pytest.mark.long),
    pytest.param("plain", [], marks=pytest.mark.long),
    pytest.param("kcsan", [], marks=pytest.mark.long)],
    ids=["debug", "debug with leaks", "plain", "kcsan"])
def test_suites_pass(kernel: str, words: list[str]) -> None:
    """The kernel is built first if need be, which takes some ten minutes, once: one is enough for
    every day."""
    have(kernel)
    done = run("--kernel", kernel, "--together", *words)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("name", "body", "complaint"), [
    pytest.param("wrong", "KUNIT_EXPECT_EQ(test, 1, 2);", "kunit.py found a failure",
                 marks=pytest.mark.long),
    pytest.param("warns", "WARN_ON(1);", "in the log: WARNING:", marks=pytest.mark.long),
    ("dies", "*(volatile int *)8 = 0;", "BUG: kernel NULL pointer"),
])
def test_a_bad_suite_fails(tmp_path: Path, name: str, body: str, complaint: str) -> None:
    (tmp_path / f"{name}_kunit.c").write_text(SUITE.format(name=name, body=body))
    have("debug")
    done = run("--kernel", "debug", "--no-leaks", "--dir", tmp_path)
    assert done.returncode == 1, done.stdout
    assert complaint in done.stdout


def test_unknown_suite_is_refused() -> None:
    done = run("--suite", "no_such")
    assert done.returncode == 2
    assert "no such suite: no_such" in done.stdout


def test_a_symbol_that_got_lost_is_seen() -> None:
    asked = "CONFIG_KASAN=y\n# CONFIG_PARAVIRT is not set\nCONFIG_SMP=y\n"
    final = "CONFIG_SMP=y\nCONFIG_PARAVIRT=y\n# CONFIG_KASAN is not set\n"
    assert ownkernel.missing_symbols(asked, final) == [
        "CONFIG_KASAN=y (is n)", "CONFIG_PARAVIRT=n (is y)"]
    assert ownkernel.missing_symbols(asked, asked) == []


def test_console_is_cut_at_the_marks() -> None:
    console = ("[    0.1] Linux\r\n[    1.5] tactus-guest: begin\n[    1.6]     ok 1 adds\n"
               "[    1.7][   T33] ok 1 - pure\n[    1.8] tactus-guest: end 3\n[    1.9] bye\n")
    assert guest.between_marks(console) == (["    ok 1 adds", "ok 1 - pure"], 3)
    assert guest.between_marks("[    0.1] tactus-guest: begin\n[    0.2] x\n") == (["x"], None)


def test_races_of_linux_alone_are_let_pass() -> None:
    races = ["BUG: KCSAN: data-race in __hrtimer_run_queues / hrtimer_active",
             "BUG: KCSAN: data-race in ring_put [ring_kunit] / ring_get [ring_kunit]"]
    assert guest.Boot([*races, "ok 1 - ring"], 0, False).splats == races[1:]
