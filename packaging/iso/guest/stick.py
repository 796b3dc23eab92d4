# SPDX-License-Identifier: GPL-2.0-only
"""The small FAT partition of the stick: found by its number, mounted only to be written."""
from __future__ import annotations

import contextlib
import json
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

MOUNTED = Path("/report")
ENVIRONMENT_BYTES = 1024


def volume_number(sector: bytes) -> str | None:
    """The serial number of a FAT12 or FAT16 volume, as its first sector has it."""
    if len(sector) < 512 or sector[510:512] != b"\x55\xaa" or sector[38] != 0x29 \
            or not sector[54:59] == b"FAT16":
        return None
    (number,) = struct.unpack_from("<I", sector, 39)
    return f"{number:08X}"


def find(number: str, devices: Path = Path("/sys/class/block"), dev: Path = Path("/dev"),
         wait_s: float = 0) -> Path | None:
    """The block device that holds the volume; every other is read from, and no more."""
    end = time.monotonic() + wait_s
    while True:
        for entry in sorted(devices.iterdir()) if devices.is_dir() else []:
            device = dev / entry.name
            with contextlib.suppress(OSError), open(device, "rb") as file:
                if volume_number(file.read(512)) == number:
                    return device
        if time.monotonic() >= end:
            return None
        time.sleep(0.5)


def environment(**values: str) -> bytes:
    """What GRUB's load_env reads."""
    text = "# GRUB Environment Block\n" + "".join(f"{k}={v}\n" for k, v in values.items())
    return text.encode().ljust(ENVIRONMENT_BYTES, b"#")


@contextlib.contextmanager
def mounted(device: Path) -> Iterator[Path]:
    """The partition, writable while the block lasts. Raises OSError."""
    MOUNTED.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "vfat", "-o", "sync,noatime,nodev,noexec", str(device),
                           str(MOUNTED)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(done.stderr.strip())
    try:
        yield MOUNTED
    finally:
        subprocess.run(["umount", str(MOUNTED)], check=True)


def reports(folder: Path) -> list[Path]:
    """The reports there are, oldest first."""
    found = [path for path in folder.glob("tactus-report-*.json")
             if path.stem.rpartition("-")[2].isdecimal()]
    return sorted(found, key=lambda path: int(path.stem.rpartition("-")[2]))


def machine_of(report: dict[str, object]) -> tuple[str, str]:
    """What tells the machine of one report from that of another."""
    cpu = report.get("cpu")
    model = str(cpu.get("model name")) if isinstance(cpu, dict) else ""
    return json.dumps(report.get("board"), sort_keys=True), model


def last_of(folder: Path, machine: tuple[str, str]) -> tuple[Path, dict[str, object]] | None:
    """The newest report of this machine; one that cannot be read does not count."""
    for path in reversed(reports(folder)):
        with contextlib.suppress(OSError, ValueError):
            report = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(report, dict) and machine_of(report) == machine:
                return path, report
    return None


def next_name(folder: Path) -> Path:
    have = reports(folder)
    number = int(have[-1].stem.rpartition("-")[2]) + 1 if have else 1
    return folder / f"tactus-report-{number}.json"


def put(path: Path, data: bytes) -> None:
    """Replace a file as a whole."""
    fresh = path.with_suffix(".new")
    fresh.write_bytes(data)
    fresh.replace(path)
