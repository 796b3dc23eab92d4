# SPDX-License-Identifier: GPL-2.0-only
"""`tactus load --dry-run`, `load --trial` and `keep`: what is run, said and refused."""
from __future__ import annotations

import json

import pytest

from fakes import FakeMachine
from tactus import cli, sysfs

DRY = {
    "kernel": "6.1.0-fake-amd64", "cpus": "0-1", "timer": "lapic", "idle": "hlt",
    "slots": "cli=3 cli_hard=2 sti=1 save_fl=0 irq=0 exc=0 nmi=0 misc=1",
    "texts": "text\tslots\nkernel\t6\next4\t1\n",
    "slots_list": "ffffffff81000010 cli     \nffffffff81000020 cli_hard\n",
}


@pytest.fixture
def dry(machine: FakeMachine) -> FakeMachine:
    for name, text in DRY.items():
        machine.write(f"{sysfs.FOLDER}/{name}", text + "\n")
    return machine


def test_a_dry_run_loads_looks_and_unloads(dry: FakeMachine,
                                           capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["load", "--dry-run", "--param", "tactus.timer=lapic"], dry) == 0
    assert dry.ran == ["modprobe tactus_core", "modprobe tactus timer=lapic dry_run=1",
                       "rmmod tactus", "rmmod tactus_core"]
    assert dry.names() == set()
    assert capsys.readouterr().out == """\
dry run on 6.1.0-fake-amd64: nothing speaks against loading
CPUs: 0-1
timer: lapic
idle: hlt
would write 5 places: 3 cli, 1 sti, 0 save_fl, 0 irq, 0 exc, 0 nmi, 1 misc
would leave as they are: 2 cli_hard
       6 in kernel
       1 in ext4
every place: --json
nothing was changed
"""


def test_its_json(dry: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["load", "--dry-run", "--json"], dry) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["dry_run"] == "passed" and told["would_write"] == 5
    assert told["places"] == [{"address": "ffffffff81000010", "kind": "cli"},
                              {"address": "ffffffff81000020", "kind": "cli_hard"}]


def test_of_mode_hosted(dry: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    dry.write(f"{sysfs.FOLDER}/slots", "cli=0 sti=0\n")
    assert cli.main(["load", "--dry-run", "--param", "tactus.mode=hosted"], dry) == 0
    assert "mode hosted is possible, which writes nothing" in capsys.readouterr().out


def test_a_dry_run_that_is_refused_leaves_nothing(
        machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.refuse["tactus"] = ("Operation not supported", "tactus: refused: no")
    assert cli.main(["load", "--dry-run"], machine) == 1
    assert "the kernel says: tactus: refused: no" in capsys.readouterr().err
    assert machine.names() == set()


def test_a_core_that_was_there_stays(dry: FakeMachine) -> None:
    dry.set_module("tactus_core")
    assert cli.main(["load", "--dry-run"], dry) == 0
    assert dry.names() == {"tactus_core"}


def test_no_dry_run_beside_a_loaded_one(machine: FakeMachine,
                                        capsys: pytest.CaptureFixture[str]) -> None:
    machine.set_module("tactus")
    assert cli.main(["load", "--dry-run"], machine) == 1
    assert "loaded already" in capsys.readouterr().err
    assert machine.ran == []


def test_trial(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["load", "--trial", "30"], machine) == 0
    assert "modprobe tactus trial_s=30" in machine.ran
    assert "on trial for 30 s: say `tactus keep`" in capsys.readouterr().out


def test_no_trial_of_what_is_loaded(machine: FakeMachine,
                                    capsys: pytest.CaptureFixture[str]) -> None:
    machine.set_module("tactus_core")
    machine.set_module("tactus")
    assert cli.main(["load", "--trial", "30"], machine) == 1
    assert "parameters cannot be set now" in capsys.readouterr().err


def test_options_that_do_not_go_together(machine: FakeMachine) -> None:
    assert cli.main(["load", "--dry-run", "--trial", "3"], machine) == 2
    assert machine.ran == []


@pytest.mark.parametrize("word", ["0", "-1", "86401", "1.5", "x"])
def test_a_bad_trial(machine: FakeMachine, word: str) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["load", f"--trial={word}"], machine)
    assert end.value.code == 2
    assert machine.ran == []


def test_keep(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.write(f"{sysfs.FOLDER}/keep", "")
    assert cli.main(["keep"], machine) == 0
    assert machine.path(f"{sysfs.FOLDER}/keep").read_text() == "1\n"
    assert capsys.readouterr().out == "kept: tactus stays on\n"


def test_keep_of_nothing(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["keep"], machine) == 3
    assert capsys.readouterr().err == "tactus: tactus is not loaded\n"
    assert not machine.path(f"{sysfs.FOLDER}/keep").exists()


@pytest.mark.parametrize(("trial", "line"), [
    ("running 27", "trial: 27 s left; say `tactus keep` to go on"),
    ("kept", "trial: kept"),
    ("ended", "trial: over without `tactus keep`: it has switched itself off"),
])
def test_status_tells_of_a_trial(machine: FakeMachine, trial: str, line: str,
                                 capsys: pytest.CaptureFixture[str]) -> None:
    machine.write(f"{sysfs.FOLDER}/state", "active\n")
    machine.write(f"{sysfs.FOLDER}/trial", trial + "\n")
    cli.main(["status"], machine)
    assert line in capsys.readouterr().out.splitlines()
