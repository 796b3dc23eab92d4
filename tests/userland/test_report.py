# SPDX-License-Identifier: GPL-2.0-only
"""`tactus report`: what is in it, what never is, and that nothing is written unasked."""
from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from fakes import FakeMachine
from tactus import cli

# Words that name a person, a machine or a disk; each lies where a careless report would find it.
PERSONAL = {
    "/sys/class/dmi/id/product_serial": "SERIAL-0123",
    "/sys/class/dmi/id/product_uuid": "UUID-4567",
    "/sys/class/dmi/id/chassis_asset_tag": "ASSET-89", "/sys/class/dmi/id/board_serial": "BOARD-12",
    "/etc/hostname": "annas-laptop", "/etc/machine-id": "0123456789abcdef",
    "/proc/sys/kernel/hostname": "annas-laptop",
    "/sys/class/net/eth0/address": "52:54:00:12:34:56",
}
COMMAND_LINE = ("BOOT_IMAGE=/vmlinuz root=UUID=dead-beef ip=10.1.2.3::10.1.2.1 "
                "nfsroot=annas-server resume=/dev/sda7 idle=halt isolcpus=1 quiet")
TASKS = ("name\tcpu\tpriority\tperiod_ns\tstate\treleases\toverruns\tmax_late_ns\n"
         "annas-task\t0\t1\t1000000\twaiting\t3000\t2\t412\n")


@pytest.fixture
def machine(machine: FakeMachine) -> FakeMachine:
    for path, text in PERSONAL.items():
        machine.write(path, text + "\n")
    machine.write("/proc/cmdline", COMMAND_LINE + "\n")
    machine.write("/proc/cpuinfo", "vendor_id : GenuineIntel\nmodel name : A CPU\nflags : lm tsc\n")
    machine.write("/sys/class/dmi/id/board_name", "A BOARD\n")
    machine.set_module("annas_driver")
    for name, text in {"state": "active", "mode": "pipeline", "pause_ns": "40250",
                       "slots": "cli=364", "tasks": TASKS, "policy": "rm",
                       "fifos": "fifo\tname\n0\tannas-fifo\n"}.items():
        machine.write(f"/sys/kernel/tactus/{name}", text + "\n")
    return machine


def test_what_it_holds(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", "--json"], machine) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["cpu"]["model name"] == "A CPU" and said["board"] == {"board_name": "A BOARD"}
    assert said["command_line"] == {"options": ["idle=halt", "isolcpus=1"], "others": 6}
    assert said["status"]["slots"] == {"cli": 364} and said["status"]["pause_ns"] == 40250
    assert (said["status"]["tasks"], said["status"]["overruns"]) == (1, 2)
    assert said["status"]["max_late_ns"] == 412 and said["lateness_ns"] is None
    assert {"level", "subject", "text"} == set(said["doctor"][0])


def test_nothing_personal_is_in_it(machine: FakeMachine,
                                   capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report"], machine) == 0
    said = capsys.readouterr().out
    for word in (*PERSONAL.values(), "annas", "dead-beef", "10.1.2", "sda7"):
        assert word not in said, word


def test_it_shows_before_it_writes(machine: FakeMachine, tmp_path: Path,
                                   monkeypatch: pytest.MonkeyPatch,
                                   capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal it is an error, a no writes nothing, a yes writes what was shown."""
    path = tmp_path / "report.json"
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert cli.main(["report", "--write", str(path)], machine) == 2
    assert json.loads(capsys.readouterr().out) and not path.exists()

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal("\n"))
    assert cli.main(["report", "--write", str(path)], machine) == 1
    assert "nothing was written" in capsys.readouterr().err and not path.exists()
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    assert cli.main(["report", "--write", str(path)], machine) == 0
    shown = capsys.readouterr().out
    assert shown.endswith("write this? [y/N] ") and shown.startswith(path.read_text())


def test_it_writes_over_nothing(machine: FakeMachine, tmp_path: Path,
                                capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report.json"
    path.write_text("mine")
    assert cli.main(["report", "--write", str(path), "--yes"], machine) == 1
    assert f"tactus: {path}: File exists" in capsys.readouterr().err
    assert path.read_text() == "mine"
    assert cli.main(["report", "--yes"], machine) == 2


def test_it_measures_when_asked(machine: FakeMachine,
                                capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", "--seconds", "0.1"], machine) == 3
    assert "tactus is not loaded" in capsys.readouterr().err
    machine.set_module("tactus")
    machine.write("/lib/modules/6.1.0-fake-amd64/updates/rt_latency.ko", "")
    machine.write("/proc/rt_latency/summary",
                  "period_ns=1000000 start_ns=0 releases=100 expected=100 skipped=0 overruns=0 "
                  "min_ns=300 avg_ns=400 max_ns=950 worst=7 sum_ns=40000\n")
    machine.write("/proc/rt_latency/histogram", "0 512 99\n512 1024 1\n")
    assert cli.main(["report", "--seconds", "0.1", "--json"], machine) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["lateness_ns"]["max_ns"] == 950 and said["lateness_ns"]["releases"] == 100
    assert "rt_latency" not in machine.names()
