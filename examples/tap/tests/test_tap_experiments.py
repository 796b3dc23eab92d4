# SPDX-License-Identifier: GPL-2.0-only
"""The experiments that are shipped: each is right, and does what it says, by the real engine."""
from __future__ import annotations

from pathlib import Path

import pytest

import tap_dry
from tactus import cli
from tactus.tap import exports, report, timing
from tactus.tap.records import Figure, Kind
from tactus.tap.tapper import TapperParams
from tactus.tap.trial import Trial

FOLDER = Path(__file__).resolve().parents[1] / "experiments"
FILES = sorted(FOLDER.glob("*.ftap"))
MS = 10**6
SECURE = TapperParams(timekeeper_sd_ns=4 * MS, motor_sd_ns=2 * MS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_is_right(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["tap", "--check", str(path)]) == 0
    said = capsys.readouterr()
    assert ": right: " in said.out and said.err == ""  # no warning either: it ends by itself
    broken = tmp_path / path.name
    broken.write_text(path.read_text() + "\nMSPD 3\n")
    assert cli.main(["tap", "--check", str(broken)]) == 1
    assert f"{broken}:{broken.read_text().count(chr(10))}:1: error:" in capsys.readouterr().err


def test_there_are_all() -> None:
    assert {path.stem for path in FILES} == {
        "sync_continuation", "delayed_feedback", "perturbation", "pitch_map", "polyrhythm",
        "loop_4s", "loop_60s", "loop_10000"}


def reported(trial: Trial, folder: Path) -> report.Report:
    path = folder / f"{trial.about.stem}_events.tsv"
    path.write_text(exports.events_tsv(trial))
    return report.analyse(path)


def test_sync_continuation(tmp_path: Path) -> None:
    trial = tap_dry.tapped(FOLDER / "sync_continuation.ftap", SECURE)
    assert trial.whole and trial.reason == "END_EXP"
    assert [record.actual_ns for record in trial.tones()] == [(1000 + 500 * n) * MS
                                                             for n in range(20)]
    got = reported(trial, tmp_path)
    alone = next(part for part in got.parts if part.name == "alone")
    assert 190 <= len(alone.taps) <= 205
    found = alone.decomposition
    assert found is not None and found.timekeeper.low is not None
    assert found.timekeeper.low <= 0.004**2 <= found.timekeeper.high
    assert found.motor.low <= 0.002**2 <= found.motor.high
    assert {record.msg[1] for record in trial.of(Kind.FEEDBACK)} == {60}


def test_delayed_feedback(tmp_path: Path) -> None:
    trial = tap_dry.tapped(FOLDER / "delayed_feedback.ftap", SECURE)
    got = reported(trial, tmp_path)
    assert [(round(1000 * delay.scheduled), delay.count) for delay in got.delays] == [
        (0, 50), (75, 40), (275, 40)]
    assert all(delay.worst == pytest.approx(0, abs=2e-9) for delay in got.delays)
    assert len(trial.taps()) == 131
    assert not [tone for tone in trial.tones() if tone.actual_ns > trial.taps()[10].actual_ns]


def test_perturbation(tmp_path: Path) -> None:
    """The tones move as asked, and the tapper follows: half a second late, then less and less."""
    trial = tap_dry.tapped(FOLDER / "perturbation.ftap", TapperParams(
        timekeeper_sd_ns=0, motor_sd_ns=0, motor_ns=0))
    tones = [record.actual_ns / MS for record in trial.tones()]
    steps = timing.intervals(tones)
    assert {n + 1: step for n, step in enumerate(steps[:58]) if step != 500} == {20: 550, 40: 450}
    assert set(steps[60:]) == {550}
    assert 89 <= len(tones) <= 90
    taps = [record.actual_ns / MS for record in trial.taps()]
    off = dict(timing.asynchronies(taps, tones))
    first = taps.index(min(taps, key=lambda tap: abs(tap - tones[20])))
    shown = [off[first + n] for n in range(5)]
    assert shown[0] == pytest.approx(-50)
    assert shown == pytest.approx([-50 * 0.75**n for n in range(5)], abs=0.001)


def test_pitch_map() -> None:
    keys = (55, 60, 62, 70)
    trial = tap_dry.tapped(FOLDER / "pitch_map.ftap", SECURE, keys)
    heard = {record.value: record.msg[1] for record in trial.of(Kind.FEEDBACK) if record.pressed}
    pressed = {record.value: record.msg[1] for record in trial.taps()}
    melody = [60, 62, 64, 65, 67, 69, 71, 72]
    assert all(heard[n] == 120 - pressed[n] for n in range(1, 25))
    start = melody.index(heard[25])
    assert [heard[n] for n in range(25, 49)] == [melody[(start + n) % 8] for n in range(24)]
    random = [heard[n] for n in range(49, 73)]
    assert all(48 <= note <= 72 for note in random) and len(set(random)) > 5
    again = tap_dry.tapped(FOLDER / "pitch_map.ftap", SECURE, keys)
    assert again.records == trial.records


def test_polyrhythm() -> None:
    trial = tap_dry.tapped(FOLDER / "polyrhythm.ftap", SECURE, (48, 72))
    three = [record.actual_ns // MS for record in trial.of(Kind.METRONOME) if record.pressed]
    four = [record.actual_ns // MS for record in trial.of(Kind.PACING) if record.pressed]
    assert set(timing.intervals(three)) == {400} and set(timing.intervals(four)) == {300}
    assert three[0] == four[0] == 1200
    together = sorted(set(three) & set(four))
    assert set(timing.intervals(together)) == {1200} and len(together) >= 20
    loud = [record.actual_ns // MS for record in trial.tones() if record.msg[2] == 100]
    assert sorted(set(loud)) == together
    low = {record.value: record.msg[1] for record in trial.of(Kind.FEEDBACK) if record.pressed}
    high = {record.value: record.msg[1] for record in trial.of(Kind.FEEDBACK2) if record.pressed}
    assert set(low.values()) == {48} and set(high.values()) == {72}
    assert not set(low) & set(high) and len(low) + len(high) == len(trial.taps())


@pytest.mark.parametrize(("name", "seconds"), [("loop_4s", 4), ("loop_60s", 60)])
def test_a_loop_without_a_loop_is_one_note(name: str, seconds: int) -> None:
    """The engine alone, nothing connected: the priming note, and the end in time."""
    trial = tap_dry.run(FOLDER / f"{name}.ftap", [])
    sent = [(record.actual_ns, record.message) for record in trial.of(Kind.METRONOME)
            if record.message]
    assert sent == [(0, b"\x90\x3c\x40"), (MS, b"\x80\x3c\x00")]
    assert trial.figures[Figure.DURATION_NS] == seconds * 1000 * MS


def test_the_loop_of_10000_ends_after_so_many_inputs() -> None:
    """Looped by hand: each message comes back 960 us after it went."""
    lines = [f"{1000 + n * 960_000} {'80' if n % 2 else '90'} 3c 40\n" for n in range(10_004)]
    trial = tap_dry.run(FOLDER / "loop_10000.ftap", lines)
    assert trial.reason == "END_EXP"
    assert trial.figures[Figure.KEYSTROKES] == 5001
    assert 10_000 <= trial.figures[Figure.INPUTS] <= 10_002
