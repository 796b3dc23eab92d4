# SPDX-License-Identifier: GPL-2.0-only
"""Finds, fetches and caches stock kernels: image, modules and headers, never installed.

No package version is written down anywhere: what is asked for is "6.1, cloud", and the newest
package that fits is taken, or the newest cached one when the lists cannot be had.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from .apt import Apt, Package, version_key
from .common import BenchError, cache_dir, first_use, locked, output_of, say

# What the bench's guest lives on; distributions have all of it.
NEEDED = ("CONFIG_PCI", "CONFIG_SYSFS", "CONFIG_DEVTMPFS", "CONFIG_PROC_FS", "CONFIG_TMPFS",
          "CONFIG_BLK_DEV_INITRD", "CONFIG_SERIAL_8250_CONSOLE", "CONFIG_MODULES")

FLAVOURS = {"cloud": "-cloud", "generic": "", "rt": "-rt"}

# Which suite of Debian carries which series; those of a newer release than the machine's have
# their modules built in a chroot (chroot.py). "+deb13" tells trixie's 6.12 from bookworm's.
SUITES = {"6.1": "bookworm", "6.12": "bookworm", "6.12+deb13": "trixie", "7": "trixie-backports"}
DEFAULT = "6.1"
LOCAL = "local"
# Kernels of our own, built by tests/vm/harness/ownkernel.py; they have no flavours. The first two
# have checkers in them.
CHECKING = ("debug", "kcsan")
OWN = (*CHECKING, "desktop", "server", "kprobeless", "bare",
       "desktop-6.12", "lazy-7", "cfi-6.12", "thinlto-6.12")


@dataclass(frozen=True)
class Kernel:
    """One unpacked kernel. `root` is the folder that its packages were unpacked in."""

    release: str
    version: str
    flavour: str
    root: Path
    image: Path
    config: Path | None
    kdir: Path
    modules: Path
    suite: str = "bookworm"

    @property
    def release_name(self) -> str:
        """The Debian release whose compiler and libc building modules takes."""
        return self.suite.split("-")[0]

    @property
    def is_local(self) -> bool:
        """True for a kernel of no package: one of our own, or what the user named."""
        return self.flavour in (LOCAL, *OWN)

    def as_json(self) -> dict[str, str]:
        """The fields as text, for --json."""
        return {name: str(value) for name, value in asdict(self).items()}

    def has_config(self, symbol: str) -> bool:
        """True if the kernel's configuration has the symbol as y or m."""
        text = _read(self.config) if self.config else ""
        return re.search(rf"^{re.escape(symbol)}=[ym]$", text, re.M) is not None

    def hz(self) -> int:
        """Ticks a second; Debian's where there is no configuration to read."""
        found = re.search(r"^CONFIG_HZ=(\d+)$", _read(self.config) if self.config else "", re.M)
        return int(found[1]) if found else 250

    def compiler_words(self) -> list[str]:
        """Words for make where the kernel was built by clang: modules take the same release of it,
        and its linker."""
        text = _read(self.config) if self.config else ""
        found = re.search(r"^CONFIG_CLANG_VERSION=([1-9]\d*)$", text, re.M)
        return [f"LLVM=-{int(found[1]) // 10000}"] if found else []

    def missing_config(self) -> list[str]:
        """What the bench needs and the configuration lacks; empty if there is none to read."""
        if not self.config or not self.config.is_file():
            return []
        return [symbol for symbol in NEEDED if not self.has_config(symbol)]

    @property
    def may_wait(self) -> bool:
        """May PID 1 write to a port, as a guest does that asks for its job (kept.py)?"""
        return not self.config or self.has_config("CONFIG_X86_IOPL_IOPERM")


def _home() -> Path:
    return cache_dir() / "kernels"


def _load(folder: Path) -> Kernel | None:
    """The kernel described by a cache folder, None if it is not complete."""
    try:
        data = json.loads((folder / "kernel.json").read_text(encoding="utf-8"))
        root = folder / "root"
        return Kernel(
            release=data["release"],
            version=data["version"],
            flavour=data["flavour"],
            root=root,
            image=root / data["image"],
            config=root / data["config"],
            kdir=root / data["kdir"],
            modules=root / data["modules"],
            suite=data.get("suite", "bookworm"),
        )
    except (OSError, KeyError, json.JSONDecodeError):
        return None


def cached() -> list[Kernel]:
    """All kernels in the cache, oldest version first."""
    folders = sorted(_home().glob("*/kernel.json")) if _home().is_dir() else []
    found = [kernel for folder in folders if (kernel := _load(folder.parent))]
    return sorted(found, key=lambda kernel: (version_key(kernel.version), kernel.flavour))


def _fits(release: str, wanted: str, flavour: str) -> bool:
    """True if a release is of the wanted series and flavour.

    Wanted are "7", "6.1", "6.1.0-56", "6.12+deb13" or a whole release.
    """
    # A name with only two numbers is a meta package's.
    if not re.match(r"\d+\.\d+\.\d+", release) or not release.endswith("-amd64"):
        return False
    base = release.removesuffix("-amd64")
    if release == wanted:
        return True
    suffix = FLAVOURS[flavour]
    if suffix:
        if not base.endswith(suffix):
            return False
        base = base.removesuffix(suffix)
    elif base.endswith(("-cloud", "-rt")):
        return False
    number, _, mark = wanted.partition("+")
    return (re.match(re.escape(number) + r"(\D|$)", base) is not None
            and (not mark or base.endswith(f"+{mark}")))


def _newest_cached(wanted: str, flavour: str) -> Kernel | None:
    suite = SUITES[_series_of(wanted)]
    fitting = [kernel for kernel in cached()
               if kernel.suite == suite and _fits(kernel.release, wanted, flavour)]
    return fitting[-1] if fitting else None


def _series_of(wanted: str) -> str:
    """The key of SUITES that a series or release belongs to."""
    match = re.match(r"((\d+)\.?\d*)[^+]*(\+[a-z0-9]+)?", wanted)
    if match:
        for series in (match[1] + (match[3] or ""), match[1], match[2]):
            if series in SUITES:
                return series
    raise BenchError(
        f"kernel {wanted} is not known; known are {', '.join(SUITES)}, each as"
        f" {', '.join(FLAVOURS)}, and {', '.join(OWN)}"
    )


def _closure(apt: Apt, names: list[str]) -> list[Package]:
    """The named packages with those parts of the kernel's that they depend on."""
    part = re.compile(r"^linux-(image|headers|modules|kbuild|binary)-|^linux-base-\d")
    found: dict[str, Package] = {}
    while names:
        newest = apt.newest(names)
        for name in names:
            if name not in newest:
                raise BenchError(f"package {name} is depended on but not to be had")
        found.update(newest)
        names = sorted({dep for package in newest.values() for dep in package.depends
                        if part.match(dep) and dep not in found})
    return list(found.values())


def _unpack(apt: Apt, image: Package, flavour: str, series: str, folder: Path) -> None:
    """Has the kernel, with its headers, in a folder that was not there."""
    release = image.name.removeprefix("linux-image-")
    scratch = folder.with_name(folder.name + ".new")
    shutil.rmtree(scratch, ignore_errors=True)
    _forget_old(series, flavour)
    debs = apt.download(_closure(apt, [image.name, f"linux-headers-{release}"]),
                        scratch / "debs")
    root = scratch / "root"
    root.mkdir()
    for deb in debs:
        output_of(["dpkg", "-x", str(deb), str(root)], f"unpacking {deb.name}")
    shutil.rmtree(scratch / "debs")
    data = _describe(root, release)
    data |= {"release": release, "version": image.version, "flavour": flavour,
             "suite": apt.suite}
    # The headers name their common part by the place where installing would put it; the
    # final one is written down, so that the tree can be moved into place in one step.
    makefile = root / data["kdir"] / "Makefile"
    makefile.write_text(
        makefile.read_text(encoding="utf-8").replace("/usr/src/", f"{folder}/root/usr/src/"),
        encoding="utf-8",
    )
    output_of(["depmod", "-b", str(root / data["modules"]).removesuffix(
        f"/lib/modules/{release}"), release], "depmod")
    (scratch / "kernel.json").write_text(json.dumps(data, indent=1), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    scratch.rename(folder)


def _fetch(apt: Apt, image: Package, flavour: str, series: str) -> Kernel:
    release = image.name.removeprefix("linux-image-")
    folder = _home() / f"{release}_{image.version.replace(':', '_').replace('/', '_')}"
    with locked(_home() / f"{release}.lock"):
        kernel = _load(folder)
        if kernel:
            return kernel
        say(f"fetching kernel {release} ({image.version})")
        with first_use(f"kernel {release}"):
            _unpack(apt, image, flavour, series, folder)
        kernel = _load(folder)
        assert kernel
        return kernel


def _forget_old(series: str, flavour: str) -> None:
    """Before one more comes, leaves only the newest of its series: each takes half a gigabyte."""
    for old in [kernel for kernel in cached() if kernel.suite == SUITES[series]
                and _fits(kernel.release, series, flavour)][:-1]:
        say(f"forgetting kernel {old.release}")
        shutil.rmtree(old.root.parent, ignore_errors=True)


def _describe(root: Path, release: str) -> dict[str, str]:
    """Where the parts are: newer packages keep all of them below usr/lib/modules."""
    places = [root / "usr/lib/modules" / release, root / "lib/modules" / release]
    modules = next((place for place in places if (place / "kernel").is_dir()), None)
    image = [root / f"boot/vmlinuz-{release}", *(place / "vmlinuz" for place in places)]
    config = [root / f"boot/config-{release}", *(place / "config" for place in places)]
    kdir = root / f"usr/src/linux-headers-{release}"
    found_image = next((path for path in image if path.is_file()), None)
    found_config = next((path for path in config if path.is_file()), kdir / ".config")
    if not (modules and found_image and kdir.is_dir()):
        raise BenchError(f"the packages of {release} do not hold an image, modules and headers")
    return {
        name: str(path.relative_to(root))
        for name, path in (("image", found_image), ("config", found_config),
                           ("kdir", kdir), ("modules", modules))
    }


def resolve(wanted: str = DEFAULT, flavour: str = "cloud") -> Kernel:
    """The newest kernel of the wanted series and flavour, fetched if it is not cached yet.

    Raises BenchError when there is no such kernel, or none is cached and none can be fetched.
    """
    if wanted in OWN:
        return _own(wanted)
    if flavour not in FLAVOURS:
        raise BenchError(f"flavour {flavour} is not known; known are {', '.join(FLAVOURS)}")
    kind = _series_of(wanted)
    apt = Apt(SUITES[kind])
    have = _newest_cached(wanted, flavour)
    if have and have.release == wanted:
        return have
    try:
        fresh = apt.refresh()
    except BenchError as error:
        say(str(error))
        fresh = False
    if not fresh and have:
        say(f"using the newest cached kernel, {have.release}")
        return have
    # Until the lists change the answer stays the same; asking apt costs most of a second.
    asked = apt.home / f"asked-{wanted}-{flavour}"
    if have and asked.exists() and asked.stat().st_mtime >= apt.fetched.stat().st_mtime:
        return have
    series = re.match(r"\d+\.\d+", wanted)
    names = [name for name in apt.names(f"linux-image-{series[0] if series else kind}")
             if _fits(name.removeprefix("linux-image-"), wanted, flavour)]
    images = apt.newest(names)
    order = sorted(images.values(), key=lambda package: version_key(package.version))
    if not order:
        if have:
            return have
        raise BenchError(f"no package for kernel {wanted}, flavour {flavour}, in {apt.suite}")
    newest = order[-1]
    try:
        kernel = _fetch(apt, newest, flavour, kind)
        asked.touch()
        return kernel
    except BenchError as error:
        if not have:
            raise
        say(f"{error}\nvm: using the newest cached kernel, {have.release}")
        return have


def _own(name: str) -> Kernel:
    """A kernel of our own, built now if it is not in the cache yet."""
    from .. import ownkernel

    try:
        built = ownkernel.kernel(name)
    except ownkernel.SetupError as error:
        raise BenchError(f"the {name} kernel: {error}") from error
    return Kernel(
        release=built.release, version=built.tree.name, flavour=name, root=built.tree,
        image=built.image, config=built.tree / ".config", kdir=built.tree,
        modules=built.tree / "no-modules",
    )


def local(kdir: Path, image: Path | None = None) -> Kernel:
    """The kernel that belongs to a folder of headers (or a build tree) on this machine.

    Raises BenchError when the folder is not prepared for building modules.
    """
    # Debian's headers override the release that their sources would have.
    words = re.search(r"^override KERNELRELEASE = (\S+)", _read(kdir / ".kernelvariables"), re.M)
    release = words[1] if words else _read(kdir / "include/config/kernel.release").strip()
    if not release or not (kdir / "Makefile").is_file():
        raise BenchError(f"{kdir} holds no kernel headers prepared for modules")
    built_image = image or kdir / "arch/x86/boot/bzImage"
    return Kernel(
        release=release, version="local", flavour=LOCAL, root=kdir, image=built_image,
        config=kdir / ".config", kdir=kdir.absolute(), modules=Path("/lib/modules") / release,
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def compiler_of(kernel: Kernel) -> str | None:
    """The name of the compiler that the kernel's headers want, None if they do not say."""
    match = re.search(r"\$\(CROSS_COMPILE\)(gcc-\d+)", _read(kernel.kdir / ".kernelvariables"))
    return match[1] if match else None


def compiler_missing(kernel: Kernel) -> str | None:
    """The name of the compiler that the kernel's headers want and this machine lacks."""
    compiler = compiler_of(kernel)
    return compiler if compiler and not shutil.which(compiler) else None
