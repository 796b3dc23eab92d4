# SPDX-License-Identifier: GPL-2.0-only
"""The companion's session with a fake of the loop's FIFOs: trials, ^C, kill and take-over,
losses."""
from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import mido
import pytest

from fake_tap import MS, FakeDevice, FakeLoop
from fakes import PACKAGE, FakeMachine
from tactus.errors import ToolError
from tactus.tap import session
from tactus.tap.companion import Loop, Stopper
from tactus.tap.experiment import Experiment
from tactus.tap.live import LineView, Progress, ScreenView
from tactus.tap.records import Command, Figure, Kind, Op, Record
from tactus.tap.trial import read_trial

EXPERIMENT = Experiment("MSPB 500\n", [Command(Op.SET, param=9, value=500 * MS),
                                       Command(Op.TRIGGER, 3, 1, 1, 0, 92)],
                        {1: "END_EXP", 9: "MSPB"}, {"MSPB": 500, "SUBJECT": "01"}, "sync")
RECORDS = FakeLoop(taps=40).records()


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def run_trial(machine: FakeMachine, out: Path, as_json: bool = False, discard: bool = False) -> int:
    with Loop(machine) as loop:
        with Stopper(loop) as stopper:
            file, first = session.begin(machine, loop, stopper, EXPERIMENT, out, discard)
            session.watch(loop, stopper, file, first, quiet=True)
        return session.finish(file, out, loop.port_stats(), as_json)


def test_a_trial(machine: FakeMachine, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The parameters arrive in order; every file is there; the certificate says what the loop
    said."""
    device = FakeDevice(machine.root, RECORDS)
    machine.write("/sys/module/rt_tap/parameters/port", "wire\n")
    machine.write("/sys/module/rt_tap/stats/idle_max_ns", "4711\n")
    assert run_trial(machine, out) == 0
    assert [command[2] for command in device.got] == [Op.RESET, Op.SET, Op.TRIGGER, Op.START]
    assert [command[1] for command in device.got] == [1, 2, 3, 4]
    assert device.got[1][4:8] == (9, 0, 0, 500 * MS)
    assert device.got[2][3:] == (3, 1, 1, 0, 0, 92)
    stem = "sub-01_task-sync_run-01"
    assert {path.name for path in out.iterdir()} == {
        stem + ending for ending in (".records", ".txt", ".mid", "_events.tsv", "_events.json",
                                     "_certificate.json", "_certificate.txt")}
    told = json.loads((out / f"{stem}_certificate.json").read_text())
    assert told["clean"] and told["ended_by"] == "END_EXP" and told["port"] == "wire"
    assert told["figures"]["late_max_ns"] == 1500 and told["figures"]["bytes_lost"] == 0
    assert told["port_stats"] == {"idle_max_ns": 4711}
    said = capsys.readouterr().out
    assert said.startswith(f"Certificate of {stem}: ended by END_EXP after ")
    assert "worst 1.500 us" in said and "clean: nothing was lost" in said
    assert len(mido.MidiFile(out / f"{stem}.mid").tracks) == 4
    assert len(read_trial(out / f"{stem}.records").taps()) == 40
    assert (out / f"{stem}_events.tsv").read_text().count("\tkeystroke\t") == 40


def test_numbers_of_runs_go_on(machine: FakeMachine, out: Path,
                               capsys: pytest.CaptureFixture[str]) -> None:
    for number in ("03", "07", "05"):
        (out / f"sub-01_task-sync_run-{number}.records").write_text("")
    FakeDevice(machine.root, RECORDS)
    assert run_trial(machine, out, as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["trial"] == "sub-01_task-sync_run-08"
    assert all(Path(path).exists() for path in told["files"].values())


@pytest.mark.parametrize(("figure", "sentence"), [
    (Figure.BYTES_LOST, "3 bytes were lost"), (Figure.RECORDS_LOST, "3 records did not fit"),
    (Figure.NOTES_REFUSED, "3 notes had no room"), (Figure.BYTES_BROKEN, "3 bytes belonged to no")])
def test_a_loss_is_said(figure: Figure, sentence: str, machine: FakeMachine, out: Path,
                        capsys: pytest.CaptureFixture[str]) -> None:
    FakeDevice(machine.root, FakeLoop(taps=5, figures={figure: 3}).records())
    assert run_trial(machine, out) == session.NOT_CLEAN
    said = capsys.readouterr()
    assert f"NOT CLEAN: {sentence}" in said.out and "not clean" in said.err


def test_a_missing_record_is_said(machine: FakeMachine, out: Path,
                                  capsys: pytest.CaptureFixture[str]) -> None:
    FakeDevice(machine.root, RECORDS[:20] + RECORDS[22:])
    assert run_trial(machine, out) == session.NOT_CLEAN
    assert "2 records are missing" in capsys.readouterr().err


@pytest.mark.parametrize(("refuse", "sentence"), [
    ((Op.SET, 9, errno.ERANGE), "refused SET MSPB: Numerical result out of range"),
    ((Op.START, 0, errno.EBUSY), "a trial is running already: --attach"),
    ((Op.TRIGGER, 1, errno.ENOSPC), "refused TRIGGER END_EXP")])
def test_a_refusal_is_told(refuse: tuple[Op, int, int], sentence: str, machine: FakeMachine,
                           out: Path) -> None:
    FakeDevice(machine.root, RECORDS, refuse=refuse)
    with pytest.raises(ToolError, match=sentence):
        run_trial(machine, out)
    assert list(out.iterdir()) == []


def test_unread_records_are_not_thrown_away(machine: FakeMachine, out: Path) -> None:
    device = FakeDevice(machine.root, RECORDS)
    device.put(*RECORDS[-3:])
    with pytest.raises(ToolError, match="--attach takes them, --discard forgets them"):
        run_trial(machine, out)
    assert run_trial(machine, out, discard=True) == 0
    assert read_trial(next(out.glob("*.records"))).whole


def test_no_module(machine: FakeMachine) -> None:
    with pytest.raises(ToolError, match="not loaded: modprobe rt_tap"):
        Loop(machine)


def test_one_companion_at_a_time(machine: FakeMachine) -> None:
    FakeDevice(machine.root, RECORDS)
    with Loop(machine), pytest.raises(ToolError, match="another tactus tap is at work"):
        Loop(machine)
    with Loop(machine):  # given back
        pass


def wait_for(what: object, seconds: float = 600) -> None:
    until = time.monotonic() + seconds
    while not what():  # type: ignore[operator]
        assert time.monotonic() < until, "it took too long"
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(number: int, machine: FakeMachine, out: Path) -> None:
    """^C has the loop end the trial; what was tapped is written."""
    device = FakeDevice(machine.root, RECORDS, hold_at=100)

    def interrupt() -> None:
        wait_for(lambda: any(path.stat().st_size > 6400 for path in out.glob("*.records")))
        os.kill(os.getpid(), number)

    threading.Thread(target=interrupt, daemon=True).start()
    assert run_trial(machine, out) == 0
    assert device.stopped.is_set()
    told = json.loads(next(out.glob("*_certificate.json")).read_text())
    assert told["ended_by"] == "stopped" and told["clean"]
    assert not isinstance(signal.getsignal(number), Stopper)  # as it was


COMPANION = """
import sys
from pathlib import Path
from tactus.machine import Machine
from tactus.tap import session
from tactus.tap.companion import Loop, Stopper
from tactus.tap.experiment import Experiment
machine, out = Machine(Path(sys.argv[1])), Path(sys.argv[2])
with Loop(machine) as loop, Stopper(loop) as stopper:
    file, first = session.begin(machine, loop, stopper, Experiment("", [], {}, task="sync"), out,
                                False)
    session.watch(loop, stopper, file, first, True)
"""


def killed_trial(machine: FakeMachine, out: Path, hold_at: int) -> FakeDevice:
    """A trial whose companion got SIGKILL after `hold_at` records."""
    device = FakeDevice(machine.root, RECORDS, hold_at=hold_at)
    process = subprocess.Popen([sys.executable, "-c", COMPANION, machine.root, out],
                               env=os.environ | {"PYTHONPATH": str(PACKAGE)})
    wait_for(lambda: any(path.stat().st_size > 64 * hold_at for path in out.glob("*.records")))
    process.kill()
    process.wait()
    return device


def attach(machine: FakeMachine, out: Path) -> int:
    with Loop(machine) as loop:
        with Stopper(loop) as stopper:
            file, first = session.take_over(machine, loop, stopper, out)
            session.watch(loop, stopper, file, first, quiet=True)
        return session.finish(file, out, {}, False)


def test_a_killed_companion_is_replaced(machine: FakeMachine, out: Path) -> None:
    """The trial goes on meanwhile, and in the end everything is there."""
    device = killed_trial(machine, out, 100)
    device.go.set()
    assert attach(machine, out) == 0
    trial = read_trial(out / "task-sync_run-01.records")
    assert trial.whole and trial.reason == "END_EXP"
    assert [record._replace(trial=1) for record in trial.records] == RECORDS
    assert not device.stopped.is_set()


def test_a_trial_without_its_beginning(machine: FakeMachine, out: Path, tmp_path: Path) -> None:
    """Somewhere else, the new companion cannot know what the killed one had got; it says so."""
    device = killed_trial(machine, out, 100)
    device.go.set()
    other = tmp_path / "other"
    other.mkdir()
    assert attach(machine, other) == session.NOT_CLEAN
    told = json.loads((other / "task-attached_run-01_certificate.json").read_text())
    assert told["problems"] == ["100 records are missing"]


def test_nothing_to_attach_to(machine: FakeMachine, out: Path) -> None:
    FakeDevice(machine.root, RECORDS)
    machine.write("/sys/module/rt_tap/stats/running", "0\n")
    with pytest.raises(ToolError, match="no trial is running"):
        attach(machine, out)


def test_files_can_be_made_again(machine: FakeMachine, out: Path, tmp_path: Path,
                                 capsys: pytest.CaptureFixture[str]) -> None:
    FakeDevice(machine.root, RECORDS)
    run_trial(machine, out)
    before = {path.name: path.read_bytes() for path in out.glob("*_events.tsv")}
    for path in out.glob("*_events.tsv"):
        path.unlink()
    assert session.export(next(out.glob("*.records")), out, False) == 0
    assert {path.name: path.read_bytes() for path in out.glob("*_events.tsv")} == before
    (tmp_path / "x").write_text("x\n")
    with pytest.raises(ToolError):
        session.export(tmp_path / "x", out, False)


def press(kind: Kind, ms: int) -> Record:
    return Record(0, 0, ms * MS, ms * MS, ms * MS, 1, 1, 0, 0, kind, 1, 3, b"\x90\x3c\x40")


def test_without_mido(machine: FakeMachine, out: Path, capsys: pytest.CaptureFixture[str],
                      monkeypatch: pytest.MonkeyPatch) -> None:
    """All but the MIDI file is there; that is said, and can be made up for."""
    FakeDevice(machine.root, RECORDS)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "mido", None)
        assert run_trial(machine, out) == 0
    assert "no .mid file: it takes python3-mido" in capsys.readouterr().err
    assert not list(out.glob("*.mid")) and list(out.glob("*_events.tsv"))
    assert session.export(next(out.glob("*.records")), out, False) == 0
    assert len(list(out.glob("*.mid"))) == 1
    assert "python3-mido" not in capsys.readouterr().err


def test_progress() -> None:
    """Early and late taps, and those that have no tone."""
    progress = Progress()
    for kind, ms in ((Kind.METRONOME, 1000), (Kind.KEYSTROKE, 1020), (Kind.KEYSTROKE, 1490),
                     (Kind.METRONOME, 1500), (Kind.METRONOME, 2000), (Kind.KEYSTROKE, 2030),
                     (Kind.KEYSTROKE, 2530), (Kind.KEYSTROKE, 3030), (Kind.KEYSTROKE, 3530)):
        progress.add(press(kind, ms))
    assert list(progress.asynchronies) == [20, -10, 30]
    assert list(progress.intervals) == [470, 540, 500, 500, 500]
    assert progress.line().startswith("   3.530 s  6 taps, 3 tones; interval 500.0, mean 502.0")
    frame = progress.frame(60, 20)
    assert "asynchrony, ms  30" in frame and all(len(line) <= 60 for line in frame.splitlines())
    assert Progress().line().endswith("interval -; asynchrony -")


def test_views(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    progress = Progress()
    progress.add(press(Kind.KEYSTROKE, 1234))
    view = ScreenView()
    view.show(progress)
    view.close()
    assert "1.234 s  1 taps" in capsys.readouterr().out
    LineView(sys.stderr).show(progress)
    assert "1.234 s  1 taps" in capsys.readouterr().err
