# SPDX-License-Identifier: GPL-2.0-only
"""The speaker's ALSA card on a stock kernel with sound, heard from outside of the guest."""

from __future__ import annotations

import re
import shlex
import struct
import subprocess
import wave
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from harness import programs
from model import porttrace

RATE_HZ = 8192
FRAMES = 3 * 1024
STATS = "/sys/module/rt_speaker/stats"
DEVICE = "/dev/snd/pcmC0D0p"

# Each step between marks; the tone once as a file and once by ALSA, and then what must be refused.
STEPS = {
    "file": f"cat tone.wav > /dev/rtf0; until [ $(cat {STATS}/frames) -ge {FRAMES} ]; do sleep "
            f"0.05; done",
    "card": "modprobe rt_speaker_alsa && cat /proc/asound/cards",
    "alsa": f"./pcm_play --period 512 {DEVICE} s16 {RATE_HZ} tone",
    "sounded": f"cat {STATS}/frames",
    "drop": f"echo 1 > /sys/module/rt_speaker/control/clear; "
            f"./pcm_play --period 256 --stop-after 4096 {DEVICE} s16 {RATE_HZ} tone",
    "after drop": f"cat {STATS}/frames; sleep 0.2; cat {STATS}/frames",
    "writer": f"sleep 1000 > /dev/rtf0 & sleep 0.1; ./pcm_play {DEVICE} s16 {RATE_HZ} tone 2>&1; "
              "kill $!; wait $! 2> /dev/null",
    "in use": "sleep 1000 > /dev/snd/pcmC0D0p & sleep 0.1; rmmod rt_speaker_alsa 2>&1; rmmod "
              "rt_speaker 2>&1; "
              "kill $!; wait $! 2> /dev/null",
    "unload": "rmmod rt_speaker_alsa && rmmod rt_speaker && cat /proc/asound/cards "
              "/sys/kernel/tactus/fifos",
}


def tone() -> bytes:
    """512 Hz as 16-bit frames: a triangle, every step of it another level."""
    levels = [abs(n % 16 - 8) * 6000 - 24000 + n % 7 for n in range(FRAMES)]
    return struct.pack(f"<{FRAMES}h", *levels)


@pytest.mark.slow
def test_the_card(vm: Any, tmp_path: Path) -> None:
    """What ALSA plays comes out write for write as the same file through /dev/rtf0."""
    (tmp_path / "tone").write_bytes(tone())
    with wave.open(str(tmp_path / "tone.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(tone())
    with porttrace.Capture(tmp_path / "ports") as capture:
        done = vm(script(STEPS), modules="snd_pcm tactus_core tactus rtfifo rt_speaker mode=pwm",
                  with_modules="rt_speaker_alsa", flavour="generic", icount=True,
                  put=[tmp_path / "tone", tmp_path / "tone.wav", programs.build("pcm_play")],
                  extra=["--product"], qemu=shlex.join(capture.qemu_arguments))
    said = parted(done, STEPS)
    assert "[RTSpeaker" in said["card"]
    alsa = dict(word.split("=") for word in said["alsa"].split())
    assert (alsa["rate"], alsa["underruns"], alsa["backward"]) == (str(RATE_HZ), "0", "0")
    assert int(alsa["moves"]) >= 2  # of the four looks while the buffer was full
    # A drain ends when the last frame has sounded, and looks for that every few ms.
    assert 0 <= float(alsa["ms"]) - FRAMES / RATE_HZ * 1000 < 60
    assert int(said["sounded"]) == 2 * FRAMES

    dropped = dict(word.split("=") for word in said["drop"].split())
    frames, later = map(int, said["after drop"].split())
    assert 900 < frames == later < 1400, "a dropped stream goes on sounding"
    assert dropped["frames"] == "2048"
    assert "busy" in said["writer"]
    assert said["in use"].count("can't unload") == 2
    assert "no soundcards" in said["unload"] and "rt_speaker" not in said["unload"]

    samples = plays(capture.writes())
    assert len(samples) >= 3, [len(play) for play in samples]
    by_file, by_alsa, cut = samples[:3]
    assert len(by_file) > FRAMES * 1.9  # two ticks a frame
    assert len(by_alsa) == len(by_file) and same(by_alsa, by_file)
    assert 1800 < len(cut) < 2800 and same(cut, by_file[:len(cut)])
    assert not same(by_alsa[2:], by_file[:-2])  # the same a frame later, so that this can fail
    assert not same([*by_alsa[:999], by_alsa[999] + 2, *by_alsa[1000:]], by_file)


def script(steps: dict[str, str]) -> str:
    """All of them, each with a mark behind it."""
    return "\n".join(f"{command}\necho '=== {name}'" for name, command in steps.items())


def parted(done: Any, steps: dict[str, str]) -> dict[str, str]:
    """What each of them printed."""
    parts = re.split(r"=== (.+)\n", done.stdout)
    said = dict(zip(parts[1::2], parts[0::2], strict=False))
    assert list(said) == list(steps), done.stdout + done.stderr
    return said


def same(a: list[int], b: list[int]) -> bool:
    """Are these the counts of one sound? The part of a count that is left over goes to the next
    one.

    So with the same samples the sums differ by less than a count each way, wherever they began.
    """
    return all(abs(left - right) <= 1
               for left, right in zip(accumulate(a), accumulate(b), strict=True))


def same_until_silence(play: list[int], sound: list[int]) -> bool:
    """Is that the sound, and then nothing up to the end of ALSA's period?"""
    rest = play[len(sound) + 64:]  # the filter rings at the end of the sound
    return len(sound) > 1000 and same(play[:len(sound)], sound) and max(rest) - min(rest) <= 1


def plays(writes: list[porttrace.Write]) -> list[list[int]]:
    """The counts loaded into the timer between one rest of the output and the next."""
    found: list[list[int]] = [[]]
    for write in writes:
        if write.port == 0x42:
            found[-1].append(write.value)
        elif found[-1]:
            found.append([])
    return [play for play in found if len(play) > 100]


APLAY_HZ = 500
RAW = "/sys/module/rt_speaker/control/raw"
REST = "until grep -q state=rest /sys/module/rt_speaker/control/now; do sleep 0.01; done"
RUNS = "until grep -q RUNNING /proc/asound/card0/pcm0p/sub0/status; do sleep 0.01; done"
END = "kill -9 $!; wait $! 2> /dev/null"
BUSY = "audio open error: Device or resource busy\n1\n"

# Name -> seconds, rate, and what else sox is told.
APLAY_FILES = {
    "native.wav": (0.2, RATE_HZ, ["-c", "1", "-b", "16"]),
    "stereo.wav": (0.2, 44_100, ["-c", "2", "-b", "16"]),
    "mulaw.au": (0.2, 8000, ["-c", "1", "-e", "mu-law"]),
    "fast.wav": (0.2, 96_000, ["-c", "1", "-b", "24"]),
    "long.wav": (20, RATE_HZ, ["-c", "1", "-b", "16"]),
}

# Those that sound, in the order of their sounds, and those that must be refused.
APLAY_STEPS = {
    "card": "modprobe rt_speaker_alsa; aplay -l",
    **{f"cat {name}": f"cat {name} > /dev/rtf0; {REST}"
       for name in ("native.wav", "stereo.wav", "mulaw.au")},
    "hw native.wav": f"aplay -q -D hw:RTSpeaker native.wav; echo $?; {REST}",
    **{f"plughw {name}": f"aplay -q -D plughw:RTSpeaker {name}; echo $?; {REST}"
       for name in ("stereo.wav", "mulaw.au", "fast.wav")},
    "default, raw=1": f"echo 1 > {RAW}; aplay -q native.wav; echo $?; cat {RAW}; {REST}; echo 0 > "
                      f"{RAW}",
    "counted": f"cat {STATS}/underruns {STATS}/refused",
    "form": "aplay -q -D hw:RTSpeaker stereo.wav 2>&1; echo $?",
    "writer": f"sleep 1000 > /dev/rtf0 & sleep 0.1; aplay -q native.wav 2>&1; echo $?; {END}",
    "long.wav": f"aplay -q -D hw:RTSpeaker long.wav & {RUNS}; sleep 0.1",
    "second": "aplay -q native.wav 2>&1; echo $?",
    "node": "cat native.wav 2>&1 > /dev/rtf0",
    "killed": f"{END}; cat {STATS}/frames; sleep 0.2; cat {STATS}/frames",
    "hw again": f"aplay -q -D hw:RTSpeaker native.wav; echo $?; {REST}",
    "unload": "rmmod rt_speaker_alsa && rmmod rt_speaker; echo $?",
}
SOUNDING = ("cat", "hw", "plughw", "default", "long")


@pytest.mark.long
def test_aplay(vm: Any, tmp_path: Path) -> None:
    """By ALSA's own player, and through its conversions, a file comes out as without them."""
    for name, (seconds, rate, coding) in APLAY_FILES.items():
        subprocess.run(["sox", "-R", "-D", "-n", "-r", str(rate), *coding, str(tmp_path / name),
                        "synth",
                        str(seconds), "sine", str(APLAY_HZ), "vol", "0.8"], check=True)
    put = {tmp_path / name: f"/root/{name}" for name in APLAY_FILES}
    put |= {Path("/usr/bin/aplay"): "/usr/bin/aplay"}
    put |= {Path("/usr/share/alsa", name): f"/usr/share/alsa/{name}"
            for name in ("alsa.conf", "cards", "ctl", "pcm")}
    with porttrace.Capture(tmp_path / "ports") as capture:
        done = vm(script(APLAY_STEPS),
                  modules="snd_pcm tactus_core tactus rtfifo rt_speaker mode=pwm",
                  with_modules="rt_speaker_alsa", flavour="generic", icount=True,
                  extra=["--product"], put=put, qemu=shlex.join(capture.qemu_arguments))
    said = parted(done, APLAY_STEPS)
    names = [name for name in APLAY_STEPS if name.startswith(SOUNDING)]
    found = plays(capture.writes())
    assert len(found) == len(names), (said, [len(play) for play in found])
    sounds = dict(zip(names, found, strict=True))

    assert "RTSpeaker [RT PC speaker]" in said["card"]
    assert {said[name] for name in names if name.startswith(("hw", "plughw"))} == {"0\n"}
    assert said["default, raw=1"] == "0\n1\n"
    assert said["counted"] == "0\n0\n"
    native, stereo, mulaw = (sounds[f"cat {name}"]
                             for name in ("native.wav", "stereo.wav", "mulaw.au"))
    assert same_until_silence(sounds["hw native.wav"], native)
    assert same_until_silence(sounds["default, raw=1"], native)
    assert same_until_silence(sounds["hw again"], native)
    assert same_until_silence(sounds["plughw stereo.wav"], stereo)
    assert same_until_silence(sounds["plughw mulaw.au"], mulaw)
    assert same_until_silence(sounds["plughw fast.wav"], stereo)  # brought to 48 kHz by ALSA
    assert not same_until_silence(sounds["plughw mulaw.au"], stereo)  # so that this can fail

    assert said["form"].endswith("Channels count non available\n1\n")
    assert said["writer"].endswith(BUSY) and said["second"].endswith(BUSY)
    assert "busy" in said["node"]
    frames, later = map(int, said["killed"].split())
    assert frames == later, "the sound of a killed player goes on"
    assert said["unload"] == "0\n"
