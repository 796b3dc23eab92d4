# SPDX-License-Identifier: GPL-2.0-only
"""Play speech by Linux's own snd-pcsp on a stock kernel and judge what the speaker did.

The port writes come from outside of the guest; their times from a probe on the driver's
timer function (examples/speaker/tests/modules/stamp_calls), the n-th call being the n-th group of
writes. Tactus is not loaded. The wave is rebuilt by examples/speaker/model/pit.py and compared with
the original by examples/speaker/model/quality.py, as rt_speaker's is.

    tests/vm/measure/run pcsp --condition idle --condition load --condition irqoff
"""

from __future__ import annotations

import argparse
import shlex
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import playing
from harness import EXACT_TIMERS, VM, programs
from measure import figures, lateness
from model import pit, quality
from model.porttrace import Capture, TraceError, Write

FRAME_HZ = 37_286
"""What the driver asks for; it plays every second frame."""
PERIOD_NS = 64e9 / pit.PIT_HZ
LEVELS = 64
_PERIOD_FRAMES = 1024  # ALSA plays whole periods

_MODE_1 = 0x92  # channel 2, low byte, one-shot: how the driver begins


@dataclass(frozen=True)
class Heard:
    """One play through snd-pcsp."""

    condition: lateness.Condition
    times_ns: list[int]
    """When the driver's timer function was called."""
    snr_db: float
    seconds: float
    """Of the original."""

    def worst_interval_off_ns(self) -> float:
        """The interval between two samples furthest from the nominal one."""
        return max(abs(b - a - PERIOD_NS) for a, b in pairwise(self.times_ns))

    def lasted(self) -> float:
        """How long the play took, as a multiple of the original's length."""
        return (self.times_ns[-1] - self.times_ns[0]) / 1e9 / self.seconds


def frames(sound: Path, seconds: float) -> bytes:
    """The sound as the driver wants it: u8, whole periods, never so low that a pulse is left
    out."""
    command = ["sox", "-D", str(sound), "-t", "raw", "-e", "unsigned", "-b", "8", "-c", "1",
               "-r", str(FRAME_HZ), "-", "trim", "0", f"{seconds:g}", "norm", "-1"]
    data = subprocess.run(command, check=True, capture_output=True).stdout
    return data[:len(data) - len(data) % _PERIOD_FRAMES]


def timed(writes: Sequence[Write], calls_ns: Sequence[int]) -> list[pit.TimedWrite]:
    """Join what came out with when; raises TraceError unless call n made the n-th group."""
    starts = [n for n, w in enumerate(writes) if (w.port, w.value) == (pit.MODE_WORD, _MODE_1)]
    if len(starts) != 1:
        raise TraceError(f"the driver began {len(starts)} times, not once")
    found = [pit.TimedWrite(pit.MODE_WORD, _MODE_1, calls_ns[0])]
    at, call = starts[0] + 1, 0
    while [w.port for w in writes[at:at + 3]] == [pit.SPEAKER_PORT, pit.CHANNEL_2,
                                                  pit.SPEAKER_PORT]:
        if call >= len(calls_ns):
            raise TraceError(f"more writes than the {len(calls_ns)} calls of the driver's timer")
        found += [pit.TimedWrite(w.port, w.value, calls_ns[call]) for w in writes[at:at + 3]]
        at, call = at + 3, call + 1
    # The call that finds the play stopped makes no writes.
    if len(calls_ns) - call not in (0, 1):
        raise TraceError(f"{len(calls_ns)} calls of the driver's timer, {call} groups of writes")
    return found


def _script(condition: lateness.Condition, seconds: float) -> str:
    load = playing._load_command(condition, seconds)
    # The driver refuses to load while Linux's timers go by the jiffy.
    return EXACT_TIMERS + f"""
set -e
modprobe snd_pcsp
modprobe stamp_calls symbol=pcsp_do_timer
{f"{load} > /tmp/load & load=$!; sleep 0.1" if load else "load="}
./pcm_play --period {_PERIOD_FRAMES} /dev/snd/pcmC0D0p u8 {FRAME_HZ} /root/frames
[ -z "$load" ] || kill -0 $load || {{ echo "the load ended before the sound" >&2; exit 1; }}
cat /sys/kernel/debug/stamp_calls > /tmp/calls
[ -z "$load" ] || wait $load
"""


def play(sound: Path, condition: lateness.Condition, *, out: Path, seconds: float = 2.0,
         kernel: str = "6.1", timeout_s: float = 400.0) -> Heard:
    """Play the first seconds of the file; raises PlayError, or TraceError if sides disagree."""
    out.mkdir(parents=True, exist_ok=True)
    data = frames(sound, seconds)
    (out / "frames").write_bytes(data)
    # Samples that come late are played late: under load the play takes longer than the sound.
    room_s = seconds * (1 if condition == "idle" else 1.6) + 0.6
    command = [str(VM), "run", f"--kernel={kernel}", "--flavour=generic", "--icount",
               f"--timeout={timeout_s:g}", f"--log={out / 'console.log'}"]
    command += [f"--put={out / 'frames'}:/root/frames", f"--put={programs.build('pcm_play')}"]
    command += [f"--put={programs.build('load')}", f"--get=/tmp/calls:{out / 'calls'}"]
    command += [f"--modules={figures.RAM_DISK} hog", "--with-modules=snd_pcsp stamp_calls"]
    with Capture(out / "ports.txt") as capture:
        qemu = f"{figures.UART} {shlex.join(capture.qemu_arguments)}"
        command += [f"--qemu={qemu}", "--", _script(condition, room_s)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              check=False)
    if done.returncode:
        raise playing.PlayError(
            f"the bench exited with {done.returncode}:\n{done.stderr}\n{done.stdout}")
    raw = (out / "calls").read_bytes()
    calls = list(struct.unpack(f"={len(raw) // 8}q", raw))
    writes = timed(capture.writes(), calls)
    edges = pit.wave(writes)
    heard = quality.heard(edges, calls[0], calls[-1])
    original = quality.to_rate([b - 128 for b in data], FRAME_HZ)
    return Heard(condition, calls, quality.coherence_snr_db(original, heard),
                 len(data) / FRAME_HZ)


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    with tempfile.TemporaryDirectory() as scratch:
        sound = playing.make_au(Path(scratch))
        for condition in options.condition or ["idle"]:
            try:
                heard = play(sound, condition, seconds=options.seconds, kernel=options.kernel,
                             out=(options.out or Path(scratch)) / condition)
            except TraceError as error:
                raise figures.MeasureError(str(error)) from error
            off_us = heard.worst_interval_off_ns() / 1e3
            yield figures.Outcome(
                [{"condition": condition, "snr_db": heard.snr_db, "worst_off_us": off_us,
                  "lasted": heard.lasted()}],
                f"snd-pcsp {condition}: {1e9 / PERIOD_NS:.0f} Hz, {LEVELS} levels, SNR "
                f"{heard.snr_db:.1f} dB, intervals off by up to {off_us:.1f} us, lasted "
                f"{heard.lasted():.3f} of the sound")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--condition", action="append", choices=lateness.MAIN_CONDITIONS,
                        help="may be repeated; default: idle")
    figures.add_seconds(parser, 2, "of speech")
    parser.add_argument("--out", type=Path, help="keep the traces here")


MEASUREMENTS = (figures.Measurement(
    "pcsp", "speech by Linux's own snd-pcsp on a stock kernel", _run, _add_options,
    where=("kernel",)),)
