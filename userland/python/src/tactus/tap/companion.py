# SPDX-License-Identifier: GPL-2.0-only
"""The Linux side of a running trial: hands the parameters to the loop and takes down what it says.

The loop never waits for it: records that nobody reads stay in the FIFO, and those that do not fit
are counted. So a companion may die, and another one take over.
"""
from __future__ import annotations

import array
import contextlib
import errno
import fcntl
import json
import os
import select
import signal
import termios
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tactus.errors import ToolError
from tactus.fifo import Fifo
from tactus.machine import Machine
from tactus.tap import certificate, exports
from tactus.tap.experiment import Experiment
from tactus.tap.live import Progress, View
from tactus.tap.records import FIFO_COMMANDS, FIFO_EVENTS, RECORD, Command, Kind, Op, Record, unpack
from tactus.tap.trial import About, Trial, TrialFile, read_trial

CHUNK_RECORDS = 1024
ANSWER_S = 10.0  # for the loop to answer a command
POLL_S = 0.1
MODULE = "/sys/module/rt_tap"


def _open(machine: Machine, name: str, mode: str) -> Fifo:
    try:
        return Fifo(str(machine.path(f"/dev/rtf/{name}")), mode, nonblocking=mode == "r")
    except FileNotFoundError as problem:
        raise ToolError("the tap loop is not loaded: modprobe rt_tap") from problem
    except OSError as problem:
        raise ToolError(f"{problem.filename}: {problem.strerror}") from problem


def stop_trial(machine: Machine) -> None:
    """End the trial that runs, whoever follows it; no effect if there is none."""
    with _open(machine, FIFO_COMMANDS, "w") as commands:
        commands.write(Command(Op.STOP).pack(0))


class Loop:
    """The loop's two FIFOs; a context manager. Only one companion can have them."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._serial = 0
        self._rest = b""
        self._events = _open(machine, FIFO_EVENTS, "r")
        self._commands = _open(machine, FIFO_COMMANDS, "w")
        try:
            fcntl.flock(self._events.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            self.close()
            raise ToolError("another tactus tap is at work") from problem

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._events.close()
        self._commands.close()

    def send(self, command: Command) -> int:
        """Its serial, by which a refusal names it."""
        self._serial += 1
        self._commands.write(command.pack(self._serial))
        return self._serial

    def stop(self) -> None:
        """End the trial; no effect if there is none, and so never refused."""
        self._commands.write(Command(Op.STOP).pack(0))

    def unread_bytes(self) -> int:
        count = array.array("i", [0])
        fcntl.ioctl(self._events.fileno(), termios.FIONREAD, count)
        return count[0]

    def read(self, timeout_s: float) -> list[Record] | None:
        """What has come, waiting for the first up to `timeout_s`; None: the FIFO is gone."""
        poll = select.poll()
        poll.register(self._events.fileno(), select.POLLIN)
        poll.poll(timeout_s * 1000)
        try:
            data = self._events.read(CHUNK_RECORDS * RECORD.size)
        except BlockingIOError:
            return []
        if not data:
            return None
        data = self._rest + data
        whole = len(data) - len(data) % RECORD.size
        self._rest = data[whole:]
        return list(unpack(data[:whole]))

    def _text(self, path: str) -> str:
        try:
            return self._machine.path(f"{MODULE}/{path}").read_text().strip()
        except OSError:
            return ""

    def running(self) -> bool | None:
        """Is there a trial? None: the module does not say."""
        said = self._text("stats/running")
        return said == "1" if said else None

    def port(self) -> str:
        return self._text("parameters/port")

    def port_stats(self) -> dict[str, int]:
        """What the port has counted of the present or last trial."""
        folder = self._machine.path(f"{MODULE}/stats")
        names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
        return {name: int(said) for name in names
                if (said := self._text(f"stats/{name}")).isdigit()}


class Stopper:
    """Ends the trial when a signal asks for it: the first time by the loop, the second by leaving
    it.

    A context manager: SIGINT and SIGTERM are its own meanwhile.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self.asked = 0
        self.until = float("inf")

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self)
                        for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def __call__(self, number: int = 0, frame: object = None) -> None:
        self.asked += 1
        if self.asked == 1:
            self._loop.stop()
            self.until = time.monotonic() + ANSWER_S

    @property
    def over(self) -> bool:
        return self.asked > 1 or time.monotonic() > self.until


def start(loop: Loop, experiment: Experiment, trial: int, stopper: Stopper) -> list[Record]:
    """Hand over the parameters and begin; what has come since, from the loop's STARTED on."""
    commands = [Command(Op.RESET), *experiment.commands, Command(Op.START, value=trial)]
    serials = {loop.send(command): command for command in commands}
    if stopper.asked:  # its own TAP_STOP may have come before the start
        loop.stop()
    until = time.monotonic() + ANSWER_S
    while time.monotonic() < until and not stopper.over:
        records = loop.read(POLL_S)
        if records is None:
            raise ToolError("the tap loop was unloaded")
        for at, record in enumerate(records):
            if record.kind == Kind.REFUSED and record.source in serials:
                raise ToolError(_refusal(serials[record.source], record, experiment.names))
            if record.kind == Kind.STARTED and record.trial == trial:
                return records[at:]
    raise ToolError("the tap loop does not answer")


def _refusal(command: Command, record: Record, names: dict[int, str]) -> str:
    code = -record.value
    if code == errno.EBUSY:
        return "a trial is running already: --attach takes it over, --stop ends it"
    named = names.get(record.param, "") if record.param else ""
    what = f"{command.op.name}{' ' + named if named else ''}"
    other = names.get(record.index, "") if command.op == Op.START and record.index else ""
    return f"the tap loop refused {what}: " + (f"it does not fit {other}" if other
                                               else os.strerror(code))


def follow(loop: Loop, file: TrialFile, view: View, stopper: Stopper,
           first: Sequence[Record] = ()) -> None:
    """Take down the trial until it is done, the loop is gone, or the stopper's patience is over."""
    progress = Progress()
    for record in file.trial.records:
        progress.add(record)
    records: list[Record] | None = list(first)
    while records is not None:
        mine = [record for record in records
                if record.trial == file.trial.about.trial and record.kind != Kind.REFUSED]
        if mine:
            try:
                file.add(mine, time.time_ns())
            except OSError as problem:
                raise ToolError(f"{file.path} could not be written: {problem.strerror}; the trial "
                                "goes on, and --attach takes it over") from problem
            for record in mine:
                progress.add(record)
        view.show(progress)
        if file.trial.done or stopper.over:
            return
        records = loop.read(POLL_S)


def next_run(folder: Path, about: About) -> int:
    """The lowest number above those of the files that are there."""
    head = about.stem.rpartition("_run-")[0]
    found = [path.name.removesuffix(".records").rpartition("_run-")[2]
             for path in folder.glob(f"{head}_run-*.records")]
    return max((int(number) for number in found if number.isdigit()), default=0) + 1


def unfinished(folder: Path) -> Path | None:
    """The newest file of records of a trial that was not taken down to its end."""
    files = sorted(folder.glob("*_run-*.records"), key=lambda path: path.stat().st_mtime)
    for path in reversed(files):
        with contextlib.suppress(ToolError):  # not the records of a trial
            if not read_trial(path).done:
                return path
    return None


def write_files(trial: Trial, folder: Path, port_stats: dict[str, int]) -> dict[str, Path]:
    """All that is made of a trial; returns what is where. The MIDI file takes mido."""
    told = certificate.certificate(trial, port_stats)
    contents: dict[str, tuple[str, str | bytes | None]] = {
        "text": (".txt", exports.text(trial)),
        "events": ("_events.tsv", exports.events_tsv(trial)),
        "sidecar": ("_events.json", exports.sidecar(trial)),
        "midi": (".mid", exports.midi(trial)),
        "certificate": ("_certificate.json", json.dumps(told, indent=2) + "\n"),
        "certificate_text": ("_certificate.txt", certificate.human(told) + "\n")}
    written = {}
    for name, (ending, content) in contents.items():
        if content is None:
            continue
        path = folder / f"{trial.about.stem}{ending}"
        try:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        except OSError as problem:
            with contextlib.suppress(OSError):
                path.unlink()  # half a file looks like a whole one
            raise ToolError(f"{path} could not be written: {problem.strerror}; --export makes the "
                            "files once more") from problem
        written[name] = path
    return written
