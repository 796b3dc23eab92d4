# SPDX-License-Identifier: GPL-2.0-only
"""`tactus tap --check`, tactus-tapfile, and the engine against a slow reference of its own."""
from __future__ import annotations

import functools
import json
import random
import subprocess
from pathlib import Path

import pytest

from tactus import hostprogram
from tactus.cli import main
from tactus.errors import ToolError
from tactus.tap import tapfile
from tactus.tap.records import (
    COMMAND,
    FLAG_OUT,
    MAGIC,
    NO_SOURCE,
    RECORD,
    Figure,
    Kind,
    Reason,
    Record,
    unpack,
)
from tap_oracle import MS, Event, Oracle

TOP = Path(__file__).resolve().parents[3]
MANUAL = """
# The example of FTAP's manual; comments and blank lines do not count.
TITLE   A trial, "quoted" \\ and é
FEED_ON 1
FEED_PMODE 1
FEED_DMODE 1
FEED_DVAL 275
METRON_ON 1
MSPB 250
MET_PATTERN_ARRAY 8 1 1 1 1 0 1 1 0
TRIGGER 1 M 32 FEED_ON 1
TRIGGER 2 M 32 METRON_ON 0
TRIGGER 3 M 92 END_EXP 0
"""


def program() -> str:
    return hostprogram.find("tactus-tapfile", "TACTUS_TAPFILE", "examples/tap/host/main.c",
                            "tapfile")


def complaints(tmp_path: Path, text: str | bytes) -> str:
    """What is said of a file, without the count at the end."""
    path = tmp_path / "a.ftap"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ToolError) as caught:
        tapfile.read(path)
    return str(caught.value).replace(f"{path}:", "").rsplit("\n", 1)[0]


described = functools.cache(tapfile.describe)


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    path = tmp_path / "manual.ftap"
    path.write_text(MANUAL)
    return path


def test_the_manuals_example(manual: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = tapfile.read(manual)
    assert found.values["MSPB"] == 250 * MS and found.values["FEED_NOTE"] == 60
    assert found.arrays["MET_PATTERN_ARRAY"] == [1, 1, 1, 1, 0, 1, 1, 0]
    assert found.strings["TITLE"] == 'A trial, "quoted" \\ and é'
    assert found.triggers[2] == tapfile.Trigger(3, "M", 92, "END_EXP", 0)
    assert len(found.set) == 8 and found.warnings == ""
    assert main(["tap", "--check", str(manual)]) == 0
    assert capsys.readouterr().out == f"{manual}: right: 8 parameters, 3 triggers\n"
    assert main(["tap", "--check", "--json", str(manual), "none"]) == 1
    right, wrong = json.loads(capsys.readouterr().out)
    assert right == {"file": str(manual), "right": True, "parameters": 8, "triggers": 3, "said": ""}
    assert (wrong["file"], wrong["right"]) == ("none", False)
    assert wrong["said"] == "none cannot be read: No such file or directory"


def test_commands(manual: Path) -> None:
    rows = list(COMMAND.iter_unpack(tapfile.read(manual).commands))
    ids = {str(row["name"]): row["id"] for row in described()["parameters"]}  # type: ignore
    assert {row[0] for row in rows} == {MAGIC}
    assert [row[1] for row in rows] == list(range(1, len(rows) + 1))
    assert [row[2] for row in rows] == [1] + [2] * (6 + 9) + [3] * 3
    said = {(row[4], row[5]): row[7] for row in rows if row[2] == 2}
    assert said[ids["MSPB"], 0] == 250 * MS
    assert [said[ids["MET_PATTERN_ARRAY"], i] for i in range(9)] == [8, 1, 1, 1, 1, 0, 1, 1, 0]
    #                         kind  parameter         number  value count
    assert rows[-3][3:] == (3, ids["FEED_ON"], 1, 0, 1, 32)
    assert rows[-1][3:] == (3, ids["END_EXP"], 3, 0, 0, 92)


def test_numbers_are_those_of_python() -> None:
    said = described()
    assert said["record_bytes"] == RECORD.size and said["command_bytes"] == COMMAND.size
    assert said["magic"] == MAGIC
    assert {int(n) for n in said["classes"]} == {int(kind) for kind in Kind}  # type: ignore
    assert {int(n) for n in said["reasons"]} == {int(reason) for reason in Reason}  # type: ignore
    assert list(said["figures"]) == [figure.name.lower() for figure in Figure]  # type: ignore


@pytest.mark.parametrize("text, said", [
    ("MSBP 250", '1:1: error: there is no parameter "MSBP"; is it MSPB?\n    MSBP 250\n    ^'),
    ("feed_on 1", '1:1: error: there is no parameter "feed_on"; is it FEED_ON?'),
    ("TRIGER 1 K 1 END_EXP 0", 'is it TRIGGER?'),
    ("QWERTZUIOP 1", '1:1: error: there is no parameter "QWERTZUIOP"\n'),
    ("\n\tFEED_ON 2", "2:10: error: FEED_ON is 2; it may be 0, 1 or 3\n    \tFEED_ON 2\n"
                      "    \t        ^"),
    ("MET_QQQQ_ARRAY 0", 'there is no parameter "MET_QQQQ_ARRAY"\n'),
    ("SEED 1\x7f", "1:7: error: there is a control character, 0x7f"),
    ("FEED_ON", "1:8: error: FEED_ON is missing\n    FEED_ON\n           ^"),
    ("FEED_ON 1 0", '1:11: error: "0" is too much: it takes one value'),
    ("FEED_ON 1.0", '1:10: error: FEED_ON is "1.0", which is not a number without a point'),
    ("FEED_ON 1x", '1:10: error: FEED_ON is "1x", which is not a number'),
    ("FEED_ON -", '1:9: error: FEED_ON is "-", which is not a number'),
    ("FEED_NOTE 128", "1:11: error: FEED_NOTE is 128; it may be 0 to 127"),
    ("MSPB 0.999999", "1:6: error: MSPB is 0.999999; it may be 1 to 3600000 ms"),
    ("MSPB 1.0000001", "1:14: error: MSPB has more than 6 places after the point"),
    ("MSPB 99999999999999999999", 'which is too large'),
    ("MSPB 250\nMSPB 250", "2:1: error: MSPB was set before, at line 1"),
    ("MET_CHAN_ARRAY 3 1 2", "1:21: error: value 3 of MET_CHAN_ARRAY is missing"),
    ("MET_CHAN_ARRAY 1 1 2", '1:20: error: "2" is too much: 1 values were announced'),
    ("MET_CHAN_ARRAY 2 1 17", "1:20: error: MET_CHAN_ARRAY is 17; it may be 1 to 16"),
    ("MET_CHAN_ARRAY 129", "1:16: error: the number of values of MET_CHAN_ARRAY is 129; it may"),
    ("TASK a_b", "1:7: error: TASK may have letters and digits only"),
    ("TITLE " + 201 * "x", "1:7: error: TITLE is longer than 200 bytes"),
    ("END_EXP 0", "1:1: error: END_EXP is for triggers only"),
    ("TRIGGER", "1:8: error: the trigger's number is missing"),
    ("TRIGGER 65536 K 1 END_EXP 0", "1:9: error: the trigger's number is 65536; it may be 0 to"),
    ("TRIGGER 1 k 1 END_EXP 0", '1:11: error: the trigger\'s type is "k"; it may be K '),
    ("TRIGGER 1 K 0 END_EXP 0", "1:13: error: the trigger's count is 0; it may be 1 to 1000000000"),
    ("TRIGGER 1 T -1 END_EXP 0", "1:13: error: the trigger's count is -1; it may be 0 to"),
    ("TRIGGER 1 T 1 END_EXP", "1:22: error: END_EXP is missing"),
    ("TRIGGER 1 T 1 TITLE x", "1:15: error: a trigger cannot set TITLE, which is no single"),
    ("TRIGGER 1 T 1 FEED_ON 2", "1:23: error: FEED_ON is 2; it may be 0, 1 or 3"),
    ("TRIGGER 1 T 1 FEED_ON 1 1", '1:25: error: "1" is too much: a trigger is: '),
    ("TRIGGER 1 T 1 END_EXP 0\nTRIGGER 1 K 1 END_EXP 0",
     "2:9: error: there is a trigger 1 already, at line 1"),
    ("".join(f"TRIGGER {n} T 1 SEED 1\n" for n in range(129)),
     "129:9: error: there are more than 128 triggers"),
    ("SEED 1\nFEED_DMIN 501\n", "2:1: error: FEED_DMIN is above FEED_DMAX\n    FEED_DMIN 501\n"),
    ("\nTRIGGER 1 T 1 FEED_PMODE 4",
     "2:1: error: FEED_PMODE 4 needs FEED_NOTE_ARRAY, which is not"),
    (b"TITLE \xc3\xa9 \x07", "1:9: error: there is a control character, 0x07\n    TITLE é ?\n"
                             "            ^"),
    (b"SEED 1\0", "1:7: error: there is a control character, 0x00"),
], ids=lambda value: "")
def test_complaints(tmp_path: Path, text: str | bytes, said: str) -> None:
    assert said in complaints(tmp_path, text)


def test_too_much(tmp_path: Path) -> None:
    assert "1:1: error: the file has more than 1048576 bytes" in complaints(
        tmp_path, b"#" * ((1 << 20) + 1))
    (tmp_path / "b.ftap").write_bytes(b"#" * (1 << 20))
    tapfile.read(tmp_path / "b.ftap")


def test_all_complaints_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.ftap"
    path.write_text("SED 1\nFEED_ON 7\nMSPB 1\n" + 30 * "X\n")
    assert main(["tap", "--check", str(path)]) == 1
    said = capsys.readouterr().err
    assert said.count(": error: ") == 20 and f"{path}: 32 errors" in said
    assert "more errors are not shown" in said


def test_what_is_harmless(tmp_path: Path) -> None:
    path = tmp_path / "-a.ftap"  # a name like an option's, ends of lines of another system
    path.write_bytes(b"  SEED\t 7  # why not\r\n#\r\n \r\nMET_SHIFT -1.5\r\nPACE_LEN +.25\r\n"
                     b"TITLE two words # here\r\nTRIGGER 9 T 0 MSPB 333.333333")
    found = tapfile.read(path)
    assert found.values["SEED"] == 7 and found.values["MET_SHIFT"] == -1_500_000
    assert found.values["PACE_LEN"] == 250_000 and found.strings["TITLE"] == "two words"
    assert found.triggers[0].value == 333_333_333
    assert "no trigger of END_EXP ends the trial" in found.warnings


def test_every_name_of_the_manual_is_there() -> None:
    names = {row["name"] for row in described()["parameters"]}  # type: ignore
    assert names >= set(
        "FEED_ON FEED_CHAN FEED_NOTE FEED_VMODE FEED_VEL FEED_LEN FEED_PMODE FEED_DMODE FEED_DVAL "
        "FEED2_ON METRON_ON MSPB MET_CHAN MET_NOTE MET_VEL MET_LEN MET_PATTERN_ARRAY "
        "MET_CHAN_ARRAY END_EXP SEED".split())


def dry_run(path: Path, keys: list[tuple[int, int, int, int]], until: int, *more: str
            ) -> list[Record]:
    """The records of a dry run."""
    lines = "".join(f"{t} {s:02x} {n:02x} {v:02x}\n" for t, s, n, v in keys)
    done = subprocess.run([program(), "--run", "--records", f"--until={until}", *more, str(path)],
                          input=lines.encode(), capture_output=True, check=True)
    return list(unpack(done.stdout))


def random_trial(rng: random.Random) -> tuple[str, list[tuple[int, int, int, int]]]:
    """A file of whatever there is, and keys for it."""
    modes = {"FEED_ON": "013"} | dict.fromkeys(["FEED2_ON", "METRON_ON", "PACE_ON", "MASK_ON"],
                                               "01")
    for f in ("FEED", "FEED2"):
        modes |= {f"{f}_PMODE": "01234", f"{f}_VMODE": "0123", f"{f}_LMODE": "012",
                  f"{f}_DMODE": "0123"}
    skip = ("END_EXP", "THRU", "_SHIFT")
    table = {r["name"]: r for r in described()["parameters"]}  # type: ignore
    plain = [n for n, r in table.items() if r["type"] in ("integer", "time")
             and not any(word in n for word in skip)]

    def value(name: str) -> str:
        row = table[name]
        if name in modes:
            return rng.choice(modes[name])
        if name.endswith("_COUNT"):
            return str(rng.choice([0, rng.randint(1, 20)]))
        if row["type"] == "time":
            low = -50 if row["least"] < 0 else 20 if "MSP" in name else 0
            return f"{rng.randint(low, 300)}.{rng.randint(0, 999999):06}"
        return str(rng.randint(row["least"], row["most"]))

    lines = [f"{n} {value(n)}" for n in plain
             if not n.endswith(("MIN", "MAX")) and (n in modes or rng.random() < .5)]
    for name, row in table.items():
        if row["type"] == "array" and (name.endswith("NOTE_ARRAY") or rng.random() < .5):
            count = rng.randint(1, 6)
            lines.append(" ".join([name, str(count)] + [
                str(rng.randint(row["least"], row["most"])) for _ in range(count)]))
    for n in range(rng.randint(0, 12)):
        name = rng.choice([*modes, *plain, "MET_SHIFT", "PACE_SHIFT"])
        kind, most = rng.choice([("K", 40), ("T", 5000), ("M", 20)])
        lines.append(f"TRIGGER {n} {kind} {rng.randint(1, most)} {name} {value(name)}")
    if rng.random() < .5:
        lines.append(f"TRIGGER 99 {rng.choice(['K 30', 'T 3000', 'M 10'])} END_EXP 0")
    rng.shuffle(lines)
    when, keys = 0, []
    for _ in range(100):
        when += rng.randint(1, 100 * MS)
        keys.append((when, rng.choice([0x80, 0x90, 0x95]), rng.randint(55, 65),
                     rng.randint(0, 127)))
    return "\n".join(lines) + "\n", keys


def compare(path: Path, keys: list[tuple[int, int, int, int]], *more: str) -> int:
    """Nothing if the engine and the oracle agree; how many events they agreed on."""
    until = 6000 * MS
    found = tapfile.read(path)
    oracle = Oracle(dict(found.values), found.arrays, [vars(t) for t in found.triggers])
    oracle.run(keys, until)
    records = dry_run(path, keys, until, *more)
    classes = described()["classes"]
    got: list[Event] = [(r.scheduled_ns, classes[str(r.kind)], r.message)  # type: ignore
                        for r in records if Kind.FEEDBACK <= r.kind < Kind.SILENCE]
    assert sorted(got) == sorted(oracle.events)
    assert [(r.scheduled_ns, r.index) for r in records if r.kind == Kind.TRIGGERED] == oracle.fired
    figures = {r.param: r.value for r in records if r.kind == Kind.FIGURE}
    assert figures[Figure.NOTES_REFUSED] == 0 and figures[Figure.RECORDS_LOST] == 0
    on: dict[tuple[int, int], bool] = {}
    for r in records:
        assert r.source == NO_SOURCE or r.source <= r.sequence
        if r.flags & FLAG_OUT:
            on[r.msg[0] & 15, r.msg[1]] = r.pressed
    assert not any(on.values())
    return len(got)


@pytest.mark.parametrize("block", range(3))
def test_the_engine_against_the_oracle(tmp_path: Path, block: int) -> None:
    """Sixty trials each: which bytes go out, when, as what; and nothing is left sounding."""
    path, agreed = tmp_path / "random.ftap", 0
    for seed in range(60 * block, 60 * block + 60):
        text, keys = random_trial(random.Random(seed))
        path.write_text(text)
        agreed += compare(path, keys)
    assert agreed > 3000


def test_a_difference_would_be_seen(manual: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [(8000 * MS, 0x90, 60, 1)]
    compare(manual, keys)
    monkeypatch.setattr(Oracle, "element", lambda self, stream, array, usual: usual)
    with pytest.raises(AssertionError):
        compare(manual, keys)


def test_a_dry_run_refuses_bad_input(manual: Path) -> None:
    for line in ("x", "5 90 zz", "5 100", "-1 90"):
        done = subprocess.run([program(), "--run", str(manual)], input=line + "\n", text=True,
                              capture_output=True, check=False)
        assert done.returncode == 1 and "input line 1 is no" in done.stderr


def test_the_program_explains_itself(tmp_path: Path) -> None:
    done = subprocess.run([program(), "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: tactus-tapfile")
    for wrong in (["--nonsense"], [], ["a", "b"], ["--describe", "x"], ["--json", "--run", "x"],
                  ["--run", "--until=x", "y"]):
        assert subprocess.run([program(), *wrong], capture_output=True, check=False).returncode == 2
    missing = subprocess.run([program(), str(tmp_path / "none")], capture_output=True, text=True,
                             check=False)
    assert missing.returncode == 1 and "cannot be read: No such file" in missing.stderr
    assert json.loads(subprocess.run([program(), "--describe"], capture_output=True, check=True
                                     ).stdout)["figures"][0] == "duration_ns"
