# SPDX-License-Identifier: GPL-2.0-only
"""Play a sound through the speaker driver in a guest and bring home what both sides saw.

The tests and the demo play through here, so that they judge the same thing:

    result = play(sound, "irqoff", out=directory)
    problems = result.problems()

The port writes come from outside of the guest, their times from the driver's stamps; how
they are joined and judged is in examples/speaker/model.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from harness import TOP, VM, programs
from measure import figures, lateness
from model import speaker
from model.porttrace import Capture, TraceError, Write

MAX_DEVIATION_NS = 1000
"""How far an interval between two writes may be from 1/8192 s."""

_STAMPS_FIFO = 1


class PlayError(Exception):
    """The guest did not get as far as playing, or the load did too little."""


@dataclass(frozen=True)
class Played:
    """One play of a sound."""

    condition: lateness.Condition
    sound: bytes
    writes: list[Write]
    """To port 0x61 by the driver's handler, seen from outside: the sound, then once to rest."""
    play: speaker.Play | None
    """The same with the guest's times; None if the two sides disagree."""
    join_error: str
    stats: dict[str, int]
    """/sys/module/rt_speaker/stats when all had been played."""
    load: dict[str, float] = field(default_factory=dict)

    @property
    def values(self) -> list[int]:
        """Written to port 0x61 as sound."""
        return speaker.values(self.writes)[:-1]

    def problems(self) -> list[str]:
        """What is wrong with it; empty when every bit was right and on time."""
        problems = speaker.compare_bits(self.values, self.sound)
        if speaker.values(self.writes)[-1:] != [self.writes[-1].value & ~speaker.DATA_BIT]:
            problems.append("the output does not rest in the end")
        if self.play is None:
            return [*problems, self.join_error]
        if self.play.values != self.values:
            problems.append("what the driver calls sound is not all but the last write")
        worst = self.play.worst_deviation_ns()
        if worst > MAX_DEVIATION_NS:
            problems.append(f"an interval is {worst:.0f} ns off")
        if self.stats["underruns"]:
            problems.append(f"{self.stats['underruns']} underruns")
        if abs(self.stats["interval_max_dev_ns"] - worst) > 1:
            problems.append(
                f"the driver says {self.stats['interval_max_dev_ns']} ns, its stamps {worst:.0f} ns"
            )
        return problems


def make_au(directory: Path) -> Path:
    """Make linux.au in `directory`."""
    path = directory / "linux.au"
    subprocess.run([str(TOP / "examples" / "speaker" / "make_au"), str(path)], check=True)
    return path


def _load_command(condition: lateness.Condition, seconds: float) -> str:
    """The shell text that loads the guest as lateness.py does; empty for an idle one."""
    if condition == "idle":
        return ""
    command = ["./load", "--json", "--disk=/dev/ram0", f"--seconds={seconds:g}"]
    for name, floor in lateness.LOAD_FLOORS_PER_S.items():
        command.append(f"--min-{name}={floor * seconds:g}")
    if condition == "irqoff":
        command.append("--irqoff=process,timer,tasklet")
        command.append(f"--min-sections={int(lateness.SECTIONS_PER_S * seconds)}")
    return shlex.join(command)


def _guest_script(size: int, condition: lateness.Condition, seconds: float) -> str:
    """The shell text for one play; what it prints is read by _parse()."""
    stats = "/sys/module/rt_speaker/stats"
    load = _load_command(condition, seconds)
    # The stamps wait in their FIFO until the sound is over: a reader would be woken 8192 times a
    # second, which is no idle guest.
    return f"""
set -e
modprobe rt_speaker raw=1 mode=slope clock=rtc stamps={_STAMPS_FIFO} \\
    stamps_size={(size + 1) * speaker.STAMP_BYTES + 4096}
{f"{load} > /tmp/load & load=$!" if load else "load="}
sleep 0.1
cat /root/sound > /dev/rtf0
until [ $(cat {stats}/samples) -ge {size} ]; do sleep 0.1; done
[ -z "$load" ] || kill -0 $load || {{ echo "the load ended before the sound" >&2; exit 1; }}
for file in {stats}/*; do echo "stat ${{file##*/}} $(cat $file)"; done
touch /tmp/stamps
cat /dev/rtf{_STAMPS_FIFO} > /tmp/stamps & reader=$!
for try in $(seq 100); do
    [ $(stat -c %s /tmp/stamps) -lt {(size + 1) * speaker.STAMP_BYTES} ] || break
    sleep 0.1
done
rmmod rt_speaker
wait $reader
if [ "$load" ]; then wait $load; echo "load $(cat /tmp/load)"; fi
"""


def _parse(text: str) -> tuple[dict[str, int], dict[str, float]]:
    stats: dict[str, int] = {}
    load: dict[str, float] = {}
    for line in text.replace("\r", "").splitlines():
        if line.startswith("stat "):
            _, name, value = line.split()
            stats[name] = int(value)
        elif line.startswith("load "):
            load = json.loads(line.removeprefix("load "))
    return stats, load


def play(
    sound: Path,
    condition: lateness.Condition,
    *,
    out: Path,
    kernel: str = "6.1",
    flavour: str = "cloud",
    timeout_s: float = 300.0,
) -> Played:
    """Play the file once on the bench, in virtual time; `out` keeps the trace, stamps and log.

    Raises PlayError when the guest failed or did not hear the sound out; whether the
    sound was right is for Played.problems() to say.
    """
    data = sound.read_bytes()
    if not data:
        raise ValueError(f"{sound} is empty")
    seconds = len(data) / speaker.RATE_HZ + 0.6
    out.mkdir(parents=True, exist_ok=True)
    stamps_file = out / "stamps"
    command = [str(VM), "run", f"--kernel={kernel}", f"--flavour={flavour}"]
    # Busy: an emulated CPU that halts loses ticks of the clock, by a fault of the emulator.
    command += ["--icount", "--busy", f"--timeout={timeout_s:g}", f"--log={out / 'console.log'}"]
    command += [f"--put={sound}:/root/sound", f"--get=/tmp/stamps:{stamps_file}"]
    command += [f"--put={programs.build('load')}"]
    command += [f"--modules={figures.RAM_DISK} hog tactus_core tactus tactus_rm rtfifo"]
    command += ["--with-modules=rt_speaker"]
    script = _guest_script(len(data), condition, seconds)
    with Capture(out / "ports.txt") as capture:
        qemu = f"{figures.UART} {shlex.join(capture.qemu_arguments)}"
        command += [f"--qemu={qemu}", "--", script]
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )
    if done.returncode:
        raise PlayError(f"the bench exited with {done.returncode}:\n{done.stderr}\n{done.stdout}")
    stats, load = _parse(done.stdout)
    plays = speaker.split_plays(capture.writes())
    if len(plays) != 1 or not plays[0]:
        raise PlayError(f"{len(plays)} plays in the trace of port writes, not 1 with sound")
    try:
        joined: speaker.Play | None = speaker.bits_played(
            speaker.join(plays[0], speaker.parse_stamps(stamps_file.read_bytes()))
        )
        error = ""
    except TraceError as trace_error:
        joined, error = None, str(trace_error)
    return Played(condition, data, plays[0], joined, error, stats, load)
