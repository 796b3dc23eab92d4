# SPDX-License-Identifier: GPL-2.0-only
"""A trial's events against the rules of BIDS (1.10, "Tabular files" and "Events"), each by itself.

Every rule comes with an edit that breaks it, which the rule must find.
"""
from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from fake_tap import MS, FakeLoop
from tactus.tap.companion import write_files
from tactus.tap.records import FLAG_OUT, NO_SOURCE, Kind, Record
from tactus.tap.trial import About, Trial

ABOUT = About("sync", 3, 1, 1_750_000_000_000_000_000, "6.1.0-fake", "pipeline", "wire",
              "MSPB 500\n", {"MSPB": 500, "TITLE": "Sync and go on"}, subject="01",
              session="late", software="0.1.0")
NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?")
NAME = re.compile(r"sub-[0-9a-zA-Z]+(_ses-[0-9a-zA-Z]+)?_task-[0-9a-zA-Z]+_run-\d+_events\.tsv")
# What BIDS lets a column's description say, and what it lets a sidecar of events say of the whole.
DESCRIPTION = {"LongName", "Description", "Levels", "Units", "Delimiter", "TermURL", "HED",
               "Maximum", "Minimum", "Format"}
WHOLE = {"StimulusPresentation", "TaskName", "TaskDescription", "Tap"}  # Tap: ours


@dataclass(frozen=True)
class Events:
    """The two files as they are on the disk."""

    tsv: bytes
    told: Any
    name: str = "sub-01_ses-late_task-sync_run-03_events.tsv"
    sidecar: str = "sub-01_ses-late_task-sync_run-03_events.json"

    @property
    def lines(self) -> list[list[str]]:
        return [line.split("\t") for line in self.tsv.decode().removesuffix("\n").split("\n")]

    def column(self, name: str) -> list[str]:
        at = self.lines[0].index(name)
        return [line[at] for line in self.lines[1:]]

    def edited(self, old: str, new: str) -> Events:
        """With `old`, of a regular expression, made `new` once."""
        text, count = re.subn(old, new, self.tsv.decode(), count=1)
        assert count == 1
        return replace(self, tsv=text.encode())

    def told_otherwise(self, **more: Any) -> Events:
        return replace(self, told=self.told | more)

    def without(self, name: str) -> Events:
        return replace(self, told={key: value for key, value in self.told.items() if key != name})


def odd(kind: Kind, message: bytes, flags: int = FLAG_OUT) -> Record:
    return Record(0, NO_SOURCE, 5 * MS, 5 * MS, 5 * MS, 1, 1, 0, 0, kind, flags, len(message),
                  message.ljust(3, b"\0"))


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Events:
    """Of a trial that also has a note without an end, a wheel, a clock and a trigger."""
    records = FakeLoop(taps=40).records()
    records[20:20] = [odd(Kind.MASKING, b"\x91\x50\x40"), odd(Kind.THROUGH, b"\xe0\x05\x06"),
                      odd(Kind.THROUGH, b"\xf8"), odd(Kind.TRIGGERED, b"", 0)]
    trial = Trial(ABOUT)
    for number, record in enumerate(records):
        trial.add(record._replace(sequence=number))
    written = write_files(trial, tmp_path_factory.mktemp("out"), {})
    return Events(written["events"].read_bytes(), json.loads(written["sidecar"].read_text()),
                  written["events"].name, written["sidecar"].name)


def described(events: Events) -> dict[str, Any]:
    return {name: told for name, told in events.told.items() if name not in WHOLE}


def task_label(events: Events) -> str:
    return re.sub(r"[^0-9a-zA-Z+]", "", events.told.get("TaskName", ""))


def is_seconds(events: Events) -> bool:
    """The columns that are times, ours too, count in s; nothing else has a unit."""
    times = {"onset", "duration", "scheduled", "lateness", "wire"}
    return {name: told.get("Units") for name, told in described(events).items()} == {
        name: "s" if name in times else None for name in events.lines[0]}


def has_levels(events: Events) -> bool:
    """What a column of categories holds is one of those explained, or n/a."""
    return all(set(events.column(name)) <= {*told["Levels"], "n/a"}
               for name, told in described(events).items()
               if "Levels" in told and name in events.lines[0])


def is_numbers(events: Events) -> bool:
    """What has no categories is a number, with a dot, or n/a."""
    return all(cell == "n/a" or NUMBER.fullmatch(cell)
               for name in events.lines[0] if "Levels" not in events.told.get(name, {})
               for cell in events.column(name))


# A rule, and what breaks it.
RULES: dict[str, tuple[Callable[[Events], bool], Callable[[Events], Events]]] = {
    "rows have a cell for each column": (
        lambda e: {len(line) for line in e.lines} == {len(e.lines[0])},
        lambda e: e.edited(r"\tn/a\n", "\n")),
    "tabs are all that separates": (
        lambda e: not any(sign in e.tsv for sign in (b" ", b"\r", b'"', b",")),
        lambda e: e.edited(r"\tn/a", " n/a")),
    "columns have names, in snake case, once each": (
        lambda e: (len(set(e.lines[0])) == len(e.lines[0])
                   and all(re.fullmatch("[a-z][a-z0-9_]*", name) for name in e.lines[0])),
        lambda e: e.edited("lateness", "onset")),
    "onset comes first and duration second": (
        lambda e: e.lines[0][:2] == ["onset", "duration"],
        lambda e: e.edited("onset\tduration", "duration\tonset")),
    "what is missing is n/a": (
        lambda e: not {cell.lower() for line in e.lines for cell in line} & {
            "", "na", "nan", "none", "null", "-"},
        lambda e: e.edited("n/a", "NA")),
    "numbers are numbers": (is_numbers, lambda e: e.edited(r"\n(\d+)\.", r"\n\1,")),
    "an onset is a number": (
        lambda e: all(NUMBER.fullmatch(cell) for cell in e.column("onset")),
        lambda e: e.edited(r"\n[\d.]+", "\nn/a")),
    "a duration is none, or 0 or more": (
        lambda e: all(cell == "n/a" or float(cell) >= 0 for cell in e.column("duration")),
        lambda e: e.edited("\t0.05", "\t-0.05")),
    "onsets are in order": (
        lambda e: (onsets := [float(cell) for cell in e.column("onset")]) == sorted(onsets),
        lambda e: e.edited(r"\n([\d.]+)", "\n999")),
    "the sidecar has the name of its table": (
        lambda e: e.sidecar == e.name.removesuffix(".tsv") + ".json",
        lambda e: replace(e, sidecar="events.json")),
    "the name has its parts in order": (
        lambda e: NAME.fullmatch(e.name) is not None,
        lambda e: replace(e, name="task-sync_sub-01_run-03_events.tsv")),
    "the task's label is its name": (
        lambda e: f"_task-{task_label(e)}_" in e.name, lambda e: e.without("TaskName")),
    "every column is described, and nothing else": (
        lambda e: set(described(e)) == set(e.lines[0]) and all(
            told.get("Description") for told in described(e).values()),
        lambda e: e.without("wire")),
    "descriptions say what BIDS knows": (
        lambda e: all(set(told) <= DESCRIPTION for told in described(e).values()),
        lambda e: e.told_otherwise(note={"Description": "x", "unit": "1"})),
    "times are in seconds": (
        is_seconds, lambda e: e.told_otherwise(onset={"Description": "x", "Units": "ms"})),
    "categories are explained": (
        has_levels, lambda e: e.told_otherwise(direction={"Description": "x", "Levels": {}})),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule(name: str, events: Events) -> None:
    keeps, breaks = RULES[name]
    assert keeps(events)
    assert not keeps(breaks(events))


def test_the_trial_has_what_rules_are_about(events: Events) -> None:
    for name in events.lines[0][1:]:
        assert "n/a" in events.column(name) or name in ("trial_type", "value", "sequence"), name
    assert set(events.column("trial_type")) == {
        "keystroke", "feedback", "metronome", "masking", "through", "triggered"}
    assert events.told["TaskDescription"] == "Sync and go on"

