# SPDX-License-Identifier: GPL-2.0-only
"""The speaker driver and the thesis's own program, heard from outside of the guest."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import playing
from harness import VM, programs
from model import porttrace, slope, speaker
from model.porttrace import TraceError, Write

TREE = Path(__file__).resolve().parents[3]
RT = "tactus_core tactus rtfifo"
# Waits until FIFO 0 has been played, as long as it may take on a host with other things to do.
DRAIN = """until [ "$(awk '$1 == 0 { print $3 }' /sys/kernel/tactus/fifos)" = 0 ]
do sleep 0.05; done;"""
APPENDIX_B_SHA256 = "4d136feb088c0c70afd9b638ad410685346cce2a84da348e1fc62d432916758e"

Vm = Callable[..., Any]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """linux.au."""
    return playing.make_au(tmp_path_factory.mktemp("sound"))


@pytest.fixture(scope="module")
def short(sound: Path) -> Path:
    """A second of sound: every byte there is, both zeros in turn, and the speech's beginning.

    The zeros tell signed samples from unsigned ones, and nothing else does: speech has few.
    """
    path = sound.with_name("short.au")
    codes = bytes(range(256)) + b"\x7f\xff\xff\x7f" * 64
    path.write_bytes((codes + sound.read_bytes())[: speaker.RATE_HZ])
    return path


@pytest.fixture(scope="module")
def probe() -> Path:
    """speaker_probe, compiled."""
    return programs.build("speaker_probe")


@pytest.fixture(scope="module")
def played(short: Path, tmp_path_factory: pytest.TempPathFactory) -> playing.Played:
    """A second of play under load while interrupts are held off."""
    return playing.play(short, "irqoff", out=tmp_path_factory.mktemp("irqoff"))


def test_every_bit_is_right_and_on_time(played: playing.Played) -> None:
    assert played.problems() == []
    assert played.stats["samples"] == len(played.sound)
    assert played.stats["stamps_lost"] == 0
    assert played.load["sections"] >= 8


def test_the_checks_see_a_mistake_in_the_real_play(played: playing.Played) -> None:
    flipped = [*played.values]
    flipped[4000] ^= speaker.DATA_BIT
    assert speaker.compare_bits(flipped, played.sound)
    assert speaker.compare_bits(played.values[:4000] + played.values[4001:], played.sound)
    assert speaker.compare_bits(played.values, played.sound[:4000] + played.sound[4001:])
    assert played.play
    stamps = [
        speaker.Stamp(n, 0x61, value, 0, time_ns)
        for n, (value, time_ns) in enumerate(zip(played.values, played.play.times_ns, strict=True))
    ]
    writes = played.writes[:-1]
    wrong = Write(0x61, writes[4000].value ^ speaker.DATA_BIT)
    with pytest.raises(TraceError):
        speaker.join([*writes[:4000], wrong, *writes[4001:]], stamps)
    with pytest.raises(TraceError):
        speaker.join(writes, stamps[:4000] + stamps[4001:])
    # The interval itself may be short by as much as one may.
    late = [*played.play.times_ns]
    late[4000:] = [time_ns + 2 * playing.MAX_DEVIATION_NS + 1 for time_ns in late[4000:]]
    slow = dataclasses.replace(played, play=speaker.Play(played.values, late))
    assert any("ns off" in problem for problem in slow.problems())
    stuck = Write(0x61, played.writes[-1].value | speaker.DATA_BIT)
    droning = dataclasses.replace(played, writes=[*played.writes[:-1], stuck])
    assert any("rest" in problem for problem in droning.problems())


@pytest.mark.long
@pytest.mark.parametrize("flavour", ["cloud", "generic"])
def test_linux_au_whole_under_load(sound: Path, tmp_path: Path, flavour: str) -> None:
    assert playing.play(sound, "load", out=tmp_path, flavour=flavour).problems() == []


@pytest.mark.long
def test_linux_reads_its_clock_meanwhile(vm: Vm, short: Path, probe: Path, tmp_path: Path) -> None:
    """Linux uses the CMOS chip as fast as it can; neither side splits the other's accesses."""
    # A seventh of a second: an access to the chip takes the emulator long.
    length = 1200
    script = f"""
        modprobe rt_speaker raw=1 mode=slope clock=rtc && modprobe nvram
        ./speaker_probe clock 0.25 > clock & clock=$!
        head -c {length} sound > /dev/rtf0
        while [ $(cat /sys/module/rt_speaker/stats/samples) -lt {length} ]; do sleep 0.02; done
        kill -0 $clock || echo "the clock was not read all the time"
        wait $clock; echo "status $?"; cat clock
        cat /sys/module/rt_speaker/stats/underruns
        rmmod rt_speaker
    """
    with porttrace.Capture(tmp_path / "ports") as capture:
        done = vm(
            script, modules=RT, with_modules="rt_speaker nvram", icount=True, busy=True,
            put={short: "/root/sound", probe: "/root/speaker_probe"},
            qemu=shlex.join(capture.qemu_arguments),
        )
    status, clock, underruns = done.stdout.splitlines()
    assert (status, underruns) == ("status 0", "0"), done.stdout
    found = re.fullmatch(r"rounds=(\d+) wrong_times=0 wrong_ram=0", clock)
    assert found, clock
    assert int(found[1]) > 3_000
    (play,) = speaker.split_plays(capture.writes())
    *values, rest = speaker.values(play)
    assert speaker.compare_bits(values, short.read_bytes()[:length]) == []
    assert not rest & speaker.DATA_BIT


def registers(line: str) -> dict[str, str]:
    """What `speaker_probe show` printed. The output of a timer that runs changes by itself."""
    shown = dict(word.split("=") for word in line.split())
    if shown["mode"] != "0":
        del shown["out"]
    return shown


def test_unloading_gives_every_register_back(vm: Vm, short: Path, probe: Path) -> None:
    # Timer mode, port bits and clock rate: as Linux boots, a silent tone, one that was
    # cut off in mode 0 before its output rose, and a rate generator.
    states = [("", "mode=slope clock=rtc"), ("set 3 0 6", "mode=slope clock=rtc"),
              ("set 0 0 9", "mode=pwm"), ("set 2 1 3", "mode=slope clock=rtc"),
              ("set 0 1 6", "mode=sigma"), ("set 3 0 6", "mode=pwm clock=rtc")]
    # Unloaded in mid-sound under a waiting writer, or after one that was killed there.
    script = "".join(
        f"{'./speaker_probe ' + state if state else ':'}; ./speaker_probe show;"
        f"modprobe rt_speaker raw=1 size=1000 {words}; cat sound > /dev/rtf0 & writer=$!;"
        "until [ $(cat /sys/module/rt_speaker/stats/samples) -gt 100 ]; do sleep 0.01; done;"
        f"{'kill -9 $writer;' if number % 2 else ''}"
        "rmmod rt_speaker; ./speaker_probe show;"
        for number, (state, words) in enumerate(states)
    )
    done = vm(script, modules=RT, with_modules="rt_speaker", icount=True,
              put={short: "/root/sound", probe: "/root/speaker_probe"})
    lines = [registers(line) for line in done.stdout.splitlines()]
    assert len(lines) == 2 * len(states)
    assert lines[2]["mode"] == "3" and lines[6]["rtc_a"] == "23"
    assert lines[0::2] == lines[1::2]


def test_appendix_b_is_the_thesis_text() -> None:
    """With one line added, and its words as in the thesis (white space aside)."""
    text = (TREE / "examples" / "appendix_b" / "appendix_b.c").read_text()
    lines = text.splitlines()
    assert [line for line in lines if "MODULE_LICENSE" in line] == ['MODULE_LICENSE("GPL");']
    lines.remove('MODULE_LICENSE("GPL");')
    words = " ".join("\n".join(lines).split())
    assert hashlib.sha256(words.encode()).hexdigest() == APPENDIX_B_SHA256


def test_an_old_program_needs_one_line_of_kbuild(tmp_path: Path) -> None:
    """Built as a user would, outside of the tree, and without a warning."""
    text = (TREE / "examples" / "appendix_b" / "appendix_b.c").read_bytes()
    (tmp_path / "old.c").write_bytes(text)
    include = "include $(TACTUS)/kernel/include/v05/v05.mk"
    (tmp_path / "Kbuild").write_text(f"obj-m := old.o\n{include}\n")
    command = [str(VM), "build", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    assert (tmp_path / "old.ko").exists()


def test_appendix_b_plays_and_unloads_in_its_own_order(
    vm: Vm, short: Path, probe: Path, tmp_path: Path
) -> None:
    """Three times: to the end, unloaded in mid-sound under a waiting writer, and again."""
    script = f"""
        ./speaker_probe show
        modprobe appendix_b; cat sound > /dev/rtf0; {DRAIN} rmmod appendix_b
        modprobe appendix_b; (cat sound > /dev/rtf0) 2> /dev/null & writer=$!
        sleep 0.2; rmmod appendix_b; wait $writer; echo "writer $?"
        modprobe appendix_b; cat sound > /dev/rtf0; {DRAIN} rmmod appendix_b
        ./speaker_probe show
        rmmod rtfifo && rmmod tactus && echo unloaded
    """
    with porttrace.Capture(tmp_path / "ports") as capture:
        done = vm(script, modules=RT, with_modules="appendix_b", icount=True,
                  put={short: "/root/sound", probe: "/root/speaker_probe"},
                  qemu=shlex.join(capture.qemu_arguments))
    before, writer, after, unloaded = done.stdout.splitlines()
    assert (writer, unloaded) == ("writer 1", "unloaded")
    sound = short.read_bytes()
    first, cut, last = map(speaker.values, speaker.split_plays(capture.writes()))
    assert speaker.compare_bits(first, sound) == []
    assert speaker.compare_bits(cut, sound[: len(cut)]) == []
    assert 100 < len(cut) < len(sound)
    assert speaker.compare_bits(last, sound) == []
    # The clock it gives back; the speaker it leaves as the last sample said, and on.
    old, new = registers(before), registers(after)
    assert (new["rtc_a"], new["rtc_b"]) == (old["rtc_a"], old["rtc_b"])
    assert int(new["port"]) & 3 == 1 | slope.slope_bits(sound)[-1] << 1


def test_what_cannot_be_is_refused_and_changes_nothing(vm: Vm, probe: Path) -> None:
    tries = [
        ("stamps=0", "Invalid argument"),
        ("mode=loud", "Invalid argument"),
        ("clock=sun", "Invalid argument"),
        ("order=3", "Invalid argument"),
        ("rate_hz=7999", "Invalid argument"),
        ("rate_hz=64001", "Invalid argument"),
        ("rate_hz=9000 clock=rtc", "Invalid argument"),
        ("volume=401", "Invalid argument"),
        ("fifo=64", "No such device"),
        ("size=0", "Invalid argument"),
        ("size=-1", "Invalid argument"),
        ("stamps=64", "No such device"),
        ("stamps=1 stamps_size=0", "Invalid argument"),
    ]
    script = "./speaker_probe show; cd /sys/kernel/tactus; cp fifos irqs /tmp; cd;"
    script += "".join(f"modprobe rt_speaker {words} 2>&1;" for words, _ in tries)
    script += """
        ./speaker_probe show
        for file in fifos irqs; do cmp /tmp/$file /sys/kernel/tactus/$file; done && echo same
    """
    done = vm(script, modules=RT, with_modules="rt_speaker", icount=True,
              put={probe: "/root/speaker_probe"})
    before, *refusals, after, same = done.stdout.splitlines()
    assert len(refusals) == len(tries), done.stdout
    for refusal, (words, reason) in zip(refusals, tries, strict=True):
        assert reason in refusal, (words, refusal)
    assert before == after
    assert same == "same"


def test_a_second_driver_is_refused_and_the_first_plays_on(
    vm: Vm, short: Path, tmp_path: Path
) -> None:
    script = f"""
        modprobe appendix_b
        (head -c 3000 sound; sleep 0.3; tail -c +3001 sound) > /dev/rtf0 & writer=$!
        modprobe rt_speaker 2>&1
        modprobe rt_speaker fifo=3 clock=rtc 2>&1
        wait $writer; {DRAIN} rmmod appendix_b
        cat /sys/kernel/tactus/fifos
    """
    with porttrace.Capture(tmp_path / "ports") as capture:
        done = vm(script, modules=RT, with_modules="rt_speaker appendix_b", icount=True,
                  put={short: "/root/sound"}, qemu=shlex.join(capture.qemu_arguments))
    taken_fifo, taken_irq, *fifos = done.stdout.splitlines()
    assert "busy" in taken_fifo and "busy" in taken_irq
    assert len(fifos) == 1  # the head
    (play,) = speaker.split_plays(capture.writes())
    assert speaker.compare_bits(speaker.values(play), short.read_bytes()) == []


def test_the_line_of_a_linux_driver_is_refused(vm: Vm, probe: Path) -> None:
    """Where tactus must not take interrupt 8 from Linux, the driver says so and leaves."""
    script = """./speaker_probe show; modprobe rt_speaker clock=rtc 2>&1; ./speaker_probe show
        cat /sys/kernel/tactus/fifos"""
    done = vm(script, modules="tactus_core tactus take_irq=-1 rtfifo", with_modules="rt_speaker",
              icount=True, put={probe: "/root/speaker_probe"})
    before, refusal, after, *fifos = done.stdout.splitlines()
    assert "busy" in refusal.lower()
    assert before == after
    assert len(fifos) == 1  # the head


def test_linux_au_is_the_same_each_time(sound: Path, tmp_path: Path) -> None:
    again = playing.make_au(tmp_path).read_bytes()
    assert again == sound.read_bytes()
    assert again[:4] == b".snd"
    size, coding, rate, channels = (int.from_bytes(again[n : n + 4], "big")
                                    for n in (8, 12, 16, 20))
    assert (coding, rate, channels) == (1, 8000, 1)
    assert int.from_bytes(again[4:8], "big") + size == len(again)
    assert 2.0 < size / rate < 4.0


def test_make_au_names_the_package_that_is_missing(tmp_path: Path) -> None:
    script = TREE / "examples" / "speaker" / "make_au"
    (tmp_path / "bin").mkdir()
    os.symlink("/bin/sh", tmp_path / "bin" / "sh")
    done = subprocess.run([str(script), str(tmp_path / "x.au")], capture_output=True, text=True,
                          env={"PATH": str(tmp_path / "bin")}, check=False)
    assert done.returncode == 1
    assert "package espeak-ng" in done.stderr
    assert not (tmp_path / "x.au").exists()
