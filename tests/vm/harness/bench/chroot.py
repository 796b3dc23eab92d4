# SPDX-License-Identifier: GPL-2.0-only
"""A build machine for kernels of a newer Debian release than this machine's.

Their headers bring programs (objtool, modpost, fixdep) that want that release's libc, and name
that release's compiler. So `make` runs in a chroot of it, made once and kept beside the kernels;
what it works on is bound into the chroot at the very path that it has outside, and under the names
that builds.py gives its folders.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from .apt import Apt
from .common import TREE, BenchError, cache_dir, first_use, locked, output_of, say
from .kernels import Kernel, compiler_of

# Whose kernels the machine itself builds modules for.
OLDEST = "bookworm"
# What building a module takes beside the compiler that the headers name.
PACKAGES = ("make", "bc", "kmod", "libelf1t64", "pahole", "ccache")
# Names further packages, for a chroot of its own: `make check` builds with another compiler.
ALSO = "TACTUS_CHROOT_PACKAGES"
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}

# Bindings live in a mount name space of their own: they end with the command, however it ends.
ENTER = """\
root=$1; shift
while [ "$1" != -- ]; do
    mkdir -p "$root$2" && mount --rbind "$1" "$root$2" || exit 1
    shift 2
done
shift
exec chroot "$root" "$@"
"""


def needed(kernel: Kernel) -> bool:
    """True if the kernel's modules cannot be built on this machine as it is."""
    # Other distributions' compilers are taken to do for the oldest, as Debian's own does.
    return not kernel.is_local and kernel.release_name not in (OLDEST, this_release())


def this_release() -> str:
    """The codename of this machine's release, "" if it does not say."""
    try:
        text = Path("/etc/os-release").read_text(encoding="utf-8")
    except OSError:
        return ""
    match = re.search(r"^VERSION_CODENAME=(\w+)", text, re.M)
    return match[1] if match else ""


def make(kernel: Kernel) -> Path:
    """The chroot for the kernel's modules, made if it is not there yet.

    Raises BenchError without root, without mmdebstrap, or when it cannot be made.
    """
    release = kernel.release_name
    compiler = compiler_of(kernel) or "gcc"
    also = os.environ.get(ALSO, "").split()
    # Other packages, another chroot.
    packages = hashlib.sha256(" ".join(PACKAGES).encode()).hexdigest()[:6]
    root = cache_dir() / "chroots" / "-".join([release, compiler, packages, *also])
    if os.geteuid() != 0:
        raise BenchError(f"the modules for {kernel.release} are built in a chroot of {release},"
                         " and only root can enter one")
    with locked(root.with_name(f".{root.name}.lock")):
        if (root / "usr/bin/make").exists():
            return root
        if not shutil.which("mmdebstrap"):
            raise BenchError(f"the modules for {kernel.release} are built in a chroot of {release},"
                             " and that is made by mmdebstrap: install it")
        say(f"making a chroot of {release} to build modules in (once, 300 MB)")
        scratch = root.with_name(f"{root.name}.new")
        debian(scratch, release, (compiler, *PACKAGES, *also))
        scratch.rename(root)
    return root


def debian(folder: Path, release: str, packages: Sequence[str], *words: str) -> None:
    """Makes a root file system of a release. Raises BenchError, and leaves nothing, if it cannot be
    made."""
    shutil.rmtree(folder, ignore_errors=True)
    sources = folder.with_name(f"{folder.name.removesuffix('.new')}.sources")
    sources.parent.mkdir(parents=True, exist_ok=True)
    sources.write_text(Apt(release).sources_text(), encoding="utf-8")
    try:
        with first_use(f"a root file system of {release}"):
            output_of(
                ["mmdebstrap", "--quiet", "--variant=apt", "--mode=root",
                 f"--include={','.join(packages)}", *words, *_proxies(),
                 release, str(folder), str(sources)],
                f"making a root file system of {release}",
            )
    except BenchError:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _proxies() -> list[str]:
    """How this machine's apt gets out, for the chroot's."""
    text = output_of(["apt-config", "dump"], "reading apt's configuration")
    return [f"--aptopt={line}" for line in text.splitlines()
            if re.match(r"Acquire::https?::\S", line)]


def ccache_dir(kernel: Kernel) -> Path:
    """The release's ccache has a folder of its own, as each release of it may write another
    format."""
    return cache_dir() / f"ccache-{kernel.release_name}"


def run(kernel: Kernel, command: Sequence[str], folders: Sequence[Path],
        places: Mapping[str, Path] | None = None,
        env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a command in the kernel's chroot; `folders`, the checkout and the kernel are in it, and
    `places` under other names.

    Raises BenchError when the chroot cannot be made.
    """
    root = make(kernel)
    cache = ccache_dir(kernel)
    cache.mkdir(parents=True, exist_ok=True)
    shown = [Path("/proc"), TREE, kernel.root.absolute(), cache, *folders]
    # One inside another comes with it; binding it again would only hide the same files.
    outer = [path for path in dict.fromkeys(shown)
             if not any(other in path.parents for other in shown)]
    bound = [*((path, path) for path in outer),
             *((place, name) for name, place in (places or {}).items())]
    return subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", ENTER, "sh", str(root),
         *(str(word) for pair in bound for word in pair), "--", *command],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        env={**ENVIRONMENT, **{name: value for name, value in os.environ.items()
                               if name.startswith("CCACHE_")}, **(env or {})},
    )
