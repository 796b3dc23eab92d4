# SPDX-License-Identifier: GPL-2.0-only
"""What the stick's builder and its graphs compute, without a boot."""
from __future__ import annotations

from pathlib import Path

import pytest
import stick
import strips

from harness.bench.common import BenchError
from iso import build

ROW = strips.Row("Linux", "idle", 3, 1, 3_620_000,
                 ((900, 1000, 2), (3_000_000, None, 1)))


def sector(number: int) -> bytes:
    data = bytearray(512)
    data[38] = 0x29
    data[39:43] = number.to_bytes(4, "little")
    data[54:62] = b"FAT16   "
    data[510:] = b"\x55\xaa"
    return bytes(data)


def test_a_driver_of_disks_is_refused() -> None:
    build.check_modules(list(build.STOCK_MODULES))
    with pytest.raises(BenchError, match="ahci"):
        build.check_modules(["xhci_pci", "ahci"])


def test_grub_gets_all_its_words() -> None:
    text = build.grub_config((build.HERE / "grub.cfg").read_text(), "6.1-a", "6.1-rt", "12345678")
    assert "1234-5678" in text and "6.1-rt" in text and "@" not in text
    with pytest.raises(BenchError, match="NOTHING"):
        build.grub_config("@NOTHING@", "", "", "12345678")


def test_only_the_volume_with_the_number_is_taken(tmp_path: Path) -> None:
    devices, dev = tmp_path / "class", tmp_path / "dev"
    for name, number in (("sda", 1), ("sdb", 0x12345678)):
        (devices / name).mkdir(parents=True)
        dev.mkdir(exist_ok=True)
        (dev / name).write_bytes(sector(number))
    assert stick.find("12345678", devices, dev) == dev / "sdb"
    assert stick.find("00000002", devices, dev) is None
    assert stick.volume_number(b"\0" * 512) is None


def test_a_row_survives_its_report() -> None:
    assert strips.Row.from_dict(ROW.as_dict()) == ROW


def test_each_class_is_drawn_where_it_belongs() -> None:
    line = strips.strip(ROW)
    assert len(line) == strips.WIDTH
    assert [n for n, mark in enumerate(line) if mark != " "] == [
        strips.place(950), strips.place(3_310_000)]
    assert strips.place(1) == 0 and strips.place(10**12) == strips.WIDTH - 1
    assert all(len(text) < 80 for text in strips.graph([ROW]).splitlines())


def test_grubs_note_has_the_size_that_grub_wants() -> None:
    assert len(stick.environment(next="rt")) == 1024
    assert b"\nnext=rt\n" in stick.environment(next="rt")
