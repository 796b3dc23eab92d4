# SPDX-License-Identifier: GPL-2.0-only
"""A companion's work from beginning to end: begin or take over a trial, follow it, write its
files."""
from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import tactus
from tactus import sysfs
from tactus.errors import ToolError
from tactus.machine import Machine
from tactus.tap import certificate, live
from tactus.tap.companion import Loop, Stopper, follow, next_run, start, unfinished, write_files
from tactus.tap.experiment import Experiment
from tactus.tap.records import Kind, Record
from tactus.tap.trial import About, TrialFile, read_trial

NOT_CLEAN = 6  # exit status: the trial was had, but not all of it, or not as it should be


def about_now(machine: Machine, loop: Loop, task: str) -> About:
    """What is known of a trial that begins, or is found running."""
    status = sysfs.read(machine.root)
    return About(task, 1, 0, time.time_ns(), machine.release(), status.mode or "", loop.port(),
                 software=tactus.__version__)


def open_file(path: Path, about: About | None = None) -> TrialFile:
    """A new file of records, with `about`, or an old one."""
    try:
        return TrialFile(path, about)
    except OSError as problem:
        raise ToolError(f"{path}: {problem.strerror}") from problem


def begin(machine: Machine, loop: Loop, stopper: Stopper, experiment: Experiment, folder: Path,
          discard: bool) -> tuple[TrialFile, list[Record]]:
    """Start a new trial; its file, and its first records."""
    if loop.unread_bytes() and not discard:
        raise ToolError("there are records of a trial that nobody has read: --attach takes them, "
                        "--discard forgets them")
    about = about_now(machine, loop, experiment.task)
    about = replace(about, trial=about.began_ns // 10**9 & 0xFFFFFFFF, source=experiment.source,
                    parameters=experiment.parameters,
                    subject=str(experiment.parameters.get("SUBJECT", "")),
                    session=str(experiment.parameters.get("SESSION", "")))
    about = replace(about, run=next_run(folder, about))
    file = open_file(folder / f"{about.stem}.records", about)
    try:
        return file, start(loop, experiment, about.trial, stopper)
    except BaseException:
        file.remove()
        raise


def take_over(machine: Machine, loop: Loop, stopper: Stopper,
              folder: Path) -> tuple[TrialFile, list[Record]]:
    """Go on with the trial that runs, or whose records nobody has read."""
    if loop.running() is False and not loop.unread_bytes():
        raise ToolError("no trial is running, and there are no records of one")
    first: list[Record] | None = None
    while not first:
        if stopper.over:
            raise ToolError("the tap loop says nothing")
        first = loop.read(1.0)
        if first is None:
            raise ToolError("the tap loop was unloaded")
        first = [record for record in first if record.kind != Kind.REFUSED]
    trial = first[0].trial
    path = unfinished(folder)
    if path is not None and read_trial(path).about.trial == trial:
        return open_file(path), first
    about = replace(about_now(machine, loop, "attached"), trial=trial)
    about = replace(about, run=next_run(folder, about))
    return open_file(folder / f"{about.stem}.records", about), first


def watch(loop: Loop, stopper: Stopper, file: TrialFile, first: list[Record], quiet: bool) -> None:
    """Until the trial is done, or two signals end the patience."""
    view = live.choose(quiet)
    try:
        follow(loop, file, view, stopper, first)
    finally:
        view.close()
        file.close()


def finish(file: TrialFile, folder: Path, port_stats: dict[str, int], as_json: bool) -> int:
    """Write the files and say how it was; the exit status."""
    written = write_files(file.trial, folder, port_stats)
    told = certificate.certificate(file.trial, port_stats)
    if as_json:
        files = {name: str(path) for name, path in written.items()} | {"records": str(file.path)}
        print(json.dumps(told | {"files": files}, indent=2))
    else:
        print(certificate.human(told))
        print(f"written: {written['text'].with_suffix('')}*")
    if "midi" not in written:
        print("tactus: no .mid file: it takes python3-mido; tactus tap --export makes it later",
              file=sys.stderr)
    if not told["clean"]:
        print(f"tactus: the trial is not clean: {'; '.join(told['problems'])}", file=sys.stderr)
    return 0 if told["clean"] else NOT_CLEAN


def export(path: Path, folder: Path, as_json: bool) -> int:
    """Make the files of a trial once more from its records."""
    file = open_file(path)
    file.close()
    return finish(file, folder, {}, as_json)
