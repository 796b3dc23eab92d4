# SPDX-License-Identifier: GPL-2.0-only
"""The first look at a PC: doctor, Linux's lateness, Tactus's, the speaker, a report on the stick.

The kernel's command line chooses: tactus.look=stock does all of that, tactus.look=rt measures Linux
on a PREEMPT_RT kernel, tactus.look=shell nothing.
"""
from __future__ import annotations

import contextlib
import json
import os
import re
import select
import subprocess
import sys
import termios
import tty
from collections.abc import Callable
from pathlib import Path

import stick
from strips import Row, graph

sys.path.insert(0, "/usr/lib/tactus-src")
from tactus import figure  # noqa: E402

MEASURE = "/usr/bin/tactus-measure"
SECONDS = 4
PERIOD_NS = 1_000_000
TRIAL_S = 120
SOUND = Path("/usr/lib/first-look/speech.au")
LOADS = {"idle": "none", "load": "jobs"}
STICK_WAIT_S = 10
NAMES = {"stock": "Linux", "rt": "PREEMPT_RT"}


class Screen:
    """The screen, and beside it the first serial line, for machines without one."""

    def __init__(self) -> None:
        self.text = ""
        try:
            self._serial: int | None = os.open(
                "/dev/ttyS0", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            tty.setraw(self._serial)
        except (OSError, termios.error):
            self._serial = None

    def _copy(self, text: str) -> None:
        data = text.replace("\n", "\r\n").encode()
        while self._serial is not None and data:
            if not select.select([], [self._serial], [], 1.0)[1]:
                self._serial = None     # the other end takes nothing
                return
            try:
                data = data[os.write(self._serial, data):]
            except OSError:
                self._serial = None

    def say(self, text: str = "", end: str = "\n") -> None:
        print(text, end=end, flush=True)
        self._copy(text + end)
        self.text += text + end

    def key(self) -> str:
        """The next key, from either."""
        inputs = [0] if self._serial is None else [0, self._serial]
        before = termios.tcgetattr(0)
        tty.setcbreak(0)
        try:
            ready = select.select(inputs, [], [])[0]
            return os.read(ready[0], 1).decode(errors="replace").lower()
        finally:
            termios.tcsetattr(0, termios.TCSADRAIN, before)


class Look:
    """One run; `rows` are what was measured."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.screen = Screen()
        self.say = self.screen.say
        self.rows: list[Row] = []
        self.number = Path("/etc/first-look/volume").read_text().strip()
        self.report: dict[str, object] = {}

    def command(self, *words: str, shown: bool = True, quiet: bool = False) -> tuple[int, str]:
        """A command as a user would type it, with what it says."""
        if shown:
            self.say(f"# {' '.join(words)}")
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False, stdin=subprocess.DEVNULL)
        if not quiet or done.returncode:
            self.say(done.stdout, end="")
        return done.returncode, done.stdout

    def linux(self, load: str) -> None:
        """The lateness of a thread of Linux's of highest priority."""
        name = NAMES[self.kind]
        self.say(f"{name}, {load}: {SECONDS} s, 1000 jobs a second, SCHED_FIFO 99 ...")
        status, text = self.command(
            MEASURE, "late", "--by=clock_nanosleep", "--as=fifo", f"--period-ns={PERIOD_NS}",
            f"--count={SECONDS * 1000}", f"--load={LOADS[load]}", "--dir=/tmp", shown=False,
            quiet=True)
        if status == 0:
            found = figure.parse(text)
            self.rows.append(Row(name, load, found.count, found.missed, found.max, found.bins))

    def tactus(self, load: str) -> None:
        """The lateness of an RT task, with the same load beside it."""
        self.say(f"Tactus, {load}: {SECONDS} s, 1000 jobs a second, an RT task ...")
        beside = None
        if load != "idle":
            beside = subprocess.Popen(
                [MEASURE, "late", "--by=clock_nanosleep", f"--period-ns={PERIOD_NS}",
                 f"--count={10**6}", f"--load={LOADS[load]}", "--dir=/tmp"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            status, text = self.command("tactus", "latency", "--json", "--seconds", str(SECONDS),
                                        shown=False, quiet=True)
            idle = beside is not None and beside.poll() is not None
        finally:
            if beside:
                beside.terminate()
                beside.wait()
        if idle:
            self.say("The load ended early: no figure.")
        elif status == 0:
            told = json.loads(text)
            self.rows.append(Row(
                "Tactus", load, told["releases"], told["skipped"] + told["overruns"],
                told["max_ns"], tuple((a, b, n) for a, b, n in told["histogram"])))

    def draw(self) -> None:
        self.say("\nHow late jobs began; the darker, the more jobs. At the right the latest, "
                 "then how\nmany missed their whole period.\n")
        self.say(graph(self.rows), end="")
        if virtual():
            self.say("This is a virtual machine: the figures say nothing about a PC.")

    def play(self) -> None:
        self.say("\n# modprobe rt_speaker; cat speech.au > /dev/rtf0    (the PC's own speaker)")
        if subprocess.run(["modprobe", "rt_speaker"], check=False).returncode:
            self.say("The speaker could not be had; dmesg says why.")
            return
        try:
            subprocess.run(["sh", "-c", f"cat {SOUND} > /dev/rtf0"], check=False, timeout=30)
            stats = Path("/sys/module/rt_speaker/stats")
            self.say(", ".join(f"{name} {(stats / name).read_text().strip()}"
                               for name in ("samples", "underruns", "missed")
                               if (stats / name).exists()) + ".\nHeard nothing? Few PCs still have "
                     "that speaker.")
        except subprocess.TimeoutExpired:
            self.say("It did not come to an end within 30 s.")
        finally:
            subprocess.run(["rmmod", "rt_speaker"], check=False)

    def gather(self) -> None:
        """The machine, as `tactus report` tells it."""
        done = subprocess.run(["tactus", "report", "--json"], capture_output=True, text=True,
                              check=False)
        self.report = json.loads(done.stdout) if done.returncode == 0 else {}

    def on_stick(self, act: Callable[[Path], None]) -> bool:
        """Carry something out on the stick's partition; False, with the reason told, if not."""
        device = stick.find(self.number, wait_s=STICK_WAIT_S)
        if not device:
            self.say("The stick's report partition is not to be found (a CD has none that can be "
                     "written): no report.")
            return False
        try:
            with stick.mounted(device) as folder:
                act(folder)
        except OSError as problem:
            self.say(f"The report could not be written: {problem}")
            return False
        return True

    def earlier(self) -> None:
        """What the stock kernel's run on this machine found goes above our rows."""
        def act(folder: Path) -> None:
            last = stick.last_of(folder, stick.machine_of(self.report))
            told = last[1].get("first_look") if last else None
            if isinstance(told, list):
                with contextlib.suppress(KeyError, TypeError, ValueError):
                    rows = [Row.from_dict(row) for row in told]
                    self.rows[:0] = [row for row in rows if row.system != NAMES["rt"]]
        self.on_stick(act)

    def write(self) -> None:
        names: list[str] = []

        def act(folder: Path) -> None:
            last = stick.last_of(folder, stick.machine_of(self.report))
            if self.kind == "rt" and last:
                path = last[0]
                whole = last[1] | {"kernel_rt": self.report.get("kernel")}
            else:
                path = stick.next_name(folder)
                whole = dict(self.report)
            whole["first_look"] = [row.as_dict() for row in self.rows]
            stick.put(path, (json.dumps(whole, indent=1) + "\n").encode())
            stick.put(path.with_suffix(".txt"), self.screen.text.encode())
            names.extend((path.name, path.with_suffix(".txt").name))
        if self.on_stick(act):
            self.say(f"Written to the stick's partition TACTUS:\n{' and '.join(names)}.")
            self.say("They hold the hardware and these figures; no names, no serial numbers. "
                     "Read\nthem, then send them in if you like. Nothing was written to a disk "
                     "of this PC.")

    def next_is_rt(self) -> None:
        self.on_stick(lambda folder: stick.put(folder / "grubenv", stick.environment(next="rt")))

    def stock(self) -> None:
        self.say("Tactus: a first look at this PC. Everything runs in memory; no disk of this PC "
                 "is written.\n")
        self.command("tactus", "doctor", "--quiet")
        self.say()
        self.linux("idle")
        self.draw()
        begun = Path("/proc/uptime").read_text().split()[0]
        self.say(f"First figure: {begun} s after Linux began.\n")
        self.linux("load")
        self.say()
        status, _ = self.command("tactus", "load", "--trial", str(TRIAL_S))
        if status:
            self.say("Tactus does not take over this machine; the line above says why. Nothing "
                     "has changed.")
        else:
            self.say("The self-test has passed: every CPU gets its interrupts.")
            for load in LOADS:
                self.tactus(load)
        self.draw()
        self.gather()
        if status == 0:
            self.play()
            self.command("tactus", "unload", quiet=True)
        self.say()
        self.write()

    def rt(self) -> None:
        self.say("Tactus: PREEMPT_RT on this PC, for comparison. Nothing of Tactus is loaded.\n")
        for load in LOADS:
            self.linux(load)
        self.gather()
        self.earlier()
        self.draw()
        self.say()
        self.write()

    def menu(self) -> None:
        """What comes next, until the machine ends."""
        while True:
            more = "r PREEMPT_RT (restarts)   " if self.kind == "stock" else "b restart   "
            self.say(f"\n{more}s shell   o power off", end="\n> ")
            key = self.screen.key()
            self.say(key)
            if key in ("r", "b"):
                if key == "r":
                    self.next_is_rt()
                subprocess.run(["reboot", "-f"], check=False)
            elif key == "o":
                subprocess.run(["poweroff", "-f"], check=False)
            elif key == "s":
                print("`exit` comes back here; `tactus --help`", flush=True)
                subprocess.run(["sh", "-i"], check=False, cwd="/root")


def virtual() -> bool:
    return re.search(r"^flags\s*:.*\bhypervisor\b", Path("/proc/cpuinfo").read_text(),
                     re.M) is not None


def main() -> int:
    wanted = re.search(r"\btactus\.look=(\w+)", Path("/proc/cmdline").read_text())
    kind = wanted[1] if wanted else "stock"
    look = Look(kind)
    # The machine's look comes once, however often the shell is left.
    done = Path("/run/first-look")
    if not done.exists():
        done.touch()
        {"stock": look.stock, "rt": look.rt}.get(kind, lambda: None)()
    look.menu()
    return 0


if __name__ == "__main__":
    sys.exit(main())
