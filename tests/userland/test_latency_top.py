# SPDX-License-Identifier: GPL-2.0-only
"""`tactus latency` and `tactus top` on a folder that looks like /proc and /sys."""
from __future__ import annotations

import json

import pytest

from fakes import FakeMachine
from tactus import cli, lateness
from test_status import fill

SUMMARY = ("period_ns=1000000 start_ns=5 releases=1000 expected=1000 skipped=0 overruns=0 "
           "min_ns=600 avg_ns=640 max_ns=1432 worst=77 sum_ns=640000\n")
HISTOGRAM = "600 610 900\n700 710 99\n1430 1440 1\n"


@pytest.fixture
def measuring(machine: FakeMachine) -> FakeMachine:
    machine.write(f"{lateness.FOLDER}/summary", SUMMARY)
    machine.write(f"{lateness.FOLDER}/histogram", HISTOGRAM)
    machine.set_module("tactus")
    machine.set_module("rt_latency")
    return machine


def test_percentiles() -> None:
    reading = lateness.parse(SUMMARY, HISTOGRAM)
    assert (reading.percentile(50), reading.percentile(99), reading.percentile(99.9),
            reading.percentile(100)) == (610, 710, 710, 1432)
    assert reading.clean


def test_what_came_since() -> None:
    before = lateness.parse(SUMMARY, HISTOGRAM)
    after = lateness.parse(
        SUMMARY.replace("releases=1000", "releases=1010").replace("expected=1000", "expected=1011")
        .replace("skipped=0", "skipped=1").replace("sum_ns=640000", "sum_ns=647000"),
        HISTOGRAM.replace("700 710 99", "700 710 109"))
    new = after.since(before)
    assert (new.jobs, new.summary["min_ns"], new.summary["avg_ns"], new.summary["max_ns"],
            new.summary["skipped"]) == (10, 700, 700, 710, 1)
    assert not new.clean
    assert before.since(after) == before  # it was started anew


def test_formats() -> None:
    reading = lateness.parse(SUMMARY, HISTOGRAM)
    assert "0.600 900\n" in lateness.gnuplot(reading)
    assert lateness.cyclictest(reading).splitlines()[:3] == ["# Histogram", "000000 000999",
                                                             "000001 000001"]
    assert "# Max Latencies: 00001" in lateness.cyclictest(reading)
    text = lateness.bars(reading)
    assert sum(int(line.split()[2]) for line in text.splitlines()) == 1000
    assert lateness.bars(lateness.parse(SUMMARY, "")) == "no jobs yet\n"


def test_the_module_is_loaded_and_unloaded(machine: FakeMachine,
                                           capsys: pytest.CaptureFixture[str]) -> None:
    machine.write("/lib/modules/6.1.0-fake-amd64/updates/rt_latency.ko.xz", "")
    machine.write(f"{lateness.FOLDER}/summary", SUMMARY)
    machine.write(f"{lateness.FOLDER}/histogram", HISTOGRAM)
    assert cli.main(["latency", "--seconds", "0.1"], machine) == 3
    assert "tactus is not loaded" in capsys.readouterr().err
    machine.set_module("tactus")
    assert cli.main(["latency", "hist", "--seconds", "0.1", "--cpu", "1"], machine) == 0
    assert machine.ran == ["modprobe rt_latency period_us=1000 cpu=1 mode=task", "rmmod rt_latency"]
    assert "none missed; latest 1432 ns" in capsys.readouterr().out


def test_limits(measuring: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["latency", "--seconds", "0.1", "--max-us", "2"], measuring) == 0
    assert cli.main(["latency", "--seconds", "0.1", "--max-us", "1"], measuring) == 5
    assert "later than 1 us" in capsys.readouterr().out
    assert cli.main(["latency", "--seconds", "60", "--stop-on", "1"], measuring) == 5
    measuring.write(f"{lateness.FOLDER}/summary", SUMMARY.replace("overruns=0", "overruns=2"))
    assert cli.main(["latency", "--seconds", "0.1", "--max-us", "2"], measuring) == 5
    assert measuring.ran == []  # it was there before, so it stays


def test_latency_json(measuring: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["latency", "--seconds", "0.1", "--json", "--max-us", "5"], measuring) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["ok"] is True and said["max_ns"] == 1432 and said["p99_9_ns"] == 710


@pytest.mark.parametrize("words", (["--period-us", "1"], ["--seconds", "-1"]))
def test_bad_options(measuring: FakeMachine, words: list[str]) -> None:
    assert cli.main(["latency", *words], measuring) == 2


def test_top(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["top", "--count", "1"], machine) == 3
    fill(machine)
    machine.write("/sys/kernel/tactus/timing",
                  "name\tcpu\tpriority\tperiod_ns\tdeadline_ns\tbudget_ns\tmax_exec_ns\tmisses\n"
                  "metronome\t0\t1\t1000000\t1000000\t200000\t55\t0\n")
    capsys.readouterr()
    assert cli.main(["top", "--count", "1"], machine) == 0
    out = capsys.readouterr().out
    assert out.startswith("OK: 2 tasks, nothing missed, worst 0.41 us late\n")
    assert "metronome" in out and "200" in out and "\x1b" not in out
    machine.write("/sys/kernel/tactus/tasks", machine.path(
        "/sys/kernel/tactus/tasks").read_text().replace("3000\t0\t412", "3100\t2\t412"))
    assert cli.main(["top", "--count", "2", "--interval", "0.1", "--json"], machine) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 2 and lines[0]["verdict"].startswith("MISSED: metronome")
    assert cli.main(["top", "--interval", "0"], machine) == 2
