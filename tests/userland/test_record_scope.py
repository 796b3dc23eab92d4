# SPDX-License-Identifier: GPL-2.0-only
"""What `tactus record` writes and `tactus scope` draws, apart from FIFOs: fields, files, curves."""
from __future__ import annotations

import argparse
import math
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from fakes import PACKAGE
from tactus import cli, curves
from tactus.commands.record import Output
from tactus.errors import ToolError
from tactus.recording import DATA, END, LOSS, Fields, open_recording

FIELDS = Fields.parse("k:u4,mv:2i2")


def record(k: int) -> bytes:
    return struct.pack("<I2h", k, k, -k)


def options(into: Path, **more: object) -> argparse.Namespace:
    return argparse.Namespace(**({"into": into, "format": "records", "fields": FIELDS,
                                  "rotate_bytes": 0, "keep": 0} | more))


def test_fields() -> None:
    assert FIELDS.record_bytes == 8
    assert FIELDS.columns == ["k", "mv0", "mv1"]
    assert FIELDS.text() == "k:u4,mv:2i2"
    assert list(FIELDS.rows(record(3) + record(4))) == [(3, 3, -3), (4, 4, -4)]


@pytest.mark.parametrize("text", ["", "k", "k:", "k:u3", "k:0u4", "k:xu4", "1k:u4", "k:u4,k:u4",
                                  "k:u4,", "k:5000u1"])
def test_bad_fields(text: str) -> None:
    with pytest.raises(ToolError):
        Fields.parse(text)


def test_recording_and_back(tmp_path: Path) -> None:
    """Records that come in odd parts are whole again; loss and ends stand where they were."""
    output = Output(options(tmp_path), "motor", 8)
    data = b"".join(record(k) for k in range(100))
    for start in range(0, 800, 13):
        output.write(data[start:start + 13])
    output.mark(LOSS, 0, 5)
    output.mark(END, 0, 1)
    output.close()
    recording = open_recording(tmp_path / "motor.000000.rtf")
    assert (recording.fifo, recording.record_bytes) == ("motor", 8)
    frames = list(recording.frames())
    assert [frame.kind for frame in frames[-2:]] == [LOSS, END]
    assert frames[-2].value == 5
    assert b"".join(frame.data for frame in frames) == data
    assert all(len(frame.data) % 8 == 0 for frame in frames if frame.kind == DATA)
    again = open_recording(tmp_path / "motor.000000.rtf")
    assert [row[0] for row in again.rows()] == list(range(100))


def test_a_recording_cut_short(tmp_path: Path) -> None:
    output = Output(options(tmp_path), "3", 8)
    output.write(record(1))
    output.write(record(2))
    output.close()
    path = tmp_path / "3.000000.rtf"
    path.write_bytes(path.read_bytes()[:-3])
    assert list(open_recording(path).rows()) == [(1, 1, -1)]
    path.write_bytes(b"something else\n")
    with pytest.raises(ToolError):
        open_recording(path)


def test_rotation(tmp_path: Path) -> None:
    """A new file after that many bytes, between records, with a header; the oldest go."""
    args = options(tmp_path, format="csv", rotate_bytes=30, keep=3)
    output = Output(args, "daq", 8)
    for k in range(40):
        output.write(record(k))
    output.close()
    files = sorted(tmp_path.iterdir())
    assert len(files) == 3
    numbers = []
    for path in files:
        lines = path.read_text().splitlines()
        assert lines[0] == "k,mv0,mv1"
        numbers += [int(line.split(",")[0]) for line in lines[1:]]
    assert numbers == list(range(numbers[0], 40))
    # A second recorder goes on behind, and overwrites nothing.
    again = Output(args, "daq", 8)
    again.write(record(99))
    again.close()
    assert sorted(tmp_path.iterdir())[-1].name > files[-1].name


def test_curves() -> None:
    rising = curves.plot([0, 1, 2, 3, 4, 5, 6, 7], 4, 2, 0, 7)
    flat = curves.plot([5] * 8, 4, 1, 5, 5)
    assert len(set(flat[0])) == 1 and flat[0][0] != "⠀"
    assert curves.plot([], 4, 1, 0, 0) == ["⠀" * 4]
    # The highest dot of a rising line is at the right, the lowest at the left.
    assert rising[0][0] == "⠀" != rising[0][-1] and rising[1][-1] == "⠀" != rising[1][0]
    text = curves.frame({"a": [1, 2, 3], "b": []}, 40, 12)
    assert "a  3  [1 … 3]" in text and "b  -" in text
    assert all(len(line) <= 40 for line in text.splitlines())


@pytest.fixture
def sines(tmp_path: Path) -> Path:
    output = Output(options(tmp_path), "daq", 8)
    for k in range(500):
        output.write(struct.pack("<I2h", k, int(1000 * math.sin(k / 20)), k % 100))
    output.close()
    return tmp_path / "daq.000000.rtf"


def test_scope_draws_a_recording(sines: Path, tmp_path: Path,
                                 capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "daq.png"
    assert cli.main(["scope", "--file", str(sines), "--show", "mv", "--png", str(picture)]) == 0
    said = capsys.readouterr().out
    assert "mv0" in said and "mv1" in said and "k  " not in said
    assert any(0x2800 < ord(character) < 0x2900 for character in said)
    assert picture.read_bytes().startswith(b"\x89PNG\r\n")
    assert picture.stat().st_size > 5000


@pytest.mark.parametrize("words", [
    ["scope"], ["scope", "0"], ["scope", "--file", "F", "--show", "volts"],
    ["record", "0", "--format", "csv"],
    ["record", "0", "--into", "/nowhere"], ["record", "0", "--keep", "-1"],
])
def test_refusals(words: list[str], sines: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([str(sines) if word == "F" else word for word in words]) == 2
    assert capsys.readouterr().err.startswith("tactus: ")


def test_live_curves_in_a_terminal(sines: Path) -> None:
    """With rich, on a console of its own."""
    rich = pytest.importorskip("rich.console")
    done = subprocess.run([sys.executable, "-c", """
import sys
from tactus.commands import scope
from tactus.recording import Fields
shown = scope.Scope(Fields.parse("k:u4"), "", 100)
shown.add(iter([(k,) for k in range(100)]))
scope.live(shown, iter([None, None]))
"""], capture_output=True, text=True, check=True,
                          env=os.environ | {"FORCE_COLOR": "1", "TERM": "xterm",
                                            "PYTHONPATH": str(PACKAGE)})
    assert rich and "k  99  [0 … 99]" in done.stdout
