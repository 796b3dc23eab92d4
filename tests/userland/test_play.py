# SPDX-License-Identifier: GPL-2.0-only
"""`tactus play` on a fake driver: files in place of its sysfs files and of its FIFO.

sox is the real one, or a script in its place, called a fake where it is. The real driver is
played in examples/speaker/tests/test_play_device.py.
"""
from __future__ import annotations

import errno
import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fakes import PACKAGE, FakeMachine
from tactus import cli
from tactus.commands import play

DRIVER = play.DRIVER
CONTROL = {"mode": "auto", "volume": "100", "raw": "1", "stop": "", "clear": "",
           "now": "mode=pwm order=0 clock=task period_ns=61035 levels=70 state=playing"}
STATS = {"frames": 4096, "samples": 4100, "underruns": 0, "missed": 0, "late_max_ns": 310,
         "interval_min_ns": 60900, "interval_max_ns": 61200, "interval_max_dev_ns": 165}


@pytest.fixture
def driver(machine: FakeMachine) -> FakeMachine:
    """A machine with a fake rt_speaker, which takes what is written and does nothing."""
    machine.write(f"{DRIVER}/parameters/fifo", "0\n")
    for name, text in CONTROL.items():
        machine.write(f"{DRIVER}/control/{name}", f"{text}\n")
    for name, number in STATS.items():
        machine.write(f"{DRIVER}/stats/{name}", f"{number}\n")
    machine.write("/dev/rtf0", "")
    return machine


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """Half a second of 440 Hz at 44.1 kHz, stereo."""
    path = tmp_path / "tone.wav"
    subprocess.run(["sox", "-n", "-r", "44100", "-c", "2", str(path), "synth", "0.5", "sine",
                    "440"], check=True)
    return path


def control(machine: FakeMachine, name: str) -> str:
    return machine.path(f"{DRIVER}/control/{name}").read_text().strip()


def fake_program(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_what_the_driver_gets(driver: FakeMachine, sound: Path,
                              capsys: pytest.CaptureFixture[str]) -> None:
    """An .au file of 16 bits, one channel, at the rate of the driver's own ticks."""
    assert cli.main(["play", str(sound)], driver) == 0
    data = driver.path("/dev/rtf0").read_bytes()
    magic, offset, _, encoding, rate, channels = struct.unpack(">4s5I", data[:24])
    assert (magic, encoding, rate, channels) == (b".snd", 3, round(1e9 / 61035), 1)
    assert len(data) - offset == pytest.approx(rate, abs=4)  # half a second of two bytes
    said = capsys.readouterr()
    assert said.out == (f"{sound}, 0.5 s: pwm, 16384 Hz, 70 levels; latest 310 ns, intervals 60900 "
                        f"to "
                        "61200 ns (off by up to 165), 0 underruns, 0 missed\n")
    assert said.err == ""
    assert control(driver, "clear") == "1" and control(driver, "stop") == ""
    assert [control(driver, name) for name in ("raw", "mode", "volume")] == ["1", "auto", "100"]


def test_json(driver: FakeMachine, sound: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["play", "--json", str(sound)], driver) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == STATS | {"file": str(sound), "stopped": False, "seconds": 0.5, "mode": "pwm",
                            "clock": "task", "period_ns": 61035, "levels": 70}


def test_settings_hold_for_the_sound_and_are_put_back(
        driver: FakeMachine, sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fake sox looks at them while it decodes."""
    folder = driver.path(f"{DRIVER}/control")
    fake_program(tmp_path / "bin", "sox",
                 f'cat {folder}/mode {folder}/volume {folder}/raw > {tmp_path}/seen\n'
                 f'exec {shutil.which("sox")} "$@"')
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    assert cli.main(["play", str(sound), "--mode", "sigma", "--volume", "250"], driver) == 0
    assert (tmp_path / "seen").read_text().split() == ["sigma", "250", "0"]
    assert [control(driver, name) for name in ("raw", "mode", "volume")] == ["1", "auto", "100"]


def test_without_a_decoder(driver: FakeMachine, sound: Path, tmp_path: Path,
                           monkeypatch: pytest.MonkeyPatch,
                           capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert cli.main(["play", str(sound)], driver) == 1
    assert capsys.readouterr().err == (
        "tactus: neither sox nor ffmpeg is there to read the file: install one of them\n")
    assert driver.path("/dev/rtf0").read_bytes() == b""
    assert control(driver, "raw") == "1"


def test_ffmpeg_reads_what_sox_cannot(driver: FakeMachine, tmp_path: Path,
                                      monkeypatch: pytest.MonkeyPatch,
                                      capsys: pytest.CaptureFixture[str]) -> None:
    """ffmpeg is a fake; that it gets the right words is all that is seen here."""
    movie = tmp_path / "sound.mkv"
    movie.write_bytes(b"not for sox")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    fake_program(tmp_path / "bin", "ffprobe", "echo 7.5")
    fake_program(tmp_path / "bin", "ffmpeg", f'echo "$@" > {tmp_path}/words; echo sound')
    assert cli.main(["play", str(movie), "--json"], driver) == 0
    assert driver.path("/dev/rtf0").read_bytes() == b"sound\n"
    assert f"-i {movie} -f au -acodec pcm_s16be -ac 1 -ar 16384 -" in (tmp_path
                                                                       / "words").read_text()
    assert json.loads(capsys.readouterr().out)["seconds"] == 7.5
    fake_program(tmp_path / "bin", "ffmpeg", "echo of no use >&2; exit 1")
    assert cli.main(["play", str(movie)], driver) == 1
    said = capsys.readouterr().err
    assert "sox cannot read it: " in said and "ffmpeg cannot read it: of no use" in said


def test_a_file_that_breaks_off(driver: FakeMachine, sound: Path, tmp_path: Path,
                                monkeypatch: pytest.MonkeyPatch,
                                capsys: pytest.CaptureFixture[str]) -> None:
    """What could be read is played, and that it was not all is said. sox is a fake."""
    fake_program(tmp_path / "bin", "sox", "echo part; echo torn >&2; exit 2")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    assert cli.main(["play", str(sound)], driver) == 1
    said = capsys.readouterr()
    assert said.out.startswith(f"{sound}: pwm")
    assert said.err == f"tactus: {sound}: the rest could not be read: torn\n"
    assert driver.path("/dev/rtf0").read_bytes() == b"part\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it(driver: FakeMachine, tmp_path: Path, number: int,
                           capsys: pytest.CaptureFixture[str]) -> None:
    """The FIFO is a pipe that nobody empties, so the sound would never end."""
    long = tmp_path / "long.wav"
    subprocess.run(["sox", "-n", "-r", "16000", str(long), "synth", "20", "sine", "440"],
                   check=True)
    node = driver.path("/dev/rtf0")
    node.unlink()
    os.mkfifo(node)
    reading = os.open(node, os.O_RDONLY | os.O_NONBLOCK)
    before = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]

    def kill_when_it_sounds() -> None:
        if select.select([reading], [], [], 60)[0]:
            os.kill(os.getpid(), number)

    killer = threading.Thread(target=kill_when_it_sounds)
    killer.start()
    try:
        assert cli.main(["play", str(long), "--mode", "slope"], driver) == 130
    finally:
        killer.join()
        os.close(reading)
    assert " (stopped)" in capsys.readouterr().out
    assert control(driver, "stop") == "1"
    assert [control(driver, name) for name in ("raw", "mode")] == ["1", "auto"]
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)] == before


def test_somebody_else_plays(driver: FakeMachine, sound: Path, monkeypatch: pytest.MonkeyPatch,
                             capsys: pytest.CaptureFixture[str]) -> None:
    def busy(*_: object, **__: object) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy")

    monkeypatch.setattr(play, "Fifo", busy)
    assert cli.main(["play", str(sound)], driver) == 1
    assert capsys.readouterr().err.endswith("/dev/rtf0: somebody else plays\n")
    assert control(driver, "stop") == "" and control(driver, "raw") == "1"


def test_refusals(machine: FakeMachine, sound: Path, tmp_path: Path,
                  capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["play", str(sound)], machine) == 1
    assert "rt_speaker is not loaded" in capsys.readouterr().err
    assert cli.main(["play", str(tmp_path / "none.wav")], machine) == 1
    assert "no such file" in capsys.readouterr().err
    assert cli.main(["play", str(sound), "--volume", "401"], machine) == 2


def test_a_bar_in_a_terminal(driver: FakeMachine, sound: Path) -> None:
    """With rich, on a console of its own; the result still goes to the standard output."""
    pytest.importorskip("rich")
    ours, theirs = pty.openpty()
    script = ("import sys; from pathlib import Path; "
              "from fakes import FakeMachine; from tactus import cli; "
              "m = FakeMachine.__new__(FakeMachine); m.root = Path(sys.argv[1]); "
              "sys.exit(cli.main(['play', sys.argv[2]], m))")
    done = subprocess.run(
        [sys.executable, "-c", script, str(driver.root), str(sound)],
        stdout=subprocess.PIPE, stderr=theirs, text=True, check=False,
        env=os.environ | {"TERM": "xterm", "PYTHONPATH": f"{PACKAGE}:{Path(__file__).parent}"})
    drawn = b""
    while select.select([ours], [], [], 0.2)[0]:
        drawn += os.read(ours, 4096)
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 0, drawn
    assert b"tone.wav" in drawn and "━".encode() in drawn
    assert done.stdout.startswith(f"{sound}, 0.5 s: pwm")
