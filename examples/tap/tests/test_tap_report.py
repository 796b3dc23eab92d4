# SPDX-License-Identifier: GPL-2.0-only
"""`tactus tap-report` on trials of a simulated tapper whose variances and delays are known."""
from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fake_tap import LATE_NS, MS, FakeLoop
from tactus import cli
from tactus.tap import exports, report
from tactus.tap.tapper import TapperParams
from tactus.tap.trial import About, Trial

TIMEKEEPER_SD_NS, MOTOR_SD_NS = 12 * MS, 6 * MS
TAPPER = TapperParams(timekeeper_sd_ns=TIMEKEEPER_SD_NS, motor_sd_ns=MOTOR_SD_NS)


def written(folder: Path, loop: FakeLoop, run: int = 1) -> Path:
    """The events of a fake trial, as `tactus tap` writes them."""
    trial = Trial(About("sync", run, 1, 0))
    for record in loop.records():
        trial.add(record)
    path = folder / f"{trial.about.stem}_events.tsv"
    path.write_text(exports.events_tsv(trial))
    return path


def part(got: report.Report, name: str) -> report.Part:
    return next(part for part in got.parts if part.name == name)


def test_the_variances_are_recovered(tmp_path: Path) -> None:
    """Of 40 tappers, some 95 % within each interval; those of a tapper twice as noisy are not."""
    inside, wrong = {"timekeeper": 0, "motor": 0}, 0
    for seed in range(1, 41):
        got = report.analyse(written(tmp_path, FakeLoop(replace(TAPPER, seed=seed)), seed))
        found = part(got, "alone").decomposition
        assert found is not None and found.count == 203
        for name, sd_ns in (("timekeeper", TIMEKEEPER_SD_NS), ("motor", MOTOR_SD_NS)):
            estimate = getattr(found, name)
            inside[name] += estimate.low <= (sd_ns / 1e9)**2 <= estimate.high
        wrong += found.timekeeper.low <= (2 * TIMEKEEPER_SD_NS / 1e9)**2 <= found.timekeeper.high
    assert min(inside.values()) >= 35, inside
    assert wrong == 0


def test_parts_and_asynchronies(tmp_path: Path) -> None:
    """Against numpy, from the events as any program would read them."""
    path = written(tmp_path, FakeLoop(replace(TAPPER, seed=7, motor_ns=0), tones=60, taps=120))
    got = report.analyse(path)
    table = np.genfromtxt(path, delimiter="\t", names=True, dtype=None, encoding=None)
    taps = table["onset"][table["trial_type"] == "keystroke"]
    tones = table["onset"][table["trial_type"] == "metronome"]
    paced = part(got, "paced")
    assert len(paced.taps) == 56 and len(part(got, "alone").taps) == 64  # it listens to 4
    assert paced.decomposition is None
    off = np.array([tap - tones[np.argmin(np.abs(tones - tap))] for tap in taps[:56]])
    summary = paced.asynchronies["metronome"]
    assert summary.count == 56
    assert summary.mean == pytest.approx(np.mean(off), abs=1e-9)
    assert summary.sd == pytest.approx(np.std(off, ddof=1), abs=1e-9)
    alone = part(got, "alone").intervals
    assert alone is not None
    assert alone.mean == pytest.approx(np.mean(np.diff(taps[56:])), abs=1e-9)
    assert alone.sd == pytest.approx(np.std(np.diff(taps[56:]), ddof=1), abs=1e-9)


def test_correction_keeps_a_tapper_with_the_tones(tmp_path: Path) -> None:
    """Linear phase correction: stationary asynchronies with it, a random walk without."""
    sds = []
    for permille in (250, 0):
        spread = []
        for seed in range(8):
            loop = FakeLoop(replace(TAPPER, seed=seed, correction_permille=permille), tones=150,
                            taps=140)
            spread.append(part(report.analyse(written(tmp_path, loop)), "paced")
                          .asynchronies["metronome"].sd)
        sds.append(np.mean(spread))
    # Vorberg and Wing (1996): variance of A = (T + 2 a M) / (a (2 - a)).
    expected = ((0.012**2 + 2 * 0.25 * 0.006**2) / (0.25 * 1.75))**0.5
    assert sds[0] == pytest.approx(expected, rel=0.1)
    assert sds[1] > 2 * sds[0]


def test_known_delays_are_recovered(tmp_path: Path) -> None:
    got = report.analyse(written(tmp_path, FakeLoop(taps=90, delays_ns=(0, 75 * MS, 275 * MS))))
    assert [(delay.answer, delay.count) for delay in got.delays] == [("feedback", 30)] * 3
    assert [delay.scheduled for delay in got.delays] == pytest.approx([0, 0.075, 0.275])
    for delay in got.delays:
        assert delay.mean - delay.scheduled == pytest.approx(LATE_NS / 1e9, abs=2e-9)
        assert delay.worst == pytest.approx(LATE_NS / 1e9, abs=2e-9)


def test_delays_of_many_kinds_are_told_together(tmp_path: Path) -> None:
    loop = FakeLoop(taps=60, delays_ns=tuple(n * MS for n in range(60)))
    (delay,) = report.analyse(written(tmp_path, loop)).delays
    assert delay.count == 60 and delay.mean == pytest.approx(0.0295, abs=1e-4)


def test_a_missed_tap_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, FakeLoop(TAPPER, taps=130))
    lines = path.read_text().splitlines()
    taps = [n for n, line in enumerate(lines) if "\tkeystroke\t" in line]
    del lines[taps[60]]
    path.write_text("\n".join(lines) + "\n")
    alone = part(report.analyse(path), "alone")
    assert alone.missed == 1
    assert alone.intervals is not None and alone.intervals.mean < 0.51
    assert alone.decomposition is not None and alone.decomposition.count < 108


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for run in (1, 2):
        written(tmp_path, FakeLoop(replace(TAPPER, seed=run)), run)
    first, second = tmp_path / "task-sync_run-01", tmp_path / "task-sync_run-02_events.tsv"
    picture = tmp_path / "taps.png"
    assert cli.main(["tap-report", str(first), str(second), "--plot", str(picture)]) == 0
    said = capsys.readouterr().out
    assert said.count("timekeeper variance") == said.count("motor variance") == 2
    assert "task-sync_run-01: 220 taps, 20 metronome tones" in said
    assert "feedback due after 0.000 ms: n 220, mean 0.00" in said
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 20_000
    drawing = tmp_path / "taps.svg"
    assert cli.main(["tap-report", str(first), "--json", "--plot", str(drawing)]) == 0
    assert "<svg" in drawing.read_text()
    (told,) = json.loads(capsys.readouterr().out)
    (alone,) = (one for one in told["parts"] if one["name"] == "alone")
    motor = alone["decomposition"]["motor"]
    assert motor["low"] < motor["value"] < motor["high"]
    assert alone["intervals"]["lag1"]["low"] < 0


@pytest.mark.parametrize(("words", "status", "sentence"), [
    (["."], 1, ".: there is no such trial"),
    (["none_such"], 1, "none_such: there is no such trial"),
    (["two"], 2, "two: there are 2 trials, name one"),
    (["x.tsv"], 1, "x.tsv is not an events file of a tap trial: KeyError('trial_type')"),
    (["program"], 1, "program cannot be read: 'utf-8' codec can't decode byte 0xff"),
    (["t", "--plot", "x.gif"], 2, "x.gif ends in none of .png, .svg, .pdf"),
    (["t", "--plot", "none/x.png"], 1, "none/x.png could not be written: "),
    (["t", "--json", "--plot", "full.svg"], 1,
     "full.svg could not be written: No space left on device")])
def test_refusals(words: list[str], status: int, sentence: str, tmp_path: Path,
                  monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.tsv").write_text("a\tb\n1\t2\n")
    (tmp_path / "program").write_bytes(b"\x7fELF\xff\n")
    (tmp_path / "full.svg").symlink_to("/dev/full")
    (tmp_path / "two").mkdir()
    for run in (1, 2):
        written(tmp_path / "two", FakeLoop(taps=40), run)
    (tmp_path / "two/task-sync_run-01_events.tsv").rename(tmp_path / "t")
    written(tmp_path / "two", FakeLoop(taps=40))
    assert cli.main(["tap-report", *words]) == status
    assert capsys.readouterr().err.startswith(f"tactus: {sentence}")
