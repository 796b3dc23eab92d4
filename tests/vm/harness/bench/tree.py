# SPDX-License-Identifier: GPL-2.0-only
"""Builds modules: this tree's, in one build folder per kernel, and other people's in place."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from . import builds, chroot, results
from .common import TREE, BenchError, build_dir, first_use, locked, say
from .kernels import CHECKING, LOCAL, Kernel, compiler_missing, compiler_of

# What Kbuild may read; everything else in the checkout does not concern the modules.
SOURCES = ("Kbuild", "kernel", "rtfifo", "skins", "examples", "tests", "tools/measure")
SUFFIXES = {".c", ".h", ".S", ".mk", ".lds", ".inc"}


# Nothing else: a bench started by make must not have its variables, and no module those of a shell.
INHERITED = re.compile(r"(PATH|HOME|TMPDIR|LANG|LC_\w+|CCACHE_\w+|TACTUS_(CLANG|DEBUG|PARTS))$")


def _make(kernel: Kernel, folder: Path, extra: list[str], also: list[Path] | None = None,
          reads: list[Path] | None = None) -> tuple[int, str]:
    """Its status and output; a chroot sees the folders of `also`, too. With `reads`, all that it
    reads beside the folder, what it makes is kept, and taken from there the next time."""
    compiler = compiler_of(kernel)
    command = [
        "make", "-C", str(kernel.kdir), f"M={folder}", f"-j{os.cpu_count() or 1}",
        # Type information needs a vmlinux and a pahole that fits; the stock headers bring neither.
        "CONFIG_DEBUG_INFO_BTF_MODULES=", *kernel.compiler_words(),
        # What kernels of our own are for: the executive's assertions come with their checkers.
        *(["TACTUS_DEBUG=1"] if kernel.flavour in CHECKING else []), *extra, "modules",
    ]
    inside = chroot.needed(kernel)
    env = chroot.ENVIRONMENT if inside else {
        name: value for name, value in os.environ.items() if INHERITED.match(name)}
    with (builds.in_chroot(command, compiler, folder, chroot.ccache_dir(kernel)) if inside else
          builds.cached(command, compiler, folder)) as build:
        kept = None
        if reads is not None and build.places and kernel.flavour != LOCAL:
            root = chroot.make(kernel) if inside else Path("/")
            kept = results.result(kernel, folder, build.command, env, reads,
                                  results.programs(compiler or "gcc", root))
            if (text := kept.restore(folder)) is not None:
                say(f"the modules in {folder} are kept from an equal build")
                return 0, build.told(text)
        first = (first_use(f"the modules for {kernel.release}") if kept and kept.first
                 else contextlib.nullcontext())
        with first:
            if inside:
                done = chroot.run(kernel, build.command, [folder, *(also or [])], build.places,
                                  build.env)
            else:
                done = subprocess.run(build.command, stdin=subprocess.DEVNULL, capture_output=True,
                                      text=True, check=False, env=env | build.env,
                                      pass_fds=build.handles)
        text = done.stdout + done.stderr
        if kept and not done.returncode:
            kept.keep(folder, text)     # with the names that the build gives the folder
    return done.returncode, build.told(text)


def _check_compiler(kernel: Kernel) -> None:
    missing = None if chroot.needed(kernel) else compiler_missing(kernel)
    if missing:
        raise BenchError(f"kernel {kernel.release} wants the compiler {missing}: install it")


def _wanted_files() -> dict[Path, Path]:
    """Path below the tree -> file, for all sources of the modules."""
    found: dict[Path, Path] = {}
    for name in SOURCES:
        top = TREE / name
        if top.is_file():
            found[Path(name)] = top
        for folder, folders, files in os.walk(top):
            folders[:] = [entry for entry in folders if not entry.startswith((".", "__"))]
            for entry in files:
                path = Path(folder, entry)
                if entry in ("Kbuild", "Makefile") or (
                    path.suffix in SUFFIXES and not entry.endswith(".mod.c")
                ):
                    found[path.relative_to(TREE)] = path
    return found


def _sync(into: Path) -> bool:
    """Mirrors the sources into a build folder; True if anything changed.

    A file is copied with its time, so that make rebuilds exactly what was edited; a source that
    is gone from the tree goes from the mirror, so that nothing can still include it.
    """
    changed = False
    wanted = _wanted_files()
    manifest = into / ".sources"
    before = set(manifest.read_text(encoding="utf-8").split("\n")) if manifest.is_file() else set()
    for below, source in wanted.items():
        target = into / below
        stat = source.stat()
        try:
            old = target.stat()
            same = old.st_size == stat.st_size and old.st_mtime_ns == stat.st_mtime_ns
        except FileNotFoundError:
            same = False
        if not same:
            target.parent.mkdir(parents=True, exist_ok=True)
            # An older file put back must look new to make: only its content is what counts.
            shutil.copyfile(source, target)
            os.utime(target, ns=(stat.st_mtime_ns, stat.st_mtime_ns))
            for stale in (target.with_suffix(".o"), target.parent / f".{target.stem}.o.cmd"):
                stale.unlink(missing_ok=True)
            changed = True
    for gone in before - {str(below) for below in wanted} - {""}:
        (into / gone).unlink(missing_ok=True)
        changed = True
    if changed:
        manifest.write_text("\n".join(str(below) for below in wanted), encoding="utf-8")
    return changed


PRODUCT = "TACTUS_PARTS=product"


def tree_folder(kernel: Kernel, product: bool = False) -> Path:
    """Where this checkout's modules for the kernel are built."""
    # Their release does not tell one such kernel from another.
    return (build_dir() / ("product" if product else kernel.flavour if kernel.is_local else "")
            / kernel.release)


def _lock(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.lock")


@contextlib.contextmanager
def unchanging(kernel: Kernel, product: bool = False) -> Iterator[None]:
    """Keeps others from building the checkout's modules for the kernel while they are read."""
    with locked(_lock(tree_folder(kernel, product)), shared=True):
        yield


def build_tree(kernel: Kernel, extra: list[str] | None = None, product: bool = False) -> Path:
    """Builds the checkout's modules for a kernel if they are stale; the build folder.

    `product`: only those that a machine installs, in a folder of their own.

    `extra` are more words for make, as W=1; with any the build is always made anew.
    Raises BenchError with the compiler's words when they do not build.
    """
    folder = tree_folder(kernel, product)
    if not (TREE / "Kbuild").is_file():
        return folder
    _check_compiler(kernel)
    with locked(_lock(folder)):
        built = folder / ".built"
        tag = f"{kernel.version} {kernel.kdir}\n"
        old = built.read_text(encoding="utf-8") if built.is_file() else ""
        if folder.exists() and (extra or old not in (tag, "")):
            shutil.rmtree(folder)       # same release, other headers
        folder.mkdir(parents=True, exist_ok=True)
        fresh = not (folder / ".sources").exists()
        if not _sync(folder) and built.is_file():
            return folder
        built.unlink(missing_ok=True)
        say(f"building the modules for {kernel.release}")
        # Kbuild reads what is mirrored here. Who edits a file has the rest here, too.
        status, text = _make(kernel, folder, [*(extra or []), *([PRODUCT] if product else [])],
                             reads=[] if fresh and not extra else None)
        if status:
            for path in folder.rglob("*.ko"):
                path.unlink()           # older than their sources: worse than none
            raise BenchError(
                f"the modules do not build for {kernel.release}:\n{_complaints(text, folder)}")
        warnings = [line for line in text.splitlines() if "warning:" in line or "WARNING:" in line]
        for line in warnings:
            say(line)
        for gone in _stale_modules(folder):
            gone.unlink()
        if not extra:
            built.write_text(tag, encoding="utf-8")
    return folder


def _stale_modules(folder: Path) -> list[Path]:
    """Modules that earlier builds left and modules.order no longer names."""
    order = folder / "modules.order"
    if not order.is_file():
        return []
    named = set()
    for line in order.read_text(encoding="utf-8").splitlines():
        path = Path(line).with_suffix(".ko")
        named.add(path if path.is_absolute() else folder / path)
    return [path for path in folder.rglob("*.ko") if path not in named]


def tree_modules(kernel: Kernel, product: bool = False) -> dict[str, Path]:
    """Module name -> .ko of the checkout's built modules."""
    return {path.stem.replace("-", "_"): path
            for path in sorted(tree_folder(kernel, product).rglob("*.ko"))}


def _complaints(text: str, folder: Path) -> str:
    """The lines of a failed make that say why, or else its end."""
    lines = text.replace(f"{folder}/", "").strip().splitlines()
    picked = [line for line in lines if re.search(r"error:|undefined!|ERROR:", line)]
    picked = picked or [line for line in lines if "***" in line]
    return "\n".join((picked or lines[-20:])[:40])


def _old_flags(include: Path) -> str:
    """OLD_FLAGS of flags.mk."""
    text = (include / "v05" / "flags.mk").read_text(encoding="utf-8").replace("\\\n", " ")
    found = re.search(r"^OLD_FLAGS := (.*)$", text, re.MULTILINE)
    assert found
    return found[1]


def _fp_words(folder: Path) -> list[str]:
    """Words for make that compile the files which name float or double with floating point."""
    words = []
    for path in sorted(folder.rglob("*.c")):
        if path.name.endswith(".mod.c") or not re.search(r"\b(float|double)\b",
                                                         path.read_text(errors="replace")):
            continue
        name = path.relative_to(folder).with_suffix(".o")
        words += [f"CFLAGS_{name}=-mhard-float -msse -msse2 -mpreferred-stack-boundary=4"
                  " -mincoming-stack-boundary=3 -fno-tree-vectorize -fno-tree-slp-vectorize"
                  " -mtune-ctrl=^sse_unaligned_load_optimal,^sse_unaligned_store_optimal",
                  f"CFLAGS_REMOVE_{name}=-mno-sse -mno-sse2 -msoft-float -mno-80387"
                  " -mno-mmx -mno-fp-ret-in-387"]
    return words


def _advice(text: str) -> str:
    """A sentence on what old programs lack most often."""
    lacking = re.findall(r"missing MODULE_LICENSE\(\) in \S*?([\w-]+)\.o", text)
    return "".join(
        f"\n{name} has no MODULE_LICENSE(): Linux refuses such a module. Add a line like"
        ' MODULE_LICENSE("GPL"); if that is its licence.' for name in lacking)


def build_folder(kernel: Kernel, folder: Path, layer: str = "", words: list[str] | None = None,
                 alone: bool = False) -> list[Path]:
    """Builds somebody's module folder in place against a kernel and this tree's headers.

    `alone`: it reads nothing but itself and these headers, so what it makes can be kept.

    Raises BenchError when the folder has no Kbuild or Makefile or does not build.
    """
    if not any((folder / name).is_file() for name in ("Kbuild", "Makefile")):
        raise BenchError(f"{folder} has neither a Kbuild nor a Makefile (obj-m := name.o)")
    _check_compiler(kernel)
    try:
        tree = build_tree(kernel)
    except BenchError as error:
        say(f"{error}\nvm: going on without this tree's modules")
        tree = tree_folder(kernel)
    include = TREE / "kernel" / "include"
    flags = [f"-I{include}"]
    old = []
    if layer:
        flags = [f"-I{include / layer}", *flags]
    if layer == "v05":
        flags.append("-funsigned-char")
    elif layer:
        flags += ["-include", str(include / "v05" / "old.h"),
                  "-include", str(include / layer / f"{layer}_compat.h")]
        # Behind Linux's own flags, of which some are taken back.
        old = [f"KCFLAGS={_old_flags(include)}", *_fp_words(folder.resolve())]
    extra = [*old, f"TACTUS={TREE}", "KCPPFLAGS=" + " ".join(flags), *(words or [])]
    # Those of the tree, and those of modules beside it, as --make says.
    beside = [Path(path).resolve() for word in words or []
              if word.startswith("KBUILD_EXTRA_SYMBOLS=") for path in word.split("=", 1)[1].split()]
    for path in beside:
        if not path.is_file():
            raise BenchError(f"there is no {path}, which KBUILD_EXTRA_SYMBOLS names:"
                             " build that folder first")
    symbols = [str(path) for path in [tree / "Module.symvers", *beside] if path.is_file()]
    if symbols:
        extra.append("KBUILD_EXTRA_SYMBOLS=" + " ".join(symbols))
    with locked(build_dir() / ".folder.lock"), unchanging(kernel):
        status, text = _make(kernel, folder.resolve(), extra, [path.parent for path in beside],
                             [include, *map(Path, symbols)] if alone else None)
    if status:
        raise BenchError(f"{folder} does not build for "
                         f"{kernel.release}:\n{_complaints(text, folder)}"
                         f"{_advice(text)}")
    for line in text.splitlines():
        if "warning:" in line:
            say(line)
    order = (folder / "modules.order").read_text(encoding="utf-8").split()
    return [folder / Path(line).with_suffix(".ko").name
            if Path(line).is_absolute() else folder / Path(line).with_suffix(".ko")
            for line in order]
