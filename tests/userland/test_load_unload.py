# SPDX-License-Identifier: GPL-2.0-only
"""`tactus load` and `tactus unload`: order, refusals, and what the user is told."""
from __future__ import annotations

import os
from pathlib import Path

import pytest

from fakes import FakeMachine
from tactus import cli
from tactus import machine as machine_module

ALL = {"tactus_core", "tactus", "tactus_rm", "rtfifo"}
SENTENCE = "tactus: refused: this kernel is built without what it takes; nothing was changed"


def test_load_in_order(machine: FakeMachine) -> None:
    assert cli.main(["load"], machine) == 0
    assert machine.ran == ["modprobe tactus_core", "modprobe tactus",
                           "modprobe tactus_rm", "modprobe rtfifo"]


def test_load_from_a_build_folder(machine: FakeMachine, build_dir: Path) -> None:
    assert cli.main(["load", "--dir", str(build_dir)], machine) == 0
    assert machine.names() == ALL
    assert machine.ran[-1] == f"insmod {build_dir}/sub/rtfifo.ko"


def test_load_with_the_built_in_policy_and_a_parameter(machine: FakeMachine) -> None:
    words = ["load", "--policy", "fixed_priority", "--param", "rtfifo.nfifos=128"]
    assert cli.main(words, machine) == 0
    assert machine.ran == ["modprobe tactus_core", "modprobe tactus",
                           "modprobe rtfifo nfifos=128"]


def test_load_twice_loads_once(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["load"], machine)
    machine.ran.clear()
    assert cli.main(["load"], machine) == 0
    assert machine.ran == []
    assert "tactus_rm: already loaded" in capsys.readouterr().out


def test_a_parameter_of_a_loaded_module_is_refused(
        machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.set_module("tactus_core")
    machine.set_module("tactus")
    assert cli.main(["load", "--param", "tactus.take_irq=4"], machine) == 1
    assert "parameters cannot be set now" in capsys.readouterr().err


def test_a_refusal_quotes_the_kernel_and_undoes_what_was_done(
        machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    machine.refuse["tactus"] = ("Operation not supported", SENTENCE)
    assert cli.main(["load"], machine) == 1
    told = capsys.readouterr().err
    assert "cannot load tactus: Operation not supported" in told
    assert f"the kernel says: {SENTENCE}" in told
    assert "old line" not in told
    assert machine.names() == {"tactus_core"}  # resident


@pytest.mark.parametrize("line", ["Loading of unsigned module is rejected",
                                  "Loading of module with unavailable key is rejected",
                                  "Loading of module with unsupported crypto is rejected"])
def test_a_kernel_that_wants_signatures(
        machine: FakeMachine, capsys: pytest.CaptureFixture[str], line: str) -> None:
    machine.refuse["tactus_core"] = ("Key was rejected by service", line)
    assert cli.main(["load"], machine) == 1
    told = capsys.readouterr().err
    assert "this kernel takes signed modules only" in told and "mokutil --import" in told
    assert machine.names() == set()


def test_a_late_refusal_takes_the_earlier_ones_out_again(machine: FakeMachine) -> None:
    machine.refuse["rtfifo"] = ("Cannot allocate memory", "rtfifo: no memory")
    assert cli.main(["load"], machine) == 1
    assert machine.ran[-2:] == ["rmmod tactus_rm", "rmmod tactus"]
    assert machine.names() == {"tactus_core"}


def test_what_was_loaded_before_a_refusal_stays(machine: FakeMachine) -> None:
    machine.set_module("tactus_core")
    machine.set_module("tactus")
    machine.refuse["rtfifo"] = ("Cannot allocate memory", "rtfifo: no memory")
    assert cli.main(["load"], machine) == 1
    assert machine.names() == {"tactus_core", "tactus"}


@pytest.mark.parametrize("command", ["load", "unload"])
def test_not_root(command: str, machine: FakeMachine,
                  capsys: pytest.CaptureFixture[str]) -> None:
    machine.root_user = False
    machine.set_module("tactus")
    assert cli.main([command], machine) == 1
    assert "needs root" in capsys.readouterr().err
    assert machine.ran == []


def test_no_module_for_this_kernel(machine: FakeMachine,
                                   capsys: pytest.CaptureFixture[str]) -> None:
    for path in machine.path("/lib/modules").rglob("tactus_core*"):
        path.unlink()
    assert cli.main(["load"], machine) == 1
    assert "no module tactus_core for this kernel (6.1.0-fake-amd64)" in capsys.readouterr().err


@pytest.mark.parametrize(("change", "sentence"), [
    (lambda d: (d / "tactus.ko").unlink(), "there is no tactus.ko below"),
    (lambda d: (d / "tactus.ko").write_bytes(b"junk"), "is not a kernel module"),
    (lambda d: (d / "tactus.ko").write_bytes(b"\0vermagic=5.10.0 SMP\0"),
     "was built for 5.10.0, but 6.1.0-fake-amd64 is running"),
    (lambda d: (d / "sub/tactus.ko").write_bytes(b""), "more than one tactus.ko below"),
])
def test_a_bad_build_folder(machine: FakeMachine, build_dir: Path, change, sentence: str,
                            capsys: pytest.CaptureFixture[str]) -> None:
    change(build_dir)
    assert cli.main(["load", "--dir", str(build_dir)], machine) == 1
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("words", [
    ["--policy", "no/such"], ["--policy", "core"], ["--param", "nfifos=3"],
    ["--param", "ext4.x=3"], ["--param", "rtfifo.nfifos"]])
def test_bad_arguments(machine: FakeMachine, words: list[str]) -> None:
    assert cli.main(["load", *words], machine) == 2
    assert machine.ran == []


def test_unload_in_reverse_and_keep_the_core(
        machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["load"], machine)
    machine.set_module("tactus_edf")
    machine.ran.clear()
    assert cli.main(["unload"], machine) == 0
    assert machine.ran == ["rmmod rtfifo", "rmmod tactus_edf", "rmmod tactus_rm", "rmmod tactus"]
    assert "tactus_core: stays resident until the next boot" in capsys.readouterr().out


def test_unload_names_the_modules_that_use_it(
        machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["load"], machine)
    machine.set_module("rtfifo", users="rt_speaker,", refcount=1)
    machine.ran.clear()
    assert cli.main(["unload"], machine) == 1
    assert "rtfifo is used by rt_speaker: unload that first" in capsys.readouterr().err
    assert machine.ran == []


def test_unload_names_the_processes_that_use_it(
        machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["load"], machine)
    machine.set_module("rtfifo", refcount=1)
    machine.write("/proc/77/comm", "cat\n")
    (machine.path("/proc/77/fd")).mkdir()
    os.symlink("/dev/rtf0", machine.path("/proc/77/fd/3"))
    assert cli.main(["unload"], machine) == 1
    assert "rtfifo is in use by cat (pid 77)" in capsys.readouterr().err
    assert "rtfifo" in machine.names()


def test_unload_of_nothing(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["unload"], machine) == 0
    assert capsys.readouterr().out == "tactus is not loaded\n"


def test_parse_modules_knows_permanent_ones() -> None:
    text = ("tactus_core 20480 1 tactus,[permanent], Live 0xffffffffc0000000 (OE)\n"
            "tactus 65536 2 tactus_rm,rtfifo, Live 0xffffffffc0010000 (OE)\n")
    parsed = machine_module.parse_modules(text)
    assert parsed["tactus_core"].permanent and parsed["tactus_core"].users == ("tactus",)
    assert parsed["tactus"].users == ("tactus_rm", "rtfifo")
