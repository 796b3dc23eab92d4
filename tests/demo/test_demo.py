# SPDX-License-Identifier: GPL-2.0-only
"""The demo's judgement and report, on made-up measurements: every check must be able to fail."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest

import checks
import drawings
import report
import svg
from measure import lateness
from model import slope, speaker, spectrum, wav
from model.porttrace import Write
from playing import Played
from twins import TONE_HZ, Twin, tone

SOUND = bytes((n * 37 + n * n) % 256 for n in range(4000))


def late(kind: str, condition: str, max_ns: int) -> lateness.Lateness:
    """3000 releases, most of them at half the maximum."""
    half = max_ns // 20 * 10
    fields: dict[str, object] = {f.name: 0 for f in dataclasses.fields(lateness.Lateness)}
    fields |= {
        "case": lateness.Case(kind, condition),  # type: ignore[arg-type]
        "releases": 3000, "expected": 3000, "skipped": 0, "overruns": 0,
        "min_ns": half, "mean_ns": float(half), "max_ns": max_ns,
        "histogram": {half: 2990, max_ns // 10 * 10: 10},
        "upper_ns": {half: half + 10, max_ns // 10 * 10: max_ns + 10},
        "load": {} if condition == "idle" else {"forks": 300.0, "mb": 90.0},
    }
    return lateness.Lateness(**fields)  # type: ignore[arg-type]


def heard(condition: str) -> Played:
    """A play without a fault."""
    values = [0x31 | bit << 1 for bit in slope.slope_bits(SOUND)]
    times = [round(n * speaker.NOMINAL_NS) + n % 3 * 30 for n in range(len(SOUND))]
    play = speaker.Play(values, times)
    stats = {"underruns": 0, "interval_max_dev_ns": round(play.worst_deviation_ns())}
    writes = [Write(0x61, value) for value in [*values, 0x31]]
    return Played(condition, SOUND, writes, play, "", stats)  # type: ignore[arg-type]


MAXIMA = {"tick": 700, "task": 1500, "hrtimer": 19_800_000}


def toned(name: str) -> Twin:
    """A tone of a quarter of a second; the program under load stops for 3 ms in its middle."""
    if name == "driver load":
        sound = tone(0.25)
        values = [0x31 | bit << 1 for bit in slope.slope_bits(sound)]
        times = [round(n * speaker.NOMINAL_NS) for n in range(len(values))]
        return Twin(name, speaker.Play(values, times), sound)
    values = [0x33, 0x31] * 128
    pause = 3_000_000 if name == "naive load" else 0
    times = [round(n * 5e8 / TONE_HZ) + (pause if n > 128 else 0) for n in range(len(values))]
    return Twin(name, speaker.Play(values, times))


def good() -> tuple[dict[tuple[str, str], lateness.Lateness], dict[str, Played], dict[str, Twin]]:
    """Measurements that keep every promise."""
    lateness = {(k, c): late(k, c, MAXIMA[k]) for k in drawings.NAMES for c in drawings.CONDITIONS}
    return (lateness, {c: heard(c) for c in drawings.CONDITIONS},
            {name: toned(name) for name in drawings.TWINS})


def failed(outcome: list[checks.Check]) -> list[str]:
    """The names of the checks that failed."""
    return [check.name for check in outcome if not check.passed]


def test_good_measurements_pass() -> None:
    outcome = checks.judge(*good())
    assert failed(outcome) == []
    assert len(outcome) == 14


@pytest.mark.parametrize(
    ("key", "change"),
    [
        (("tick", "irqoff"), {"max_ns": 1001}),
        (("task", "load"), {"max_ns": 2001}),
        (("task", "idle"), {"skipped": 1}),
        (("tick", "load"), {"expected": 3001}),
        (("hrtimer", "irqoff"), {"max_ns": 9_000_000}),
    ],
)
def test_a_broken_promise_of_time_fails(key: tuple[str, str], change: dict[str, int]) -> None:
    lateness, played, tones = good()
    lateness[key] = dataclasses.replace(lateness[key], **change)
    (name,) = failed(checks.judge(lateness, played, tones))
    assert name == f"{drawings.NAMES[key[0]]}, {drawings.CONDITIONS[key[1]]}"


def test_the_hrtimer_as_rt_tick_fails() -> None:
    """The negative control of the limits: Linux's own figures do not pass as ours."""
    lateness, played, tones = good()
    for condition in drawings.CONDITIONS:
        lateness["tick", condition] = late("tick", condition, MAXIMA["hrtimer"])
    assert len(failed(checks.judge(lateness, played, tones))) == 3


def test_a_measurement_that_is_missing_fails() -> None:
    lateness, played, tones = good()
    del lateness["task", "idle"], played["load"]
    assert len(failed(checks.judge(lateness, played, tones))) == 2


def test_a_wrong_bit_fails() -> None:
    lateness, played, tones = good()
    flipped = played["load"].values[100] ^ speaker.DATA_BIT
    played["load"].writes[100] = Write(0x61, flipped)
    play = played["load"].play
    assert play
    play.values[100] = flipped
    assert failed(checks.judge(lateness, played, tones)) == ["Speaker, under load"]


def test_a_late_write_fails() -> None:
    lateness, played, tones = good()
    play = played["idle"].play
    assert play
    play.times_ns[50:] = [t + 1500 for t in play.times_ns[50:]]
    played["idle"].stats["interval_max_dev_ns"] = round(play.worst_deviation_ns())
    (check,) = [c for c in checks.judge(lateness, played, tones) if not c.passed]
    assert check.name == "Speaker, idle"
    assert "ns off" in check.detail


def test_sides_that_disagree_fail() -> None:
    lateness, played, tones = good()
    played["idle"] = dataclasses.replace(played["idle"], play=None, join_error="of two minds")
    (check,) = [c for c in checks.judge(lateness, played, tones) if not c.passed]
    assert check.detail == "of two minds"


def test_a_tone_that_is_late_wrong_or_missing_fails() -> None:
    lateness, played, tones = good()
    driver = tones["driver load"]
    name = "Tone, rt_speaker, under load"
    driver.play.times_ns[500:] = [t + 1100 for t in driver.play.times_ns[500:]]
    assert failed(checks.judge(lateness, played, tones)) == [name]
    tones["driver load"] = toned("driver load")
    tones["driver load"].play.values[100] ^= speaker.DATA_BIT
    assert failed(checks.judge(lateness, played, tones)) == [name]
    del tones["driver load"]
    assert failed(checks.judge(lateness, played, tones)) == [name]


def test_a_program_as_steady_as_the_driver_fails() -> None:
    """The program is there to be disturbed: if it is not, the load was none."""
    lateness, played, tones = good()
    tones["naive load"] = toned("naive idle")
    assert failed(checks.judge(lateness, played, tones)) == [
        "Tone, Linux program (Figure 2.1), under load"]


def test_the_spectrum_of_a_square_wave() -> None:
    """Odd multiples only, each lower by its number (2/pi to begin with); a pause fills the gaps."""
    play = toned("naive idle").play
    levels = dict(spectrum.amplitudes_db(play, play.times_ns[0], 0.25, 4000))
    first, second, third = (levels[TONE_HZ * n] for n in (1, 2, 3))
    assert abs(first - 20 * math.log10(2 / math.pi)) < 0.1
    assert abs(third - first + 20 * math.log10(3)) < 0.1
    assert second < -60
    disturbed = toned("naive load").play
    broken = dict(spectrum.amplitudes_db(disturbed, disturbed.times_ns[0], 0.25, 4000))
    assert broken[TONE_HZ] < first - 1
    between, was = (max(v[hz] for hz in v if 600 < hz < 1000) for v in (broken, levels))
    assert between > -45 and between > was + 20, (between, was)


def test_the_report_is_one_file(tmp_path: Path) -> None:
    lateness, played, tones = good()
    play = played["irqoff"].play
    assert play
    wav.write_wav(tmp_path / "s.wav", wav.samples(play))
    outcome = checks.judge(lateness, played, tones)
    page = report.page(lateness, played, tones, outcome, tmp_path / "s.wav", "6.1",
                       {"naive load": tmp_path / "s.wav"})
    assert page.count("<svg") == 5
    assert page.count("data:audio/wav;base64,") == 2
    assert 'src="http' not in page and "<link" not in page and "<script" not in page
    text = report.terminal(lateness, played, outcome)
    assert "14 of 14 checks passed" in text
    assert "4000/4000" in text
    assert max(map(len, text.splitlines())) <= 100


def test_the_report_shows_what_failed_and_what_is_missing() -> None:
    outcome = checks.judge({}, {}, {})
    assert "FAILED  Speaker, idle: not played" in report.terminal({}, {}, outcome)
    assert "not measured" in report.page({}, {}, {}, outcome, None, "6.1", {})


def test_the_histogram_becomes_a_png(tmp_path: Path) -> None:
    lateness, _, _ = good()
    drawing = drawings.lateness({k: (r.histogram, r.max_ns) for k, r in lateness.items()})
    svg.write_png(drawing, tmp_path / "l.png")
    assert (tmp_path / "l.png").read_bytes().startswith(b"\x89PNG")
