# SPDX-License-Identifier: GPL-2.0-only
"""The unit of docs/userspace.md, started by systemd on Debian: who may, and how much, is the
distribution's business there. The machine has Debian's systemd as PID 1 and Debian's udev."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness import TOP, programs
from harness.bench import chroot, emulator, initrd, kernels, modules, tree
from harness.bench.common import cache_dir, locked

pytestmark = [pytest.mark.long, pytest.mark.skipif(os.geteuid() != 0, reason="root only"),
              pytest.mark.skipif(not shutil.which("mmdebstrap"), reason="no mmdebstrap")]
PAGE = TOP / "docs/userspace.md"
PACKAGES = ("systemd-sysv", "udev", "kmod")
# What nobody reads there, half of it all.
UNREAD = [f"--dpkgopt=path-exclude=/usr/share/{name}/*"
          for name in ("doc", "man", "locale", "info")]
APPEND = ("console=ttyS0,115200 rdinit=/sbin/init hpet=disable oops=panic panic=-1 quiet "
          "systemd.show_status=false cryptomgr.notests no_timer_check cpu_init_udelay=0 "
          "systemd.mask=serial-getty@ttyS0.service")
DYNAMIC = range(61184, 65520)     # systemd.exec(5)
BAD = r"WARNING:|BUG:|Oops|Call Trace|Kernel panic"

# Each step begins with a line "== NAME". `bare` is the same unit with a program that locks nothing.
SCRIPT = """#!/bin/sh
exec > /dev/ttyS0 2>&1
step() { echo; echo "== $1"; }
# What is new since the last time: systemd's own words of the unit, too.
ended() {
	sleep 0.5; systemctl is-failed $1
	journalctl --sync; journalctl -q -u $1 -o cat --cursor-file=/run/$1
}
drop_in() {
	for unit in robot bare; do
		mkdir -p /run/systemd/system/$unit.service.d
		printf '[Service]\\n%b' "$1" > /run/systemd/system/$unit.service.d/test.conf
	done
	systemctl daemon-reload
}
users() { tail -n +2 /sys/kernel/tactus/users; }
works() {
	systemctl start robot
	pid=$(systemctl show -P MainPID robot)
	stat -c '%G %a' /dev/rt
	echo $(id -u robot) $(stat -c %u /proc/$pid)
	grep -E '^(CapEff|VmLck)' /proc/$pid/status
	sleep 2; users
	systemctl stop robot
	ended robot; users
}
depmod 2> /dev/null
modprobe tactus; modprobe rtfifo
step works; works
drop_in 'User=passing\\nDynamicUser=yes\\n'; step dynamic; works
drop_in 'SupplementaryGroups=\\n'
step group; systemctl start robot; ended robot
step group_bare; systemctl start bare; ended bare
drop_in 'LimitMEMLOCK=256K\\n'
step limit; systemctl start robot; ended robot
step limit_bare; systemctl start bare; ended bare
drop_in ''; step bare; systemctl start bare; ended bare
step end; rmmod tactus_user rtfifo tactus && echo unloaded
systemctl poweroff --force
"""
GUEST = """[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/root/guest
"""


def debian() -> Path:
    """Its root file system as an archive, made once: 100 MB."""
    archive = cache_dir() / "chroots" / "bookworm-systemd.cpio"
    with locked(archive.with_suffix(".lock")):
        if not archive.is_file():
            folder = archive.with_suffix(".new")
            chroot.debian(folder, "bookworm", PACKAGES, *UNREAD)
            for lists in ("var/lib/apt/lists", "var/cache/apt"):
                shutil.rmtree(folder / lists)
            fresh = archive.with_suffix(".fresh")
            with open(fresh, "wb") as out:
                names = subprocess.run(["find", ".", "-xdev", "-print0"], cwd=folder, check=True,
                                       capture_output=True).stdout
                subprocess.run(["cpio", "--quiet", "-0", "-o", "-H", "newc"], cwd=folder,
                               input=names, stdout=out, check=True)
            shutil.rmtree(folder)
            fresh.replace(archive)
    return archive


def additions(kernel: kernels.Kernel, unit: str) -> bytes:
    """What the machine has of this tree, and of the test: an archive over the other."""
    cpio = initrd.Cpio()
    tree.build_tree(kernel)
    planner = modules.Planner(kernel, tree.tree_modules(kernel))
    cpio.link("lib", "usr/lib")     # as it is there
    initrd.add_modules(cpio, kernel.release, planner.want(
        modules.parse("tactus rtfifo"), modules.parse("tactus_user")))
    for name, text in {
            "etc/machine-id": "0123456789abcdef0123456789abcdef\n",
            "etc/systemd/system/robot.service": unit,
            "etc/systemd/system/bare.service": re.sub(
                "(?m)^ExecStart=.*", "ExecStart=/usr/local/bin/bare int80 rt", unit),
            "etc/systemd/system/guest.service": GUEST,
            "usr/lib/sysusers.d/robot.conf": "u robot - robot\n"}.items():
        cpio.file(name, text.encode())
    for name in ("sysusers.d/tactus.conf", "udev/rules.d/70-tactus.rules"):
        source = TOP / "userland" / name.replace("/rules.d", "")
        cpio.file(f"usr/lib/{name}", source.read_bytes())
    cpio.file("root/guest", SCRIPT.encode(), 0o755)
    cpio.link("etc/systemd/system/multi-user.target.wants/guest.service", "../guest.service")
    for name, program in {"robot": "periodic_node", "bare": "user_compat"}.items():
        cpio.file(f"usr/local/bin/{name}", programs.build(program).read_bytes(), 0o755)
    return cpio.bytes()


def boot(folder: Path, unit: str) -> dict[str, list[str]]:
    """The lines of each step."""
    kernel = kernels.resolve("6.1", "cloud")
    image = folder / "initrd"
    image.write_bytes(debian().read_bytes() + additions(kernel, unit))
    qemu = emulator.pick(1, True)
    try:
        done = subprocess.run(
            [qemu.program, *qemu.args, "-machine", "pc", "-cpu", "max", "-m", "1G", "-nodefaults",
             "-display", "none", "-no-reboot", "-serial", "stdio", "-accel", "tcg",
             "-icount", "shift=0,sleep=off", "-rtc", "clock=vm,base=2026-01-01T00:00:00",
             "-seed", "42", "-kernel", kernel.image, "-initrd", image, "-append", APPEND],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=1200, check=False,
            env=os.environ | qemu.env)
    finally:
        image.unlink()
    text = done.stdout.decode(errors="replace").replace("\r\n", "\n")
    print(text, done.stderr.decode(), file=sys.stderr)
    assert not re.search(BAD, text)
    return {name: [line for line in lines.split("\n") if line]
            for name, lines in re.findall(r"(?ms)^== (\w+)$(.*?)(?=^== |\Z)", text)}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    (unit,) = re.findall(r"(?s)```ini\n(.*?)```", PAGE.read_text(encoding="utf-8"))
    return boot(tmp_path_factory.mktemp("service"), unit)


@pytest.mark.parametrize("step", ["works", "dynamic"])
def test_it_is_in_rt_mode(said: dict[str, list[str]], step: str) -> None:
    """It has /dev/rt by its group and no right beside. systemd ends it, and it has told how it
    was."""
    device, users, locked_kb, capabilities, row, failed, *journal = said[step]
    robot, user = map(int, users.split())
    assert device == "tactus 660"
    assert user in DYNAMIC if step == "dynamic" else user == robot
    assert int(locked_kb.split()[1]) > 1000 and capabilities.split()[1] == "0" * 16
    _, name, _, mode, _, promotions, _, demotions, *_ = row.split()
    assert (name, mode, promotions, demotions) == ("robot", "rt", "1", "0")
    assert failed == "inactive"
    title = "robot.service - A control loop in RT mode"
    # What it has buffered comes as it ends, before or after systemd's words of that.
    figures = [line for line in journal if "jobs" in line]
    assert [line for line in journal if line not in figures] == [
        f"Starting {title}...", f"Started {title}.", f"Stopping {title}...",
        "robot.service: Deactivated successfully.", f"Stopped {title}."]
    # One for 20 jobs, up to the last tenth of a second.
    assert len(figures) > 90
    for k, line in enumerate(figures):
        assert line.endswith(f" m/s, {20 * (k + 1)} jobs, 0 states lost")


WHY = {
    "group":
    "robot: Permission denied: is tactus_user loaded, and the user in the group tactus?",
    "group_bare": "-13: /dev/rt cannot be opened: is the user in the group tactus?",
    "limit": "robot: mlockall: Cannot allocate memory",
    "limit_bare": "-11: the process has more memory than RLIMIT_MEMLOCK lets it pin"}


@pytest.mark.parametrize("step", WHY)
def test_it_is_refused(said: dict[str, list[str]], step: str) -> None:
    """Without the group, or with a small limit: the sentence is in the journal."""
    failed, *journal = said[step]
    unit = "bare" if "bare" in step else "robot"
    assert failed == "failed"
    assert [line for line in journal if line != WHY[step]] == [
        f"Starting {unit}.service - A control loop in RT mode...",
        f"Started {unit}.service - A control loop in RT mode.",
        f"{unit}.service: Main process exited, code=exited, status=1/FAILURE",
        f"{unit}.service: Failed with result 'exit-code'."]
    assert len(journal) == 5


def test_what_locks_nothing_is_let_in(said: dict[str, list[str]]) -> None:
    """The control of the refusals: the same unit and program, with the group and the limit."""
    assert said["bare"][0] == "inactive"
    assert "made, reason 2 nr 20 vector 0 at it, then 0" in said["bare"]


def test_nothing_is_left(said: dict[str, list[str]]) -> None:
    assert said["end"][0] == "unloaded"
