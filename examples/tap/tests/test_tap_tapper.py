# SPDX-License-Identifier: GPL-2.0-only
"""The simulated tapper: the kernel's (examples/tap/tapper/tapper.h) and Python's are one, and
normal."""
from __future__ import annotations

import os
import socket
import subprocess
import sys
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from fakes import PACKAGE
from tactus.tap.farend import FarEnd
from tactus.tap.tapper import Tapper, TapperParams

TOP = Path(__file__).resolve().parents[3]
MS = 10**6

# Reads parameters and tones (ns); prints the tap times up to the count that is asked for.
DRIVER = r"""
#include <stdio.h>
#include "examples/tap/tapper/tapper.h"
int main(void)
{
	struct tapper_params p;
	struct tapper t;
	long long tone, tones[1000], taps;
	int count = 0, at = 0;

	if (scanf("%ld %ld %ld %ld %ld %u %u %ld %lld", (long *)&p.seed, &p.interval_ns,
		  &p.timekeeper_sd_ns, &p.motor_ns, &p.motor_sd_ns, &p.correction_permille, &p.listen,
		  &p.start_ns, &taps) != 9)
		return 1;
	while (count < 1000 && scanf("%lld", &tone) == 1)
		tones[count++] = tone;
	tapper_init(&t, &p);
	while (t.taps < taps) {
		if (at < count && tones[at] <= tapper_next(&t)) {
			tapper_heard(&t, tones[at++]);
			continue;
		}
		if (tapper_next(&t) == TAPPER_NEVER)
			return 2;
		printf("%lld\n", (long long)tapper_next(&t));
		tapper_tapped(&t);
	}
	return 0;
}
"""  # noqa: E101, E501 (C)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tapper")
    (folder / "driver.c").write_text(DRIVER)
    subprocess.run(["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{TOP}",
                    "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                    "-o", folder / "driver", folder / "driver.c"], check=True)
    return folder / "driver"


def taps_of(params: TapperParams, tones: list[int], count: int) -> list[int]:
    tapper, taps, tones = Tapper(params), [], list(tones)
    while len(taps) < count:
        coming = tapper.next_ns()
        if tones and (coming is None or tones[0] <= coming):
            tapper.heard(tones.pop(0))
            continue
        assert coming is not None
        taps.append(coming)
        tapper.tapped()
    return taps


TONES = [1000 * MS + 500 * MS * n + (50 * MS if n > 20 else 0) for n in range(40)]
CASES = [(TapperParams(seed=seed), TONES) for seed in (0, 1, 2**63 - 1)] + [
    (TapperParams(seed=5, correction_permille=1000, motor_sd_ns=40 * MS), TONES),
    (TapperParams(seed=6, correction_permille=0), TONES[:2] + TONES[5:9]),
    (TapperParams(seed=7, listen=0, interval_ns=300 * MS, start_ns=77), []),
    (TapperParams(seed=8, listen=2, interval_ns=600 * MS), TONES),
    (TapperParams(seed=9, listen=1, interval_ns=450 * MS, motor_ns=0, motor_sd_ns=0), TONES)]


@pytest.mark.parametrize(("params", "tones"), CASES)
def test_c_and_python_tap_alike(program: Path, params: TapperParams, tones: list[int]) -> None:
    text = " ".join(map(str, (*astuple(params), 100, *tones)))
    done = subprocess.run([program], input=text, text=True, capture_output=True, check=True)
    taps = taps_of(params, tones, 100)
    assert list(map(int, done.stdout.split())) == taps
    other = TapperParams(**{**params.__dict__, "seed": params.seed + 1})
    assert taps_of(other, tones, 100) != taps or not params.timekeeper_sd_ns


def test_deviates_are_normal() -> None:
    """Kolmogorov and Smirnov's test, moments, and no memory; a uniform one of the same SD fails."""
    tapper = Tapper(TapperParams(seed=42))
    drawn = np.array([tapper._deviate(10 * MS) for _ in range(20_000)]) / (10 * MS)
    assert scipy.stats.kstest(drawn, "norm").pvalue > 0.01
    assert np.mean(drawn) == pytest.approx(0, abs=0.025)
    assert np.std(drawn) == pytest.approx(1, abs=0.02)
    assert scipy.stats.kurtosis(drawn) == pytest.approx(-0.1, abs=0.1)
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.025
    uniform = np.random.default_rng(1).uniform(-3**0.5, 3**0.5, 20_000)
    assert scipy.stats.kstest(uniform, "norm").pvalue < 1e-6


def test_it_waits_for_tones_and_takes_their_tempo() -> None:
    tapper = Tapper(TapperParams(listen=3, motor_sd_ns=0, timekeeper_sd_ns=0))
    assert tapper.next_ns() is None
    for n in range(3):
        assert tapper.next_ns() is None
        tapper.heard(1000 + n * 400 * MS)
    assert tapper.next_ns() == 1000 + 3 * 400 * MS


@pytest.mark.parametrize("shift", [30 * MS, -30 * MS])
def test_a_phase_shift_is_corrected_by_its_share(shift: int) -> None:
    """Without noise, each asynchrony is (1 - correction) times the one before, late or early."""
    tapper = Tapper(TapperParams(listen=1, interval_ns=500 * MS, motor_sd_ns=0,
                                 timekeeper_sd_ns=0, correction_permille=250))
    tones = [0] + [500 * MS * n + (shift if n > 4 else 0) for n in range(1, 12)]
    asynchronies = []
    for tone in tones:
        while (coming := tapper.next_ns()) is not None and coming < tone:
            asynchronies.append(coming)
            tapper.tapped()
        tapper.heard(tone)
    off = [tap - min(tones, key=lambda tone: abs(tone - tap)) for tap in asynchronies]
    assert off[:4] == [0] * 4
    assert off[4] == -shift
    for before, after in zip(off[4:], off[5:], strict=False):
        assert after == pytest.approx(0.75 * before, abs=2)


def played(end: FarEnd, tones: list[int]) -> list[tuple[int, bytes]]:
    """What a far end sends, and when, with tones on channel 10; in a time of the test's own."""
    sent, tones = [], list(tones)
    while not end.over:
        coming = end.next_ns()
        if tones and (coming is None or tones[0] <= coming):
            end.hear(bytes((0xFE, 0x99, 76)), tones[0] - 320_000)
            end.hear(bytes((0xF8, 64, 76, 0)), tones.pop(0))  # and, by running status, its end
            continue
        assert coming is not None
        data = end.due(coming)
        sent += [(coming, data[at:at + 3]) for at in range(0, len(data), 3)]
    return sent


def test_the_far_end_taps_as_the_tapper_does() -> None:
    params = TapperParams(seed=3)
    sent = played(FarEnd(params, key=62, taps=50), TONES)
    presses = [when for when, message in sent if message == bytes((0x90, 62, 100))]
    assert presses == taps_of(params, TONES, 50)
    lifts = [when for when, message in sent if message == bytes((0x80, 62, 0))]
    assert lifts == [when + 80 * MS for when in presses]
    assert len(sent) == 100


def test_a_key_is_lifted_before_it_is_pressed_again() -> None:
    params = TapperParams(seed=3, listen=0, interval_ns=50 * MS, timekeeper_sd_ns=0, motor_sd_ns=0)
    sent = played(FarEnd(params, taps=5), [])
    assert [message[0] for _, message in sent] == [0x90, 0x80] * 5
    assert sent[1][0] == sent[2][0]


def test_what_is_no_tone_is_not_heard() -> None:
    end = FarEnd(TapperParams(listen=1, interval_ns=MS))
    for odd in (b"\x98\x4c\x40", b"\x89\x4c\x40", b"\x99\x4c\x00", b"\xf0\x99", b"\xb9\x4c\x40",
                b"\xc9\x4c\x40\x4c\x40", b"\x99\x4c\xf2\x40\x40", b"\x99\x4c"):
        end.hear(odd, 0)
    assert end.next_ns() is None
    end.hear(b"\x40", 0)
    assert end.next_ns() is not None


def test_over_a_real_line(tmp_path: Path) -> None:
    """A Unix socket, as an emulator gives it; no bound on when."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "line"))
    listener.listen()
    process = subprocess.Popen([sys.executable, "-m", "tactus.tap.farend", tmp_path / "line",
                                "--listen", "1", "--interval-ns", str(5 * MS), "--taps", "3"],
                               env=os.environ | {"PYTHONPATH": str(PACKAGE)})
    line, _ = listener.accept()
    line.sendall(b"\x99\x4c\x40")
    got = b""
    while data := line.recv(100):
        got += data
    assert got == b"\x90\x3c\x64\x80\x3c\x00" * 3
    assert process.wait(30) == 0
    line.close()
    listener.close()
