# SPDX-License-Identifier: GPL-2.0-only
"""LTP's realtime tests: what is made of their output, and how a source tree is compiled; without
LTP and without a guest. The long test runs them, out of the tree that LTP_SOURCE names."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from measure import __main__ as runner
from measure import ltp
from measure.figures import MeasureError
from measure.ltp_build import build

HOW = ltp.How("-i 100")
MARK = "MEASURED LTP "
# As the programs print them.
ASYNC = """\
LTP version: 20260930
Min: {low} us
Max: {most} us
Avg: 11.2500 us
StdDev: 1.0000 us

Criteria: latencies < 100
Result: {word}
"""
MATRIX = """\
Min: 2300 us
Max: 2400 us
Avg: 2310.0000 us

Running concurrent operations
Min: 2290 us
Max: 2500 us
Avg: 2320.0000 us

Concurrent Multipliers:
Min: 1.0043
Max: 0.9600
Avg: 0.9957
Result: PASS
"""
PREEMPT = "Time between calls:\nMinimum: 8 \nMaximum: 18159 \nAverage: 9 \n"
PI_PERF = "Min delay = 3 us\nMax delay = 5 us\nAverage delay = 3.04 us\n"
HRTIMER = "Minimum: 3 us\nMaximum: 4 us\nCriteria: Maximum wakeup latency < 10 us\n"
TESTPI_7 = "High priority lock maximum delay: 12us\n"
LATE = (MARK + "late\nperiod_ns=1000000 start_ns=1 releases=321 expected=321 "
        "skipped={skipped} overruns={overruns} min_ns=1 avg_ns=50 max_ns={late} worst=7 sum_ns=9\n")


def printed(words: str = "PASS PASS PASS", statuses: str = "0 0 0", late: int = 300,
            skipped: int = 0, overruns: int = 0) -> str:
    """What a guest prints."""
    parts = [f"{MARK}{state}\r\n{ASYNC.format(low=11, most=12, word=word)}\n"
             f"{MARK}status {status}\r\n"
             for state, word, status in zip(ltp.STATES, words.split(), statuses.split(),
                                            strict=True)]
    return "".join(parts) + LATE.format(late=late, skipped=skipped, overruns=overruns)


def trouble(text: str, how: ltp.How = HOW) -> list[str]:
    return ltp.judge(*ltp.parse("async_handler", how, text))


def test_each_state_has_verdict_and_figures() -> None:
    ran, beside = ltp.parse("async_handler", HOW, printed())
    assert [one.state for one in ran] == ["off", "on", "task"]
    assert ran[0] == ltp.Ran("async_handler", "-i 100", 1, "off", "PASS", True, 0, "us", 11, 11.25,
                             12)
    assert beside == ltp.Beside("async_handler", 1, 321, 0, 300)
    assert "PASS, 11 / 11.25 / 12 us" in ltp.row(ran, beside)


def test_who_prints_no_verdict_has_a_status() -> None:
    ran, _ = ltp.parse("testpi-1", HOW, printed().replace("Result: ", ""))
    assert ltp.said(ran[0]) == "status 0, 11 / 11.25 / 12 us" and ran[0].verdict == "PASS"


@pytest.mark.parametrize(("text", "status", "expected"), [
    ("Result: PASS", 0, ("PASS", True)),
    ("Result: FAIL", 1, ("FAIL", True)),
    # Its twelve threads have a word each.
    ("Result: PASS\nResult: FAIL\nResult: PASS", 1, ("FAIL", True)),
    # testpi-5 and testpi-6, where they pass.
    ("\nResult:PASS\n", 1, ("PASS", True)),
    ("sched_football.c:180: TPASS: final_ball == 0", 0, ("PASS", True)),
    ("sched_football.c:180: TFAIL: final_ball == 0", 1, ("FAIL", True)),
    ("a.c:1: TBROK: needs root", 2, ("FAIL", True)),
    ("Prio inheritance support present", 0, ("PASS", False)),
    ("sched_setscheduler: denied", 1, ("FAIL", False)),
    ("Result: PASS", 139, ("FAIL", False)),
])
def test_a_verdict(text: str, status: int, expected: tuple[str, bool]) -> None:
    assert ltp.verdict(text, status) == expected


@pytest.mark.parametrize(("text", "unit", "expected"), [
    (ASYNC.format(low=11, most=12, word="PASS"), "us", {"min": 11, "avg": 11.25, "max": 12}),
    (MATRIX, "us", {"min": 2290, "avg": 2320, "max": 2500}),
    (PREEMPT, "", {"min": 8, "avg": 9, "max": 18159}),
    (PI_PERF, "us", {"min": 3, "avg": 3.04, "max": 5}),
    (HRTIMER, "us", {"min": 3, "max": 4}),
    (TESTPI_7, "us", {"max": 12}),
    ("delta = 31 us\n", "us", {"max": 31}),
    ("Done\n", "", {}),
])
def test_a_program_s_own_figures(text: str, unit: str, expected: dict[str, float]) -> None:
    assert ltp.own_figures(text) == (unit, expected)


def test_what_passes_natively_must_pass_with_tactus() -> None:
    assert not trouble(printed())
    assert trouble(printed("PASS FAIL PASS", "0 1 0")) == [
        "async_handler, Tactus loaded: it fails with status 1, and passes without Tactus"]
    assert len(trouble(printed("PASS FAIL FAIL", "0 1 1"))) == 2


def test_what_fails_natively_is_no_failure_of_tactus() -> None:
    assert not trouble(printed("FAIL FAIL PASS", "1 1 0"))


def test_the_rt_task_beside_a_program_is_on_time() -> None:
    assert trouble(printed(late=901)) == [
        "beside async_handler: 901 ns late, 0 missed; 900 ns allowed"]
    assert trouble(printed(skipped=1)) and trouble(printed(overruns=1))
    assert not trouble(printed(late=900))


def test_on_two_cpus_only_its_releases_count() -> None:
    two = ltp.How(cpus=2)
    assert not trouble(printed(late=1_900_000, overruns=5), two) and trouble(
        printed(skipped=1), two)
    ran, beside = ltp.parse("async_handler", two, printed())
    assert beside.max_ns is None and ltp.row(ran, beside).endswith(" -")
    assert "on 2 CPUs" in ltp.row(ran, beside)


@pytest.mark.parametrize(("gone", "said"), [
    (MARK + "status 0\r\n", "without Tactus: it did not run to its end"),
    (MARK + "task", "a 1 kHz RT task: it did not run to its end"),
    (MARK + "late", "beside async_handler"), ("max_ns=", "beside async_handler")])
def test_a_program_that_does_not_end_has_no_figure(gone: str, said: str) -> None:
    assert gone in printed()
    with pytest.raises(MeasureError, match=said):
        ltp.parse("async_handler", HOW, printed().replace(gone, "gone ", 1))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A source tree with programs of the test's own, laid as LTP's."""
    files = {
        "include/rt.h": "int answer(void);\n",
        "lib/rt.c": '#include "rt.h"\nint answer(void) { return 42; }\n',
        "func/good/good.c": '#include <rt.h>\nint main(void) { return answer() != 42; }\n',
        "func/pi/skeleton.c": "int main(void) { return test(); }\n",
        "func/pi/two.c": 'int test(void) { return 0; }\n#include "skeleton.c"\n',
        "func/bad/bad.c": '#include "nowhere.h"\n',
        "func/bad/unlinked.c": "int nobodys(void);\nint main(void) { return nobodys(); }\n",
        "func/long/endless.c": "int main(void) { for (;;) ; }\n",
    }
    for name, text in files.items():
        file = tmp_path / "ltp/testcases/realtime" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "ltp"


def test_what_can_be_built_is_built(tree: Path, tmp_path: Path) -> None:
    made, left = build(tree, tmp_path, {"endless": "runs for ever", "gone": "is not there"})
    assert sorted(made) == ["good", "two"]
    assert [subprocess.run([program], check=False).returncode for program in made.values()] == [
        0, 0]
    assert sorted(left) == ["bad", "endless", "unlinked"] and left["endless"] == "runs for ever"
    assert "nowhere.h: No such file" in left["bad"] and "nobodys" in left["unlinked"]


def test_ltp_s_own_library_is_used_where_it_was_made(tree: Path, tmp_path: Path) -> None:
    (tree / "lib").mkdir()
    (tmp_path / "n.c").write_text("int nobodys(void) { return 0; }\n")
    subprocess.run(["gcc", "-c", "-o", tmp_path / "n.o", tmp_path / "n.c"], check=True)
    subprocess.run(["ar", "rc", tree / "lib/libltp.a", tmp_path / "n.o"], check=True)
    assert "unlinked" in build(tree, tmp_path, {}, ["unlinked"])[0]


def test_only_what_is_asked_for(tree: Path, tmp_path: Path) -> None:
    assert list(build(tree, tmp_path, {}, ["two"])[0]) == ["two"]
    with pytest.raises(MeasureError, match="no program three there; there are bad endless good"):
        build(tree, tmp_path, {}, ["three"])


def test_no_ltp_and_no_library(tree: Path, tmp_path: Path) -> None:
    with pytest.raises(MeasureError, match="is no source tree of LTP"):
        build(tmp_path / "none", tmp_path, {})
    (tree / "testcases/realtime/lib/rt.c").write_text("int answer(void) {\n")
    with pytest.raises(MeasureError, match=r"rt\.c: error: "):
        build(tree, tmp_path, {})


def test_no_source_is_a_failure_that_says_so(monkeypatch: pytest.MonkeyPatch,
                                             capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv(ltp.SOURCE, raising=False)
    assert runner.main(["ltp"]) == 1
    assert "--source DIR, or LTP_SOURCE" in capsys.readouterr().err


def test_all_leaves_it_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make bench-long` has no LTP."""
    made: list[str] = []
    monkeypatch.setattr(runner, "carry_out", lambda one, _: made.append(one.name) or [])
    assert runner.main(["all"]) == 0
    assert "ltp" not in made and "stress" in made


def test_in_a_guest_the_command_fails_for_what_tactus_breaks(
        tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A program of the test's own fails where Tactus is loaded: the control of the whole."""
    (tree / "testcases/realtime/func/good/good.c").write_text(
        '#include <stdio.h>\n#include <unistd.h>\n'
        'int main(void) { int bad = !access("/sys/kernel/tactus", F_OK); usleep(50000);'
        ' printf("Max: 3 us\\nResult: %s\\n", bad ? "FAIL" : "PASS"); return bad; }\n')
    assert runner.main(["ltp", "--source", str(tree), "--program", "good", "--json"]) == 1
    out, err = capsys.readouterr()
    assert "good, Tactus loaded: it fails with status 1, and passes without Tactus" in err
    figures = [json.loads(line) for line in out.splitlines()]
    assert [one.get("verdict") for one in figures] == ["PASS", "FAIL", "FAIL", None]
    assert figures[0]["max"] == 3 and figures[3]["releases"] > 40 and "late" not in err


@pytest.mark.long
def test_they_run_to_their_end() -> None:
    source = os.environ.get(ltp.SOURCE)
    if not source:
        pytest.skip(f"{ltp.SOURCE} names no source tree of LTP")
    assert runner.main(["ltp", "--source", source]) == 0
