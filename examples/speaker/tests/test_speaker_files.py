# SPDX-License-Identifier: GPL-2.0-only
"""What the speaker driver takes as files, what it refuses, and how its sound flows and stops.

All in pwm by an RT task, in virtual time; every write is joined with the emulator's trace.
"""

from __future__ import annotations

import re
import shlex
import struct
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import speaker_quality
from harness import programs
from model import quality, speaker
from model.porttrace import Capture

RT = "tactus_core tactus rtfifo"
CONTROL, STATS = "/sys/module/rt_speaker/control", "/sys/module/rt_speaker/stats"
TICK_NS = 61_035
LOAD = "modprobe rt_speaker stamps=1 stamps_size=4194304"
UNLOAD = "exec 3< /dev/rtf1; rmmod rt_speaker; cat <&3 > /tmp/stamps"
REST = f"until grep -q state=rest {CONTROL}/now; do sleep 0.01; done"

Vm = Callable[..., Any]


def au(data: bytes, offset: int = 24, size: int | None = None, coding: int = 1, rate: int = 8000,
       channels: int = 1) -> bytes:
    """An .au file."""
    size = len(data) if size is None else size
    return struct.pack(">4s5I", b".snd", offset, size, coding, rate, channels) + bytes(
        offset - 24) + data


@dataclass(frozen=True)
class Sound:
    """A run of samples without a rest, as the driver stamped and the emulator saw them."""

    stamps: list[speaker.Stamp]

    @property
    def samples(self) -> list[int]:
        """What the driver says that it played."""
        return [stamp.sample for stamp in self.stamps if stamp.is_sample]

    def hz(self) -> float:
        """The strongest frequency that came out."""
        return speaker_quality.strongest_hz(speaker_quality.heard(self.stamps))


def sounds(stamps: Sequence[speaker.Stamp]) -> list[Sound]:
    """Parted where the output was put to rest, its data bit to 0."""
    found: list[list[speaker.Stamp]] = [[]]
    for stamp in stamps:
        found[-1].append(stamp)
        if not stamp.is_sample and not stamp.value & speaker.DATA_BIT:
            found.append([])
    assert not found.pop(), "the output does not rest in the end"
    return [Sound(part) for part in found]


def run(vm: Vm, tmp_path: Path, script: str, files: dict[str, bytes],
        allow: Sequence[str] = ()) -> tuple[Any, list[Sound]]:
    """Play in a guest; what it printed, and what came out."""
    put: dict[str | Path, str] = {programs.build("fsynced"): "/root/fsynced"}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        put[tmp_path / name] = f"/root/{name}"
    with Capture(tmp_path / "ports") as capture:
        done = vm(script, modules=RT, with_modules="rt_speaker", icount=True, put=put,
                  get=["/tmp/stamps"], qemu=shlex.join(capture.qemu_arguments), allow=allow)
    writes = [write for play in speaker.split_plays(capture.writes()) for write in play]
    return done, sounds(speaker.join(writes, speaker.parse_stamps(done.get("stamps"))))


@dataclass(frozen=True)
class Case:
    """A file and what the README promises of it."""

    name: str
    data: bytes
    frames: int = 0
    status: int = 0
    files: int = 1
    is_tone: bool = False


def tone(path: Path, rate: int, channels: int, *coding: str) -> Case:
    """A quarter of a second of 1000 Hz."""
    speaker_quality.make_tone(path, 0.25, rate, channels, coding)
    return Case(path.name, path.read_bytes(), frames=rate // 4, is_tone=True)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    """Every form there is, and what is no form."""
    folder = tmp_path_factory.mktemp("files")
    codes = subprocess.run(
        ["sox", "-R", "-D", "-n", "-r", "8000", "-c", "1", "-t", "ul", "-", "synth", "0.1",
         "sine", "500"], check=True, capture_output=True).stdout
    n = len(codes)
    return [
        Case("offset24", au(codes), n),
        Case("offset28", au(codes, 28), n),
        Case("offset32", au(codes, 32), n),
        Case("no-length", au(codes, 24, 0xFFFFFFFF), n),
        Case("two-in-one", au(codes) + au(codes, 28), 2 * n, files=2),
        Case("too-short", au(codes, 24, 5 * n), n),
        Case("header-cut", au(codes)[:13], files=0),
        Case("empty", b"", files=0),
        Case("no-sound", au(b""), 0),
        Case("no-header", codes, status=1, files=0),
        Case("wrong-magic", b".sn\x00" + au(codes)[4:], status=1, files=0),
        Case("bad-coding", au(codes, coding=6), status=1, files=0),
        Case("bad-rate", au(codes, rate=96000), status=1, files=0),
        Case("three-channels", au(codes, channels=3), status=1, files=0),
        Case("short-header", au(codes, 24)[:4] + b"\0\0\0\x17" + au(codes)[8:], status=1, files=0),
        tone(folder / "mulaw.au", 8000, 1, "-e", "mu-law"),
        tone(folder / "alaw.au", 8000, 1, "-e", "a-law"),
        tone(folder / "linear8.au", 11025, 1, "-b", "8"),
        tone(folder / "stereo.au", 44100, 2, "-b", "16"),
        tone(folder / "slow.au", 4000, 1, "-b", "16"),
        tone(folder / "cd.wav", 44100, 2, "-b", "16"),
        tone(folder / "top.wav", 48000, 1, "-b", "16"),
        tone(folder / "u8.wav", 22050, 1, "-b", "8"),
        tone(folder / "alaw.wav", 8000, 1, "-e", "a-law"),
    ]


def test_files_are_played_or_refused_as_documented(
    vm: Vm, cases: list[Case], tmp_path: Path
) -> None:
    script = LOAD + "\n" + "".join(f"""
        echo 1 > {CONTROL}/clear
        cat {case.name} > /dev/rtf0 2> /dev/null; echo "{case.name} $? \\
            $(cd {STATS}; {REST}; cat files frames refused underruns missed | tr '\\n' ' ')"
    """ for case in cases) + UNLOAD
    done, played = run(vm, tmp_path, script, {case.name: case.data for case in cases})
    lines = [line.split() for line in done.stdout.splitlines()]
    expected = [
        [case.name, *map(str, (case.status, case.files, case.frames, 0, 0))] for case in cases
    ]
    assert [[*words[:4], *words[5:]] for words in lines] == expected
    # cat tries more than one way to write.
    assert [int(words[4]) > 0 for words in lines] == [bool(case.status) for case in cases]
    heard = [case for case in cases if case.frames]
    assert len(played) == len(heard)
    by_name = dict(zip((case.name for case in heard), played, strict=True))
    first = by_name["offset24"].samples
    assert len(first) == pytest.approx(0.1 * 1e9 / TICK_NS, abs=2)
    for name in ("offset28", "offset32", "no-length", "too-short"):
        assert by_name[name].samples == first, name
    assert by_name["two-in-one"].samples == first * 2
    for case in heard:
        if case.is_tone:
            assert by_name[case.name].hz() == pytest.approx(1000, abs=1), case.name
    # One log line in a second, however many are refused.
    log = re.findall(r"rt_speaker: (.*)", done.console)
    assert 1 <= sum("refused" in line for line in log) <= 3
    assert any("neither an .au nor a WAV" in line for line in log)
    assert sum("ended before its header said" in line for line in log) == 2


LONG_HZ = 48_000
LONG_BYTES = 200_000
LONG = [n * 37 % 20000 - 10000 for n in range(LONG_BYTES // 2)]

FLOW = f"""
{LOAD}
stat() {{
    echo "$1 $(cd {STATS}; cat frames underruns missed files | tr '\\n' ' ')"
    echo 1 > {CONTROL}/clear
}}
./fsynced /dev/rtf0 4024 1000 < pieces; stat paused-writer
grep -o state=.* {CONTROL}/now

./fsynced /dev/rtf0 300000 < long & writer=$!
sleep 0.3; awk '$1 == 0 {{ print "queued", $3 }}' /sys/kernel/tactus/fifos
wait $writer; stat one-write

sleep 0.4 > /dev/rtf0 & first=$!
sleep 0.1; cat short 2>&1 > /dev/rtf0; cat < /dev/null > /dev/rtf0 || echo "second refused"
wait $first; ./fsynced < short; stat after-it

cat long > /dev/rtf0 & writer=$!
sleep 0.2; kill -9 $writer; wait $writer 2> /dev/null; {REST}; ./fsynced < short; stat killed

./fsynced < short & writer=$!
sleep 0.02; echo 1 > {CONTROL}/pause; grep -o state=.* {CONTROL}/now
sleep 0.5; kill -0 $writer && echo waits; echo 0 > {CONTROL}/pause; wait $writer; stat resumed

cat long > /dev/rtf0 & writer=$!
sleep 0.2; echo 1 > {CONTROL}/stop; sleep 0.15; kill -0 $writer 2> /dev/null || echo gone
grep -o state=.* {CONTROL}/now; ./fsynced < short; stat stopped

echo 50 > {CONTROL}/volume; ./fsynced < short; echo 0 > {CONTROL}/volume; ./fsynced < short
echo 400 > {CONTROL}/volume; ./fsynced < short; echo 100 > {CONTROL}/volume; stat volumes

for setting in mode=loud order=0 order=3 rate_hz=7999 rate_hz=64001 clock=sun volume=401 pause=2; do
    (echo ${{setting#*=}} > {CONTROL}/${{setting%=*}}) 2> /dev/null && echo "taken: $setting"
done
cd {CONTROL}; echo $(cat mode order rate_hz clock volume pause raw); cd

./fsynced < long & writer=$!
sleep 0.2; echo sigma > {CONTROL}/mode; sleep 0.2; echo 22050 > {CONTROL}/rate_hz
cat {CONTROL}/now; wait $writer; echo 0 > {CONTROL}/rate_hz; echo auto > {CONTROL}/mode
stat changed
{UNLOAD}
"""


@pytest.fixture(scope="module")
def flow(vm_module: Vm, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[Sound]]:
    """What a guest printed that went through all of FLOW, and what came out."""
    folder = tmp_path_factory.mktemp("flow")
    codes = bytes(0x80 + n % 80 for n in range(12_000))
    long = struct.pack(f">{len(LONG)}h", *LONG)
    files = {"pieces": au(codes), "short": au(codes[:800]),
             "long": au(long, coding=3, rate=LONG_HZ)}
    done, played = run(vm_module, folder, FLOW, files)
    return done.stdout.splitlines(), played


def told(lines: list[str], name: str) -> list[int]:
    """frames, underruns, missed, files."""
    (found,) = [line.split()[1:] for line in lines if line.split()[0] == name]
    return [int(word) for word in found]


def test_a_paused_writer_leaves_gaps_at_rest(flow: tuple[list[str], list[Sound]]) -> None:
    lines, played = flow
    assert told(lines, "paused-writer") == [12_000, 2, 0, 1]
    assert lines[1] == "state=rest"
    # Half a second at 8000 Hz, then as much of rest, and so on; nothing is missing.
    pieces = played[:3]
    for piece, frames in zip(pieces, (4000, 4024, 3976), strict=True):
        assert len(piece.samples) == pytest.approx(frames / 8000 * 1e9 / TICK_NS, abs=3)
        rest, last = piece.stamps[-1], [s for s in piece.stamps if s.is_sample][-1]
        assert rest.time_ns - last.time_ns < 1.5 * TICK_NS
    for before, after in pairwise(pieces):
        gap_ns = after.stamps[0].time_ns - before.stamps[-1].time_ns
        assert gap_ns == pytest.approx(0.5e9, rel=0.05)
    # In a gap the speaker's level is 0: rebuilt from the writes, both pieces and the gap.
    stamps = pieces[0].stamps + pieces[1].stamps
    edges = speaker_quality.rebuilt(stamps)
    start, end = pieces[0].stamps[-1].time_ns, pieces[1].stamps[0].time_ns
    assert [edge for edge in edges if start < edge.time_ns < end] == []
    assert [edge.level for edge in edges if edge.time_ns <= start][-1] == 0


def test_a_long_write_blocks_and_arrives_whole(flow: tuple[list[str], list[Sound]]) -> None:
    lines, played = flow
    (queued,) = [int(line.split()[1]) for line in lines if line.startswith("queued")]
    assert 16384 - 600 < queued <= 16384
    assert told(lines, "one-write") == [LONG_BYTES // 2, 0, 0, 1]
    assert len(played[3].samples) == pytest.approx(
        LONG_BYTES / 2 / LONG_HZ * 1e9 / TICK_NS, abs=2)
    # And it is that sound: its first 0.6 s, three times as much as the FIFO holds.
    heard = speaker_quality.heard(played[3].stamps[:int(0.6e9 / TICK_NS)])
    reference = quality.to_rate(LONG[:int(0.6 * LONG_HZ)], LONG_HZ)
    assert quality.coherence_snr_db(reference, heard) > 20


def test_one_writer_at_a_time(flow: tuple[list[str], list[Sound]]) -> None:
    lines, _ = flow
    assert "second refused" in lines
    assert any("busy" in line.lower() for line in lines)
    assert told(lines, "after-it") == [800, 0, 0, 1]


def test_a_killed_writer_disturbs_nobody(flow: tuple[list[str], list[Sound]]) -> None:
    lines, played = flow
    frames, underruns, missed, files = told(lines, "killed")
    assert 10_000 < frames < LONG_BYTES // 2
    assert (underruns, missed, files) == (0, 0, 2)
    # Up to where the player was killed the sound is the file's. The next one's is not touched.
    long, short, cut, after = (sound.samples for sound in played[3:7])
    heard = len(cut) - 32  # the filter rings at the end
    assert cut[:heard] == long[:heard]
    assert after == short


def test_pause_stop_and_volume(flow: tuple[list[str], list[Sound]]) -> None:
    lines, played = flow
    at = lines.index("state=paused")
    assert lines[at + 1] == "waits"
    assert told(lines, "resumed") == [800, 0, 0, 1]
    assert lines[lines.index("gone") + 1] == "state=rest"
    frames, underruns, missed, files = told(lines, "stopped")
    assert 10_000 < frames < 20_000
    assert (underruns, missed, files) == (0, 0, 2)
    half, none, loud = (sound.samples for sound in played[-4:-1])
    plain = next(sound.samples for sound in played[4:] if len(sound.samples) == len(half))
    assert max(plain) > 3000
    assert all(abs(h * 2 - p) <= 2 for h, p in zip(half, plain, strict=True))
    assert set(none) == {0}
    assert all(abs(v - max(-32767, min(32767, 4 * p))) <= 4
               for v, p in zip(loud, plain, strict=True))


def test_a_change_in_mid_sound_loses_nothing(flow: tuple[list[str], list[Sound]]) -> None:
    lines, played = flow
    assert not [line for line in lines if line.startswith("taken")]
    assert "auto 2 0 auto 100 0 0" in lines
    assert any(line.startswith("mode=sigma order=2 clock=task period_ns=45351 levels=0")
               for line in lines)
    frames, underruns, _, files = told(lines, "changed")
    assert (frames, underruns, files) == (LONG_BYTES // 2, 0, 1)
    # At each of the three rates it sounds as fast as the file says: but for the changes, as long as
    # that.
    times = [stamp.time_ns for stamp in played[-1].stamps if stamp.is_sample]
    intervals = [after - before for before, after in pairwise(times)]
    changes = [interval for interval in intervals if interval > 5e5]
    assert len(changes) == 2
    assert (sum(intervals) - sum(changes)) / 1e9 == pytest.approx(len(LONG) / LONG_HZ, abs=1e-3)
