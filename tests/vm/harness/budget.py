# SPDX-License-Identifier: GPL-2.0-only
"""Tells what each test took, and fails a run that took more than its budget.

Counted is time of the host's CPUs, guests, builds and compilers included: the wall's clock of a
shared machine says more about its other users. `--cpu-budget S` sets the limit; what is made once
for all runs to come, as a kernel is, does not count against it. Each test's share goes into the
closing table, and with `--cpu-times FILE` all of them into a file.

A run with a budget also notes in the cache what each file took, and the next one begins with those
that take longest: else one worker is still at such a file when the other has nothing left. A first
run begins with those that have the most tests marked slow.
"""
from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from .bench.common import FIRST_USES, cache_dir, used_s

SHOWN = 25
KEY = "cpu_s"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("budget")
    group.addoption("--cpu-budget", type=float, default=0.0, metavar="S",
                    help="fail when all tests together took more seconds of CPU time")
    group.addoption("--cpu-times", type=Path, metavar="FILE",
                    help="write what each test took, in seconds of CPU time, as each ends")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, object, None]:
    """Each phase has what was used since the last one, shared fixtures with the first that asks."""
    report = (yield).get_result()  # type: ignore[attr-defined]
    now = used_s()
    report.user_properties.append((KEY, now - getattr(item.config, "_cpu_then", 0.0)))
    item.config._cpu_then = now  # type: ignore[attr-defined]


def noted() -> Path:
    """What each file took, by its name."""
    return cache_dir() / "cpu-times.json"


def longest_first(names: list[str], took: dict[str, float]) -> list[int]:
    """The order of tests by what their files took; new files come first, each file's tests stay
    together as they are."""
    def cost(number: int) -> float:
        return -took.get(names[number].partition("::")[0], float("inf"))
    return sorted(range(len(names)), key=cost)


def guessed(items: list[pytest.Item]) -> dict[str, float]:
    """How the files compare where nothing has been noted: by their tests that are marked slow."""
    guess: dict[str, float] = {}
    for item in items:
        file = item.nodeid.partition("::")[0]
        guess[file] = guess.get(file, 0.0) + (item.get_closest_marker("slow") is not None)
    return guess


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """All workers have the order that the controller has read."""
    took = getattr(config, "workerinput", {}).get("took")
    if took is not None:
        items[:] = [items[number] for number in
                    longest_first([item.nodeid for item in items], took or guessed(items))]


class Table:
    """On the side that collects all reports."""

    def __init__(self, config: pytest.Config) -> None:
        self.budget_s: float = config.getoption("--cpu-budget")
        self.file: Path | None = config.getoption("--cpu-times")
        self.took: dict[str, float] = {}
        self.before: dict[str, float] = {}
        self.scratch = tempfile.TemporaryDirectory(prefix="first-uses-")
        # Workers, and all that tests start, have it from here.
        os.environ[FIRST_USES] = f"{self.scratch.name}/all"
        if self.file:
            self.file.write_text("")
        if self.budget_s:
            with contextlib.suppress(OSError, ValueError):
                self.before = json.loads(noted().read_text(encoding="utf-8"))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["took"] = self.before

    def note(self) -> None:
        """For the next run's order; of files that ran now, and of others what is known."""
        files: dict[str, float] = {}
        for name, spent in self.took.items():
            file = name.partition("::")[0]
            files[file] = round(files.get(file, 0.0) + spent, 1)
        fresh = noted().with_name(f".{noted().name}.{os.getpid()}")
        fresh.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(json.dumps(self.before | files, indent=1) + "\n", encoding="utf-8")
        fresh.replace(noted())

    @property
    def total_s(self) -> float:
        return sum(self.took.values())

    def first_uses(self) -> list[tuple[float, str]]:
        """What was made for good, and the CPU time that it took."""
        try:
            lines = Path(os.environ[FIRST_USES]).read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        return [(float(spent), what) for spent, what in (line.split(" ", 1) for line in lines)]

    @property
    def counted_s(self) -> float:
        return self.total_s - sum(spent for spent, _ in self.first_uses())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        spent = dict(report.user_properties).get(KEY, 0.0)
        self.took[report.nodeid] = self.took.get(report.nodeid, 0.0) + float(spent)  # type: ignore
        if self.file and report.when == "teardown":
            with self.file.open("a") as out:
                out.write(f"{self.took[report.nodeid]:.1f} {report.nodeid}\n")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.budget_s:
            self.note()
        if self.budget_s and self.counted_s > self.budget_s and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        most = sorted(self.took.items(), key=lambda pair: -pair[1])[:SHOWN]
        terminalreporter.section("CPU time")
        for name, spent in most:
            if spent >= 1:
                terminalreporter.write_line(f"{spent:7.1f} s  {name}")
        for spent, what in sorted(self.first_uses(), reverse=True):
            terminalreporter.write_line(f"{spent:7.1f} s  for good: {what}")
        terminalreporter.write_line(f"{self.total_s:7.1f} s in all")
        if self.budget_s:
            terminalreporter.write_line(f"{self.counted_s:7.1f} s of {self.budget_s:.0f}, without"
                                        " what was made for good")
        if self.budget_s and self.counted_s > self.budget_s:
            terminalreporter.write_line("FAILED: the tests took more than their budget", red=True)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    config._cpu_then = used_s()  # type: ignore[attr-defined]
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Table(config), "cpu-times")
