# SPDX-License-Identifier: GPL-2.0-only
"""The udev rule, read by the distribution's udev in a guest: who may open FIFOs and /dev/rt."""
from __future__ import annotations

import subprocess
from pathlib import Path

from harness import TOP
from harness.bench.apt import Apt
from harness.bench.common import cache_dir, locked

RULE = TOP / "userland/udev/70-tactus.rules"
GROUP = 4711
SCRIPT = f"""
echo tactus:x:{GROUP}: >> /etc/group
ln -s udevadm systemd-udevd
mkdir /run/udev
./systemd-udevd --daemon && ./udevadm trigger --settle --action=add --subsystem-match=rtf \\
    --subsystem-match=misc && stat -c '%n %a %u %g' /dev/rtf0 /dev/rtf3 /dev/rtfctl /dev/rt
"""


def udevadm() -> Path:
    """Debian's, unpacked in the bench's cache: installing it is not for a test to do."""
    folder = cache_dir() / "udev"
    program = folder / "root/bin/udevadm"
    with locked(cache_dir() / "udev.lock"):
        if not program.exists():
            apt = Apt("bookworm")
            apt.refresh()
            for deb in apt.download(apt.newest(["udev"]).values(), folder):
                subprocess.run(["dpkg", "-x", deb, folder / "root"], check=True)
    return program


def owners(vm, rules: dict[Path, str]) -> dict[str, str]:
    """{node: "mode user group"} when udev has seen them."""
    done = vm(SCRIPT, modules="tactus rtfifo nfifos=8 tactus_user",
              put={udevadm(): "/root/udevadm", **rules})
    assert done.status == 0, done.stderr
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def test_members_of_the_group_may_open_them(vm) -> None:
    """All but rtfctl; nothing is for others."""
    found = owners(vm, {RULE: "/etc/udev/rules.d/70-tactus.rules"})
    assert found == {"/dev/rtf0": f"660 0 {GROUP}", "/dev/rtf3": f"660 0 {GROUP}",
                     "/dev/rtfctl": "600 0 0", "/dev/rt": f"660 0 {GROUP}"}


def test_without_the_rule_they_are_roots(vm) -> None:
    """The control."""
    found = owners(vm, {})
    assert found == {"/dev/rtf0": "660 0 0", "/dev/rtf3": "660 0 0", "/dev/rtfctl": "600 0 0",
                     "/dev/rt": "600 0 0"}
