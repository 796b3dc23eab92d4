# SPDX-License-Identifier: GPL-2.0-only
"""`tactus tap` where it cannot do what it is asked to: a sentence, an exit status, and no trial
begun."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fake_tap import MS, FakeDevice, FakeLoop
from fakes import PACKAGE, FakeMachine
from tactus import cli
from tactus.errors import ToolError
from tactus.tap import session
from tactus.tap.companion import Loop, Stopper
from tactus.tap.experiment import Experiment, read_experiment
from tactus.tap.records import Command, Op
from tactus.tap.trial import read_trial

FILE = Path(__file__).resolve().parents[1] / "experiments/sync_continuation.ftap"
STEM = "task-synccontinuation_run-01"
RECORDS = FakeLoop(taps=40).records()

Tap = Callable[..., tuple[int, str]]


@pytest.fixture
def tap(machine: FakeMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> Tap:
    """`tactus tap`, in a folder of its own; its exit status, and what it says on stderr."""
    def tactus_tap(*words: object) -> tuple[int, str]:
        status = cli.main(["tap", *map(str, words)], machine)
        return status, capsys.readouterr().err

    read_experiment(FILE)  # so that what reads it is built: not within a test's limits
    # Nobody may be unable to read the checkout, and finding the commands reads it.
    found = cli.find_commands()
    monkeypatch.setattr(cli, "find_commands", lambda: found)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tactus_tap


def files(folder: str = "out") -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir())


@pytest.mark.parametrize("words", [(FILE,), ("--attach",), ("--stop",)])
def test_no_module(words: tuple[object, ...], tap: Tap) -> None:
    assert tap(*words, "--out", "out") == (
        1, "tactus: the tap loop is not loaded: modprobe rt_tap\n")
    assert not Path("out").exists() or files() == []


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without root's powers."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize(("node", "words"), [("tap", "--attach"), ("tap_set", "--stop")])
def test_no_permission(node: str, words: str, tap: Tap, machine: FakeMachine) -> None:
    device = FakeDevice(machine.root, RECORDS)
    (machine.root / "dev/rtf" / node).chmod(0)
    with as_nobody():
        told = tap(words, "--out", ".")
    assert told == (1, f"tactus: {machine.root}/dev/rtf/{node}: Permission denied\n")
    assert device.got == []


@pytest.mark.parametrize(("text", "sentence"), [
    (None, "none.ftap cannot be read: No such file or directory"),
    (b"\x7fELF\2\1\1\0" * 99, "none.ftap:1:1: error: there is a control character, 0x7f"),
    (b"<html>\n", 'none.ftap:1:1: error: there is no parameter "<html>"'),
    (b"x" * 5000, "none.ftap:1:1: error: there is no parameter \"xxxxx")],
    ids=["none", "a program", "a page", "a long word"])
def test_a_wrong_file(text: bytes | None, sentence: str, tap: Tap, machine: FakeMachine) -> None:
    device = FakeDevice(machine.root, RECORDS)
    if text is not None:
        Path("none.ftap").write_bytes(text)
    for words in (("none.ftap",), ("--check", FILE, "none.ftap")):
        status, said = tap(*words)
        assert status == 1 and sentence in said
        assert all(len(line) < 300 for line in said.splitlines())
    assert device.got == [] and files(".") == (["none.ftap"] if text else [])


def test_a_folder_is_no_file(tap: Tap) -> None:
    assert tap(".") == (1, "tactus: . cannot be read: Is a directory\n")
    assert tap("--export", ".") == (1, "tactus: .: Is a directory\n")


HEAD = {"tactus_recording": 1, "fifo": "tap", "record_bytes": 64, "fields": None, "began_ns": 0}


@pytest.mark.parametrize(("content", "sentence"), [
    (b"", "is not a recording"), (b"\x7fELF\n", "is not a recording"),
    (json.dumps(HEAD).encode() + b"\n", "is not the records of a trial"),
    (json.dumps(HEAD | {"tap": {"task": "x", "taste": "sour"}}).encode() + b"\n",
     "is not the records of a trial")], ids=["empty", "a program", "a recording", "other words"])
def test_wrong_records(content: bytes, sentence: str, tap: Tap, machine: FakeMachine) -> None:
    """They cannot be exported; nor are they in the way of one who takes over."""
    wrong = Path("task-x_run-01.records")
    wrong.write_bytes(content)
    assert tap("--export", wrong) == (1, f"tactus: {wrong} {sentence}\n")
    FakeDevice(machine.root, RECORDS).put(*RECORDS)
    assert tap("--attach", "--out", ".", "--quiet") == (0, "")
    assert "task-attached_run-01.mid" in files(".") and wrong.read_bytes() == content


def test_nowhere_to_write(tap: Tap, machine: FakeMachine) -> None:
    """Known before the trial begins."""
    device = FakeDevice(machine.root, RECORDS)
    Path("out").write_text("")
    assert tap(FILE, "--out", "out") == (1, "tactus: out could not be made: File exists\n")
    status, said = tap(FILE, "--out", "/proc/self")
    assert status == 1 and said.startswith(f"tactus: /proc/self/{STEM}.records: ")
    assert device.got == []


# A command of its own, with a limit to the size of a file: as if the disk were full.
# A shell starts what runs in the background with ^C ignored, tests too: not so the command.
COMMAND = """
import resource, signal, sys
from pathlib import Path
from tactus import cli
from tactus.machine import Machine
signal.signal(signal.SIGINT, signal.default_int_handler)
if int(sys.argv[2]):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
sys.exit(cli.main(["tap", *sys.argv[3:]], Machine(Path(sys.argv[1]))))
"""


def command(machine: FakeMachine, most_bytes: int, *words: object) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", COMMAND, machine.root, str(most_bytes),
                             *map(str, words)], stderr=subprocess.PIPE, text=True,
                            env=os.environ | {"PYTHONPATH": str(PACKAGE)})


def test_no_room_for_records(tap: Tap, machine: FakeMachine) -> None:
    """The trial goes on, and who takes it over says what is missing."""
    device = FakeDevice(machine.root, RECORDS, hold_at=100)
    process = command(machine, 5000, FILE, "--out", "out", "--quiet")
    assert process.communicate()[1] == (f"tactus: out/{STEM}.records could not be written: File "
                                        f"too "
                                        "large; the trial goes on, and --attach takes it over\n")
    assert process.returncode == 1 and not device.stopped.is_set()
    device.go.set()
    status, said = tap("--attach", "--out", "out", "--quiet")
    missing = len(RECORDS) - len(read_trial(Path(f"out/{STEM}.records")).records)
    assert status == session.NOT_CLEAN and 0 < missing <= 100
    assert said == f"tactus: the trial is not clean: {missing} records are missing\n"


def test_no_room_to_begin(tap: Tap, machine: FakeMachine) -> None:
    device = FakeDevice(machine.root, RECORDS)
    process = command(machine, 100, FILE, "--out", "out")
    assert process.communicate()[1] == f"tactus: out/{STEM}.records: File too large\n"
    assert process.returncode == 1 and device.got == [] and files() == []


def test_no_room_for_a_file(tap: Tap, machine: FakeMachine) -> None:
    """What is half written is taken away; --export makes up for it."""
    FakeDevice(machine.root, RECORDS)
    Path("out").mkdir()
    Path(f"out/{STEM}_events.tsv").symlink_to("/dev/full")
    assert tap(FILE, "--out", "out", "--quiet") == (
        1, f"tactus: out/{STEM}_events.tsv could not be written: No space left on device; "
        "--export makes the files once more\n")
    assert files() == [f"{STEM}.records", f"{STEM}.txt"]
    assert tap("--export", f"out/{STEM}.records", "--out", "out") == (0, "")
    assert len(files()) == 7


def test_two_companions(tap: Tap, machine: FakeMachine) -> None:
    device = FakeDevice(machine.root, RECORDS)
    with Loop(machine):
        for words in ((FILE,), ("--attach",)):
            assert tap(*words, "--out", "out") == (1, "tactus: another tactus tap is at work\n")
    assert device.got == [] and files() == []


def test_interrupted_while_the_file_is_read(tap: Tap, machine: FakeMachine,
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has begun."""
    device = FakeDevice(machine.root, RECORDS)
    Path("slow").write_text("#!/bin/sh\nkill -INT $PPID\nexec sleep 60\n")
    Path("slow").chmod(0o755)
    monkeypatch.setenv("TACTUS_TAPFILE", str(Path("slow").absolute()))
    process = command(machine, 0, FILE, "--out", "out")
    assert process.communicate()[1] == "tactus: interrupted\n"
    assert process.returncode == 130 and device.got == [] and files() == []


def wait_for(device: FakeDevice, *ops: Op) -> None:
    """Until it has got these commands, parameters and triggers aside."""
    until = time.monotonic() + 600
    while [op for _, _, op, *_ in device.got if op not in (Op.SET, Op.TRIGGER)] != list(ops):
        assert time.monotonic() < until, device.got
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_before_the_loop_has_answered(number: int, tap: Tap,
                                                  machine: FakeMachine) -> None:
    """A trial without a tap, in good order."""
    device = FakeDevice(machine.root, RECORDS, hold_at=0)
    process = command(machine, 0, FILE, "--out", "out", "--quiet")
    wait_for(device, Op.RESET, Op.START)
    process.send_signal(number)
    assert (process.communicate()[1], process.returncode) == ("", 0)
    told = json.loads(Path(f"out/{STEM}_certificate.json").read_text())
    assert told["ended_by"] == "stopped" and told["clean"]
    assert read_trial(Path(f"out/{STEM}.records")).taps() == []


EXPERIMENT = Experiment("MSPB 500\n", [Command(Op.SET, param=9, value=500 * MS)], {9: "MSPB"},
                        task="sync")


def interrupt_at_start(loop: Loop, times: int) -> None:
    """^C when all but TAP_START has been sent."""
    send = loop.send

    def interrupted(what: Command) -> int:
        for _ in range(times if what.op == Op.START else 0):
            signal.raise_signal(signal.SIGINT)
        return send(what)

    loop.send = interrupted  # type: ignore[method-assign]


def test_interrupted_between_parameters_and_start(tap: Tap, machine: FakeMachine) -> None:
    """What stops a trial came before it began: it is stopped all the same."""
    device = FakeDevice(machine.root, RECORDS, hold_at=0)
    with Loop(machine) as loop, Stopper(loop) as stopper:
        interrupt_at_start(loop, 1)
        file, first = session.begin(machine, loop, stopper, EXPERIMENT, Path("."), False)
        session.watch(loop, stopper, file, first, quiet=True)
    wait_for(device, Op.RESET, Op.STOP, Op.START, Op.STOP)
    assert file.trial.done and file.trial.reason == "stopped"


def test_interrupted_twice(tap: Tap, machine: FakeMachine) -> None:
    """Then it does not wait; no file is left of a trial that was not heard of."""
    device = FakeDevice(machine.root, RECORDS, hold_at=0)
    with Loop(machine) as loop, Stopper(loop) as stopper:
        interrupt_at_start(loop, 2)
        loop.read = lambda timeout_s: pytest.fail("it waits")  # type: ignore[method-assign]
        with pytest.raises(ToolError, match="the tap loop does not answer"):
            session.begin(machine, loop, stopper, EXPERIMENT, Path("."), False)
    wait_for(device, Op.RESET, Op.STOP, Op.START, Op.STOP)
    assert files(".") == []
