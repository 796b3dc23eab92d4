# SPDX-License-Identifier: GPL-2.0-only
"""Writes the guest's initial file system: busybox, PID 1, modules and whatever is put there."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from pathlib import Path

from .common import BenchError, build_dir, locked, output_of
from .modules import Plan, contents

BUSYBOX = Path("/bin/busybox")
HERE = Path(__file__).resolve().parent.parent


class Cpio:
    """A newc archive in memory. Times and inode numbers are fixed: equal input, equal bytes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._known: set[str] = set()
        self._inode = 0

    def _entry(self, name: str, mode: int, data: bytes = b"",
               rdev: tuple[int, int] = (0, 0)) -> None:
        self._inode += 1
        raw = name.encode()
        fields = (self._inode, mode, 0, 0, 1, 0, len(data), 0, 0, *rdev, len(raw) + 1, 0)
        header = b"070701" + b"".join(b"%08x" % field for field in fields)
        self._parts.append(_padded(header + raw + b"\0"))
        self._parts.append(_padded(data))

    def folder(self, name: str, mode: int = 0o755) -> None:
        """A folder and all above it, once."""
        name = name.strip("/")
        if not name or name in self._known:
            return
        self.folder(os.path.dirname(name))
        self._known.add(name)
        self._entry(name, stat.S_IFDIR | mode)

    def file(self, name: str, data: bytes, mode: int = 0o644) -> None:
        """A regular file; a later one of the same name wins."""
        name = name.strip("/")
        self.folder(os.path.dirname(name))
        self._known.add(name)
        self._entry(name, stat.S_IFREG | mode, data)

    def link(self, name: str, target: str) -> None:
        """A symbolic link, unless something of that name is there already."""
        name = name.strip("/")
        if name in self._known:
            return
        self.folder(os.path.dirname(name))
        self._known.add(name)
        self._entry(name, stat.S_IFLNK | 0o777, target.encode())

    def device(self, name: str, major: int, minor: int) -> None:
        """A character device."""
        self.folder(os.path.dirname(name))
        self._entry(name, stat.S_IFCHR | 0o600, rdev=(major, minor))

    def has(self, name: str) -> bool:
        """True if the archive holds the name."""
        return name.strip("/") in self._known

    def bytes(self) -> bytes:
        """The finished archive."""
        self._entry("TRAILER!!!", 0)
        return b"".join(self._parts)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def guest_init() -> Path:
    """PID 1, compiled when its source is newer."""
    source = HERE / "init" / "init.c"
    program = build_dir() / "guest" / "init"
    with locked(build_dir() / ".guest.lock"):
        if not program.is_file() or program.stat().st_mtime < source.stat().st_mtime:
            program.parent.mkdir(parents=True, exist_ok=True)
            output_of(["gcc", "-static", "-O2", "-Wall", "-Wextra", "-Werror", "-o",
                       str(program), str(source)], "compiling the guest's PID 1")
    return program


def _libraries(program: Path) -> list[Path]:
    """What a dynamic program needs at run time; empty for a static one or a script."""
    with open(program, "rb") as handle:
        if handle.read(4) != b"\x7fELF":
            return []
    done = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False)
    if done.returncode:
        return []
    return [Path(path) for path in re.findall(r"(?:=> |^\s*)(/\S+) \(0x", done.stdout, re.M)]


def _put_file(cpio: Cpio, source: Path, guest: str) -> None:
    mode = source.stat().st_mode & 0o777
    cpio.file(guest, source.read_bytes(), mode)
    if mode & 0o111 or ".so" in source.name:
        for library in _libraries(source):
            if not cpio.has(str(library)):
                cpio.file(str(library), library.read_bytes(), 0o755)


def put(cpio: Cpio, spec: str) -> None:
    """Carries out one --put HOST[:GUEST]; a folder goes with all that is in it."""
    host, _, guest = spec.partition(":")
    source = Path(host)
    if not source.exists():
        raise BenchError(f"--put {spec}: {host} does not exist")
    name = source.resolve().name
    if not guest:
        guest = f"/root/{name}"
    elif guest.endswith("/"):
        guest += name
    if not guest.startswith("/"):
        guest = f"/root/{guest}"
    if source.is_file():
        _put_file(cpio, source, guest)
        return
    for folder, _, files in os.walk(source):
        below = os.path.relpath(folder, source)
        cpio.folder(os.path.normpath(f"{guest}/{below}"))
        for entry in sorted(files):
            path = Path(folder, entry)
            if path.is_file():
                _put_file(cpio, path, os.path.normpath(f"{guest}/{below}/{entry}"))


def add_modules(cpio: Cpio, release: str, plan: Plan) -> None:
    """All of the plan's modules, and what modprobe has to know of them."""
    base = f"/lib/modules/{release}"
    place = {}
    for name, path in plan.files.items():
        place[name] = f"{plan.origin[name]}/{name}.ko"
        cpio.file(f"{base}/{place[name]}", contents(path, build_dir() / "guest" / release))
        # The short way for commands that load and unload by themselves.
        cpio.link(f"/modules/{name}.ko", f"{base}/{place[name]}")

    def closure(name: str) -> list[str]:
        found: list[str] = []
        for need in plan.depends[name]:
            for part in (need, *closure(need)):
                if part not in found:
                    found.append(part)
        return found

    lines = [f"{place[name]}: {' '.join(place[need] for need in closure(name))}".rstrip()
             for name in plan.files]
    cpio.file(f"{base}/modules.dep", ("\n".join(lines) + "\n").encode())
    for empty in ("modules.alias", "modules.symbols", "modules.builtin", "modules.order"):
        cpio.file(f"{base}/{empty}", b"")


def base() -> bytes:
    """The archive that all guests of a checkout have: PID 1, busybox, folders. It says nothing of a
    job, so one boot with it serves many (kept.py)."""
    if not BUSYBOX.is_file():
        raise BenchError("/bin/busybox is missing: install busybox-static")
    cpio = Cpio()
    for folder in ("bin", "sbin", "usr/bin", "usr/sbin", "etc", "proc", "sys", "dev", "run",
                   "tmp", "var", "mnt", "bench"):
        cpio.folder(folder)
    cpio.folder("root", 0o700)
    cpio.device("dev/console", 5, 1)
    cpio.device("dev/null", 1, 3)
    cpio.file("init", guest_init().read_bytes(), 0o755)
    cpio.file("bin/busybox", BUSYBOX.read_bytes(), 0o755)
    cpio.file("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n")
    cpio.file("etc/group", b"root:x:0:\n")
    cpio.file("etc/hosts", b"127.0.0.1 localhost\n")
    for applet in output_of([str(BUSYBOX), "--list"], "busybox").split():
        cpio.link(f"bin/{applet}", "busybox")
    for name in ("insmod", "rmmod", "modprobe", "depmod", "lsmod"):
        cpio.link(f"sbin/{name}", "../bin/busybox")
    return cpio.bytes()


def write(release: str, plan: Plan, command: str, puts: list[str], gets: list[str],
          busy: bool) -> bytes:
    """The archive of one run, to be unpacked over the base's."""
    cpio = Cpio()
    add_modules(cpio, release, plan)
    for spec in puts:
        put(cpio, spec)
    job = [f"load /lib/modules/{release}/{plan.origin[name]}/{name}.ko {' '.join(params)}".rstrip()
           for name, params in plan.load]
    job += ["busy"] * busy
    job += [f"get {path}" for path in gets]
    cpio.file("bench/job", ("\n".join(job) + "\n").encode())
    cpio.file("bench/command", command.encode())
    return cpio.bytes()
