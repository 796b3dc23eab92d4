# SPDX-License-Identifier: GPL-2.0-only
"""Kernels of our own, built from Debian's linux-source package and cached.

KUnit is off in every stock kernel, and so are KASAN, lockdep and KCSAN. Each kernel
here is tinyconfig plus a few fragments from config/. What is built stays outside the
checkout, under a name made of the source's version and the configuration's hash, so
that a second run takes seconds and a changed fragment builds anew.
"""
from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .bench import packages
from .bench.common import BenchError, first_use
from .bench.kernels import SUITES

HERE = Path(__file__).resolve().parent
FRAGMENTS = {
    "plain": ("base", "plain"),
    "debug": ("base", "paravirt", "lean", "debug"),
    "kcsan": ("base", "paravirt", "kcsan"),
    # As distributions configure theirs.
    "desktop": ("base", "paravirt", "shipped", "shipped-6.1", "desktop"),
    "server": ("base", "paravirt", "shipped", "shipped-6.1", "server"),
    "kprobeless": ("base", "paravirt", "kprobeless"),
    "bare": ("base", "paravirt", "bare"),
    "desktop-6.12": ("base", "paravirt", "shipped", "shipped-6.12", "desktop"),
    "lazy-7": ("base", "paravirt", "shipped", "shipped-6.12", "lazy"),
    "cfi-6.12": ("base", "paravirt", "cfi"),
    "thinlto-6.12": ("base", "paravirt", "thinlto"),
}
# Of which source, if not the one installed: a series of the bench's, fetched and not installed.
SERIES = {"desktop-6.12": "6.12", "lazy-7": "7", "cfi-6.12": "6.12", "thinlto-6.12": "6.12"}
# By which release of clang, if not by the machine's gcc.
CLANG = {"cfi-6.12": "19", "thinlto-6.12": "19"}
# Packages that hold a series's source, where there is more than one of that name.
SOURCE_PACKAGES = {"6.12": "linux-source-6.12"}
NEEDED = {  # program -> Debian package
    "gcc": "gcc", "make": "make", "bc": "bc", "flex": "flex", "bison": "bison",
    "xz": "xz-utils", "cpio": "cpio", "busybox": "busybox-static",
    "qemu-system-x86_64": "qemu-system-x86",
}

# Under KCSAN's strict rules Linux has races of its own. A report's headline names the functions,
# with their modules, and an address for those on an RT task's stack, which cannot be unwound.
LINUX = r"[a-zA-Z_][\w.]*(\+0x\S+)?"
LINUX_RACES = rf"KCSAN: data-race in {LINUX}( / {LINUX})?$"

# In a guest of the debug kernel: kmemleak tells of what has been unreachable for 5 s.
LOOK_FOR_LEAKS = """\
echo scan > /sys/kernel/debug/kmemleak; sleep 6; echo scan > /sys/kernel/debug/kmemleak
cat /sys/kernel/debug/kmemleak"""


class SetupError(Exception):
    """The kernel cannot be had here; the message says why, in one sentence."""


@dataclass(frozen=True)
class Kernel:
    """A built kernel: `tree` is what `make -C` wants, `release` what uname prints."""

    name: str
    tree: Path
    release: str

    @property
    def image(self) -> Path:
        return self.tree / "arch/x86/boot/bzImage"


def cache_root() -> Path:
    base = os.environ.get("TACTUS_CACHE")
    if base:
        return Path(base)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tactus"


def say(text: str) -> None:
    print(f"kunit: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """One builder at a time; the others wait and then find the result."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another build of the same")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def check_programs(name: str) -> None:
    needed = dict(NEEDED)
    if release := CLANG.get(name):
        needed |= {f"clang-{release}": f"clang-{release}", f"ld.lld-{release}": f"lld-{release}",
                   f"llvm-nm-{release}": f"llvm-{release}"}
    missing = sorted({pkg for prog, pkg in needed.items() if not shutil.which(prog)})
    if not Path("/usr/include/libelf.h").exists():
        missing.append("libelf-dev")
    if missing:
        raise SetupError("missing packages: " + " ".join(missing))


def tarball(series: str = "") -> Path:
    """The source of a series, fetched at most once a day; or the newest linux-source installed, or
    the one TACTUS_LINUX_SOURCE names."""
    if series:
        return fetched(series)
    named = os.environ.get("TACTUS_LINUX_SOURCE")
    if named:
        return Path(named)
    found = sorted(Path("/usr/src").glob("linux-source-*.tar.xz"),
                   key=lambda p: [int(n) for n in re.findall(r"\d+", p.name)])
    if not found:
        raise SetupError("missing packages: linux-source")
    return found[-1]


def fetched(series: str) -> Path:
    """The tarball in the newest package of that series, unpacked in the cache."""
    try:
        root = packages.newest(SUITES[series], (SOURCE_PACKAGES.get(series, "linux-source"),),
                               cache_root() / f"source-{series}", ("binutils", "xz-utils"))
    except BenchError as error:
        raise SetupError(str(error)) from error
    return next((root.path / "usr/src").glob("linux-source-*.tar.xz"))


def source_version(tar: Path) -> str:
    """The package's version: it, not the tarball's name, changes with each update."""
    package = tar.name.removesuffix(".tar.xz")
    if tar.is_relative_to(cache_root()):
        return f"{package}_{packages.Root(tar.parents[2]).version}"
    asked = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package],
                           capture_output=True, text=True)
    if asked.returncode == 0 and asked.stdout:
        return f"{package}_{asked.stdout}"
    stat = tar.stat()
    return f"{package}_{stat.st_size}_{int(stat.st_mtime)}"


def source(series: str = "") -> Path:
    """Unpack the source once; return its folder."""
    tar = tarball(series)
    place = cache_root() / "kunit" / source_version(tar)
    with locked(place.with_name(place.name + ".lock")):
        if not place.exists():
            say(f"unpacking {tar.name}")
            scratch = place.with_name(place.name + ".new")
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir(parents=True)
            with first_use(tar.name):
                subprocess.run(["tar", "-xf", str(tar), "-C", str(scratch),
                                "--strip-components=1"], check=True)
            scratch.rename(place)
    return place


def fragment_text(name: str) -> str:
    return "".join((HERE / "config" / f"{part}.config").read_text()
                   for part in FRAGMENTS[name])


def asked_symbols(text: str) -> dict[str, str]:
    """Symbol -> value of a fragment; "n" for `# CONFIG_X is not set`."""
    asked: dict[str, str] = {}
    for line in text.splitlines():
        if match := re.fullmatch(r"(CONFIG_\w+)=(.+)", line):
            asked[match[1]] = match[2]
        elif match := re.fullmatch(r"# (CONFIG_\w+) is not set", line):
            asked[match[1]] = "n"
    return asked


def missing_symbols(asked: str, final: str) -> list[str]:
    """What a fragment asks for and the final .config does not say."""
    have = asked_symbols(final)
    return [f"{sym}={value} (is {have.get(sym, 'n')})"
            for sym, value in asked_symbols(asked).items() if have.get(sym, "n") != value]


def compiler() -> list[str]:
    """Words for make, for what is built often."""
    return ["CC=ccache gcc"] if shutil.which("ccache") else []


def build_environment() -> dict[str, str]:
    return os.environ | {
        "CCACHE_DIR": str(cache_root() / "ccache"),
        # The same sources give the same objects, whoever builds them and when.
        "KBUILD_BUILD_TIMESTAMP": "2026-01-01", "KBUILD_BUILD_USER": "tactus",
        "KBUILD_BUILD_HOST": "kunit", "LC_ALL": "C",
    }


def make(tree: Path, src: Path, *targets: str, log: Path, progress: str = "",
         clang: str = "") -> None:
    """Run make in the source with its output in @tree; show how far it is. Not by ccache, which
    would preprocess each file once more: the tree itself is kept."""
    jobs = os.cpu_count() or 1
    words = [f"LLVM=-{clang}"] if clang else []
    command = ["nice", "make", "-C", str(src), f"O={tree}", f"-j{jobs}", *words, *targets]
    start = last = time.monotonic()
    done = 0
    with open(log, "a") as out, subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=build_environment()) as child:
        assert child.stdout
        for line in child.stdout:
            out.write(line)
            done += line.startswith("  ")
            now = time.monotonic()
            if progress and now - last >= 15:
                say(f"{progress}: {done} steps, {now - start:.0f} s")
                last = now
    if child.returncode:
        tail = "\n".join(log.read_text().splitlines()[-15:])
        raise SetupError(f"make {' '.join(targets)} failed, the end of {log}:\n{tail}")


def configure(name: str, tree: Path, src: Path, log: Path) -> None:
    asked, clang = fragment_text(name), CLANG.get(name, "")
    make(tree, src, "tinyconfig", log=log, clang=clang)
    # olddefconfig takes the last word on each symbol, so the fragments win.
    config = tree / ".config"
    config.write_text(config.read_text() + asked)
    make(tree, src, "olddefconfig", log=log, clang=clang)
    if missing := missing_symbols(asked, config.read_text()):
        raise SetupError("not in the final .config: " + ", ".join(missing))


def tree_of(name: str) -> Path:
    """Where the kernel @name is, or will be: another source, fragment or compiler, another
    place."""
    clang = CLANG.get(name)
    words = [f"clang-{clang}", "--version"] if clang else ["gcc", "-dumpfullversion"]
    try:
        version = subprocess.run(words, capture_output=True, text=True).stdout
    except FileNotFoundError as error:
        raise SetupError(f"there is no {error.filename}") from error
    key = hashlib.sha256("\0".join((source_version(tarball(SERIES.get(name, ""))),
                                    fragment_text(name), version)).encode()).hexdigest()[:12]
    return cache_root() / "kunit" / f"{name}-{key}"


def kernel(name: str) -> Kernel:
    """The built kernel @name, from the cache or built now."""
    check_programs(name)
    src = source(SERIES.get(name, ""))
    tree = tree_of(name)
    with locked(tree.with_name(tree.name + ".lock")):
        built = tree / "tactus-built"  # written last: its presence means complete
        if not built.exists():
            say(f"building the {name} kernel once, in {tree}")
            tree.mkdir(parents=True, exist_ok=True)
            log = tree / "tactus-build.log"
            log.unlink(missing_ok=True)
            with first_use(f"the {name} kernel"):
                configure(name, tree, src, log)
                make(tree, src, "bzImage", "modules", log=log, progress=f"{name} kernel",
                     clang=CLANG.get(name, ""))
            built.write_text("")
    release = (tree / "include/config/kernel.release").read_text().strip()
    return Kernel(name, tree, release)


def forbidden(name: str) -> str | None:
    """Why tests must do without the kernel @name; None if they may have it, built if need be.

    Building one takes some ten minutes of two CPUs, once. TACTUS_NO_KERNEL_BUILDS=1 is for those
    who would rather leave out its tests; or it names the kernels that must not be built.
    """
    if not {"1", name} & set(os.environ.get("TACTUS_NO_KERNEL_BUILDS", "").split()):
        return None
    try:
        if (tree_of(name) / "tactus-built").exists():
            return None
    except SetupError as problem:
        return str(problem)
    return (f"the {name} kernel is not built yet, and TACTUS_NO_KERNEL_BUILDS is set: "
            f"`tests/kunit/run --kernel {name} --tree` builds it")
