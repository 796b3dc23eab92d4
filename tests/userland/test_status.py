# SPDX-License-Identifier: GPL-2.0-only
"""`tactus status` on a folder that looks like /sys/kernel/tactus."""
from __future__ import annotations

import json

import pytest

from fakes import FakeMachine
from tactus import cli, sysfs

FILES = {
    "state": "active", "mode": "pipeline", "kernel": "6.1.0-fake-amd64", "since_ns": "1500000000",
    "pause_ns": "40250", "pipeline": "cpu\tdirect\tlogged\n0\t100\t7\n1\t90\t0\n",
    "slots": "cli=364 cli_hard=13 sti=420 save_fl=431 irq=15 exc=16 misc=4", "cpus": "0-1",
    "timer": "lapic", "clock": "tsc", "policy": "rm",
    "tasks": "name\tcpu\tpriority\tperiod_ns\tstate\treleases\toverruns\tmax_late_ns\n"
             "metronome\t0\t1\t1000000\twaiting\t3000\t0\t412\n"
             "tap\t0\t20\t0\tsuspended\t7\t0\t-5\n",
    "irqs": "irq\tcount\ttaken\n8\t24576\t1\n",
    "fifos": "fifo\tsize\tused_in\tused_out\topeners\tdrops\n0\t4000\t96\t0\t1\t0\n",
}


def fill(machine: FakeMachine, **changes: str | None) -> None:
    for name, text in (FILES | changes).items():
        if text is not None:
            machine.write(f"{sysfs.FOLDER}/{name}", text + "\n")


def test_active(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    fill(machine)
    assert cli.main(["status"], machine) == 0
    assert capsys.readouterr().out == """\
OK: tactus is active on 6.1.0-fake-amd64
CPUs: 0-1
mode: pipeline
timer: lapic
clock: tsc
policy: rm
since: 1.500 s after boot
slots: 364 cli, 13 cli_hard, 420 sti, 431 save_fl, 15 irq, 16 exc, 4 misc
switching over stopped Linux for: 40.2 us
interrupts:
  cpu  direct  logged
    0     100       7
    1      90       0
RT tasks:
  name       cpu  priority  period_ns  state      releases  overruns  max_late_ns
  metronome    0         1    1000000  waiting        3000         0          412
  tap          0        20          0  suspended         7         0           -5
RT interrupts:
  irq  count  taken
    8  24576      1
RT-FIFOs:
  fifo  size  used_in  used_out  openers  drops
     0  4000       96         0        1      0
"""


DEMOTED = {
    "users": "pid\tname\tuid\tmode\tpages\tpromotions\tleaves\tdemotions\treason\twhat"
             "\taddress\tip\n"
             "71\tservo\t1000\trt\t211\t2\t0\t1\tsyscall\t1\t0x0\t0x401234\n",
    "demotions": "when_ns\tpid\ttask\treason\twhat\taddress\tip\n"
                 "5000\t71\tservo\tsyscall\t1\t0x0\t0x401234\n",
}


def test_a_demotion_is_told(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    fill(machine, **DEMOTED)
    assert cli.main(["status"], machine) == 0
    told = capsys.readouterr().out
    assert told.startswith("DEMOTED (servo): tactus is active")
    assert "  5000   71  servo  syscall     1  0x0      0x401234\n" in told
    assert cli.main(["status", "--json"], machine) == 0
    row = json.loads(capsys.readouterr().out)["users"][0]
    assert (row["mode"], row["demotions"], row["ip"]) == ("rt", 1, "0x401234")


@pytest.mark.parametrize("reason", ["signal", "none"])
def test_the_end_of_a_program_is_no_trouble(machine: FakeMachine, reason: str,
                                            capsys: pytest.CaptureFixture[str]) -> None:
    fill(machine, **{name: text.replace("syscall", reason) for name, text in DEMOTED.items()})
    assert cli.main(["status"], machine) == 0
    assert capsys.readouterr().out.startswith("OK: ")


def test_json(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    fill(machine)
    assert cli.main(["status", "--json"], machine) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["state"] == "active"
    assert told["slots"]["cli"] == 364
    assert told["tasks"][0]["max_late_ns"] == 412
    assert told["fifos"] == [{"fifo": 0, "size": 4000, "used_in": 96, "used_out": 0,
                              "openers": 1, "drops": 0}]


def test_not_loaded(machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["status"], machine) == 3
    assert capsys.readouterr().out == "tactus is not loaded\n"
    assert cli.main(["status", "--json"], machine) == 3
    assert json.loads(capsys.readouterr().out)["state"] == "not loaded"


def test_inert_without_tasks_and_fifos(
        machine: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    fill(machine, state="inert", fifos=None, irqs="", tasks=FILES["tasks"].splitlines()[0])
    assert cli.main(["status"], machine) == 4
    told = capsys.readouterr().out
    assert "tactus is inert" in told
    assert "RT tasks: none\nRT interrupts: none\nRT-FIFOs: rtfifo is not loaded\n" in told


@pytest.mark.parametrize("changes", [
    {"state": "perhaps"}, {"slots": "cli=many"}, {"since_ns": "soon"},
    {"irqs": "irq\tcount\n8\n"}])
def test_what_it_does_not_know_is_an_error_not_a_guess(
        machine: FakeMachine, changes: dict[str, str],
        capsys: pytest.CaptureFixture[str]) -> None:
    fill(machine, **changes)
    assert cli.main(["status"], machine) == 1
    assert "tactus: /sys/kernel/tactus" in capsys.readouterr().err
