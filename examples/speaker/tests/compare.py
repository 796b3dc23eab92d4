# SPDX-License-Identifier: GPL-2.0-only
"""The speech that pcsp.py plays by snd-pcsp, by rt_speaker: same kernel, load and judge.

    tests/vm/measure/run compare --condition idle --condition load --condition irqoff

Values come from the emulator's trace, times from the driver's stamps (speaker_quality.py).
"""

from __future__ import annotations

import argparse
import dataclasses
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import playing
import speaker_quality
from harness import programs
from measure import figures, lateness
from model import quality, speaker
from model.porttrace import Capture, TraceError

MODES = {"slope": ("mode=slope clock=task", 8192), "sigma": ("mode=sigma", 32_000),
         "pwm": ("mode=pwm", 16_384)}
"""Name -> how the driver is loaded, and its ticks a second."""


@dataclass(frozen=True)
class Heard:
    """One play."""

    snr_db: float
    rate_hz: float
    worst_off_ns: int
    missed: int
    lasted: float
    """As a multiple of the original's length."""


def _script(words: str, room: int, condition: lateness.Condition, seconds: float) -> str:
    load = playing._load_command(condition, seconds + 1.2)
    return f"""
set -e
modprobe rt_speaker {words} stamps=1 stamps_size={room}
{f"{load} > /tmp/load & load=$!; sleep 0.1" if load else "load="}
./fsynced < /root/sound
[ -z "$load" ] || kill -0 $load || {{ echo "the load ended before the sound" >&2; exit 1; }}
until grep -q state=rest /sys/module/rt_speaker/control/now; do sleep 0.01; done
for name in missed interval_max_dev_ns; do cat /sys/module/rt_speaker/stats/$name; done
exec 3< /dev/rtf1
rmmod rt_speaker
cat <&3 > /tmp/stamps
[ -z "$load" ] || wait $load
"""


def play(mode: str, condition: lateness.Condition, out: Path, seconds: float = 2.0) -> Heard:
    """Play the first seconds of linux.au; raises MeasureError, TraceError."""
    out.mkdir(parents=True, exist_ok=True)
    words, rate_hz = MODES[mode]
    sound = out / "sound.wav"
    subprocess.run(["sox", "-D", str(playing.make_au(out)), "-b", "16", str(sound), "trim", "0",
                    f"{seconds:g}", "norm", "-1"], check=True)
    room = int(rate_hz * (seconds + 0.5)) * speaker.STAMP_BYTES
    with Capture(out / "ports.txt") as capture:
        text = figures.boot(
            _script(words, room, condition, seconds), "--icount", "--timeout=400",
            f"--log={out / 'console.log'}", f"--put={sound}:/root/sound",
            f"--put={programs.build('fsynced')}", f"--put={programs.build('load')}",
            f"--get=/tmp/stamps:{out / 'stamps'}", "--with-modules=rt_speaker",
            f"--modules={figures.RAM_DISK} hog tactus_core tactus rtfifo",
            f"--qemu={figures.UART} {shlex.join(capture.qemu_arguments)}", kernel="6.1",
            flavour="generic")
    plays = [play for play in speaker.split_plays(capture.writes()) if play]
    if len(plays) != 1:
        raise TraceError(f"{len(plays)} plays in the trace of port writes, not 1")
    stamps = speaker.join(plays[0], speaker.parse_stamps((out / "stamps").read_bytes()))
    missed, worst = (int(word) for word in text.split())
    times = [stamp.time_ns for stamp in stamps if stamp.is_sample]
    return Heard(
        quality.coherence_snr_db(speaker_quality.original(sound), speaker_quality.heard(stamps)),
        speaker_quality.mean_rate_hz(stamps), worst, missed,
        (times[-1] - times[0]) / 1e9 / seconds)


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    with tempfile.TemporaryDirectory() as scratch:
        for mode in options.mode or ["pwm"]:
            for condition in options.condition or ["idle"]:
                folder = (options.out or Path(scratch)) / f"{mode}-{condition}"
                try:
                    heard = play(mode, condition, folder, options.seconds)
                except TraceError as error:
                    raise figures.MeasureError(str(error)) from error
                yield figures.Outcome(
                    [{"mode": mode, "condition": condition, **dataclasses.asdict(heard)}],
                    f"rt_speaker {mode} {condition}: {heard.rate_hz:.0f} Hz, SNR "
                    f"{heard.snr_db:.1f} dB, intervals off by up to {heard.worst_off_ns} ns, "
                    f"{heard.missed} missed, lasted {heard.lasted:.3f} of the sound")


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--condition", action="append", choices=lateness.MAIN_CONDITIONS,
                        help="may be repeated; default: idle")
    parser.add_argument("--mode", action="append", choices=sorted(MODES),
                        help="may be repeated; default: pwm")
    figures.add_seconds(parser, 2, "of speech")
    parser.add_argument("--out", type=Path, help="keep the traces here")


MEASUREMENTS = (figures.Measurement(
    "compare", "the same speech as pcsp's by rt_speaker on the same kernel", _run, _add_options,
    where=()),)
