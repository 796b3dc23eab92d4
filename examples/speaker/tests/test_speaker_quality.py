# SPDX-License-Identifier: GPL-2.0-only
"""How good the speaker driver's sound is, by examples/speaker/tests/speaker_quality.py, and that it
can be told."""

from __future__ import annotations

import dataclasses
import math
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import playing
import speaker_quality
from harness import programs
from model import pit, quality, speaker
from model.porttrace import Capture, Write

Vm = Callable[..., Any]


def snr_db(reference: Sequence[float], stamps: Sequence[speaker.Stamp]) -> float:
    """Of a play."""
    return quality.coherence_snr_db(reference, speaker_quality.heard(stamps))


@pytest.mark.long
@pytest.mark.parametrize(("series", "names"), [
    ("6.1", ("pwm 8192", "pwm 16384", "sigma 2, 32000")), ("6.12", ("pwm 16384",))],
    ids=["6.1", "6.12"])
def test_speech_is_heard_as_promised(series: str, names: Sequence[str], tmp_path: Path) -> None:
    modes = [mode for mode in speaker_quality.MODES if mode.name in names]
    sound = playing.make_au(tmp_path)
    reference = speaker_quality.original(sound)
    plays = speaker_quality.play(sound, modes, tmp_path / "out", series)
    for played in plays:
        assert played.mode.min_snr_db is not None
        told = snr_db(reference, played.stamps)
        assert told >= played.mode.min_snr_db, played.mode
        assert played.stats["missed"] == played.stats["underruns"] == 0
    # One sample lost in the middle is noticed.
    stamps = plays[names.index("pwm 16384")].stamps
    assert snr_db(reference, without(stamps, len(stamps) // 2)) < snr_db(reference, stamps) - 3


def made_up(late_ns: Callable[[int], float]) -> tuple[Sequence[float], list[speaker.Stamp]]:
    """Four tones, and a play of them by counts; write n is so late."""
    hz, period, levels, n = (437.0, 1210.0, 2230.0, 3010.0), 61_035, 70, 16_000

    def wave(seconds: float) -> float:
        return sum(math.sin(2 * math.pi * f * seconds) for f in hz) / len(hz)

    stamps = [speaker.Stamp(0, pit.SPEAKER_PORT, 0x33, speaker.NO_SAMPLE, 0)]
    for k in range(n):
        level = wave(k * period / 1e9)
        count = round((levels + 1) / 2 - level * 0.8 * (levels - 1) / 2)
        stamps.append(speaker.Stamp(k + 1, pit.CHANNEL_2, count, round(level * 26000),
                                    int(k * period + late_ns(k))))
    span = int(n * period / 1e9 * quality.RATE_HZ)
    return [wave(k / quality.RATE_HZ) for k in range(span)], stamps


def test_when_it_was_written_counts() -> None:
    """A player whose ticks come up to 30 us late is heard to be bad by the real times of its
    writes; had they been taken for even, it would pass for as good as a punctual one."""
    reference, punctual = made_up(lambda k: 0.0)
    _, late = made_up(lambda k: k * 7919 % 101 / 101 * 30_000)
    even = [dataclasses.replace(stamp, time_ns=there.time_ns)
            for stamp, there in zip(late, punctual, strict=True)]
    good = snr_db(reference, punctual)
    assert snr_db(reference, even) == pytest.approx(good, abs=0.1)
    assert snr_db(reference, late) < good - 6


def test_a_lost_sample_is_noticed() -> None:
    reference, whole = made_up(lambda k: 0.0)
    half = len(whole) // 2
    assert snr_db(reference, without(whole, half)) < snr_db(reference, whole) - 6


def without(stamps: Sequence[speaker.Stamp], number: int) -> list[speaker.Stamp]:
    """The play as if one write had never been, and all after it had come a period earlier."""
    period = stamps[number + 1].time_ns - stamps[number].time_ns
    return [*stamps[:number], *(dataclasses.replace(stamp, time_ns=stamp.time_ns - period)
                                for stamp in stamps[number + 1:])]


def test_the_judge_of_a_tone_sees_another_pitch() -> None:
    for hz, right in ((1000.0, True), (1000.9, True), (1001.2, False), (1024.0, False)):
        wave = [math.sin(2 * math.pi * hz * k / quality.RATE_HZ) for k in range(48_000)]
        found = speaker_quality.strongest_hz(wave)
        assert found == pytest.approx(hz, abs=0.02)
        judged = speaker_quality.judge_tone([speaker_quality.Tone("x", 8192.0, found)])
        assert (judged == []) is right


def test_the_judges_see_what_is_wrong() -> None:
    fine = speaker_quality.Quality("pwm", 16384.0, 21.0, 20.0, 2000, 900, 0, 0)
    assert speaker_quality.judge_quality([fine]) == []
    for change in ({"snr_db": 19.9}, {"missed": 1}, {"underruns": 1}):
        assert speaker_quality.judge_quality([dataclasses.replace(fine, **change)])
    ticks = speaker_quality.Ticks("task", "idle", 10, 61035, 163840, 0, 0, 60500, 61500, 535, 2000)
    assert speaker_quality.judge_ticks([ticks]) == []
    for change in ({"missed": 1}, {"underruns": 1}, {"interval_max_dev_ns": 2001},
                   {"clock": "rtc", "interval_max_dev_ns": 1001}):
        assert speaker_quality.judge_ticks([dataclasses.replace(ticks, **change)])


@pytest.mark.long
def test_no_tick_is_missed_while_interrupts_are_off() -> None:
    result = speaker_quality.ticks("task", "irqoff", 2.0)
    assert speaker_quality.judge_ticks([result]) == []
    assert result.ticks >= 2.0 * 16384


BEEPS = """
driver() { basename $(readlink -f /sys/bus/platform/devices/pcspkr/driver/module); }
modprobe pcspkr; driver
printf '\\a' > /dev/tty1; sleep 0.3
modprobe rt_speaker stamps=1 stamps_size=1000000; driver
./fsynced < sound & player=$!; sleep 0.1; printf '\\a' > /dev/tty1; wait $player; sleep 0.1
rmmod pcspkr; modprobe pcspkr; driver
exec 3< /dev/rtf1; rmmod rt_speaker; cat <&3 > /tmp/stamps; driver
printf '\\a' > /dev/tty1; sleep 0.3
rmmod pcspkr; modprobe snd_pcsp; driver
modprobe rt_speaker 2>&1; driver
"""


@pytest.mark.long
def test_a_beep_does_not_spoil_the_sound(vm: Vm, tmp_path: Path) -> None:
    """pcspkr has the speaker before and after, not meanwhile; a driver in use is not robbed."""
    sound = speaker_quality.make_tone(tmp_path / "tone.au", 0.5)
    with Capture(tmp_path / "ports") as capture:
        done = vm(BEEPS, modules="tactus_core tactus rtfifo",
                  with_modules="rt_speaker pcspkr snd_pcsp", flavour="generic", icount=True,
                  extra=["--product"],
                  put={sound: "/root/sound", programs.build("fsynced"): "/root/fsynced"},
                  get=["/tmp/stamps"], qemu=shlex.join(capture.qemu_arguments))
    before, meanwhile, reloaded, after, other, refusal, kept = done.stdout.splitlines()
    assert (before, meanwhile, reloaded, after) == ("pcspkr", "rt_speaker", "rt_speaker", "pcspkr")
    assert other == kept == "snd_pcsp"
    assert "busy" in refusal.lower()
    writes = capture.writes()
    beeps = [n for n, write in enumerate(writes) if write == Write(0x43, 0xB6)]
    (start,) = [n for n, write in enumerate(writes) if write == Write(0x43, 0x90)
                and writes[n + 1] == Write(0x42, 1)]
    (play,) = speaker.split_plays(writes)
    # Beeps before and after; in the play every write is the driver's own.
    assert [n for n in beeps if n < start] and [n for n in beeps if n > start + len(play)]
    stamps = speaker.join(play, speaker.parse_stamps(done.get("stamps")))
    assert speaker_quality.strongest_hz(speaker_quality.heard(stamps)) == pytest.approx(1000, abs=1)
