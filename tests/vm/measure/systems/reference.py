# SPDX-License-Identifier: GPL-2.0-only
"""The committed references: a kernel's figures of one `make bench`, with the tools that they depend
on.

`make figures` takes new ones from out/bench and renders the kernels' pages from them; `make
bench-check` compares.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness import TOP

from .model import SYSTEMS, Figure
from .tables import TABLES

# The first is what a name without a kernel means.
PAGES = {"6.1": TOP / "docs/measuring.md", "6.12": TOP / "docs/measuring-6.12.md"}
BENCH = TOP / "out/bench"
GROWTH_PERCENT = 5
# Measurements of their own that the page has, too.
EXTRAS = ("field", "scale")
# What makes figures comparable: another one of these, and the comparison means nothing.
TOOLS = ("kernels", "compiler", "emulator", "seconds", "readings")
# Below this a step of the histogram or of one instruction would count as growth.
_LEAST_NS = 40
_LEAST_COUNT = 2


def _name(what: str, kernel: str) -> str:
    return what if kernel == next(iter(PAGES)) else f"{what}-{kernel}"


def file_of(kernel: str) -> Path:
    """Where the reference of a kernel is committed."""
    return TOP / f"tests/vm/measure/systems/{_name('reference', kernel)}.json"


def results_of(kernel: str) -> Path:
    """Where `make bench` keeps a kernel's figures."""
    return BENCH / f"{_name('results', kernel)}.json"


def report_of(kernel: str) -> Path:
    """The same as a page to look at."""
    return BENCH / f"{_name('report', kernel)}.html"


def load(kernel: str) -> dict[str, Any]:
    """What is committed; FileNotFoundError: nothing is."""
    found: dict[str, Any] = json.loads(file_of(kernel).read_text(encoding="utf-8"))
    return found


def merged(new: dict[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    """`new`, a part, with what `old` has beside it, if that was made with the same tools."""
    same = [name for name in TOOLS if name != "kernels"]
    if any(new[name] != old.get(name) for name in same) or any(
            old["kernels"].get(name, kernel) != kernel for name, kernel in new["kernels"].items()):
        return new
    fresh = {(one["table"], one["system"]) for one in new["figures"]}
    rest = [one for one in old["figures"] if (one["table"], one["system"]) not in fresh]
    order = {(table, system): place for place, (table, system) in enumerate(
        (table, system) for table in TABLES for system in SYSTEMS)}
    return {**new, "kernels": {**old["kernels"], **new["kernels"]},
            "counts": new["counts"] or old["counts"],
            "figures": sorted([*rest, *new["figures"]],
                              key=lambda one: order[one["table"], one["system"]])}


def incomplete(data: Mapping[str, Any]) -> str:
    """Why `data` is no reference: a table or a system is missing. "" if it is one."""
    have = {(one["table"], one["system"]) for one in data["figures"]}
    missing = [f"{table} on {system}" for table in TABLES for system in SYSTEMS
               if (table, system) not in have]
    missing += [] if data["counts"] else ["counts"]
    return f"without {', '.join(missing)}" if missing else ""


def save(data: Mapping[str, Any], kernel: str) -> None:
    """Commit what `make bench` found, without the histograms."""
    figures = [{name: value for name, value in one.items() if name != "histogram"}
               for one in data["figures"]]
    text = json.dumps({**data, "figures": None}, indent=1)
    lines = ",\n".join("  " + json.dumps(one) for one in figures)
    file_of(kernel).write_text(
        text.replace('"figures": null', f'"figures": [\n{lines}\n ]') + "\n", encoding="utf-8")


def _grew(new: float, old: float) -> bool:
    return new > old + max(abs(old) * GROWTH_PERCENT / 100, _LEAST_NS)


def complaints(data: Mapping[str, Any], known: Mapping[str, Any]) -> list[str]:
    """What is worse than the reference, of Tactus: the others are not ours to judge."""
    differ = [name for name in TOOLS if name != "kernels" and data[name] != known[name]]
    differ += [f"kernel of {name}" for name, kernel in data["kernels"].items()
               if known["kernels"].get(name) != kernel]
    if differ:
        return ["the reference was made with other tools and cannot be compared: "
                f"{', '.join(differ)}; `make figures` makes a new one"]
    old = {one.key: one for one in figures_of(known)}
    found: list[str] = []
    for one in figures_of(data):
        if one.system != "tactus":
            continue
        before = old.get(one.key)
        if before is None:
            found.append(f"{one.key}: not in the reference")
            continue
        if _grew(one.max, before.max):
            found.append(f"{one.key}: max {one.max} ns, {before.max} in the reference")
        if _grew(-one.min, -before.min):
            found.append(f"{one.key}: min {one.min} ns, {before.min} in the reference")
        if one.missed > before.missed:
            found.append(f"{one.key}: missed {one.missed}, {before.missed} in the reference")
    for what, numbers in data["counts"].items():
        for name, count in numbers.items():
            at_most = known["counts"].get(what, {}).get(name, 0)
            if count > at_most * (1 + GROWTH_PERCENT / 100) + _LEAST_COUNT:
                found.append(f"{what}, {name}: {count}, {at_most} in the reference")
    return found


def figures_of(data: Mapping[str, Any]) -> list[Figure]:
    """Those of results.json or of the reference."""
    return [Figure.from_dict({"histogram": (), **one}) for one in data["figures"]]
