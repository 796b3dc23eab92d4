# SPDX-License-Identifier: GPL-2.0-only
"""Every experiment that is shipped, on the real loop, with a simulated tapper, by tactus tap; in
one boot.

Made shorter, as their beats and taps cost time to emulate; `make test-long` runs the long loop
tests in full. The tapper (rt_tapper) is at the far end of the wire; the loop tests have the wire as
a loop. Figures are of virtual time.
"""
from __future__ import annotations

import csv
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import mido
import numpy as np
import pytest

from harness import guest_python
from tactus.tap import certificate, report, timing
from tactus.tap.records import Kind
from tactus.tap.trial import Trial, read_trial

pytestmark = pytest.mark.slow
TOP = Path(__file__).resolve().parents[3]
EXPERIMENTS = TOP / "examples/tap/experiments"
LEFT = TOP / "out/tap/in_full.json"
MODULES = "tactus_core tactus rtfifo rt_tap rt_tapper"

# The standard deviations of the tapper, us.
TIMEKEEPER_SD_US, MOTOR_SD_US = 12_000, 6_000
TAPPER = f"timekeeper_sd_us={TIMEKEEPER_SD_US} motor_sd_us={MOTOR_SD_US}"

BEAT_MS = 250
ANSWERS = tuple(kind for kind in Kind if Kind.FEEDBACK <= kind < Kind.SILENCE)
LATE_NS = 10_000  # handing over, after it was due
# name: (the tapper's seed, how it is made shorter): other numbers of beats and taps, and another
# tempo.
TAPPED = {
    "sync_continuation": (1, "s/M 221/M 121/"), "perturbation": (3, "s/ 550/ 275/; s/M 90/M 70/"),
    "delayed_feedback": (2, "s/K 10/K 5/; s/K 50/K 20/; s/K 90/K 35/; s/K 131/K 51/"),
    "pitch_map": (4, ""), "polyrhythm": (5, "s/M 60/M 22/")}
LOOPED = {"loop_4s": "s/T 4000/T 1000/", "loop_60s": "s/T 60000/T 500/",
          "loop_10000": "s/K 5001/K 401/"}

SCRIPT = f"""
cd /root
{"".join(f"sed -i '{edit}' {name}.ftap{chr(10)}" for name, edit in LOOPED.items())}
{"".join(f"sed -i 's/MSPB.*500/MSPB {BEAT_MS}/; {edit}' {name}.ftap{chr(10)}"
         for name, (_, edit) in TAPPED.items())}
sed 's/M 121/M 40/' sync_continuation.ftap > short.ftap
sed 's/MSPB.*/MSPB 0/' short.ftap > wrong.ftap
PYTHONPATH=/usr/lib/tactus-src python3 tap_guest.py '{json.dumps(list(LOOPED))}' \\
    '{json.dumps({name: seed for name, (seed, _) in TAPPED.items()})}' \\
    '{json.dumps(TAPPER.split())}'
"""


@dataclass(frozen=True)
class Run:
    said: str
    folder: Path

    def trial(self, task: str, where: str = "out", run: int = 1) -> Trial:
        return read_trial(self.folder / where / f"task-{task}_run-{run:02}.records")

    def told(self, task: str, where: str = "out") -> dict:
        return json.loads((self.folder / where
                           / f"task-{task}_run-01_certificate.json").read_text())

    def report(self, task: str) -> report.Report:
        return report.analyse(self.folder / "out" / f"task-{task}_run-01")


def tools(folder: Path) -> dict[str | Path, str]:
    """Into the guest: tactus, with all that it takes, and the experiments."""
    subprocess.run(["make", "-s", "-C", TOP, "tapfile"], check=True)
    put = guest_python.put(folder, "mido")
    put |= {TOP / "build/host/tactus-tapfile": "/usr/bin/tactus-tapfile"}
    put |= {path: f"/root/{path.name}" for path in EXPERIMENTS.glob("*.ftap")}
    return put


@pytest.fixture(scope="module")
def run(vm_module, tmp_path_factory: pytest.TempPathFactory) -> Run:
    put = tools(tmp_path_factory.mktemp("python"))
    put |= {TOP / "examples/tap/tests/tap_guest.py": "/root/tap_guest.py"}
    done = vm_module(SCRIPT, modules="tactus_core tactus rtfifo rt_tap", with_modules="rt_tapper",
                     icount=True, put=put, timeout=600, check=False,
                     get=[f"/root/{name}" for name in ("out", "killed", "stopped", "early", "full",
                                                     "other")])
    assert done.status == 0, f"{done.status}\n{done.stdout}\n{done.stderr}"
    return Run(done.stdout + done.stderr, done.files)


def test_every_trial_is_clean(run: Run) -> None:
    """Its certificate: nothing lost, everything heard, on time."""
    files = sorted((run.folder / "out").glob("*_certificate.json"))
    assert len(files) == len(TAPPED) + len(LOOPED)
    for path in files:
        told = json.loads(path.read_text())
        figures = told["figures"]
        assert told["clean"] and told["ended_by"] == "END_EXP", path.name
        assert (told["mode"], told["port"]) == ("pipeline", "wire")
        assert told["kernel"].startswith("6.1.")
        assert figures["bytes_lost"] == figures["records_lost"] == figures["bytes_broken"] == 0
        rest_ns = 500_000 if "task-loop" in path.name else 10_000_000  # pass_us
        assert 0 < figures["gap_mean_ns"] <= figures["gap_max_ns"] < rest_ns + 50_000, path.name
        # The last lateness is that of switching off, at the end, what sounds.
        assert figures["late_max_ns"] < 50_000, path.name
        sent = run.trial(told["trial"].split("_")[0].removeprefix("task-")).of(*ANSWERS)
        assert max(record.actual_ns - record.scheduled_ns for record in sent) < LATE_NS, path.name
        assert figures["outputs"] > 0 and figures["passes"] > 100
        text = path.with_suffix(".txt").read_text()
        assert text == certificate.human(told) + "\n" and "clean: nothing was lost" in text


def check_loop(trial: Trial, least: int) -> dict[str, float]:
    """As in the paper: messages come in every .96 ms, and none is lost or out of order."""
    inputs = trial.of(Kind.KEYSTROKE)
    assert len(inputs) >= least
    gaps = np.diff([record.actual_ns for record in inputs[1:]]) / 1e6
    assert np.mean(gaps) == pytest.approx(0.960, abs=0.0005)
    assert np.max(gaps) <= 0.965
    sent = [record.message for record in trial.of(Kind.METRONOME, Kind.FEEDBACK) if record.message]
    came = [record.message for record in inputs]
    assert sent[:len(came)] == came
    return {"inputs": len(came), "mean_us": round(1000 * float(np.mean(gaps)), 3),
            "longest_us": round(1000 * float(np.max(gaps)), 3)}


def test_loops(run: Run) -> None:
    for task, least in (("loop4s", 1000), ("loop60s", 500), ("loop10000", 800)):
        check_loop(run.trial(task), least)


@pytest.mark.long
@pytest.mark.timeout(8000)
@pytest.mark.parametrize(("name", "least"), [("loop_60s", 62_400), ("loop_10000", 10_000)])
def test_loops_in_full(vm, tmp_path: Path, name: str, least: int) -> None:
    """As they are shipped. Leaves the figures for the table in docs/tap.md."""
    done = vm(f"tactus tap {name}.ftap --out out --quiet",
              modules="tactus_core tactus rtfifo rt_tap",
              icount=True, put=tools(tmp_path / "python"), timeout=7200, get=["/root/out"])
    assert done.status == 0, done.stdout + done.stderr
    run = Run("", done.files)
    task = name.replace("_", "")
    loop = check_loop(run.trial(task), least)
    assert run.trial(task).whole and "clean: nothing was lost" in done.stdout
    LEFT.parent.mkdir(parents=True, exist_ok=True)
    rows = json.loads(LEFT.read_text()) if LEFT.exists() else {}
    LEFT.write_text(json.dumps(rows | {name: loop | run.told(task)["figures"]}, indent=1))


def test_the_tappers_variances_are_recovered(run: Run) -> None:
    got = run.report("synccontinuation")
    alone = next(part for part in got.parts if part.name == "alone")
    assert alone.missed == 0
    found = alone.decomposition
    assert found is not None and found.count >= 95
    assert found.timekeeper.low <= (TIMEKEEPER_SD_US / 1e6)**2 <= found.timekeeper.high
    assert found.motor.low <= (MOTOR_SD_US / 1e6)**2 <= found.motor.high
    # Of a tapper twice as noisy they are not.
    assert found.timekeeper.high < (2 * TIMEKEEPER_SD_US / 1e6)**2
    # What the report said in the guest is what it says here.
    assert f"{report.human(got)}\nreport: 0\n" in run.said


def test_known_delays_are_recovered(run: Run) -> None:
    delays = run.report("delayedfeedback").delays
    # The end may come before the last answers of 275 ms.
    counts = {round(1000 * delay.scheduled): delay.count for delay in delays}
    assert counts == {0: 20, 75: 15, 275: pytest.approx(15, abs=1)}
    assert all(0 <= delay.worst < LATE_NS / 1e9 for delay in delays)


def test_perturbations_are_followed(run: Run) -> None:
    """Tones move as asked, to the ns that they were due; and the tapper goes back to them."""
    trial = run.trial("perturbation")
    steps = np.diff([record.scheduled_ns for record in trial.tones()]) / 1e6
    assert {n + 1: step - BEAT_MS for n, step in enumerate(steps[:58]) if step != BEAT_MS} == {
        20: 50, 40: -50}
    assert set(steps[60:]) == {275}
    tones = [record.actual_ns / 1e6 for record in trial.tones()][:59]
    off = timing.asynchronies([record.actual_ns / 1e6 for record in trial.taps()], tones)
    assert len(off) >= 53 and abs(np.mean([late for _, late in off])) < 20
    assert max(abs(late) for _, late in off) < 100


def test_pitch_and_rhythm(run: Run) -> None:
    heard = [record.msg[1] for record in run.trial("pitchmap").of(Kind.FEEDBACK) if record.pressed]
    assert heard[:24] == [60] * 24 and len(set(heard[24:48])) == 8
    three = [record.scheduled_ns for record in run.trial("polyrhythm").of(Kind.METRONOME)
             if record.pressed]
    four = [record.scheduled_ns for record in run.trial("polyrhythm").of(Kind.PACING)
            if record.pressed]
    assert set(np.diff(three)) == {400_000_000} and set(np.diff(four)) == {300_000_000}


def test_exports(run: Run) -> None:
    """Read by others: the MIDI file by mido, the events by csv and numpy, as exact as the
    records."""
    for task in ("synccontinuation", "loop10000", "polyrhythm"):
        trial = run.trial(task)
        stem = run.folder / "out" / f"task-{task}_run-01"
        file = mido.MidiFile(f"{stem}.mid")
        tick_ns = next(m.tempo for m in file.tracks[0] if m.type == "set_tempo") \
            * 1000 / file.ticks_per_beat
        for track in file.tracks[1:]:
            records = [record for record in trial.of(Kind[track.name.upper()]) if record.message]
            messages = [m for m in track if not m.is_meta]
            assert [bytes(m.bytes()) for m in messages] == [record.message for record in records]
            ticks = np.cumsum([m.time for m in messages])
            off = ticks * tick_ns - [record.actual_ns for record in records]
            assert np.max(np.abs(off)) <= tick_ns / 2 + 1
        with open(f"{stem}_events.tsv", newline="") as text:
            rows = list(csv.DictReader(text, delimiter="\t"))
        assert list(rows[0])[:2] == ["onset", "duration"]
        assert sum(row["trial_type"] == "keystroke" for row in rows) == len(trial.taps())
        table = np.genfromtxt(f"{stem}_events.tsv", delimiter="\t", names=True, encoding=None,
                              usecols=("onset", "trial_type"),
                              dtype=[("onset", "f8"), ("trial_type", "U12")])
        onsets = table["onset"][table["trial_type"] == "keystroke"]
        assert np.array_equal(np.round(onsets * 1e9), [r.actual_ns for r in trial.taps()])
        assert json.loads(Path(f"{stem}_events.json").read_text())["onset"]["Units"] == "s"
        lines = [line for line in Path(f"{stem}.txt").read_text().splitlines() if line[0] != "#"]
        assert len(lines) - 1 == len(trial.of(*(kind for kind in Kind if kind <= Kind.TRIGGERED)))


def test_a_killed_companion_is_replaced(run: Run) -> None:
    """The trial went on, and the second one has every record of it."""
    assert ("killed: -9\nrunning: 1\ntactus: there are records of a trial that nobody has read: "
            "--attach takes them, --discard forgets them\nrefused: 1\n") in run.said
    trial = run.trial("synccontinuation", "killed")
    assert trial.whole and trial.reason == "END_EXP"
    assert run.told("synccontinuation", "killed")["clean"]
    assert len(trial.tones()) == 20 and len(trial.taps()) >= 30
    assert [path.name for path in (run.folder / "killed").glob("*.records")] == [
        "task-synccontinuation_run-01.records"]


def test_interrupt(run: Run) -> None:
    assert "interrupted: 0\n" in run.said
    told = run.told("synccontinuation", "stopped")
    assert told["ended_by"] == "stopped" and told["clean"]
    trial = run.trial("synccontinuation", "stopped")
    shown = [(float(s), int(taps), int(tones)) for s, taps, tones in re.findall(
        r"^ +(\d+\.\d{3}) s  (\d+) taps, (\d+) tones; interval", run.said, re.M)]
    assert len(shown) >= 2 and shown == sorted(set(shown))
    for until_s, *counts in shown:  # each line is what had happened by then, to a pass of the loop
        for count, records in zip(counts, (trial.taps(), trial.tones()), strict=True):
            ago_s = [until_s - record.actual_ns / 1e9 for record in records]
            assert sum(ago > 0.02 for ago in ago_s) <= count <= sum(ago > -0.001 for ago in ago_s)
    assert shown[-1][1] > 4
    balance: dict[tuple[int, int], int] = {}
    for record in trial.of(*Kind):
        if record.flags & 2 and (record.pressed or record.released):
            place = (record.msg[0] & 15, record.msg[1])
            balance[place] = balance.get(place, 0) + (1 if record.pressed else -1)
    assert set(balance.values()) == {0}  # no note is left hanging


def test_interrupted_at_once(run: Run) -> None:
    assert "early: 0\n" in run.said
    told = run.told("synccontinuation", "early")
    assert told["ended_by"] == "stopped" and told["clean"]
    assert run.trial("synccontinuation", "early").tones() == []


def test_a_full_disk(run: Run) -> None:
    """The loop goes on, and only what had been read and could not be written is missing."""
    assert ("tactus: full/task-synccontinuation_run-01.records could not be written: No space left "
            "on device; the trial goes on, and --attach takes it over\n"
            "full: 1\ngoes on: 1\n") in run.said
    trial, told = (what("synccontinuation", "full") for what in (run.trial, run.told))
    assert trial.done and told["ended_by"] == "END_EXP" and len(trial.tones()) >= 15
    assert 0 < trial.missing < 40
    assert told["problems"] == [f"{trial.missing} records are missing"]
    assert f"tactus: the trial is not clean: {trial.missing} records are missing\n" in run.said
    assert "room: 6\n" in run.said


def test_one_at_a_time(run: Run) -> None:
    assert "tactus: another tactus tap is at work\nsecond: 1\nstop: 0\n" in run.said
    assert run.told("synccontinuation", "other")["ended_by"] == "stopped"
    assert ("stopped: 0\ntactus: no trial is running, and there are no records of one\nnothing: 1\n"
            ) in run.said


def test_a_stranger_may_not(run: Run) -> None:
    assert "tactus: /dev/rtf/tap: Permission denied\nstranger: 1\n" in run.said
    assert "tactus: /dev/rtf/tap_set: Permission denied\nstranger stops: 1\n" in run.said


def test_a_wrong_experiment_begins_nothing(run: Run) -> None:
    assert re.search(r"^tactus: wrong\.ftap:\d+:\d+: error: MSPB is 0;.*\n.*\n +\^\nwrong.ftap: 1 "
                     r"error\n"
                     r"wrong: 1\nbegun: 0\n", run.said, re.M)
    assert "tactus: the tap loop is not loaded: modprobe rt_tap\nno module: 1\n" in run.said
    assert len(list((run.folder / "out").glob("task-synccontinuation*.records"))) == 1
