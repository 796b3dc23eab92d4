# SPDX-License-Identifier: GPL-2.0-only
"""The tap loop: Finney's loop test, delays, what leaves a UART, and what may go wrong.

The figures are tap_figures.py's; here they are short. Its controls must fail: output that is polled
every 10 ms, and the same loop as a SCHED_FIFO process while interrupts are off.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import pytest

import tap_figures as tap
from harness import programs

Vm = Callable[..., Any]

RT = "tactus_core tactus rtfifo"
QEMU = f"-chardev null,id=tap -device {tap.UART},chardev=tap"


def test_the_loop_test_over_the_wire() -> None:
    """960 us from message to message, idle and with interrupts off; polled output shows."""
    idle, irqoff, poll = tap.measure("wire", ["idle", "irqoff", "poll"], runs=1, inputs=200,
                                    timeout_s=600)
    print(tap.table([idle, irqoff, poll]))
    assert tap.judge_loop(idle) + tap.judge_loop(irqoff) == []
    assert irqoff.load["sections"] >= 3
    assert tap.judge_poll([poll]) == []
    assert len(tap.judge_loop(poll)) == 3  # mean, worst, added


def test_the_loop_test_over_a_uart() -> None:
    (run,) = tap.measure("uart", ["irqoff"], runs=1, inputs=200, timeout_s=600)
    print(tap.table([run]))
    assert tap.judge_loop(run) == []


def test_a_user_space_twin_is_late() -> None:
    """The same loop as an urgent process: as good on an idle guest, and late by whole sections."""
    worst_us = tap.measure_twin(inputs=150, timeout_s=600)
    print(worst_us)
    assert tap.judge_twin(worst_us) == []


def test_delays_and_what_leaves_the_uart() -> None:
    """Answers come when they should, and the bytes outside are those that the records tell of."""
    results = tap.measure_delays(taps=30, timeout_s=600)
    print(tap.delay_table(results))
    assert [text for result in results for text in tap.judge_delay(result)] == []


GOOD = tap.Run("wire", "idle", 200, 960.0, 959.0, 962.0, 3000, 0, 500, 320.0, 1920.0)
DELAYED = tap.Delayed(75, 30, 60, 1000, 900.0, True, 0)


@pytest.mark.parametrize(("change", "words"), [
    ({"mean_us": 960.6}, "from message to message"),
    ({"mean_us": 959.4}, "from message to message"),
    ({"max_us": 965.1}, "965.100 us once"), ({"added_max_ns": 5001}, "added 5001 ns"),
    ({"lost": 1}, "1 lost"),
])
def test_judge_loop(change: dict[str, Any], words: str) -> None:
    assert tap.judge_loop(GOOD) == []
    (text,) = tap.judge_loop(dataclasses.replace(GOOD, **change))
    assert words in text


@pytest.mark.parametrize(("change", "words"), [
    ({"worst_ns": 20_001}, "20001 ns off"), ({"answers": 59}, "59 answers"),
    ({"outside": False}, "left the UART"), ({"lost": 2}, "2 lost"),
])
def test_judge_delay(change: dict[str, Any], words: str) -> None:
    assert tap.judge_delay(DELAYED) == []
    (text,) = tap.judge_delay(dataclasses.replace(DELAYED, **change))
    assert words in text


def test_the_controls_are_judged_too() -> None:
    assert tap.judge_poll([GOOD])
    assert tap.judge_twin({"idle": 961.0, "irqoff": 961.0})
    assert tap.judge_twin({"idle": 20_000.0, "irqoff": 20_000.0})


def record(sequence: int, flags: int, message: bytes) -> tap.Record:
    return tap.Record(sequence, 0, 0, 0, 0, 0, 1, 0, 0, 1, flags, 3, message)


def test_disorder_is_seen() -> None:
    on, off = b"\x90<@", b"\x80<@"
    sent = [record(0, 2, on), record(1, 2, off), record(2, 2, on)]
    assert tap.disorder([*sent, record(3, 1, on), record(4, 1, off)]) == 0
    assert tap.disorder([*sent, record(3, 1, off), record(4, 1, on)]) == 2
    assert tap.disorder([sent[0], record(3, 1, on), record(4, 1, on)]) == 1


# Metronome tones on the wire come back as keys that nobody answers: 5 records a beat or so.
BEATS = "reset METRON_ON=1 MSPB=10 MET_LEN=3"
STATS = "/sys/module/rt_tap/stats"
WAIT = f"until [ $(cat {STATS}/running) = 0 ]; do usleep 20000; done\n"
RUNNING = f"until [ $(cat {STATS}/running) = 1 ]; do usleep 1000; done\n"


def numbers(data: bytes) -> list[int]:
    return [found.sequence for found in tap.parse_records(data)]


def test_companions_come_and_go(vm: Vm) -> None:
    """One is killed in a trial, one comes late, one too late; commands at the wrong time."""
    done = vm(f"""
        modprobe rt_tap records=512
        ./tap_say {BEATS} M:100:END_EXP=0 start=1 take=20:/tmp/first
        cat /dev/rtf/tap > /tmp/second & sleep 0.2; kill -9 $!
        ./tap_say MSPB=20 read=/tmp/busy 2>&1; cat {STATS}/running
        {WAIT} ./tap_say read=/tmp/third
        ./tap_say {BEATS} M:200:END_EXP=0 start=2; {RUNNING} {WAIT} ./tap_say start=9
        ./tap_say read=/tmp/full
        ./tap_say stop; ./tap_say FEED_NOTE=128 read=/tmp/bad 2>&1
        ./tap_say FEED_NOTE:1=1 read=/tmp/bad 2>&1
        ./tap_say FEED_PMODE=4 start=3 read=/tmp/bad 2>&1
        ./tap_say reset METRON_ON=1 MSPB=1000 MET_LEN=900 start=4; {RUNNING}
        cat /dev/rtf/tap > /tmp/cut & sleep 0.1; rmmod rt_tap; wait
        """, modules=RT, with_modules="rt_tap", put=[programs.build("tap_say")], icount=True,
        busy=True,
        get=[f"/tmp/{name}" for name in ("first", "second", "busy", "third", "full", "cut")])
    assert done.status == 0, done.stdout + done.stderr
    busy, running, value, index, mode = done.stdout.splitlines()
    assert "Device or resource busy" in busy and running == "1"
    assert "out of range" in value or "ERANGE" in value or "Numerical" in value
    assert "Invalid argument" in index and "Invalid argument" in mode
    # What the dead one had read is gone with it, all else is there once and in order.
    parts = [tap.parse_records(done.get(name)) for name in ("first", "second", "busy", "third")]
    whole = [found for part in parts for found in part if found.kind != tap.Kind.REFUSED]
    assert [found.sequence for found in whole] == list(range(whole[-1].value))
    assert tap.summary(whole)["beats"] == 100
    # Nobody read: the first records and the trial's end stay, the others are counted as lost; there
    # is no other trial before somebody has.
    (kept,) = tap.trials(tap.parse_records(done.get("full")))
    lost = tap.summary(kept)["records_lost"]
    assert kept[-1].kind == tap.Kind.DONE and lost > 100
    assert len(kept) + lost == kept[-1].value and len(kept) <= 512
    first = [found.sequence for found in kept if found.kind < tap.Kind.ENDED]
    assert first == list(range(len(first))) and len(first) > 450
    # Unloaded in the middle of a tone: the trial ends, and the tone is switched off.
    (cut,) = tap.trials(tap.parse_records(done.get("cut")))
    assert [found.message[0] & 0xF0 for found in cut if found.went_out][-1] == 0x80
    assert tap.summary(cut)["silenced"] == 1


# Of a UART at 0x2e8: IER, LCR, MCR, the divisor; and how Linux might have left them.
REGISTERS = "./ports 0x2e9 0x2eb 0x2ec 0x2eb=0x9b 0x2e8 0x2e9 0x2eb=0x1b"
SETTING = "./ports 0x2eb=0x9b 0x2e8=0x12 0x2e9=0x01 0x2eb=0x1b 0x2ec=0x03 0x2e9=0x04"


def test_a_uart_is_taken_only_if_it_is_free_and_given_back(vm: Vm) -> None:
    uart = tap.UART_PARAMETERS
    done = vm(f"""
        modprobe rt_tap {uart} 2>&1; ls /dev/rtf 2> /dev/null
        {tap.UNBIND}
        {SETTING} > /dev/null; {REGISTERS} > /tmp/before
        modprobe rt_tap {uart} uart_divisor=0 2>&1
        modprobe rt_tap port=uart uart_base=0x3e8 uart_irq=5 2>&1
        modprobe rt_tap {uart} uart_irq=4 2>&1
        modprobe rt_tap port=usb 2>&1
        modprobe rt_tap pass_us=49 2>&1
        {REGISTERS} > /tmp/refused; ls /dev/rtf 2> /dev/null
        modprobe rt_tap {uart} uart_loop=1 && cat /sys/kernel/tactus/irqs
        ./tap_say {tap.loop_words(50)} start=1 read=/tmp/records
        rmmod rt_tap; {REGISTERS} > /tmp/after
        cat /proc/ioports | grep 02e8; cat /sys/kernel/tactus/irqs
        rmmod rtfifo tactus && echo unloaded
        """, modules=RT, with_modules="rt_tap", qemu=QEMU,
        put=[programs.build("tap_say"), programs.build("ports")],
        get=["/tmp/before", "/tmp/refused", "/tmp/after", "/tmp/records"])
    lines = done.stdout.splitlines()
    errors = ["busy", "Invalid argument", "No such device", "busy", "Invalid argument",
              "Invalid argument"]
    for line, words in zip(lines, errors, strict=False):
        assert words in line, done.stdout
    assert lines[-1] == "unloaded"
    assert [line.split()[0] for line in lines[6:-1]].count("5") == 1, done.stdout
    refusals = re.findall(r"rt_tap: refused: (.*); nothing was changed", done.console)
    assert len(refusals) >= len(errors)
    assert "I/O ports 0x2e8 to 0x2ef are in use" in refusals[0]
    assert done.get("before").split() == [b"04", b"1b", b"03", b"12", b"01"]
    assert done.get("before") == done.get("refused") == done.get("after")
    (trial,) = tap.trials(tap.parse_records(done.get("records")))
    assert tap.summary(trial)["inputs"] >= 50 and not tap.disorder(trial)


@pytest.mark.slow
def test_a_sound_card_of_linux(vm: Vm) -> None:
    """Through rt_tap_alsa: raw MIDI, and another card joined by the sequencer as aconnect does."""
    done = vm(f"""
        modprobe rt_tap; modprobe rt_tap_alsa 2>&1; rmmod rt_tap
        modprobe rt_tap port=bridge; modprobe rt_tap_alsa; modprobe snd_seq_midi
        modprobe snd_virmidi midi_devs=1
        ./tap_say reset FEED_ON=1 FEED_CHAN=0 start=1; {RUNNING}
        ./tap_midi play /dev/snd/midiC0D0 50
        ./tap_midi join 16 20; ./tap_midi play /dev/snd/midiC1D0 50; ./tap_midi part 16 20
        ./tap_say stop read=/tmp/records
        rmmod snd_virmidi; rmmod snd_seq_midi; rmmod rt_tap_alsa
        cat {STATS}/bridge_max_ns; rmmod rt_tap && echo unloaded
        """, modules=RT, with_modules="rt_tap rt_tap_alsa snd_virmidi snd_seq_midi",
        flavour="generic", icount=True, busy=True, extra=["--product"], get=["/tmp/records"],
        put=[programs.build("tap_say"), programs.build("tap_midi")])
    refused, raw, sequencer, waited, unloaded = done.stdout.splitlines()
    assert "No such device" in refused and unloaded == "unloaded"
    for line in (raw, sequencer):
        assert line.startswith("messages=100 "), done.stdout
    print(raw, sequencer, f"longest wait for Linux: {waited} ns", sep="\n")
    (trial,) = tap.trials(tap.parse_records(done.get("records")))
    found = tap.summary(trial)
    assert (found["inputs"], found["bytes_in"], found["bytes_lost"]) == (200, 600, 0)
