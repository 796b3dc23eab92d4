# SPDX-License-Identifier: GPL-2.0-only
"""Which kernel modules make up Tactus, in which order, and how one is put in or taken out."""
from __future__ import annotations

import re
from pathlib import Path

from tactus.errors import ToolError
from tactus.machine import Machine

CORE = "tactus_core"
EXECUTIVE = "tactus"
FIFOS = "rtfifo"
POLICY_PREFIX = "tactus_"
BUILT_IN_POLICY = "fixed_priority"  # the executive's own: no module


def policy_module(policy: str) -> str | None:
    """The module of a policy; None for the built-in one."""
    if policy == BUILT_IN_POLICY:
        return None
    if not re.fullmatch(r"[a-z0-9_]+", policy) or policy == "core":
        raise ToolError(f"no such policy: {policy!r}", 2)
    return POLICY_PREFIX + policy


def load_order(policy: str) -> list[str]:
    """The modules to load, each after what it needs."""
    module = policy_module(policy)
    return [CORE, EXECUTIVE, *([module] if module else []), FIFOS]


def unload_order(loaded: list[str]) -> list[str]:
    """Of @loaded, what `unload` takes out: the core is resident and stays."""
    policies = sorted(name for name in loaded
                      if name.startswith(POLICY_PREFIX) and name != CORE)
    return [name for name in (FIFOS, *policies, EXECUTIVE) if name in loaded]


def no_fifo(machine: Machine) -> str:
    """Why a FIFO may not be there."""
    if FIFOS not in machine.modules():
        return "rtfifo is not loaded (tactus load)"
    return "no RT code has created it yet"


def vermagic(module: bytes) -> str | None:
    """The release a .ko was built for, from its .modinfo; None if it does not say."""
    match = re.search(rb"\0vermagic=([^\0 ]+)", module)
    return match[1].decode() if match else None


def find_in(folder: Path, name: str) -> Path:
    """NAME.ko somewhere below @folder, as a build leaves it."""
    if not folder.is_dir():
        raise ToolError(f"{folder} is not a folder")
    found = sorted(folder.rglob(f"{name}.ko"))
    if not found:
        raise ToolError(f"there is no {name}.ko below {folder}: build the modules first")
    if len(found) > 1:
        raise ToolError(f"more than one {name}.ko below {folder}: "
                        + ", ".join(str(path) for path in found))
    return found[0]


def check_release(path: Path, release: str) -> None:
    built_for = vermagic(path.read_bytes())
    if built_for is None:
        raise ToolError(f"{path} is not a kernel module")
    if built_for != release:
        raise ToolError(f"{path} was built for {built_for}, but {release} is running: "
                        "build it against this kernel's headers")


def check_installed(machine: Machine, name: str) -> None:
    folder = machine.path(f"/lib/modules/{machine.release()}")
    if not any(folder.rglob(f"{name}.ko*")):
        raise ToolError(f"there is no module {name} for this kernel ({machine.release()}): "
                        "build and install it, or name the build folder with --dir")


# Linux's words, with Secure Boot or module.sig_enforce=1.
UNSIGNED = re.compile(r"^Loading of (unsigned module|module with \w+ \w+) is rejected")


def failure(doing: str, output: str, log: list[str]) -> ToolError:
    """What the program said and, above all, what the kernel said."""
    said = output.strip().splitlines()
    reason = said[-1].rpartition(": ")[2] if said else "no reason given"
    kernel_said = [line for line in log if re.match(r"(tactus|rtfifo)\w*:", line)]
    sentence = f"{doing}: {reason}"
    if any(UNSIGNED.search(line) for line in log):
        sentence += ("\nthis kernel takes signed modules only: install tactus-dkms, which signs,"
                     "\nthen mokutil --import /var/lib/dkms/mok.pub, and restart")
    if kernel_said:
        sentence += "\n" + "\n".join(f"the kernel says: {line}" for line in kernel_said)
    return ToolError(sentence)


def insert(machine: Machine, name: str, folder: Path | None, parameters: list[str]) -> None:
    """Load one module, from @folder or from where modprobe looks."""
    if folder:
        path = find_in(folder, name)
        check_release(path, machine.release())
        command = ["insmod", str(path), *parameters]
    else:
        check_installed(machine, name)
        command = ["modprobe", name, *parameters]
    log = machine.kernel_log()
    try:
        done = machine.run(command)
        if done.returncode:
            raise failure(f"cannot load {name}", done.stderr, log.lines())
    finally:
        log.close()


def remove(machine: Machine, name: str) -> None:
    log = machine.kernel_log()
    try:
        done = machine.run(["rmmod", name])
        if done.returncode:
            raise failure(f"cannot unload {name}", done.stderr, log.lines())
    finally:
        log.close()
