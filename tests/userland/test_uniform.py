# SPDX-License-Identifier: GPL-2.0-only
"""What every subcommand does alike: --json, usage, exit statuses, one sentence for an error."""
from __future__ import annotations

import argparse
import json
import os
import struct
from pathlib import Path

import pytest

from fakes import FakeMachine
from tactus import cli
from tactus.commands.completion import subparsers
from tactus.commands.record import Output
from tactus.recording import Fields

COMMANDS = sorted(cli.find_commands())

# A command that names a file which is not there.
NO_FILE = [["analyze", "{}"], ["check", "{}"], ["play", "{}"], ["scope", "--file", "{}"],
           ["tap", "{}"], ["tap-report", "{}"], ["trace", "show", "{}"]]


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_json(name: str) -> None:
    parser = subparsers(cli.build_parser(cli.find_commands()))[name]
    assert "--json" in {text for action in parser._actions for text in action.option_strings}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_wrong_option_prints_the_commands_own_usage(
        name: str, machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main([name, "--no-such-option"], machine)
    assert end.value.code == 2
    assert f"usage: tactus {name} " in capsys.readouterr().err


@pytest.mark.parametrize("words", NO_FILE, ids=lambda words: words[0])
def test_a_file_that_is_not_there(words: list[str], machine: FakeMachine, tmp_path: Path,
                                  capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "no-such-file")
    machine.path("/sys/module/rt_speaker").mkdir(parents=True)  # play comes to its file
    machine.write("/sys/module/rt_speaker/parameters/fifo", "3\n")
    assert cli.main([word.format(path) for word in words], machine) == 1
    said = capsys.readouterr().err
    assert said.startswith("tactus: ") and said.count("tactus") == 1 and said.count("\n") == 1
    assert "Errno" not in said and said.count(path) == 1


def one_object(machine: FakeMachine, words: list[str], capsys: pytest.CaptureFixture[str],
               status: int = 0) -> dict[str, object]:
    assert cli.main([*words, "--json"], machine) == status
    said: dict[str, object] = json.loads(capsys.readouterr().out)
    return said


def test_load_keep_unload_json(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    assert one_object(machine, ["unload"], capsys) == {"unloaded": [], "resident": []}
    machine.set_module("tactus_core")
    assert one_object(machine, ["load", "--trial", "9"], capsys) == {
        "loaded": ["tactus", "tactus_rm", "rtfifo"], "present": ["tactus_core"], "trial_s": 9}
    machine.write("/sys/kernel/tactus/keep", "")
    assert one_object(machine, ["keep"], capsys) == {"trial": "kept"}
    assert one_object(machine, ["unload"], capsys) == {
        "unloaded": ["rtfifo", "tactus_rm", "tactus"], "resident": ["tactus_core"]}


def test_completion_json(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    assert set(one_object(machine, ["completion"], capsys)) == set(COMMANDS)
    assert cli.main(["completion"], machine) == 2
    assert cli.main(["completion", "bash", "--json"], machine) == 2


def test_scope_json(machine: FakeMachine, tmp_path: Path,
                    capsys: pytest.CaptureFixture[str]) -> None:
    args = argparse.Namespace(into=tmp_path, format="records", fields=Fields.parse("k:u4,mv:2i2"),
                              rotate_bytes=0, keep=0)
    output = Output(args, "daq", 8)
    for k in range(3):
        output.write(struct.pack("<I2h", k, k, -k))
    output.close()
    words = ["scope", "--file", str(tmp_path / "daq.000000.rtf"), "--show", "mv"]
    assert one_object(machine, words, capsys) == {"columns": {"mv0": [0, 1, 2], "mv1": [0, -1, -2]}}


def test_a_recorder_names_what_it_waits_for(machine: FakeMachine, tmp_path: Path,
                                            capsys: pytest.CaptureFixture[str]) -> None:
    words = ["record", "no-such-fifo", "--into", str(tmp_path), "--seconds", "0.5", "--json"]
    assert cli.main(words, machine) == 0
    out, err = capsys.readouterr()
    assert err == ("tactus: waiting for /dev/rtf/no-such-fifo: rtfifo is not loaded "
                   "(tactus load)\n")
    assert json.loads(out) == {"fifos": [{"fifo": "no-such-fifo", "bytes": 0, "drops": 0,
                                          "lost_bytes": 0, "destroyed": 0}]}
    machine.set_module("rtfifo")
    cli.main(words[:-1], machine)
    assert capsys.readouterr().err.startswith(
        "tactus: waiting for /dev/rtf/no-such-fifo: no RT code has created it yet\n")


def test_scope_names_what_is_missing(machine: FakeMachine,
                                     capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["scope", "no-such-fifo", "--fields", "k:u4"], machine) == 1
    assert capsys.readouterr().err == ("tactus: /dev/rtf/no-such-fifo is not there: rtfifo is not "
                                       "loaded (tactus load)\n")


def test_a_program_of_a_pip_installation(machine: FakeMachine, tmp_path: Path,
                                         monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of a tree it looks beside the interpreter, below the prefixes, then on PATH."""
    from tactus import hostprogram
    from tactus.errors import ToolError

    package = tmp_path / "venv/lib/python3.11/site-packages/tactus/hostprogram.py"
    monkeypatch.setattr(hostprogram, "__file__", str(package))
    monkeypatch.setattr(hostprogram, "PREFIXES", (str(tmp_path / "usr"),))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("TACTUS_ANALYSIS", raising=False)
    wanted = ("tactus-analysis", "TACTUS_ANALYSIS", "tools/analyze/analysis.c", "analysis")
    with pytest.raises(ToolError, match="pip has none: install the Debian package tactus"):
        hostprogram.find(*wanted)
    for place in (tmp_path, tmp_path / "usr/libexec/tactus", tmp_path / "venv/libexec/tactus"):
        place.mkdir(parents=True, exist_ok=True)
        program = place / "tactus-analysis"
        program.write_text("#!/bin/sh\n")
        os.chmod(program, 0o755)
        assert hostprogram.find(*wanted) == str(program)
