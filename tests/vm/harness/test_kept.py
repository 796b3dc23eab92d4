# SPDX-License-Identifier: GPL-2.0-only
"""The state of a booted guest serves many runs, and no run shows that it was not booted."""
from __future__ import annotations

import dataclasses
import os
import subprocess
import time
from pathlib import Path

import pytest

from harness.bench import guest, kept, kernels
from harness.bench.common import BenchError
from harness.bench.monitor import Monitor
from harness.vmrun import Vm


@pytest.fixture(autouse=True)
def keep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACTUS_STATE", "keep")


# All that depends on time, and what it was that ran.
WORK = """
dd if=/dev/zero bs=64k count=30 2> /dev/null | gzip | md5sum
sleep 0.2
cat /proc/rt_latency/summary /sys/kernel/tactus/tasks
cat /proc/interrupts /proc/softirqs /proc/stat /proc/schedstat /proc/vmstat /proc/uptime
grep -v '^ *#' /proc/timer_list
"""
# QEMU begins its CPUs' random numbers anew with each process.
SAME = "-cpu max,-rdrand,-rdseed"


def test_a_run_from_a_state_and_from_a_boot_agree_in_every_counter(vm):
    state, boot = (vm(WORK, modules="tactus rt_latency period_us=200", icount=True, qemu=SAME,
                      extra=["--state", how]) for how in ("keep", "boot"))
    assert "releases=" in state.stdout and "LOC:" in state.stdout
    assert state.stdout == boot.stdout
    assert state.console == boot.console


@pytest.mark.parametrize("cpus", [1, pytest.param(2, marks=pytest.mark.long)])
def test_two_states_agree_in_every_counter(vm, tmp_path: Path, monkeypatch, cpus):
    """Each boot stops at the same instruction, whatever else the host does. With several CPUs a run
    from a boot is another than one from a state, which begins with the first CPU's turn."""
    done = []
    for folder in (tmp_path / "first", tmp_path / "second"):
        monkeypatch.setenv("TACTUS_BOOTED", str(folder))
        done.append(vm(WORK, modules=f"tactus rt_latency cpu={cpus - 1} period_us=200",
                       icount=True, smp=cpus))
        assert len(list(folder.glob("*.console"))) == 1
    assert "releases=" in done[0].stdout
    assert done[0].stdout == done[1].stdout
    assert done[0].console == done[1].console


def test_the_console_has_the_boot(vm):
    assert "Linux version 6.1" in vm("true").console


def test_jobs_leave_nothing_to_each_other(vm):
    """The state is that of before the first of them."""
    level = vm("cut -f 1 /proc/sys/kernel/printk").stdout.strip()
    left = vm("echo mine > /tmp/mine; echo 3 > /proc/sys/kernel/printk; ls /tmp")
    found = vm("ls /tmp; cut -f 1 /proc/sys/kernel/printk")
    assert left.stdout == "mine\n"
    assert found.stdout == f"{level}\n"


def test_a_file_of_the_jobs_stands_before_the_bases(vm, tmp_path: Path):
    """As the kernel does it when it unpacks both."""
    mine = tmp_path / "mine"
    mine.write_text("#!/bin/sh\necho mine\n")
    mine.chmod(0o755)
    done = vm("/bin/uname; ls -l /etc/passwd | cut -c 1-10; cat /etc/passwd", icount=True,
              put={mine: "/bin/uname", __file__: "/etc/passwd"})
    assert done.stdout.startswith("mine\n-rw-r--r--\n# SPDX")


@pytest.mark.parametrize("qemu, shared", [
    ("", True), ("-device edu", False), ("-global migration.announce-rounds=9", True),
    ("-global migration.x=1", False),
    ("-chardev null,id=uart -device isa-serial,chardev=uart,index=2,iobase=0x3e8,irq=3", True),
    ("-chardev file,id=x,path=/tmp/x", False), ("-plugin /x.so", False), ("-smp 2", False),
])
def test_only_states_that_many_runs_share_are_kept(qemu: str, shared: bool):
    assert kept.shared(qemu) is shared


def test_a_mended_qemu_is_another(tmp_path: Path):
    program = tmp_path / "qemu"
    program.write_bytes(b"one")
    first = kept.made_by(str(program))
    assert first == kept.made_by(str(program))
    program.write_bytes(b"mended")
    assert first != kept.made_by(str(program))


def test_a_run_in_tests_says_how_it_begins(vm, monkeypatch: pytest.MonkeyPatch):
    """So that the one command repeats it, whatever TACTUS_STATE is there."""
    assert "--state=keep" in vm("true").command
    assert "--state= " in vm("true", state="").command
    monkeypatch.delenv("TACTUS_STATE")
    assert "--state= " in vm("true").command


def test_an_emulator_that_ends_is_not_waited_for():
    """A guest may die before it asks for its job."""
    monitor = Monitor()
    with subprocess.Popen(["sleep", "0.1"], pass_fds=[monitor.handle]):
        monitor.started()
        begun = time.monotonic()
        assert not monitor.event("STOP", 60)
        assert time.monotonic() - begun < 30
    monitor.close()


@pytest.mark.parametrize("may", [True, False])
def test_a_kernel_without_ioperm_is_booted(tmp_path: Path, may: bool):
    """Its PID 1 could not ask for a job."""
    config = tmp_path / ".config"
    config.write_text("CONFIG_X86_IOPL_IOPERM=y\n" if may else
                      "# CONFIG_X86_IOPL_IOPERM is not set\n")
    stock = kernels.resolve("6.1", "cloud")
    assert stock.may_wait
    assert dataclasses.replace(stock, config=config).may_wait == may


def test_a_name_is_made_of_all_that_a_boot_depends_on():
    one = kept.key(["qemu", "-m", "512M"], (7, 2), b"kernel", b"archive")
    assert one == kept.key(["qemu", "-m", "512M"], (7, 2), b"kernel", b"archive")
    others = {kept.key(["qemu", "-m", "1G"], (7, 2), b"kernel", b"archive"),
              kept.key(["qemu", "-m", "512M"], (7, 3), b"kernel", b"archive"),
              kept.key(["qemu", "-m", "512M"], (7, 2), b"kerne", b"larchive"),
              kept.key(["qemu", "-m", "512M"], (7, 2), b"kernel", b"archives")}
    assert len(others | {one}) == 5


def test_what_nobody_asks_for_goes(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("TACTUS_BOOTED", str(tmp_path))

    def made(key: str) -> kept.State:
        state = kept.State("kernel-host-1", key)
        scratch = tmp_path / ".scratch"
        scratch.write_bytes(b"state")
        state.put(scratch, b"console")
        return state

    def age(seconds: float, *states: kept.State) -> None:
        then = time.time() - seconds
        for state in states:
            os.utime(state.path, (then, then))

    old, used = made("old"), made("used")
    age(kept.KEEP_S + 1, old, used)
    assert used.use()
    assert made("new").use() and used.use()
    assert not old.use() and not old.console.exists()

    monkeypatch.setattr(kept, "KEEP_BYTES", 12)     # two of them, and the one that comes
    age(kept.IN_USE_S + 2, used)
    age(kept.IN_USE_S + 1, kept.State("kernel-host-1", "new"))
    assert made("third").use()
    assert not used.path.exists() and kept.State("kernel-host-1", "new").use()
    monkeypatch.setattr(kept, "KEEP_BYTES", 0)
    assert made("fourth").use(), "whatever the others take"
    assert kept.State("kernel-host-1", "third").use(), "somebody may be about to begin with it"


class Running:
    """Stands for a guest whose clock goes on while it stands still."""

    def state(self, base: bytes) -> kept.State:
        return kept.State("kernel-virtual-1", "key")

    def keep(self, state: kept.State, base: bytes) -> bool:
        return False

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def test_a_state_whose_clock_went_on_is_refused(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("TACTUS_BOOTED", str(tmp_path))
    monkeypatch.setattr(guest, "_Machine", lambda job, scratch: Running())
    job = guest.Job(kernel=type("Kernel", (), {"release": "6.1"})(), plan=None,  # type: ignore[arg-type]
                    command="")
    with pytest.raises(BenchError, match="does not stand still"):
        guest._state(job, b"", tmp_path)


def test_where_no_state_can_be_kept_runs_boot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Nobody tries again for a while, in virtual time; what else goes wrong is told as before."""
    monkeypatch.setenv("TACTUS_BOOTED", str(tmp_path))
    asked: list[bool] = []

    def refuses(job: guest.Job, base: bytes, scratch: Path) -> kept.State:
        asked.append(job.icount)
        raise error

    monkeypatch.setattr(guest, "_state", refuses)
    virtual, host = (guest.Job(kernel=None, plan=None, command="",     # type: ignore[arg-type]
                               icount=icount) for icount in (True, False))
    error: BenchError = BenchError("the disk is full")
    with pytest.raises(BenchError, match="disk"):
        guest._state_or_none(virtual, b"", tmp_path)
    error = kept.ClockMovesError("it moves")
    assert [guest._state_or_none(job, b"", tmp_path) for job in (virtual, virtual)] == [None, None]
    assert asked == [True, True]
    age = time.time() - kept.REFUSED_S - 1
    os.utime(kept.refused_file(), (age, age))
    assert guest._state_or_none(virtual, b"", tmp_path) is None
    assert guest._state_or_none(host, b"", tmp_path) is None
    assert asked == [True, True, True, False]


def test_what_qemu_refuses_is_told():
    monitor = Monitor()
    theirs = monitor._theirs
    theirs.sendall(b'{"QMP": {}}\n{"return": {}}\n{"event": "STOP"}\n'
                   b'{"error": {"desc": "no such thing"}}\n')
    with pytest.raises(BenchError, match="refuses migrate: no such thing"):
        monitor.do("migrate", uri="x")
    monitor.close()


def test_nmis_come_from_a_state_too(vm: Vm) -> None:
    """QEMU's monitor has been greeted by then, for the state."""
    done = vm("i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; "
              "awk '/NMI:/ { print $2 }' /proc/interrupts", icount=True, state="keep", nmi=200,
              allow=["NMI received for unknown reason|Dazed and confused"])
    assert int(done.stdout) > 0
