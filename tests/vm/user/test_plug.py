# SPDX-License-Identifier: GPL-2.0-only
"""Memory is added to the machine while a thread is in RT mode, with page tables of its own."""

from __future__ import annotations

import json
import socket
import threading
import time
from pathlib import Path

import pytest

from harness import programs

# With page tables of four levels the kernel's direct map takes another entry of the top ones here.
FAR = 1 << 39
QEMU = ("-m 512M,slots=1,maxmem=600G -object memory-backend-ram,id=more,size=128M "
        "-chardev socket,id=plug,path={},server=on,wait=off -mon chardev=plug,mode=control")


def plug(path: Path, console: Path) -> None:
    """Adds a DIMM when the guest says so."""
    end = time.monotonic() + 100
    while not console.exists() or "user_plug: now" not in console.read_text(errors="replace"):
        if time.monotonic() > end:
            return
        time.sleep(0.1)
    with socket.socket(socket.AF_UNIX) as monitor:
        monitor.connect(str(path))
        for command in ({"execute": "qmp_capabilities"},
                        {"execute": "device_add", "arguments": {
                            "driver": "pc-dimm", "id": "dimm", "memdev": "more", "addr": FAR}}):
            monitor.sendall(json.dumps(command).encode() + b"\n")
        time.sleep(1)   # until it has read them


@pytest.mark.long
def test_memory_that_is_added(vm, tmp_path: Path) -> None:
    """Another process's tasks, in the new memory, preempt the first in ring 3."""
    path, console = tmp_path / "plug", tmp_path / "run0.console"
    helper = threading.Thread(target=plug, args=(path, console), daemon=True)
    helper.start()
    done = vm("./user_plug", modules="tactus tactus_user", icount=True, append="no5lvl",
              put=[programs.build("user_plug")], qemu=QEMU.format(path), timeout=100)
    helper.join()
    assert done.stdout == "/sys/devices/system/memory/memory4096/state\nyoung 400\nstrayed 0\n"
