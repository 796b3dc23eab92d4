# SPDX-License-Identifier: GPL-2.0-only
"""The tables of `make bench`: figures, report, reference, and the page made from it."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from measure import figures, scale
from measure.systems import __main__ as systems
from measure.systems import model, reference, report, runner
from measure.systems.model import SYSTEMS, Figure, Job
from measure.systems.tables import TABLES, Asked

PRINTED = """
JOB kernel
6.1.0-56
#1 SMP
JOB 0
FIGURE gap count=1000 missed=1 min=-70 max=2000000 sum=2001000 square=4000000010000
BIN -71 -69 2
BIN 0 1 997
BIN 1966080 2031616 1
LOAD jobs 4 5 6
JOB end
"""
JOB = Job("rtc", "64 Hz", "true", 1.0, 10, "jobs", 1_900_000)


def one_figure() -> Figure:
    return model.parse(PRINTED, "jitter", "tactus", [JOB])[1][0]


def some_results(**changes: Any) -> dict[str, Any]:
    one = dataclasses.replace(one_figure(), **changes).as_dict()
    kernels = {name: "6.1" for name in SYSTEMS}
    return {"kernels": kernels, "compiler": "gcc 12", "emulator": "QEMU 7", "seconds": 1,
            "readings": 5, "date": "2026-01-01", "counts": {"calls": {"switch": 100}},
            "figures": [one]}


def test_a_figure_is_what_the_guest_printed() -> None:
    one = one_figure()
    assert (one.count, one.missed, one.min, one.max, one.avg) == (1000, 1, -70, 2_000_000, 2001.0)
    assert one.p99_9 == 0 and one.rounds == (4, 5, 6) and one.over == 1
    assert one.near == (99.9, 99.9, 99.9, 99.9)
    assert one.sd == pytest.approx(63_214, rel=1e-3)
    assert Figure.from_dict(json.loads(json.dumps(one.as_dict()))) == one


@pytest.mark.parametrize(("old", "new"), [
    ("JOB end", ""), ("FIGURE gap", "FIGUR gap"), ("count=1000", "count=1001"), ("997", "996"),
])
def test_what_is_incomplete_is_no_figure(old: str, new: str) -> None:
    with pytest.raises(figures.MeasureError):
        model.parse(PRINTED.replace(old, new), "jitter", "tactus", [JOB])


@pytest.mark.parametrize("name", TABLES)
def test_every_table_has_a_form_and_a_plot(name: str) -> None:
    table, found = TABLES[name], []
    for system in SYSTEMS:
        for job in table.jobs(system, Asked()):
            found.append(dataclasses.replace(
                one_figure(), table=name, system=system, subject=job.subject, load=job.load,
                condition=job.condition))
    head, *rows = table.rows(found)
    assert rows and all(len(row) == len(head) for row in rows)
    assert len({one.key for one in found}) == len(found)
    page = report.page({**some_results(), "figures": [one.as_dict() for one in found]})
    assert table.title in page and "&lt;" not in page.split("<table>")[1]
    assert ("<svg" in page) == any(table.panels(one) for one in found)


@pytest.mark.parametrize(("changes", "words"), [
    ({}, None),
    ({"max": 2_090_000}, None),
    ({"max": 2_110_000}, "max 2110000 ns, 2000000 in the reference"),
    ({"min": -105}, None),
    ({"min": -120}, "min -120 ns, -70 in the reference"),
    ({"missed": 2}, "missed 2, 1 in the reference"),
    ({"condition": "65 Hz"}, "not in the reference"),
    ({"system": "stock", "max": 10**9}, None),
])
def test_growth_against_the_reference_is_a_complaint(changes: dict[str, Any],
                                                     words: str | None) -> None:
    found = reference.complaints(some_results(**changes), some_results())
    assert len(found) == (words is not None)
    assert words is None or words in found[0]


@pytest.mark.parametrize(("count", "grew"), [(100, False), (107, False), (108, True), (50, False)])
def test_a_count_that_grew_is_a_complaint(count: int, grew: bool) -> None:
    data = some_results() | {"counts": {"calls": {"switch": count}}}
    assert bool(reference.complaints(data, some_results())) == grew


@pytest.mark.parametrize("name", reference.TOOLS)
def test_other_tools_cannot_be_compared(name: str) -> None:
    other = some_results() | {name: {"tactus": "6.2"} if name == "kernels" else "other"}
    found = reference.complaints(other, some_results())
    assert len(found) == 1 and "cannot be compared" in found[0] and name[:6] in found[0]


def test_a_reference_keeps_no_histogram_and_comes_back(
        monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each kernel's in a file of its own."""
    monkeypatch.setattr(reference, "TOP", tmp_path)
    reference.file_of("6.1").parent.mkdir(parents=True)
    reference.save(some_results(), "6.1")
    text = reference.file_of("6.1").read_text()
    assert "histogram" not in text
    assert reference.figures_of(reference.load("6.1"))[0] == dataclasses.replace(
        one_figure(), histogram=())
    reference.save(some_results(max=7), "6.12")
    assert reference.file_of("6.1").read_text() == text
    assert reference.load("6.12")["figures"][0]["max"] == 7
    assert reference.incomplete(some_results())


def test_a_part_is_merged_with_what_the_same_tools_made() -> None:
    old, new = some_results(), some_results(system="stock")
    both = reference.merged(new, old)
    assert [one["system"] for one in both["figures"]] == ["stock", "tactus"]
    assert reference.merged(some_results(max=5), old)["figures"][0]["max"] == 5
    assert reference.merged(new | {"emulator": "QEMU 8"}, old)["figures"] == new["figures"]


@pytest.mark.parametrize("kernel", reference.PAGES)
def test_the_committed_reference_has_every_figure(kernel: str) -> None:
    known = reference.load(kernel)
    asked = Asked(known["seconds"], known["readings"])
    want = {f"{table.name}/{system}/{job.subject}/{job.condition}"
            for table in TABLES.values() for system in SYSTEMS for job in table.jobs(system, asked)}
    assert {one.key for one in reference.figures_of(known)} == want


@pytest.mark.parametrize("kernel", reference.PAGES)
def test_the_page_says_what_the_reference_has(kernel: str) -> None:
    page = reference.PAGES[kernel].read_text()
    assert report.docs(page, reference.load(kernel)) == page, "run make figures"
    for name in ("made with", "counts", *TABLES, *(reference.EXTRAS if kernel == "6.1" else ())):
        assert page.count(f"<!-- figures: {name} -->") == 1


def test_the_plot_shows_what_the_reference_has() -> None:
    rows = reference.load("6.1")["scale"]
    assert systems.PLOT.read_text() == scale.plot(rows).svg() + "\n", "run make figures"
    dearer = [row | {"release": row["release"] + 40} if "release" in row else row for row in rows]
    assert scale.plot(dearer).svg() != scale.plot(rows).svg()


def test_a_mark_without_an_end_is_an_error() -> None:
    with pytest.raises(ValueError, match="has no end"):
        report.fill("<!-- figures: gaps -->", lambda name: name)


@pytest.mark.long
def test_tactus_in_the_bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A short thesis table on stock and with Tactus: 20 ms late the one, below 2 us the other."""
    monkeypatch.setattr(runner, "TOP", tmp_path)
    monkeypatch.setattr(reference, "BENCH", tmp_path / "out/bench")
    options = argparse.Namespace(table=["thesis"], system=["stock", "tactus"], seconds=0.3,
                                 readings=1000, jobs=2, check=False, kernel="6.1")
    outcomes = list(runner.run(options))
    assert not [text for one in outcomes for text in one.trouble]
    data = json.loads((tmp_path / "out/bench/results.json").read_text())
    worst = {one.key.partition("/")[2]: one.max for one in reference.figures_of(data)}
    assert len(worst) == 12
    for subject in ("interrupt latency", "scheduling precision"):
        assert worst[f"stock/{subject}/irqoff"] > 15_000_000
        for condition in ("idle", "load", "irqoff"):
            assert 0 < worst[f"tactus/{subject}/{condition}"] < 2000
    assert "<svg" in (tmp_path / "out/bench/report.html").read_text()
