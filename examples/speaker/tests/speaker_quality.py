# SPDX-License-Identifier: GPL-2.0-only
"""How good the speaker driver's sound is, and how punctual, on the bench in virtual time.

    tests/vm/measure/run speaker-speech      coherence SNR of each mode
    tests/vm/measure/run speaker-tone        the pitch of 1000 Hz
    tests/vm/measure/run speaker-timing      the ticks, idle, under load, interrupts off

Values come from the emulator's trace of port writes, times from the driver's stamps; both sides
must agree on every write (examples/speaker/model/speaker.py). The wave that these writes make at
these times is rebuilt by a model of the timer (examples/speaker/model/pit.py) and compared with the
file as sox decodes it (examples/speaker/model/quality.py).
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import playing
from harness import programs
from measure import figures, lateness
from measure.figures import MeasureError
from model import pit, quality, speaker, wav
from model.porttrace import Capture, TraceError

STATS = "/sys/module/rt_speaker/stats"
_STAMPS_FIFO = 1


@dataclass(frozen=True)
class Mode:
    """How the driver is loaded."""

    name: str
    words: str
    rate_hz: int
    min_snr_db: float | None = None
    """Of speech; None: not judged."""


MODES = (
    Mode("slope", "mode=slope clock=task", 8192),
    Mode("pwm 8192", "mode=pwm rate_hz=8192", 8192, 15.0),
    Mode("pwm 16384", "mode=pwm", 16384, 20.0),
    Mode("pwm 32000", "mode=pwm rate_hz=32000", 32000, 20.0),
    Mode("sigma 1, 32000", "mode=sigma order=1", 32000),
    Mode("sigma 2, 32000", "mode=sigma", 32000, 5.0),
    Mode("sigma 2, 64000", "mode=sigma rate_hz=64000", 64000),
)


@dataclass(frozen=True)
class Played:
    """One play of a file: what came out, when."""

    mode: Mode
    stamps: list[speaker.Stamp]
    """Each compared with the write that the emulator saw."""
    stats: dict[str, int]

    def edges(self) -> list[pit.Edge]:
        """The wave."""
        return rebuilt(self.stamps)


def rebuilt(stamps: Sequence[speaker.Stamp]) -> list[pit.Edge]:
    """The wave of a play: the driver's set-up, 1 ms before, and its writes."""
    before = stamps[0].time_ns - 1e6
    counts = any(stamp.port == pit.CHANNEL_2 for stamp in stamps)
    setup = [(0x43, 0x90), (0x42, 1)] if counts else [(0x43, 0xB0), (0x42, 3), (0x42, 0)]
    writes = [pit.TimedWrite(pit.SPEAKER_PORT, 0x01, before)]
    writes += [pit.TimedWrite(port, value, before) for port, value in setup]
    writes += [pit.TimedWrite(stamp.port, stamp.value, stamp.time_ns) for stamp in stamps]
    return pit.wave(writes)


def heard(stamps: Sequence[speaker.Stamp]) -> Sequence[float]:
    """The wave as samples at quality.RATE_HZ."""
    return quality.heard(rebuilt(stamps), stamps[0].time_ns, stamps[-1].time_ns)


def original(sound: Path) -> Sequence[float]:
    """The file as sox reads it, at quality.RATE_HZ."""
    command = ["sox", "-D", str(sound), "-t", "raw", "-e", "signed", "-b", "16", "-L", "-c", "1",
               "-r", str(quality.RATE_HZ), "-"]
    data = subprocess.run(command, check=True, capture_output=True).stdout
    return [int.from_bytes(data[n:n + 2], "little", signed=True) for n in range(0, len(data), 2)]


def seconds_of(sound: Path) -> float:
    """How long the file sounds."""
    done = subprocess.run(["soxi", "-D", str(sound)], check=True, capture_output=True, text=True)
    return float(done.stdout)


def _script(modes: Sequence[Mode], seconds: float) -> str:
    # Where a halted CPU wakes up depends on the host: awake ends with the last mode.
    lines = ["set -e", "mkdir /tmp/stamps", "./awake 100000 & awake=$!"]
    for number, mode in enumerate(modes):
        room = int(mode.rate_hz * (seconds + 0.5)) * speaker.STAMP_BYTES
        # The stamps wait in their FIFO: a reader would be woken at every tick.
        lines.append(f"""
modprobe rt_speaker {mode.words} stamps={_STAMPS_FIFO} stamps_size={room}
./fsynced < /root/sound
until grep -q state=rest /sys/module/rt_speaker/control/now; do sleep 0.01; done
for file in {STATS}/*; do echo "stat {number} ${{file##*/}} $(cat $file)"; done
exec 3< /dev/rtf{_STAMPS_FIFO}
rmmod rt_speaker
cat <&3 > /tmp/stamps/{number}
exec 3<&-
""")
    lines.append("kill $awake; cd /tmp && tar cf stamps.tar stamps")
    return "\n".join(lines)


def play(sound: Path, modes: Sequence[Mode], out: Path, kernel: str = "6.1",
         flavour: str = "cloud") -> list[Played]:
    """Play the file in each of the modes, in one boot; raises MeasureError, TraceError."""
    out.mkdir(parents=True, exist_ok=True)
    with Capture(out / "ports.txt") as capture:
        text = figures.boot(
            _script(modes, seconds_of(sound)), "--icount", "--timeout=500",
            f"--log={out / 'console.log'}", f"--put={sound}:/root/sound",
            f"--put={programs.build('fsynced')}", f"--put={programs.build('awake')}",
            f"--get=/tmp/stamps.tar:{out / 'stamps.tar'}",
            "--modules=tactus_core tactus rtfifo", "--with-modules=rt_speaker",
            f"--qemu={shlex.join(capture.qemu_arguments)}", kernel=kernel, flavour=flavour)
    subprocess.run(["tar", "xf", str(out / "stamps.tar"), "-C", str(out)], check=True)
    plays = speaker.split_plays(capture.writes())
    if len(plays) != len(modes):
        raise MeasureError(f"{len(plays)} plays in the trace of port writes, not {len(modes)}")
    stats: list[dict[str, int]] = [{} for _ in modes]
    for line in text.splitlines():
        if line.startswith("stat "):
            _, number, name, value = line.split()
            stats[int(number)][name] = int(value)
    return [
        Played(mode, speaker.join(writes, speaker.parse_stamps(
            (out / "stamps" / str(number)).read_bytes())), stats[number])
        for number, (mode, writes) in enumerate(zip(modes, plays, strict=True))
    ]


@dataclass(frozen=True)
class Quality(figures.Result):
    """How one mode plays speech."""

    mode: str
    rate_hz: float
    snr_db: float
    min_snr_db: float | None
    late_max_ns: int
    interval_max_dev_ns: int
    missed: int
    underruns: int


def judge_quality(results: Sequence[Quality]) -> list[str]:
    """What is wrong with them."""
    trouble = []
    for result in results:
        if result.min_snr_db is not None and result.snr_db < result.min_snr_db:
            trouble.append(f"{result.mode}: {result.snr_db:.1f} dB, not {result.min_snr_db:g}")
        if result.missed or result.underruns:
            trouble.append(f"{result.mode}: {result.missed} missed, {result.underruns} underruns")
    return trouble


def table_quality(results: Sequence[Quality]) -> str:
    """For people."""
    lines = [f"{'mode':<16} {'ticks/s':>9} {'SNR dB':>7} {'at least':>8} {'late ns':>8} "
             f"{'off ns':>7} {'missed':>6}"]
    for r in results:
        least = "" if r.min_snr_db is None else f"{r.min_snr_db:g}"
        lines.append(f"{r.mode:<16} {r.rate_hz:>9.2f} {r.snr_db:>7.1f} {least:>8} "
                     f"{r.late_max_ns:>8} {r.interval_max_dev_ns:>7} {r.missed:>6}")
    return "\n".join(lines)


def mean_rate_hz(stamps: Sequence[speaker.Stamp]) -> float:
    """Samples a second, by the stamps of a play without gaps."""
    times = [stamp.time_ns for stamp in stamps if stamp.is_sample]
    return (len(times) - 1) * 1e9 / (times[-1] - times[0])


def speech(out: Path, modes: Sequence[Mode] = MODES, kernel: str = "6.1",
           flavour: str = "cloud") -> list[Quality]:
    """Play linux.au in each mode; what it sounds like is in MODE.wav."""
    out.mkdir(parents=True, exist_ok=True)
    sound = playing.make_au(out)
    reference = original(sound)
    results = []
    for p in play(sound, modes, out, kernel, flavour):
        levels = heard(p.stamps)
        wav.write_wav(out / f"{p.mode.name.replace(', ', '-').replace(' ', '-')}.wav",
                      [float(level) for level in levels], quality.RATE_HZ)
        results.append(Quality(
            p.mode.name, mean_rate_hz(p.stamps), quality.coherence_snr_db(reference, levels),
            p.mode.min_snr_db, p.stats["late_max_ns"], p.stats["interval_max_dev_ns"],
            p.stats["missed"], p.stats["underruns"]))
    return results


TONE_HZ = 1000.0
TONE_OFF_HZ = 1.0


@dataclass(frozen=True)
class Tone(figures.Result):
    """The strongest frequency of a mode's output."""

    mode: str
    rate_hz: float
    hz: float


def make_tone(path: Path, seconds: float = 1.5, rate_hz: int = 8000, channels: int = 1,
              coding: Sequence[str] = ("-e", "mu-law")) -> Path:
    """A file of TONE_HZ."""
    subprocess.run(["sox", "-R", "-D", "-n", "-r", str(rate_hz), "-c", str(channels), *coding,
                    str(path), "synth", f"{seconds:g}", "sine", f"{TONE_HZ:g}", "gain", "-3"],
                   check=True)
    return path


def strongest_hz(levels: Sequence[float], rate_hz: int = quality.RATE_HZ) -> float:
    """The strongest frequency below 4 kHz, where no carrier is, to a hundredth of what the length
    resolves."""
    import numpy as np

    wave = np.asarray(levels, float)
    size = len(wave)
    power = np.abs(np.fft.rfft((wave - wave.mean()) * np.hanning(size)))
    peak = int(np.argmax(power[1:int(4000 * size / rate_hz)])) + 1
    a, b, c = np.log(power[peak - 1:peak + 2])
    return float((peak + 0.5 * (a - c) / (a - 2 * b + c)) * rate_hz / size)


def tone(out: Path, modes: Sequence[Mode] = MODES, kernel: str = "6.1",
         flavour: str = "cloud") -> list[Tone]:
    """Play TONE_HZ in each mode."""
    out.mkdir(parents=True, exist_ok=True)
    sound = make_tone(out / "tone.au")
    return [Tone(p.mode.name, mean_rate_hz(p.stamps), strongest_hz(heard(p.stamps)))
            for p in play(sound, modes, out, kernel, flavour)]


def judge_tone(results: Sequence[Tone]) -> list[str]:
    """What is wrong with them."""
    return [f"{r.mode}: {r.hz:.2f} Hz" for r in results if abs(r.hz - TONE_HZ) > TONE_OFF_HZ]


def table_tone(results: Sequence[Tone]) -> str:
    """For people."""
    return "\n".join([f"{'mode':<16} {'ticks/s':>9} {'Hz':>9}",
                      *(f"{r.mode:<16} {r.rate_hz:>9.2f} {r.hz:>9.3f}" for r in results)])


MAX_OFF_NS = {"rtc": 1000, "task": 2000}
"""How far an interval may be from the period, by clock."""


@dataclass(frozen=True)
class Ticks(figures.Result):
    """How punctual the driver was under one condition; times in ns."""

    clock: str
    condition: str
    seconds: float
    period_ns: int
    ticks: int
    missed: int
    underruns: int
    interval_min_ns: int
    interval_max_ns: int
    interval_max_dev_ns: int
    late_max_ns: int
    """Of the task; of the clock's interrupt nobody knows."""


def _timing_script(clock: str, condition: lateness.Condition, seconds: float) -> str:
    load = playing._load_command(condition, seconds)
    words = "mode=slope clock=rtc" if clock == "rtc" else ""
    # Endless sound of every level, so that no tick rests.
    return f"""
set -e
modprobe rt_speaker {words}
(printf '.snd\\0\\0\\0\\030\\377\\377\\377\\377\\0\\0\\0\\1\\0\\0\\037\\100\\0\\0\\0\\1'
 exec cat /dev/urandom) > /dev/rtf0 & writer=$!
sleep 0.1
echo 1 > /sys/module/rt_speaker/control/clear
{load or f"./awake {seconds:g}"} > /tmp/load
for file in {STATS}/*; do echo "stat ${{file##*/}} $(cat $file)"; done
sed 's/^/now /' /sys/module/rt_speaker/control/now
kill $writer
rmmod rt_speaker
"""


def ticks(clock: str, condition: lateness.Condition, seconds: float, kernel: str = "6.1",
          flavour: str = "cloud") -> Ticks:
    """Play for so many virtual seconds under the condition."""
    # The emulator loses interrupts of the clock when its CPU halts.
    busy = ["--busy"] if clock == "rtc" else []
    text = figures.boot(
        _timing_script(clock, condition, seconds), "--icount", *busy,
        f"--timeout={120 + seconds * 40:g}", f"--modules={figures.RAM_DISK} hog tactus_core tactus "
        "tactus_rm rtfifo", "--with-modules=rt_speaker", f"--put={programs.build('load')}",
        f"--put={programs.build('awake')}", f"--qemu={figures.UART}", kernel=kernel,
        flavour=flavour)
    lines = [line.split() for line in text.splitlines()]
    stat = {words[1]: int(words[2]) for words in lines if words[:1] == ["stat"]}
    now = [dict(word.split("=") for word in words[1:]) for words in lines if words[:1] == ["now"]]
    if len(now) != 1 or now[0]["clock"] != clock:
        raise MeasureError(f"the driver did not play by {clock}:\n{text}")
    result = Ticks(
        clock=clock, condition=condition, seconds=seconds, period_ns=int(now[0]["period_ns"]),
        **{name: stat[name] for name in ("ticks", "missed", "underruns", "interval_min_ns",
                                         "interval_max_ns", "interval_max_dev_ns", "late_max_ns")})
    if result.ticks * result.period_ns < seconds * 1e9 * 0.99:
        raise MeasureError(f"ticked for less than {seconds} s: {result}")
    return result


def judge_ticks(results: Sequence[Ticks]) -> list[str]:
    """What is wrong with them."""
    trouble = []
    for r in results:
        where = f"{r.clock} {r.condition}"
        if r.missed or r.underruns:
            trouble.append(f"{where}: {r.missed} missed, {r.underruns} underruns")
        if r.interval_max_dev_ns > MAX_OFF_NS[r.clock]:
            trouble.append(f"{where}: an interval is {r.interval_max_dev_ns} ns off")
    return trouble


def table_ticks(results: Sequence[Ticks]) -> str:
    """For people."""
    lines = [f"{'clock':<6} {'condition':<10} {'ticks':>8} {'missed':>6} {'interval ns':>17} "
             f"{'off ns':>7} {'late ns':>8}"]
    for r in results:
        span = f"{r.interval_min_ns} to {r.interval_max_ns}"
        lines.append(f"{r.clock:<6} {r.condition:<10} {r.ticks:>8} {r.missed:>6} {span:>17} "
                     f"{r.interval_max_dev_ns:>7} {r.late_max_ns:>8}")
    return "\n".join(lines)


def timing(seconds: float, clocks: Sequence[str] = ("rtc", "task"),
           conditions: Sequence[lateness.Condition] = lateness.MAIN_CONDITIONS, kernel: str = "6.1",
           flavour: str = "cloud") -> list[Ticks]:
    """Each clock under each condition."""
    return [ticks(clock, condition, seconds, kernel, flavour)
            for clock in clocks for condition in conditions]


def _wanted(options: argparse.Namespace) -> list[Mode]:
    return [mode for mode in MODES if not options.mode or mode.name in options.mode]


@contextmanager
def _folder(options: argparse.Namespace) -> Iterator[Path]:
    """Where traces, stamps and sounds go; a trace that cannot be read ends the measurement."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            yield options.out or Path(scratch)
        except TraceError as error:
            raise MeasureError(str(error)) from error


def _run_speech(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    with _folder(options) as out:
        results = speech(out, _wanted(options), options.kernel, options.flavour)
    yield figures.outcome(results, table_quality, judge_quality)


def _run_tone(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    with _folder(options) as out:
        results = tone(out, _wanted(options), options.kernel, options.flavour)
    yield figures.outcome(results, table_tone, judge_tone)


def _run_timing(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    results = timing(options.seconds, options.clock or ("rtc", "task"),
                     options.condition or lateness.MAIN_CONDITIONS, options.kernel, options.flavour)
    yield figures.outcome(results, table_ticks, judge_ticks)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mode", action="append", choices=[mode.name for mode in MODES],
                        help="only this one; may be repeated")
    parser.add_argument("--out", type=Path, help="keep traces, stamps and sounds here")


def _add_timing_options(parser: argparse.ArgumentParser) -> None:
    for name, choices in (("clock", ("rtc", "task")), ("condition", lateness.MAIN_CONDITIONS)):
        parser.add_argument(f"--{name}", action="append", choices=choices,
                            help="only this one; may be repeated")
    figures.add_seconds(parser, 10, "of each clock and condition")


MEASUREMENTS = (
    figures.Measurement("speaker-speech", "the speaker's coherence SNR of speech in each mode",
                        _run_speech, _add_options, {}),
    figures.Measurement("speaker-tone", "the pitch of 1000 Hz from the speaker in each mode",
                        _run_tone, _add_options, {}),
    figures.Measurement("speaker-timing", "how punctual the speaker driver's ticks are",
                        _run_timing, _add_timing_options, {"seconds": 60}),
)
