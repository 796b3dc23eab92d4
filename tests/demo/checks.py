# SPDX-License-Identifier: GPL-2.0-only
"""What the demo promises, as a list of checks that can each fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drawings import CONDITIONS, NAMES, TWINS, show_ns
from measure.lateness import Lateness
from playing import MAX_DEVIATION_NS, Played
from twins import TONE_HZ, Twin

LATEST_NS = {"tick": 1_000, "task": 2_000}
"""What an RT release may be late, by kind, whatever Linux does."""

HOSTILE_NS = 10_000_000
"""An hrtimer must be at least this late in the third condition, or that was not hostile."""

UNSTEADY_NS = 1_000_000
"""A program's half-wave must be at least so far off under load, or that was no load."""


@dataclass(frozen=True)
class Check:
    """One promise, and whether it was kept."""

    name: str
    passed: bool
    detail: str


def _lateness(result: Lateness) -> Check:
    kind, condition = result.case.kind, result.case.condition
    name = f"{NAMES[kind]}, {CONDITIONS[condition]}"
    if kind not in LATEST_NS:
        passed = condition != "irqoff" or result.max_ns >= HOSTILE_NS
        wanted = f" (at least {show_ns(HOSTILE_NS)} wanted)" if condition == "irqoff" else ""
        return Check(name, passed, f"up to {show_ns(result.max_ns)} late{wanted}")
    limit = LATEST_NS[kind]
    exact = result.releases == result.expected and not result.skipped
    detail = (
        f"{result.releases} of {result.expected} releases, at most {show_ns(result.max_ns)} late "
        f"(limit {show_ns(limit)})"
    )
    return Check(name, exact and result.max_ns <= limit, detail)


def _played(result: Played) -> Check:
    name = f"Speaker, {CONDITIONS[result.condition]}"
    problems = result.problems()
    if problems:
        return Check(name, False, "; ".join(problems))
    assert result.play
    worst = result.play.worst_deviation_ns()
    return Check(
        name, True,
        f"{len(result.sound)} bits right, none missing; intervals 122.07 us within "
        f"{show_ns(worst)} (limit {show_ns(MAX_DEVIATION_NS)})",
    )


def _twin(key: str, twin: Twin | None) -> Check:
    name = f"Tone, {TWINS[key][0]}"
    if twin is None:
        return Check(name, False, "not played")
    worst = twin.worst_half_off_ns()
    found = f"half-waves of {5e8 / TONE_HZ / 1e3:.4g} us, off by up to {show_ns(worst)}"
    if key == "naive load":
        wanted = f"{found} (at least {show_ns(UNSTEADY_NS)} wanted)"
        return Check(name, worst >= UNSTEADY_NS, wanted)
    problems = twin.problems()
    limit = f"{found} (limit {show_ns(MAX_DEVIATION_NS)})"
    return Check(name, not problems and worst <= MAX_DEVIATION_NS, "; ".join([*problems, limit]))


def judge(
    lateness: Mapping[tuple[str, str], Lateness], played: Mapping[str, Played],
    twins: Mapping[str, Twin],
) -> list[Check]:
    """All checks, in the order of the report; a measurement that is missing is a failed check."""
    checks = []
    for kind, kind_name in NAMES.items():
        for condition, condition_name in CONDITIONS.items():
            result = lateness.get((kind, condition))
            missing = Check(f"{kind_name}, {condition_name}", False, "not measured")
            checks.append(_lateness(result) if result else missing)
    for condition, condition_name in CONDITIONS.items():
        play = played.get(condition)
        missing = Check(f"Speaker, {condition_name}", False, "not played")
        checks.append(_played(play) if play else missing)
    checks += [_twin(key, twins.get(key)) for key in ("naive load", "driver load")]
    return checks
