# SPDX-License-Identifier: GPL-2.0-only
"""The model against the thesis's formula, and the judgements against made-up mistakes."""

from __future__ import annotations

import dataclasses
import struct
import subprocess
import wave
from itertools import pairwise
from pathlib import Path

import pytest

from model import porttrace, slope, speaker, wav
from model.porttrace import TraceError, Write

SPEECH = bytes(range(256)) + bytes(range(255, -1, -1)) + b"\x7f\xff\x7f\x80\x00" * 7


def thesis_rank(x: int) -> int:
    """Appendix B, to the letter."""
    return 382 - x if x & 0x80 else x


def played(data: bytes, unload: bool = True) -> list[Write]:
    """The port writes of a driver that plays `data` right."""
    writes = [Write(0x61, 0x31), Write(0x43, 0xB0), Write(0x42, 3), Write(0x42, 0)]
    writes += [Write(0x61, 0x31 | bit << 1) for bit in slope.slope_bits(data)]
    if unload:
        writes += [Write(0x61, 0x30), Write(0x43, 0xB0), Write(0x61, 0x31), Write(0x42, 1)]
        writes += [Write(0x42, 0), Write(0x61, 0x30)]
    return writes


def stamped(play: list[Write], period_ns: float = speaker.NOMINAL_NS) -> bytes:
    """The stamps of those writes."""
    return b"".join(
        struct.pack("<IBBhq", n, write.port, write.value, 7, 1000 + round(n * period_ns))
        for n, write in enumerate(play)
    )


def test_the_model_is_the_thesis_filter_for_every_pair_of_bytes() -> None:
    for before in range(256):
        for code in range(256):
            rises = int(thesis_rank(code) > thesis_rank(before))
            assert slope.slope_bits([before, code])[1] == rises


def test_the_filter_starts_from_rank_0() -> None:
    for code in range(256):
        assert slope.slope_bits([code]) == [int(thesis_rank(code) > 0)]


def test_decode_is_g711() -> None:
    # The ends of the scale, both zeros, and the smallest step.
    assert [slope.decode(code) for code in (0x00, 0x7F, 0xFF, 0x80)] == [-8031, 0, 0, 8031]
    assert slope.decode(0xFE) == 2
    with pytest.raises(ValueError, match="not a byte"):
        slope.decode(256)


def test_decode_agrees_with_sox() -> None:
    command = ["sox", "-D", "-t", "ul", "-r", "8000", "-c", "1", "-", "-t", "s16", "-L", "-"]
    codes = bytes(range(256))
    raw = subprocess.run(command, input=codes, capture_output=True, check=True).stdout
    assert [s for (s,) in struct.iter_unpack("<h", raw)] == [4 * slope.decode(c) for c in codes]


@pytest.mark.parametrize("unload", [True, False])
def test_a_right_play_is_found_and_passes(unload: bool) -> None:
    plays = speaker.split_plays(played(SPEECH, unload) + played(SPEECH[5:], unload))
    assert len(plays) == 2
    assert speaker.compare_bits(speaker.values(plays[0]), SPEECH) == []
    assert speaker.compare_bits(speaker.values(plays[1]), SPEECH[5:]) == []


def test_what_linux_does_to_the_timer_before_is_no_play() -> None:
    calibration = [Write(0x61, 0x31), Write(0x43, 0xB0), Write(0x42, 0xFF), Write(0x42, 0xFF)]
    assert speaker.split_plays(calibration) == []
    assert len(speaker.split_plays([*calibration, Write(0x43, 0xC8), *played(SPEECH)])) == 1


def test_a_flipped_bit_is_found() -> None:
    (play,) = speaker.split_plays(played(SPEECH))
    values = speaker.values(play)
    values[17] ^= speaker.DATA_BIT
    assert speaker.compare_bits(values, SPEECH) == ["1 bits differ, the first at byte 17"]


def test_a_dropped_byte_is_found() -> None:
    (play,) = speaker.split_plays(played(SPEECH[:40] + SPEECH[41:]))
    problems = speaker.compare_bits(speaker.values(play), SPEECH)
    assert any("547 bytes" in problem for problem in problems)


def test_join_wants_every_stamp_and_every_value() -> None:
    (play,) = speaker.split_plays(played(SPEECH))
    stamps = speaker.parse_stamps(stamped(play))
    assert speaker.bits_played(speaker.join(play, stamps)).worst_deviation_ns() < 1.0
    with pytest.raises(TraceError, match="stamps inside"):
        speaker.join(play, stamps[:-1])
    with pytest.raises(TraceError, match="stamp 3 has the number 4"):
        speaker.join(play[:-1], stamps[:3] + stamps[4:])
    with pytest.raises(TraceError, match="write 9 is"):
        speaker.join([*play[:9], Write(0x61, play[9].value ^ 0x20), *play[10:]], stamps)
    with pytest.raises(TraceError, match="write 9 is"):
        speaker.join([*play[:9], Write(0x42, play[9].value), *play[10:]], stamps)


def test_rest_is_no_sound() -> None:
    play = [Write(0x61, 0x33), Write(0x61, 0x31), Write(0x61, 0x33)]
    stamps = [speaker.Stamp(n, 0x61, write.value, 5, n) for n, write in enumerate(play)]
    stamps[1] = dataclasses.replace(stamps[1], sample=speaker.NO_SAMPLE)
    assert speaker.bits_played(speaker.join(play, stamps)).times_ns == [0, 2]


def test_plays_in_counts_and_in_bits_are_told_apart() -> None:
    trial = [Write(0x61, 0x31), Write(0x43, 0x90), Write(0x42, 200)]
    counts = [Write(0x61, 0x31), Write(0x43, 0x90), Write(0x42, 1)]
    sound = [Write(0x42, 30), Write(0x61, 0x33), Write(0x42, 31), Write(0x61, 0x31)]
    plays = speaker.split_plays([*trial, *counts, *sound, *played(SPEECH)])
    assert plays[0] == sound
    assert speaker.compare_bits(speaker.values(plays[1]), SPEECH) == []
    assert len(plays) == 2


def test_stamps_are_whole_records() -> None:
    with pytest.raises(TraceError, match="no whole records"):
        speaker.parse_stamps(stamped([Write(0x61, 0x31)])[:-1])
    with pytest.raises(TraceError, match="port 0x43"):
        speaker.parse_stamps(stamped([Write(0x43, 0x31)]))


def test_a_late_write_shows_in_the_deviation() -> None:
    times = [0, 122_070, 244_141, 366_211 + 5_000]
    play = speaker.Play([0x31] * 4, times)
    assert play.worst_deviation_ns() == pytest.approx(5_000, abs=1)


def test_wav_has_the_play_s_length_and_pitch(tmp_path: Path) -> None:
    # A bit that changes at every fourth write is a tone of 1024 Hz.
    writes = [Write(0x61, 0x31 | (n // 4 % 2) << 1) for n in range(8192)]
    play = speaker.bits_played(speaker.join(writes, speaker.parse_stamps(stamped(writes))))
    levels = wav.samples(play)
    assert len(levels) == pytest.approx(wav.RATE_HZ, abs=1)
    rises = sum(a <= 0 < b for a, b in pairwise(levels))
    assert rises == pytest.approx(1024, abs=1)
    wav.write_wav(tmp_path / "tone.wav", levels)
    with wave.open(str(tmp_path / "tone.wav")) as file:
        assert file.getnframes() == len(levels)


def test_trace_lines() -> None:
    lines = [
        "7@1.5:memory_region_ops_write cpu 0 mr 0x5 addr 0x61 value 0x31 size 1 name 'pcspk'\n",
        "memory_region_ops_write cpu 0 mr 0x5 addr 0x3 value 0xb0 size 1 name 'pit'\n",
        "memory_region_ops_write cpu 0 mr 0x5 addr 0x80 value 0x0 size 1 name 'ioport80'\n",
        "memory_region_ops_write cpu 0 mr 0x5 addr 0x71 value 0x26 size 1 name 'rtc'\n",
    ]
    expected = [Write(0x61, 0x31), Write(0x43, 0xB0), Write(0x71, 0x26)]
    assert porttrace.parse(lines) == expected


def test_the_filter_keeps_the_wanted_devices(tmp_path: Path) -> None:
    with porttrace.Capture(tmp_path / "ports") as capture:
        pipe = capture.qemu_arguments[1].split("file=")[1]
        with open(pipe, "w") as trace:
            for name in ("pcspk", "ioapic", "pit", "rtc"):
                trace.write(
                    f"memory_region_ops_write cpu 0 mr 0x5 addr 0x0 value 0x1 size 1 name "
                    f"'{name}'\n"
                )
    assert capture.writes() == [Write(0x61, 1), Write(0x40, 1)]


def test_a_capture_without_a_writer_ends(tmp_path: Path) -> None:
    with porttrace.Capture(tmp_path / "ports") as capture:
        pass
    assert capture.writes() == []
