# SPDX-License-Identifier: GPL-2.0-only
"""32-bit programs with a C library: made with Debian's packages for that, which are unpacked in the
bench's cache and not installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

from . import programs
from .bench.apt import Apt
from .bench.chroot import this_release
from .bench.common import BenchError, cache_dir, first_use, locked, output_of

LOADER = "/lib/ld-linux.so.2"
# Where 32-bit libraries are on Debian for 64 bits, and the loader looks for them.
LIBRARY = "/lib32/libc.so.6"


def root() -> Path:
    """The folder that the packages are unpacked in.

    Raises BenchError if this machine's release has none.
    """
    version = output_of(["gcc", "-dumpversion"], "gcc").strip().split(".")[0]
    names = ["libc6-i386", "libc6-dev-i386", f"lib32gcc-{version}-dev"]
    release = this_release()
    folder = cache_dir() / "libc32" / f"{release}-{version}"
    with locked(folder.with_suffix(".lock")):
        if not (folder / "root").is_dir():
            apt = Apt(release)
            apt.refresh()
            newest = apt.newest(names)
            if lacking := set(names) - set(newest):
                raise BenchError(f"{release} has no {' '.join(sorted(lacking))}")
            with first_use(names[0]):
                for deb in apt.download(newest.values(), folder):
                    subprocess.run(["dpkg", "-x", deb, folder / "new"], check=True)
            (folder / "new").rename(folder / "root")
    return folder / "root"


def build(name: str, *, static: bool) -> Path:
    """The program made of NAME.c, in 32-bit code."""
    packages = root()
    (compiler,) = packages.glob("usr/lib/gcc/x86_64-linux-gnu/*/32")
    library = packages / "usr/lib32"
    words = [word for word in programs.COMPILE if word != "-static"]
    words += ["-m32", f"-B{compiler}", f"-B{library}", f"-L{compiler}", f"-L{library}",
              # What differs from 64-bit code; all other headers are those of this machine.
              "-isystem", str(packages / "usr/include/x86_64-linux-gnu"),
              "-isystem", "/usr/include/x86_64-linux-gnu"]
    # libc.so is a text that names files by their installed paths.
    words += ["-static"] if static else [f"-Wl,--sysroot={packages}"]
    program = programs.BUILD / f"{name}_{'static' if static else 'dynamic'}_32"
    program.parent.mkdir(parents=True, exist_ok=True)
    fresh = program.with_name(f".{program.name}")
    with locked(program.with_name(f".{program.name}.lock")):
        subprocess.run([*words, "-o", fresh, programs.source(name)], check=True)
        fresh.replace(program)
    return program


def libraries() -> dict[Path, str]:
    """What the dynamic one takes to the guest: path here -> path there."""
    packages = root()
    return {packages / "lib32/ld-linux.so.2": LOADER, packages / LIBRARY[1:]: LIBRARY}
