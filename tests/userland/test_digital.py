# SPDX-License-Identifier: GPL-2.0-only
"""`tactus scope --digital`: channels, triggers, and VCD that others read."""
from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from tactus import cli, digital
from tactus.digital import Analyser, Sample, Trigger
from tactus.errors import ToolError
from tactus.recording import DATA, FRAME, Fields, header

NAMES = ["D0", "D1", "D2"]
COUNTING: list[Sample] = [(1000 + 100 * n, n % 8) for n in range(20)]


def read_vcd(text: str) -> tuple[list[str], list[Sample]]:
    """Channels, and the levels from each change on, times in ns."""
    marks = dict(re.findall(r"\$var wire 1 (\S) (\S+) \$end", text))
    assert "$timescale 1 ns $end" in text
    names, levels, samples = list(marks.values()), 0, []
    for line in text.split("$enddefinitions $end\n")[1].splitlines():
        if line.startswith("#"):
            samples.append((int(line[1:]), levels))
        elif not line.startswith("$"):
            bit = 1 << list(marks).index(line[1])
            levels = levels | bit if line[0] == "1" else levels & ~bit
            samples[-1] = (samples[-1][0], levels)
    return names, samples


def test_vcd_holds_each_change() -> None:
    names, samples = read_vcd(digital.vcd(COUNTING, NAMES))
    assert names == NAMES
    assert samples[:-1] == [(when - 1000, levels) for when, levels in COUNTING]


def test_sigrok_reads_the_vcd(tmp_path: Path) -> None:
    if not shutil.which("sigrok-cli"):
        pytest.skip("sigrok-cli is not installed")
    path = tmp_path / "a.vcd"
    path.write_text(digital.vcd(COUNTING, NAMES))
    done = subprocess.run(["sigrok-cli", "-i", path, "-I", "vcd", "-O", "bits:width=0"],
                          check=True, capture_output=True, text=True)
    bits = {line.split(":")[0]: re.sub(r"\s", "", line.split(":")[1])
            for line in done.stdout.splitlines() if re.match(r"D\d:", line)}
    assert set(bits) == set(NAMES)
    # One sample a ns, the levels of which are those at its moment.
    assert [int(bits["D2"][100 * n] + bits["D1"][100 * n] + bits["D0"][100 * n], 2)
            for n in range(19)] == [n % 8 for n in range(19)]


@pytest.mark.parametrize("text, first, kept", [
    ("D2:rise", 4, range(2, 9)), ("D2:fall", 8, range(6, 13)), ("D0:rise", 1, range(6))])
def test_the_trigger(text: str, first: int, kept: range) -> None:
    """Two samples before, the edge, and so many altogether after it."""
    analyser = Analyser(Trigger.parse(text, NAMES), 1, 5)
    for sample in COUNTING:  # one at a time, as from a FIFO
        analyser.add([sample])
    assert analyser.triggered_at == COUNTING[first][0]
    assert analyser.newest() == COUNTING[kept.start:kept.start + len(analyser.newest())]
    assert analyser.full and len(analyser.newest()) == len(kept)


def test_without_a_trigger_the_newest_are_kept() -> None:
    analyser = Analyser(None, 10, 4)
    analyser.add(COUNTING)
    assert analyser.newest() == COUNTING[-4:] and not analyser.full


def test_the_picture() -> None:
    lines = digital.frame([(0, 0), (40, 1), (80, 0), (100, 0)], ["A", "B"], 12).splitlines()
    assert lines[0] == "0.100 us, 4 changes"
    assert lines[1] == "A ▁▁▁╱▔▔▔╲▁▁" and lines[2] == "B " + "▁" * 10


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fields = Fields.parse("time_ns:u8,pins:u1")
    data = b"".join(struct.pack("<QB", *sample) for sample in COUNTING)
    path, out = tmp_path / "a.rec", tmp_path / "a.vcd"
    path.write_bytes(header("a", fields, 9, 0) + FRAME.pack(DATA, len(data), 0) + data)
    words = ["scope", "--file", str(path), "--digital", "pins"]
    assert cli.main([*words, "--trigger", "D2:rise", "--samples", "4", "--before", "0",
                     "--vcd", str(out)]) == 0
    assert "trigger after 0.100 us" in capsys.readouterr().out
    assert [levels for _, levels in read_vcd(out.read_text())[1]][:4] == [3, 4, 5, 6]
    assert cli.main([*words, "--names", "a,b", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"] == {
        "time_ns": [when for when, _ in COUNTING], "a": [n & 1 for _, n in COUNTING],
        "b": [n >> 1 & 1 for _, n in COUNTING]}
    for wrong, why in ((["--trigger", "D9:rise"], "is not CHANNEL"), (["--names", "a,a"], "names"),
                       (["--show", "pins"], "neither --png nor --show")):
        assert cli.main([*words, *wrong]) == 2
        assert why in capsys.readouterr().err
    assert cli.main([*words, "--names", "a,b,c", "--trigger", "c:fall", "--vcd", "/no/file"]) == 1
    assert cli.main(["scope", "--file", str(path), "--trigger", "D1:rise"]) == 2
    assert cli.main([*words, "--digital", "none"]) == 2


def test_a_trigger_that_never_comes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fields = Fields.parse("time_ns:u8,pins:u1")
    path = tmp_path / "a.rec"
    path.write_bytes(header("a", fields, 9, 0) + FRAME.pack(DATA, 9, 0) + struct.pack("<QB", 1, 1))
    words = ["scope", "--file", str(path), "--digital", "pins", "--trigger", "D0:rise"]
    assert cli.main([*words, "--vcd", str(tmp_path / "no.vcd")]) == 1
    assert "the trigger never came" in capsys.readouterr().err
    assert not (tmp_path / "no.vcd").exists()


def test_names_must_fit() -> None:
    with pytest.raises(ToolError):
        digital.channel_names(2, "a,b,c")
