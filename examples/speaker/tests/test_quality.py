# SPDX-License-Identifier: GPL-2.0-only
"""The timer's model against the data sheet, and the judge of sound against sounds it must tell
apart."""

from __future__ import annotations

import math

import numpy as np
import pytest

from model import pit, quality
from model.pit import Edge, TimedWrite
from model.porttrace import TraceError

TICK_NS = 1e9 / pit.PIT_HZ
ONE_SHOT = [TimedWrite(0x61, 0x02, 0), TimedWrite(0x43, 0x92, 10)]


def pulse(count: int, time_ns: float) -> list[TimedWrite]:
    """Trigger with what was loaded before, load the next count, close the gate."""
    return [TimedWrite(0x61, 0x03, time_ns), TimedWrite(0x42, count, time_ns),
            TimedWrite(0x61, 0x02, time_ns)]


def test_a_one_shot_is_low_for_the_count_that_was_loaded_before_its_trigger() -> None:
    edges = pit.wave([*ONE_SHOT, TimedWrite(0x42, 10, 20), *pulse(20, 1e5), *pulse(5, 2e5)])
    assert [level for _, level in edges] == [1, 0, 1, 0, 1]
    times = [time_ns for time_ns, _ in edges]
    assert times[1:] == pytest.approx([1e5, 1e5 + 10 * TICK_NS, 2e5, 2e5 + 20 * TICK_NS])


def test_a_trigger_before_the_end_begins_anew() -> None:
    edges = pit.wave([*ONE_SHOT, TimedWrite(0x42, 100, 20), *pulse(100, 1e5), *pulse(100, 1.5e5)])
    assert [e.time_ns for e in edges][1:] == pytest.approx([1e5, 1.5e5 + 100 * TICK_NS])


def test_a_gate_that_stays_open_triggers_nothing() -> None:
    writes = [*ONE_SHOT, TimedWrite(0x42, 10, 20), TimedWrite(0x61, 0x03, 1e5)]
    assert len(pit.wave([*writes, TimedWrite(0x61, 0x03, 2e5)])) == len(pit.wave(writes)) == 3


def test_mode_0_follows_the_bit_after_it_has_counted() -> None:
    edges = pit.wave([TimedWrite(0x61, 0x03, 0), TimedWrite(0x43, 0xB0, 10),
                      TimedWrite(0x42, 3, 20), TimedWrite(0x42, 0, 30), TimedWrite(0x61, 0x01, 9e4),
                      TimedWrite(0x61, 0x03, 1e5)])
    assert edges[0] == Edge(0, 1) and edges[1] == Edge(10, 0)
    assert edges[2].time_ns == pytest.approx(30 + 4 * TICK_NS)
    assert edges[3:] == [Edge(9e4, 0), Edge(1e5, 1)]


def test_a_tone_is_refused() -> None:
    with pytest.raises(TraceError, match="mode 3"):
        pit.wave([TimedWrite(0x43, 0xB6, 0), TimedWrite(0x61, 0x03, 10)])


def test_sampling_keeps_the_area() -> None:
    edges = [Edge(0, 1), Edge(250, 0), Edge(1500, 1)]
    assert pit.sampled(edges, 0, 3000, 1_000_000) == pytest.approx([0.25, 0.5, 1.0])
    assert pit.sampled(edges, 1750, 2750, 1_000_000) == pytest.approx([1.0])


def _noise(seed: int, size: int = 3 * quality.RATE_HZ) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(size)


@pytest.mark.parametrize("snr_db", [0, 10, 20])
def test_noise_of_a_known_power_is_found(snr_db: float) -> None:
    sound = _noise(1)
    noisy = sound + _noise(2) * 10 ** (-snr_db / 20)
    # Of what is heard, the share of the signal is what was added to.
    assert quality.coherence_snr_db(sound, noisy) == pytest.approx(snr_db, abs=0.5)


def test_gain_delay_and_offset_are_no_noise() -> None:
    sound = _noise(1)
    later = np.concatenate((np.zeros(700), 0.1 * sound + 0.4))
    assert quality.coherence_snr_db(sound, later) > 30


def test_another_sound_is_all_noise_and_one_that_slips_is_mostly() -> None:
    assert quality.coherence_snr_db(_noise(1), _noise(2)) < -10
    sound = _noise(1)
    half = len(sound) // 2
    slipped = np.concatenate((sound[:half], np.zeros(480), sound[half:-480]))
    assert quality.coherence_snr_db(sound, slipped) < 3


def test_a_pulse_train_of_the_model_sounds_like_its_sine() -> None:
    """End to end: 1 kHz as pulses at 16 kHz through the timer's model is heard as 1 kHz."""
    rate, seconds = 16_000, 0.5
    writes = [*ONE_SHOT, TimedWrite(0x42, 32, 20)]
    counts = [int(32 + 20 * math.sin(2 * math.pi * 1000 * n / rate))
              for n in range(int(rate * seconds))]
    for n, count in enumerate(counts):
        writes += pulse(count, 1000 + n * 1e9 / rate)
    sound = np.asarray(quality.heard(pit.wave(writes), 1000, seconds * 1e9))
    spectrum = np.abs(np.fft.rfft((sound - sound.mean()) * np.hanning(len(sound))))
    band = slice(0, int(7000 * len(sound) / quality.RATE_HZ))
    loudest = int(np.argmax(spectrum[band])) * quality.RATE_HZ / len(sound)
    assert loudest == pytest.approx(1000, abs=3)
