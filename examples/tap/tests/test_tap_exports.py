# SPDX-License-Identifier: GPL-2.0-only
"""The files of a trial, read again by others: csv, json, numpy, mido."""
from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import mido
import numpy as np
import pytest

from fake_tap import HELD_NS, LATE_NS, MS, FakeLoop
from tactus.recording import DATA, open_recording
from tactus.tap import exports
from tactus.tap.records import FLAG_OUT, MESSAGES, NO_SOURCE, Kind, Record
from tactus.tap.trial import About, Trial, TrialFile, read_trial

TOP = Path(__file__).resolve().parents[3]
ABOUT = About("sync", 3, 1, 1_750_000_000_000_000_000, "6.1.0-fake", "pipeline", "wire",
              "MSPB 500\nMETRON_ON 1\n", {"MSPB": 500, "METRON_ON": 1}, software="0.1.0")


def trial_of(records: list[Record], about: About = ABOUT) -> Trial:
    trial = Trial(about)
    for record in records:
        trial.add(record)
    return trial


@pytest.fixture(scope="module")
def trial() -> Trial:
    return trial_of(FakeLoop(taps=60, delays_ns=(0, 75 * MS, 275 * MS)).records())


def odd(number: int, ns: int, kind: Kind, message: bytes, source: int = NO_SOURCE) -> Record:
    return Record(number, source, ns, ns, ns, 1, 1, 0, 0, kind, FLAG_OUT, len(message),
                  message.ljust(3, b"\0"))


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter="\t"))


def test_events_tsv(trial: Trial) -> None:
    text = exports.events_tsv(trial)
    assert text.startswith("onset\tduration\ttrial_type\t")
    rows = rows_of(text)
    assert [row["trial_type"] for row in rows].count("keystroke") == 60
    assert [row["trial_type"] for row in rows].count("metronome") == 20
    assert [row["trial_type"] for row in rows].count("feedback") == 60
    assert all(None not in row and "" not in row.values() and "NA" not in row.values()
               for row in rows)
    onsets = [float(row["onset"]) for row in rows]
    assert onsets == sorted(onsets)
    by_sequence = {record.sequence: record for record in trial.records}
    for row in rows:
        record = by_sequence[int(row["sequence"])]
        # Every ns is there.
        assert round(float(row["onset"]) * 1e9) == record.actual_ns
        held = 50 * MS if row["trial_type"] == "metronome" else HELD_NS
        assert round(float(row["duration"]) * 1e9) == held
        if row["trial_type"] == "keystroke":
            assert (row["scheduled"], row["lateness"], row["source"]) == ("n/a",) * 3
        else:
            assert round(float(row["lateness"]) * 1e9) == LATE_NS
        if row["trial_type"] == "feedback":
            assert by_sequence[int(row["source"])].value == int(row["value"])
            assert (row["channel"], row["note"], row["velocity"]) == ("1", "67", "100")


def test_events_tsv_by_numpy(trial: Trial) -> None:
    table = np.genfromtxt(io.StringIO(exports.events_tsv(trial)), delimiter="\t", names=True,
                          dtype=None, encoding=None, missing_values="n/a")
    taps = table["onset"][table["trial_type"] == "keystroke"]
    assert len(taps) == 60 and 0.4 < np.mean(np.diff(taps)) < 0.6


def test_the_sidecar_explains_every_column(trial: Trial) -> None:
    told = json.loads(exports.sidecar(trial))
    columns = exports.events_tsv(trial).split("\n")[0].split("\t")
    assert all("Description" in told[column] for column in columns)
    assert told["onset"]["Units"] == told["duration"]["Units"] == "s"
    kinds = {row["trial_type"] for row in rows_of(exports.events_tsv(trial))}
    assert kinds <= set(told["trial_type"]["Levels"])
    assert told["Tap"]["source"] == ABOUT.source and told["Tap"]["ended_by"] == "END_EXP"


def test_text(trial: Trial) -> None:
    lines = exports.text(trial).splitlines()
    assert "# config: MSPB 500" in lines and "# ended by: END_EXP" in lines
    rows = rows_of("\n".join(line for line in lines if not line.startswith("#")))
    messages = trial.of(Kind.KEYSTROKE, Kind.FEEDBACK, Kind.METRONOME)
    assert [int(row["sequence"]) for row in rows] == [record.sequence for record in messages]
    for row, record in zip(rows, messages, strict=True):
        assert re.fullmatch(r"\d+\.\d{6}", row["time_ms"])
        assert round(float(row["time_ms"]) * 1e6) == record.actual_ns
        assert row["message"] == ("note_on" if record.pressed else "note_off")
        assert row["direction"] == ("in" if record.kind == Kind.KEYSTROKE else "out")
        assert (row["scheduled_ms"] == "NA") == (record.kind == Kind.KEYSTROKE)
        assert (row["source"] == "NA") == (record.kind == Kind.METRONOME)


def test_midi_by_mido(trial: Trial) -> None:
    """Each class a track, in order, at its time to half a tick."""
    file = mido.MidiFile(file=io.BytesIO(exports.midi(trial)))
    assert file.type == 1
    tempo = next(m.tempo for m in file.tracks[0] if m.type == "set_tempo")
    assert tempo == 500_000
    tick_ns = tempo * 1000 / file.ticks_per_beat
    assert tick_ns <= 20_000
    names = {track.name: track for track in file.tracks}
    assert set(names) == {"tempo", "keystroke", "feedback", "metronome"}
    for kind in (Kind.KEYSTROKE, Kind.FEEDBACK, Kind.METRONOME):
        now, seen = 0, []
        for message in names[kind.name.lower()]:
            now += message.time
            if not message.is_meta:
                seen.append((now * tick_ns, bytes(message.bytes())))
        records = trial.of(kind)
        assert [message for _, message in seen] == [record.message for record in records]
        assert all(abs(ns - record.actual_ns) <= tick_ns / 2 + 1
                   for (ns, _), record in zip(seen, records, strict=True))
    # By mido's own clock, too: all tracks at once, in seconds.
    now_ns, clock = 0.0, []
    for message in file:
        now_ns += message.time * 1e9
        if not message.is_meta:
            clock.append(now_ns)
    times = sorted(record.actual_ns for record in trial.of(*MESSAGES))
    assert all(abs(ns - actual) <= tick_ns / 2 + 1
               for ns, actual in zip(clock, times, strict=True))
    assert file.length == pytest.approx(max(
        record.actual_ns for record in trial.of(Kind.KEYSTROKE, Kind.FEEDBACK)) / 1e9, abs=1e-4)


@pytest.mark.parametrize("mspb", [1, 250, 333, 461.538, 461.561, 500, 1000, 9973, 16777.215,
                                  20000])
def test_ticks_of_any_beat(mspb: float, trial: Trial) -> None:
    """A beat is a whole number of ticks that mido and the header's 15 bits can hold."""
    about = About("x", 1, 1, 0, parameters={"MSPB": mspb})
    file = mido.MidiFile(file=io.BytesIO(exports.midi(trial_of(trial.records, about))))
    tempo = next(m.tempo for m in file.tracks[0] if m.type == "set_tempo")
    # 461561 us have no tick that is a whole number of us; 20000 ms are beyond what a file holds.
    assert tempo == (500_000 if mspb in (461.561, 20000) else round(mspb * 1000))
    assert 1000 <= file.ticks_per_beat < 1 << 15
    assert tempo % file.ticks_per_beat == 0
    assert file.length == pytest.approx(trial.taps()[-1].actual_ns / 1e9 + 0.355, abs=tempo / 1e6)


def test_odd_messages() -> None:
    """A note that never ends, one that silence ends, overlapping ones, a pedal, a trigger, a
    clock."""
    trial = trial_of([
        odd(0, 0, Kind.STARTED, b""), odd(1, 10, Kind.FEEDBACK, b"\x90\x3c\x40"),
        odd(2, 20, Kind.FEEDBACK, b"\x90\x3c\x41"), odd(3, 35, Kind.FEEDBACK, b"\x90\x3c\x00"),
        odd(4, 40, Kind.MASKING, b"\x91\x50\x40"), odd(5, 50, Kind.METRONOME, b"\x99\x4c\x40"),
        odd(6, 60, Kind.THROUGH, b"\xb0\x40\x7f"), odd(7, 70, Kind.THROUGH, b"\xf8"),
        odd(8, 80, Kind.TRIGGERED, b"", 5)._replace(flags=0),
        odd(9, 90, Kind.SILENCE, b"\x81\x50\x40"), odd(10, 95, Kind.THROUGH, b"\xc0\x05"),
        odd(11, 15, Kind.KEYSTROKE, b"\x90\x01\x01")])  # had arrived before it was looked for
    onsets = [row["onset"] for row in rows_of(exports.events_tsv(trial))]
    assert onsets == sorted(onsets)
    rows = {int(row["sequence"]): row for row in rows_of(exports.events_tsv(trial))}
    assert rows[1]["duration"] == "0.000000025"
    assert rows[2]["duration"] == rows[5]["duration"] == "n/a"
    assert rows[4]["duration"] == "0.000000050"
    assert (rows[6]["duration"], rows[6]["note"], rows[6]["channel"]) == ("0.000000000", "n/a", "1")
    assert rows[7]["channel"] == "n/a"
    assert (rows[8]["trial_type"], rows[8]["direction"], rows[8]["source"]) == ("triggered", "n/a",
                                                                               "5")
    assert set(rows) == {1, 2, 4, 5, 6, 7, 8, 10, 11}
    assert len([line for line in exports.text(trial).splitlines() if line[0] != "#"]) == 1 + 11
    file = mido.MidiFile(file=io.BytesIO(exports.midi(trial)))
    assert {track.name for track in file.tracks} == {
        "tempo", "keystroke", "feedback", "masking", "metronome", "through", "silence"}
    through = next(track for track in file.tracks if track.name == "through")
    assert [m.type for m in through if not m.is_meta] == ["control_change", "program_change"]


def test_an_empty_trial() -> None:
    trial = trial_of([])
    assert exports.events_tsv(trial).count("\n") == 1
    assert len(mido.MidiFile(file=io.BytesIO(exports.midi(trial))).tracks) == 1
    assert "unknown" in trial.reason and not trial.whole


def test_the_file_of_records(tmp_path: Path, trial: Trial) -> None:
    """What one companion wrote, another goes on with, even behind half a frame."""
    path = tmp_path / "x.records"
    data = trial.records
    first = TrialFile(path, ABOUT)
    first.add(data[:50], 1)
    first.add(data[50:70], 2)
    first.close()
    path.write_bytes(path.read_bytes()[:-1])  # killed while it wrote
    second = TrialFile(path)
    assert second.trial.about == ABOUT and len(second.trial.records) == 50
    second.add(data[50:], 3)
    second.close()
    again = read_trial(path)
    assert again.records == trial.records and again.whole
    path.write_bytes(path.read_bytes()[:-1])
    third = TrialFile(path)
    third.add(data[50:51], 4)  # less than what the one before did not finish
    third.close()
    assert read_trial(path).records == trial.records[:51]
    with open_recording(path) as recording:  # nor is its rest there
        assert [frame.kind for frame in recording.frames()] == [DATA, DATA]


def test_missing_records_are_noticed(trial: Trial) -> None:
    assert trial.whole and trial.missing == 0
    with_gap = trial_of(trial.records[:10] + trial.records[13:])
    assert with_gap.missing == 3 and with_gap.done and not with_gap.whole
    assert not trial_of(trial.records[:-1]).done
    late = trial_of(trial.records[5:])  # a companion that came late
    assert late.missing == 5 and not late.whole
