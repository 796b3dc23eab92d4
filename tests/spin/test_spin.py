# SPDX-License-Identifier: GPL-2.0-only
"""The FIFOs' protocols, every interleaving of them: models for spin, and what each barrier is for.

Each model holds as it is; and with one barrier or step taken away it breaks, so it can.
"""
from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
MODELS = {
    "out": "NO_A NO_D NO_SYNC NO_FIRST_SYNC NO_ORDER NO_LAST_MOVE",
    "in": "NO_B NO_C NO_SYNC",
    "overwrite": "NO_F NO_F2",
    "wake": "NO_E_LINUX NO_E_RT KEEP_WANT LOOK_FIRST LATE_STATE",
}
BROKEN = [(model, flag) for model, flags in MODELS.items() for flag in flags.split()]


def check(folder: Path, model: str, *flags: str) -> tuple[int, int]:
    """Errors found, and states seen; the search is exhaustive."""
    source = HERE / f"{model}.pml"
    for words in (["spin", "-a", *(f"-D{flag}" for flag in flags), source],
                  ["gcc", "-O1", "-DSAFETY", "-w", "-o", "pan", "pan.c"]):
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0 and "rror" not in done.stdout, done.stdout + done.stderr
    said = subprocess.run(["./pan", "-m1000000"], cwd=folder, capture_output=True, text=True,
                          timeout=120).stdout
    assert "max search depth too small" not in said
    errors, states = re.search(r"errors: (\d+)", said), re.search(r"(\d+) states, stored", said)
    assert errors and states, said
    return int(errors[1]), int(states[1])


@pytest.mark.parametrize("model", MODELS)
def test_holds(tmp_path: Path, model: str) -> None:
    errors, states = check(tmp_path, model)
    assert errors == 0
    assert states > 1000


@pytest.mark.parametrize(("model", "flag"), BROKEN)
def test_breaks_without(tmp_path: Path, model: str, flag: str) -> None:
    """Each barrier, and each sync(), is there for a reason."""
    assert check(tmp_path, model, flag)[0] > 0


def test_every_switch_of_the_models_is_tried() -> None:
    """All #ifdefs of the sources are in the table above."""
    for model, flags in MODELS.items():
        found = set(re.findall(r"#ifn?def (\w+)", (HERE / f"{model}.pml").read_text()))
        assert found - {"PUTS", "RESIZES"} == set(flags.split())
