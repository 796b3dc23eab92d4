# SPDX-License-Identifier: GPL-2.0-only
"""Play one tone by a Linux program and by the driver, side by side under the same load.

The program is the thesis's Figure 2.1 (examples/speaker/naive.c), on the kernel before
Tactus is loaded; the driver plays the same square wave from a mu-law file. Both are heard
from outside of the guest, both stamp their writes, and both are joined and judged by the same
code (examples/speaker/model).

    tests/vm/measure/run twins      prints what the demo shows
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import playing
from harness import VM, programs
from measure import figures, lateness
from model import speaker
from model.porttrace import Capture, TraceError

TICKS = 8
"""Of the driver's clock, in each half of the tone's period."""
TONE_HZ = speaker.RATE_HZ / (2 * TICKS)

_SECONDS = {"naive idle": 0.3, "naive load": 0.7, "driver load": 0.7}
"""How long each plays, virtual seconds; the order is that of playing."""

# The program takes its share of the CPU from the load beside it.
_SHARE = 0.4


@dataclass(frozen=True)
class Twin:
    """One player's tone."""

    name: str
    play: speaker.Play
    sound: bytes | None = None
    """What the driver was given; None for the program, which plays until its time is over."""

    def problems(self) -> list[str]:
        """What is wrong with the bits, whenever they came."""
        return speaker.compare_bits(self.play.values, self.sound) if self.sound else []

    def halves_ns(self) -> list[int]:
        """The lengths of the tone's half-waves: how long the bit stayed as it was."""
        times = [self.play.times_ns[0]]
        bits = self.play.bits
        times += [t for t, a, b in zip(self.play.times_ns[1:], bits, bits[1:]) if a != b]
        return [b - a for a, b in zip(times, times[1:], strict=False)]

    def worst_half_off_ns(self) -> float:
        """The half-wave furthest from half of the tone's period, as its distance from that."""
        half = 5e8 / TONE_HZ
        return max(abs(length - half) for length in self.halves_ns())


def tone(seconds: float) -> bytes:
    """The square wave as mu-law bytes: a wave that rises for TICKS bytes and falls for as many."""
    wave = [*range(11, 11 + TICKS), *range(9 + TICKS, 9, -1)]
    return bytes(wave) * int(seconds * TONE_HZ)


def _script(size: int) -> str:
    stats = "/sys/module/rt_speaker/stats"
    naive = [f"./naive {_SECONDS[name]:g} {TONE_HZ:g} /tmp/{name.replace(' ', '-')}"
             for name in ("naive idle", "naive load")]

    def load(seconds: float, share: float) -> str:
        command = ["./load", "--json", "--disk=/dev/ram0", f"--seconds={seconds:g}"]
        command += [f"--min-{name}={floor * seconds * share:g}"
                    for name, floor in lateness.LOAD_FLOORS_PER_S.items()]
        return shlex.join(command)

    return f"""
set -e
{naive[0]}
{load(_SECONDS["naive load"] + 0.3, _SHARE)} > /tmp/load & load=$!
sleep 0.1
{naive[1]}
kill -0 $load || {{ echo "the load ended before the program" >&2; exit 1; }}
wait $load; echo "naive $(cat /tmp/load)"
for module in tactus_core tactus rtfifo; do modprobe $module; done
modprobe rt_speaker raw=1 mode=slope clock=rtc stamps=1 \\
    stamps_size={(size + 1) * speaker.STAMP_BYTES + 4096}
{load(_SECONDS["driver load"] + 0.5, 1)} > /tmp/load & load=$!
sleep 0.1
cat /root/tone > /dev/rtf0
until [ $(cat {stats}/samples) -ge {size} ]; do sleep 0.05; done
kill -0 $load || {{ echo "the load ended before the driver's tone" >&2; exit 1; }}
touch /tmp/driver-load
cat /dev/rtf1 > /tmp/driver-load & reader=$!
for try in $(seq 100); do
    [ $(stat -c %s /tmp/driver-load) -lt {(size + 1) * speaker.STAMP_BYTES} ] || break
    sleep 0.1
done
rmmod rt_speaker
wait $reader
wait $load; echo "driver $(cat /tmp/load)"
"""


def play(out: Path, *, kernel: str = "6.1", flavour: str = "cloud",
         timeout_s: float = 300.0) -> Mapping[str, Twin]:
    """Play all of them in one boot; the keys are those of _SECONDS.

    Raises playing.PlayError when the guest failed, and TraceError when a player's stamps
    and the trace do not agree.
    """
    out.mkdir(parents=True, exist_ok=True)
    sound = out / "tone"
    sound.write_bytes(tone(_SECONDS["driver load"]))
    names = {name: out / name.replace(" ", "-") for name in _SECONDS}
    command = [str(VM), "run", f"--kernel={kernel}", f"--flavour={flavour}"]
    command += ["--icount", "--busy", f"--timeout={timeout_s:g}", f"--log={out / 'console.log'}"]
    command += [f"--put={sound}:/root/tone", f"--put={programs.build('load')}"]
    command += [f"--put={programs.build('naive')}"]
    command += [f"--get=/tmp/{path.name}:{path}" for path in names.values()]
    command += [f"--modules={figures.RAM_DISK}"]
    command += ["--with-modules=tactus_core tactus rtfifo rt_speaker"]
    with Capture(out / "ports.txt") as capture:
        qemu = f"{figures.UART} {shlex.join(capture.qemu_arguments)}"
        command += [f"--qemu={qemu}", "--", _script(sound.stat().st_size)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              check=False)
    if done.returncode:
        raise playing.PlayError(
            f"the bench exited with {done.returncode}:\n{done.stderr}\n{done.stdout}")
    plays = [play for play in speaker.split_plays(capture.writes()) if play]
    if len(plays) != len(names):
        raise TraceError(f"{len(plays)} plays in the trace of port writes, not {len(names)}")
    return {
        name: Twin(name, speaker.bits_played(
                       speaker.join(writes, speaker.parse_stamps(path.read_bytes()))),
                   sound.read_bytes() if name == "driver load" else None)
        for (name, path), writes in zip(names.items(), plays, strict=True)
    }


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    with tempfile.TemporaryDirectory() as scratch:
        try:
            found = play(options.out or Path(scratch), kernel=options.kernel,
                         flavour=options.flavour)
        except TraceError as error:
            raise figures.MeasureError(str(error)) from error
    for name, twin in found.items():
        halves = twin.halves_ns()
        yield figures.Outcome(
            [{"player": name, "half_waves": len(halves), "min_ns": min(halves),
              "max_ns": max(halves), "worst_off_ns": twin.worst_half_off_ns()}],
            f"{name}: {len(halves)} half-waves, {min(halves) / 1e3:.1f} to {max(halves) / 1e3:.1f} "
            f"us, off by up to {twin.worst_half_off_ns():.0f} ns", twin.problems())


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, help="keep the traces here")


MEASUREMENTS = (figures.Measurement(
    "twins", "one tone by a Linux program and by the driver, under the same load", _run,
    _add_options),)
