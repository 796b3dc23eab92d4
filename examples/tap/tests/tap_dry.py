# SPDX-License-Identifier: GPL-2.0-only
"""Trials of the real engine with a clock that jumps (tactus-tapfile --run) and a simulated
tapper."""
from __future__ import annotations

import subprocess
from pathlib import Path

from tactus import hostprogram
from tactus.tap.experiment import read_experiment
from tactus.tap.farend import FarEnd
from tactus.tap.records import unpack
from tactus.tap.tapper import TapperParams
from tactus.tap.trial import About, Trial

MOST_TAPS = 2000


def program() -> str:
    return hostprogram.find("tactus-tapfile", "TACTUS_TAPFILE", "examples/tap/host/main.c",
                            "tapfile")


def run(path: Path, lines: list[str]) -> Trial:
    """A trial with that input, lines of a time in ns and bytes in hex."""
    done = subprocess.run([program(), "--run", "--records", path], input="".join(lines).encode(),
                          capture_output=True, check=True)
    experiment = read_experiment(path)
    trial = Trial(About(experiment.task, 1, 1, 0, source=experiment.source,
                        parameters=experiment.parameters))
    for record in unpack(done.stdout):
        trial.add(record)
    return trial


def taps_to(tones: list[tuple[int, bytes]], until_ns: int, params: TapperParams,
            keys: tuple[int, ...]) -> list[str]:
    """What a tapper does who hears those tones; the keys are taken in turn."""
    end = FarEnd(params, taps=MOST_TAPS)
    tones, lines, presses = list(tones), [], 0
    while not end.over:
        coming = end.next_ns()
        if tones and (coming is None or tones[0][0] <= coming):
            when, message = tones.pop(0)
            end.hear(message, when)
            continue
        if coming is None or coming > until_ns:
            break
        data = end.due(coming)
        for at in range(0, len(data), 3):
            presses += data[at] == 0x90
            note = keys[(presses - 1) % len(keys)]
            lines.append(f"{coming} {data[at]:02x} {note:02x} {data[at + 2]:02x}\n")
    return lines


def tapped(path: Path, params: TapperParams, keys: tuple[int, ...] = (60,)) -> Trial:
    """A trial with a tapper. What is tapped may change the tones: done again until it does not."""
    lines: list[str] = []
    for _ in range(20):
        trial = run(path, lines)
        tones = [(record.actual_ns, record.message) for record in trial.tones()]
        fresh = taps_to(tones, trial.records[-1].actual_ns, params, keys)
        if fresh == lines:
            return trial
        lines = fresh
    raise AssertionError("the taps and the tones do not come to rest")
