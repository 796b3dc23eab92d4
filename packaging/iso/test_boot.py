# SPDX-License-Identifier: GPL-2.0-only
"""The whole stick, booted by a BIOS, by UEFI and as a CD: `make test-iso`.

The emulator counts instructions, so what is measured does not depend on the host.
"""
from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from harness import TOP
from iso import build

pytestmark = pytest.mark.long
IMAGE = TOP / "out/tactus.iso"
MENU_S = 5
UEFI = Path("/usr/share/OVMF/OVMF_CODE_4M.fd"), Path("/usr/share/OVMF/OVMF_VARS_4M.fd")
STICK = ["-device", "qemu-xhci", "-device", "usb-storage,drive=image,bootindex=0"]
CD = ["-device", "ide-cd,bus=ide.1,drive=image,bootindex=0"]


class Pc:
    """A PC with the image in it and a disk of its own; the serial line shows the screen."""

    def __init__(self, folder: Path, firmware: str = "bios", drive: list[str] = STICK) -> None:
        self.image, self.disk, self._socket = (folder / name for name in ("image", "disk", "line"))
        shutil.copyfile(IMAGE, self.image)
        self.disk.write_bytes(os.urandom(1 << 24))
        self._before = hashlib.sha256(self.disk.read_bytes()).digest()
        self._devices = list(drive)
        self._drive = f"if=none,id=image,format=raw,file={self.image}"
        if drive is CD:
            self._drive += ",media=cdrom,readonly=on"
        if firmware == "uefi":
            variables = folder / "variables.fd"
            shutil.copyfile(UEFI[1], variables)
            self._devices += ["-drive", f"if=pflash,format=raw,unit=0,readonly=on,file={UEFI[0]}",
                              "-drive", f"if=pflash,format=raw,unit=1,file={variables}"]

    def boot(self, key: str) -> str:
        """The screen's text up to the question at the end, which @key answers."""
        self._socket.unlink(missing_ok=True)
        qemu = subprocess.Popen(
            ["qemu-system-x86_64", "-m", "1G", "-cpu", "max", "-machine", "q35",
             "-accel", "tcg", "-icount", "shift=0,sleep=off", "-rtc", "clock=vm", "-nodefaults",
             "-vga", "std", "-display", "none", "-no-reboot",
             "-drive", self._drive, *self._devices,
             "-drive", f"if=none,id=disk,format=raw,file={self.disk}",
             "-device", "ide-hd,bus=ide.0,drive=disk",
             "-chardev", f"socket,id=line,path={self._socket},server=on,wait=on",
             "-serial", "chardev:line"], stdin=subprocess.DEVNULL)
        text = b""
        try:
            with self._connected() as line:
                end = time.monotonic() + 1200
                while not text.rstrip().endswith(b"power off\r\n>"):
                    more = line.recv(4096)
                    assert more and time.monotonic() < end, text
                    text += more
                line.sendall(key.encode())
                qemu.wait(300)
        finally:
            qemu.kill()
            qemu.wait()
        # GRUB draws its menu's frame in the characters of a PC's text mode.
        return text.decode(errors="replace").replace("\r\n", "\n")

    def _connected(self) -> socket.socket:
        line = socket.socket(socket.AF_UNIX)
        line.settimeout(900)
        for _ in range(100):
            try:
                line.connect(str(self._socket))
                return line
            except OSError:
                time.sleep(0.1)
        raise AssertionError("QEMU did not start")

    def disk_is_untouched(self) -> bool:
        return hashlib.sha256(self.disk.read_bytes()).digest() == self._before

    def file(self, name: str) -> str:
        """A file of the stick's report partition."""
        table = subprocess.run(["xorriso", "-indev", self.image, "-report_system_area", "plain"],
                               capture_output=True, text=True, check=True).stdout
        number = re.search(r"^GPT partname local :\s+(\d+)\s+Appended3$", table, re.M)
        assert number, table
        start = re.search(rf"^GPT start and size :\s+{number[1]}\s+(\d+)", table, re.M)
        assert start, table
        return subprocess.run(["mtype", "-i", f"{self.image}@@{int(start[1]) * 512}", f"::{name}"],
                              capture_output=True, text=True, check=True).stdout


def worst_ns(text: str) -> dict[str, float]:
    """What the last graph of the screen has at its right, by label."""
    units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    return {label.strip(): float(number) * units[unit] for label, number, unit in
            re.findall(r"^(\S+, \w+) .*\|\s*([\d.]+) (ns|us|ms|s)\b", text, re.M)}


@pytest.fixture(scope="module", autouse=True)
def image() -> None:
    if not IMAGE.is_file():
        pytest.skip(f"there is no {IMAGE.name}: `make test-iso` makes it first")
    assert IMAGE.stat().st_size <= build.MOST_BYTES


@pytest.mark.parametrize("firmware", ["bios", "uefi"])
def test_a_look_and_the_comparison(firmware: str, tmp_path: Path) -> None:
    """One key of the first run leads to the second, whose report has the rows of both."""
    pc = Pc(tmp_path, firmware)
    text = pc.boot("r")
    first = re.search(r"First figure: ([\d.]+) s after", text)
    assert first and float(first[1]) + MENU_S <= 60, text
    assert "The self-test has passed" in text and "underruns 0, missed 0" in text, text
    worst = worst_ns(text)
    assert set(worst) == {"Linux, idle", "Linux, load", "Tactus, idle", "Tactus, load"}, text
    assert worst["Tactus, idle"] < 2000 and worst["Tactus, load"] < 2000, text

    again = pc.boot("o")
    worst = worst_ns(again)
    assert {"PREEMPT_RT, idle", "PREEMPT_RT, load", "Tactus, load"} <= set(worst), again
    assert worst["Tactus, load"] < worst["PREEMPT_RT, load"], again
    report = json.loads(pc.file("tactus-report-1.json"))
    assert {row["system"] for row in report["first_look"]} == {"Linux", "Tactus", "PREEMPT_RT"}
    assert "rt" in report["kernel_rt"] and report["kernel"] != report["kernel_rt"]
    assert "Tactus, load" in pc.file("tactus-report-1.txt")
    assert "send them in" in pc.file("README.TXT")
    assert pc.disk_is_untouched()
    print(text, again)


def test_a_cd_has_no_report(tmp_path: Path) -> None:
    """The image has no driver for CDs, so it says that there is no report, and writes nothing."""
    pc = Pc(tmp_path, drive=CD)
    before = pc.image.read_bytes()
    text = pc.boot("o")
    assert len(worst_ns(text)) == 4 and "no report" in text, text
    assert pc.disk_is_untouched() and pc.image.read_bytes() == before
