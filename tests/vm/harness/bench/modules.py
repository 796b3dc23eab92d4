# SPDX-License-Identifier: GPL-2.0-only
"""Finds kernel modules by name with all that they need, and puts them in loading order."""

from __future__ import annotations

import contextlib
import lzma
import re
import shlex
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from .common import BenchError, locked
from .kernels import Kernel

ELF64 = b"\x7fELF\2\1"          # 64 bits, little-endian


def _normal(name: str) -> str:
    return name.replace("-", "_")


def info(path: Path, what: str) -> list[str]:
    """The lines of one field (depends, vermagic, name) of a module's .modinfo. A process for each
    of a tree's modules would cost more than the start of a guest."""
    start = f"{what}=".encode()
    return [line[len(start):].decode(errors="replace") for line in _modinfo(path).split(b"\0")
            if line.startswith(start)]


def _whole(path: Path) -> bytes:
    whole = path.read_bytes()
    return lzma.decompress(whole) if path.name.endswith(".xz") else whole


def _modinfo(path: Path) -> bytes:
    """The section .modinfo of a module. Raises BenchError when there is none."""
    file = _whole(path)
    with contextlib.suppress(struct.error, IndexError):
        if file[:6] == ELF64:
            (table,) = struct.unpack_from("<Q", file, 0x28)
            each, count, names_at = struct.unpack_from("<HHH", file, 0x3a)
            # Name, type, flags, address, offset, size of each.
            sections = [struct.unpack_from("<IIQQQQ", file, table + number * each)
                        for number in range(count)]
            names = sections[names_at][4]
            for name, _, _, _, offset, size in sections:
                if file[names + name:names + name + 9] == b".modinfo\0":
                    return file[offset:offset + size]
    raise BenchError(f"{path} is not a kernel module for this machine")


@dataclass
class Wanted:
    """A module as it was asked for: a plain name or a path, and its parameters."""

    name: str
    params: list[str] = field(default_factory=list)


def parse(text: str) -> list[Wanted]:
    """Reads "a b p=1 path/c.ko": a word with '=' is a parameter of the module before it."""
    found: list[Wanted] = []
    for word in shlex.split(text):
        if "=" in word and "/" not in word.split("=")[0]:
            if not found:
                raise BenchError(f"--modules: parameter {word} stands before any module")
            found[-1].params.append(word)
        else:
            found.append(Wanted(word))
    return found


@dataclass
class Plan:
    """What goes into the guest: name -> file on the host, and the order of loading."""

    files: dict[str, Path] = field(default_factory=dict)
    origin: dict[str, str] = field(default_factory=dict)
    depends: dict[str, list[str]] = field(default_factory=dict)
    load: list[tuple[str, list[str]]] = field(default_factory=list)


class Planner:
    """Resolves names in the built tree first, then in the kernel's own package."""

    def __init__(self, kernel: Kernel, tree: dict[str, Path]) -> None:
        self.kernel = kernel
        self.tree = dict(tree)
        self.plan = Plan()
        self._stock: dict[str, Path] | None = None
        self._builtin: set[str] = set()

    def _load_stock(self) -> dict[str, Path]:
        if self._stock is None:
            self._stock = {}
            dep = self.kernel.modules / "modules.dep"
            if dep.is_file():
                for line in dep.read_text(encoding="utf-8").splitlines():
                    path = Path(line.split(":")[0])
                    self._stock[_normal(path.name.split(".ko")[0])] = self.kernel.modules / path
            builtin = self.kernel.modules / "modules.builtin"
            if builtin.is_file():
                self._builtin = {_normal(Path(line).stem)
                                 for line in builtin.read_text(encoding="utf-8").splitlines()}
        return self._stock

    def _find(self, name: str) -> tuple[Path, str] | None:
        if name in self.tree:
            return self.tree[name], "updates"
        stock = self._load_stock()
        if name in stock:
            return stock[name], "kernel"
        return None

    def add(self, name: str, path: Path | None = None) -> str | None:
        """Puts a module and all it depends on into the plan; None: it is built in."""
        name = _normal(name)
        if name in self.plan.files:
            return name
        if path is None:
            found = self._find(name)
            if found is None:
                if name in self._builtin:
                    return None
                raise BenchError(
                    f"module {name} is neither in this tree nor in {self.kernel.release}'s package"
                )
            path, origin = found
        else:
            origin = "extra"
        self.plan.files[name] = path
        self.plan.origin[name] = origin
        if origin == "kernel":
            needs = self._stock_needs(path)
        else:
            needs = [part for line in info(path, "depends") for part in line.split(",") if part]
        self.plan.depends[name] = [have for need in needs if (have := self.add(need))]
        return name

    def _stock_needs(self, path: Path) -> list[str]:
        below = str(path.relative_to(self.kernel.modules))
        text = (self.kernel.modules / "modules.dep").read_text(encoding="utf-8")
        match = re.search(rf"^{re.escape(below)}:(.*)$", text, re.M)
        return [Path(dep).name.split(".ko")[0] for dep in (match[1].split() if match else [])]

    def add_path(self, path: Path) -> str:
        """Takes a .ko file as it is, after a look at the kernel that it was built for."""
        if not path.is_file():
            raise BenchError(f"module {path}: no such file")
        magic = (info(path, "vermagic") or [""])[0].split()
        if not magic or magic[0] != self.kernel.release:
            raise BenchError(
                f"module {path} is built for {magic[0] if magic else 'no kernel'}, not for"
                f" {self.kernel.release} (vm build DIR builds for it)"
            )
        name = _normal(path.stem)
        self.tree[name] = path
        self.add(name, path)
        return name

    def want(self, wanted: list[Wanted], also: list[Wanted]) -> Plan:
        """The plan that loads `wanted` in the order given, what each needs before it.

        `also` and the whole of the tree lie in the guest without being loaded.
        """
        # Paths first: a name or a dependency may mean a module that is given as a path later.
        names = {}
        for item in [*wanted, *also]:
            is_path = "/" in item.name or item.name.endswith(".ko")
            names[id(item)] = self.add_path(Path(item.name)) if is_path else _normal(item.name)
        params = {names[id(item)]: item.params for item in wanted}
        done: set[str] = set()

        def load(name: str) -> None:
            if name not in done:
                done.add(name)
                for need in self.plan.depends[name]:
                    load(need)
                self.plan.load.append((name, params.get(name, [])))

        for item in wanted:
            name = names[id(item)]
            if self.add(name) is not None:
                load(name)
            elif item.params:
                raise BenchError(f"module {name} is built in: it takes no parameters")
        for name in [*(names[id(item)] for item in also), *self.tree]:
            self.add(name)
        return self.plan


SIGNED = b"~Module signature appended~\n"


def contents(path: Path, cache: Path) -> bytes:
    """A module's file for the guest: unpacked, without debugging information."""
    whole = _whole(path)
    if path.name.endswith(".xz"):
        return whole
    # What strip writes has no signature any more.
    if len(whole) < 200_000 or whole.endswith(SIGNED):
        return whole
    stat = path.stat()
    small = cache / f"{path.stem}-{stat.st_mtime_ns}-{stat.st_size}.ko"
    # Up to the end of the reading: who comes next may take this one away for another of its name.
    with locked(cache / ".lock"):
        if not small.is_file():
            for old in cache.glob(f"{path.stem}-*-*.ko"):
                old.unlink()
            scratch = cache / f".{small.name}"
            if subprocess.run(["strip", "--strip-debug", "-o", str(scratch), str(path)],
                              check=False).returncode:
                return whole
            scratch.rename(small)
        return small.read_bytes()
