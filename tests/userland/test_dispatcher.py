# SPDX-License-Identifier: GPL-2.0-only
"""The dispatcher: subcommands are found, documented, and fail with a sentence."""
from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tactus
from fakes import PACKAGE, FakeMachine
from tactus import cli, commands

TOP = Path(__file__).resolve().parents[2]

MANUAL = PACKAGE.parents[1] / "man/tactus.1"


def test_every_module_is_a_subcommand() -> None:
    files = {path.stem.replace("_", "-")
             for path in Path(commands.__path__[0]).glob("*.py")} - {"--init--"}
    assert set(cli.find_commands()) == files
    assert {"load", "unload", "status"} <= files


@pytest.mark.parametrize("name", sorted(cli.find_commands()))
def test_a_subcommand_helps(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main([name, "--help"])
    assert end.value.code == 0
    assert f"usage: tactus {name}" in capsys.readouterr().out


def options_of(parser_help: str) -> set[str]:
    return set(re.findall(r"--[a-z][a-z-]*", parser_help))


def test_the_manual_names_every_subcommand_and_option(
        capsys: pytest.CaptureFixture[str]) -> None:
    manual = MANUAL.read_text().replace("\\-", "-")
    for name in cli.find_commands():
        assert f"\n.Ss {name}\n" in manual, name
        section = re.split(r"\n\.S[sh] ", manual.split(f"\n.Ss {name}\n")[1])[0]
        synopsis = "".join(re.findall(rf"^\.Cm {name}\n(?:\..*\n)*?(?=\.Nm|\.Sh)", manual, re.M))
        with pytest.raises(SystemExit):
            cli.main([name, "--help"])
        usage = capsys.readouterr().out.partition("\n\n")[0]
        for option in options_of(usage) - {"--help"}:
            flag = rf"Fl -{option.removeprefix('--')}\b"
            assert re.search(rf"^\.It .*{flag}", section, re.M), f"{name} {option}"
            assert re.search(flag, synopsis), f"{name} {option}: synopsis"


def test_version(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"], machine) == 0
    assert capsys.readouterr().out == f"tactus {tactus.__version__} (modules: none loaded)\n"
    machine.write(cli.VERSION_FILE, "0.0.9\n")
    assert cli.main(["--version"], machine) == 0
    assert capsys.readouterr().out == f"tactus {tactus.__version__} (modules: 0.0.9)\n"


def test_modules_of_another_version_are_refused(machine: FakeMachine,
                                                capsys: pytest.CaptureFixture[str]) -> None:
    machine.write(cli.VERSION_FILE, "0.0.9\n")
    for words in (["status"], ["keep"], ["top", "--count", "1"], ["trace", "show"]):
        assert cli.main(words, machine) == 1
        assert "the loaded modules are 0.0.9" in capsys.readouterr().err
    assert cli.main(["unload"], machine) == 0
    machine.write(cli.VERSION_FILE, f"{tactus.__version__}\n")
    assert cli.main(["status"], machine) == 3


def test_one_version() -> None:
    """The tool's and the modules' are said in two places."""
    kbuild = (TOP / "Kbuild").read_text()
    assert f'TACTUS_VERSION="{tactus.__version__}"' in kbuild


@pytest.mark.parametrize("words", [[], ["no-such"], ["load", "--no-such"], ["status", "extra"]])
def test_a_wrong_command_line_is_status_2(words: list[str], machine: FakeMachine) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(words, machine)
    assert end.value.code == 2


def test_it_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "tactus", "--version"],
                          env=os.environ | {"PYTHONPATH": str(PACKAGE)},
                          capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith(f"tactus {tactus.__version__} (modules: ")
