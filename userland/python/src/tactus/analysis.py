# SPDX-License-Identifier: GPL-2.0-only
"""Asks the kernel's own arithmetic, built for the host (tools/analyze), about a set of tasks."""
from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tactus import hostprogram
from tactus.errors import ToolError, reason

PROGRAM = "tactus-analysis"
UNITS_NS = {"": 1, "ns": 1, "us": 1000, "ms": 10**6, "s": 10**9}
LONGEST_NS = 3600 * 10**9
MOST_TASKS = 256


@dataclass(frozen=True)
class Task:
    """One task; durations in ns."""

    name: str
    budget: int
    period: int
    deadline: int
    priority: int = 1
    phase: int = 0


@dataclass
class PolicyResult:
    """What one policy makes of the set; instants in ns."""

    verdict: str = ""
    """fits, utilisation, response, demand or undecided"""
    task: int | None = None
    figure: float = 0
    limit: float = 0
    runs: list[tuple[int, int, int]] = field(default_factory=list)
    misses: list[tuple[int, int, int]] = field(default_factory=list)
    jobs: dict[int, tuple[int, int]] = field(default_factory=dict)
    until: int = 0


@dataclass
class Analysis:
    """What the program said; shares are parts of 1."""

    utilisation: float = 0
    liu_layland: float = 0
    hyperbolic: bool = False
    hyperperiod: int = 0
    shares: list[float] = field(default_factory=list)
    responses: list[int] = field(default_factory=list)
    policies: dict[str, PolicyResult] = field(
        default_factory=lambda: {"rm": PolicyResult(), "edf": PolicyResult()})


def duration(value: object, where: str, least: int = 1) -> int:
    """ns of a whole number (ns) or of a text such as "1.5ms"."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([num]?s|)", str(value))
    if isinstance(value, bool) or not match:
        raise ToolError(f"{where}: {value!r} is no duration such as \"500us\" or 500000 (ns)")
    ns = round(float(match[1]) * UNITS_NS[match[2]])
    if not least <= ns <= LONGEST_NS:
        raise ToolError(f"{where}: {value!r} is not within {least} ns to an hour")
    return ns


def read_toml(path: Path) -> tuple[list[Task], float]:
    """The tasks of a file, and linux_share in per cent (5 if it does not say)."""
    try:
        content = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError) as problem:
        raise ToolError(f"{path} cannot be read: {reason(problem)}") from problem
    except tomllib.TOMLDecodeError as problem:
        raise ToolError(f"{path} is no TOML: {problem}") from problem
    share = content.pop("linux_share", 5)
    rows = content.pop("task", None)
    if content or not isinstance(rows, list) or not rows:
        raise ToolError(f"{path}: wants [[task]] tables, and linux_share; has "
                        f"{', '.join(content) or 'no task'}")
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share < 100:
        raise ToolError(f"{path}: linux_share is {share!r}, not a percentage below 100")
    return [_task(row, n, f"{path}: task {n + 1}") for n, row in enumerate(rows)], float(share)


def _task(row: dict[str, object], number: int, where: str) -> Task:
    known = {"name", "budget", "period", "deadline", "priority", "phase"}
    if unknown := set(row) - known:
        raise ToolError(f"{where}: {sorted(unknown)[0]} is unknown; of {', '.join(sorted(known))}")
    if missing := {"budget", "period"} - set(row):
        raise ToolError(f"{where}: {sorted(missing)[0]} is missing")
    period = duration(row["period"], f"{where}: period")
    priority = row.get("priority", number + 1)
    if not isinstance(priority, int) or not 1 <= priority <= 1_000_000:
        raise ToolError(f"{where}: priority is {priority!r}, not 1 to 1000000")
    return Task(
        name=str(row.get("name", f"task{number + 1}")), period=period, priority=priority,
        budget=duration(row["budget"], f"{where}: budget"),
        deadline=duration(row.get("deadline", period), f"{where}: deadline"),
        phase=duration(row.get("phase", 0), f"{where}: phase", least=0))


def find_program() -> str:
    """Where the arithmetic is: TACTUS_ANALYSIS, the tree (built if it must), or the PATH."""
    return hostprogram.find(PROGRAM, "TACTUS_ANALYSIS", "tools/analyze/analysis.c", "analysis")


def analyse(tasks: Sequence[Task], linux_share: float, until: int = 0) -> Analysis:
    """Bounds, response times, and the run of the set up to `until` (0: its hyperperiod)."""
    if len(tasks) > MOST_TASKS:
        raise ToolError(f"{len(tasks)} tasks are more than {MOST_TASKS}")
    lines = [f"share {linux_share:g}", f"until {until}"]
    lines += [f"task {t.budget} {t.period} {t.deadline} {t.priority} {t.phase}" for t in tasks]
    try:
        done = subprocess.run([find_program()], input="\n".join(lines) + "\n", text=True,
                              capture_output=True, check=False)
    except OSError as problem:
        raise ToolError(f"{PROGRAM} could not be run: {reason(problem)}") from problem
    if done.returncode:
        raise ToolError(f"{PROGRAM} did not take the set (status {done.returncode})")
    return parse(done.stdout)


def parse(text: str) -> Analysis:
    """Make sense of the program's lines."""
    result = Analysis()
    for line in text.splitlines():
        word, *rest = line.split()
        if word in ("utilisation", "liu_layland"):
            setattr(result, word, int(rest[0]) / 1e9)
        elif word == "hyperbolic":
            result.hyperbolic = rest[0] == "1"
        elif word == "hyperperiod":
            result.hyperperiod = int(rest[0])
        elif word == "share":
            result.shares.append(int(rest[1]) / 1e9)
        elif word == "response":
            result.responses.append(int(rest[1]))
        else:
            _policy_line(word, rest, result.policies[rest[0]])
    return result


def _policy_line(word: str, rest: list[str], policy: PolicyResult) -> None:
    if word == "verdict":
        scale = 1e9 if rest[1] in ("fits", "utilisation") else 1
        policy.verdict = rest[1]
        policy.task = int(rest[2]) if int(rest[2]) >= 0 else None
        policy.figure, policy.limit = int(rest[3]) / scale, int(rest[4]) / scale
        return
    numbers = [int(number) for number in rest[1:]]
    if word == "run":
        task, start, end = numbers
        if policy.runs and policy.runs[-1][0] == task and policy.runs[-1][2] == start:
            policy.runs[-1] = (task, policy.runs[-1][1], end)
        else:
            policy.runs.append((task, start, end))
    elif word == "miss":
        policy.misses.append((numbers[0], numbers[1], numbers[2]))
    elif word == "jobs":
        policy.jobs[numbers[0]] = (numbers[1], numbers[2])
    elif word == "ran":
        policy.until = numbers[0]
