# SPDX-License-Identifier: GPL-2.0-only
"""Notes when each long test ran last, and how it ended: for the list in docs/testing.md.

`make test` leaves those tests out, so nothing else would tell. With `--note-runs`, which `make
test-long` says, a run notes those of its tests that are marked long, and writes the list anew.
"""
from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

NOTED = Path(__file__).with_name("lastrun.json")
PAGE = Path(__file__).parents[3] / "docs/testing.md"
BEGIN, END = "<!-- last runs -->\n", "<!-- end -->"
NEVER = "not since the list was begun"

Noted = dict[str, str]
"""How each ended, by its name: "2026-11-23 passed", or NEVER."""


def load() -> Noted:
    """What is committed."""
    found: Noted = json.loads(NOTED.read_text(encoding="utf-8"))
    return found


def merged(known: Noted, collected: list[str], ended: Noted) -> Noted:
    """`known` with what has `ended`. Tests that were `collected` are new if nobody knew them; with
    none collected, as in a part of the tests, nothing is dropped."""
    return dict(sorted({**dict.fromkeys(collected, NEVER), **known, **ended}.items()))


def rows(noted: Noted) -> str:
    """The list: a line for each function, its variants together."""
    functions: dict[str, list[str]] = {}
    for name, how in noted.items():
        functions.setdefault(name.partition("[")[0], []).append(how)
    lines = ["| Test | Variants | Last run |", "|---|---:|---|"]
    for name, hows in functions.items():
        file, _, function = name.partition("::")
        said = ", ".join(f"{how} ({hows.count(how)})" if len(set(hows)) > 1 else how
                         for how in sorted(set(hows)))
        lines.append(f"| `{file}`: `{function}` | {len(hows)} | {said} |")
    return "\n".join(lines) + "\n"


def written(page: str, noted: Noted) -> str:
    """The page with the list."""
    before, mark, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise ValueError("the page has no place for the last runs")
    return f"{before}{BEGIN}{rows(noted)}{END}{after}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("long tests").addoption(
        "--note-runs", action="store_true",
        help="note in docs/testing.md how the long tests of this run ended")


class Notes:
    """On the side that collects all reports."""

    def __init__(self) -> None:
        self.ended: Noted = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if "long" not in report.keywords or report.skipped:
            return
        if report.when == "call" or report.failed:
            today = datetime.now(UTC).strftime("%Y-%m-%d")
            self.ended[report.nodeid] = f"{today} {'failed' if report.failed else 'passed'}"

    def pytest_sessionfinish(self) -> None:
        if self.ended:
            noted = merged(load(), [], self.ended)
            NOTED.write_text(json.dumps(noted, indent=1) + "\n", encoding="utf-8")
            PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), noted), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--note-runs") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Notes(), "last-runs")
