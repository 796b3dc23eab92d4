# SPDX-License-Identifier: GPL-2.0-only
"""The tap loop as a program in RT mode: the loop test over an emulated 16550's own loop, while
sections with interrupts off come; beside it the same program as Linux runs it."""
from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import tap_figures as tap
from harness import programs
from harness.vmrun import Vm
from measure.figures import UART

TOP = Path(__file__).resolve().parents[3]
WIRE_US, PERIOD_US = 960, 100
TRIAL_MS = 300
OPTIONS = f"--base {tap.UART_BASE:#x} --baud-base 500000 --divisor 16 --loop"
QEMU = f"{UART} -chardev null,id=tap -device {tap.UART},chardev=tap"


class Said(NamedTuple):
    status: int
    bytes_in: int
    bytes_out: int
    latest_ns: int
    gaps_us: list[float]
    """Between a message and the next one, of those that came in."""


def play(words: str) -> str:
    return f"""
        ./load --json --seconds=1 --irqoff=process,timer --min-sections=5 > sections & sleep 0.2
        ./tap {OPTIONS} {words} loop.ftap > said 2> figures; echo "status $?"
        wait $!; echo "load $?"; cat figures; grep ' keystroke \\| input ' said; echo end
        """


def read(text: str) -> Said:
    assert "load 0" in text     # there were sections
    (status,) = re.findall(r"status (\d+)", text)
    (counts,) = re.findall(r"(\d+) bytes in, (\d+) out, \d+ lost; latest pass (-?\d+)", text)
    times = [int(line.split()[3]) for line in text.splitlines() if re.match(r"\d+ [ki]", line)]
    gaps = [(b - a) / 1000 for a, b in zip(times, times[1:], strict=False)]
    return Said(int(status), *map(int, counts), gaps)


def test_the_loop_test(vm: Vm, tmp_path: Path) -> None:
    subprocess.run(["make", "-s", "-C", TOP, "tapuser"], check=True)
    loop = (TOP / "examples/tap/experiments/loop_4s.ftap").read_text()
    (tmp_path / "loop.ftap").write_text(loop.replace("T 4000", f"T {TRIAL_MS}"))
    done = vm(tap.UNBIND + play(f"--period-us {PERIOD_US}") + play("--linux"), icount=True,
              modules="hog tactus rtfifo tactus_user", qemu=QEMU, timeout=900,
              put=[TOP / "build/host/tap", programs.build("load"), tmp_path / "loop.ftap"])
    rt, linux = (read(text) for text in done.stdout.split("end\n")[:2])
    # A message takes 960 us on the wire. Its arrival is seen at the next look, as its answer is.
    assert rt.status == 0 and rt.bytes_in == rt.bytes_out > 800 and 0 < rt.latest_ns < 2000
    assert all(abs(gap - WIRE_US) < PERIOD_US + 5 for gap in rt.gaps_us)
    # The control.
    assert linux.latest_ns > 10_000_000 and max(linux.gaps_us) > 10_000


def test_what_is_wrong_is_said(vm: Vm, tmp_path: Path) -> None:
    subprocess.run(["make", "-s", "-C", TOP, "tapuser"], check=True)
    (tmp_path / "wrong.ftap").write_text("MSPB 0\n")
    (tmp_path / "right.ftap").write_text("MSPB 500\n")
    done = vm("for words in '' '--period-us 5 right.ftap' no.ftap wrong.ftap "
              "'--base 0x3e8 right.ftap'; do ./tap $words 2>&1 | tail -1; done",
              modules="tactus rtfifo tactus_user", icount=True,
              put=[TOP / "build/host/tap", *tmp_path.glob("*.ftap")])
    usage, period, missing, wrong, no_uart = done.stdout.splitlines()
    assert usage.startswith("Status: 0")
    assert period == 'tap: "5" is not a number from 20 to 1000'
    assert missing == "tap: no.ftap: No such file or directory"
    assert wrong == "tap: wrong.ftap has errors"
    assert no_uart == "tap: there is no 16550 at 0x3e8"
