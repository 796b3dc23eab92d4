# SPDX-License-Identifier: GPL-2.0-only
"""One run of the command `tests/vm/vm`, for tests; fixtures.py hands it out as a fixture."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from . import VM, twice
from .bench import chroot, kernels
from .bench.common import EXIT_EMULATOR
from .bench.parallel import may_be_undisturbed

# What `kernel`-parametrised tests run on; a flavour more costs one more boot of each.
KERNELS = [("6.1", "cloud"), ("6.1", "generic")]


@dataclass(frozen=True)
class Result:
    """How a run ended. `stderr` holds the bench's reason beside the command's own words, `command`
    what repeats it in a shell: to the last digit, if it is in virtual time."""

    stdout: str
    stderr: str
    status: int
    console: str
    files: Path
    command: str = ""

    def get(self, name: str) -> bytes:
        """The content of a file that the run's `get` named, by its base name."""
        return (self.files / name).read_bytes()


Vm = Callable[..., Result]

PARALLEL = "TACTUS_PARALLEL" in os.environ      # make test-parallel

# The commands of the runs since a test began: fixtures.py shows them when it fails.
commands: list[str] = []


def skip_without_chroot(kernel: tuple[str, str]) -> None:
    """Skips the test if building the kernel's modules takes a chroot, and that takes root."""
    found = kernels.resolve(*kernel)
    if chroot.needed(found) and os.geteuid() != 0:
        pytest.skip(f"the modules for {found.release} are built in a chroot: root only")


def disturbed(smp: int) -> bool:
    """Do a guest's CPUs wait for other processes of the host, for as long as these like?"""
    return PARALLEL and not may_be_undisturbed(smp)


def once(words: list[str], files: Path, log: Path) -> Result:
    """One run of the command; what it fetches is in `files`."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return Result(
        stdout=done.stdout.decode(errors="replace"),
        stderr=done.stderr.decode(errors="replace"),
        status=done.returncode,
        console=log.read_text(encoding="utf-8") if log.is_file() else "",
        files=files,
        command=shlex.join(words),
    )


def run_vm(
    folder: Path,
    command: str,
    *,
    modules: str | Iterable[str] = "",
    with_modules: str | Iterable[str] = "",
    kernel: str | tuple[str, str] = "6.1",
    flavour: str = "cloud",
    smp: int = 1,
    icount: bool | None = None,
    busy: bool = False,
    put: Mapping[str | Path, str] | Iterable[str | Path] = (),
    get: Iterable[str] = (),
    timeout: float = 180,
    allow: Iterable[str] = (),
    append: str = "",
    qemu: str = "",
    nmi: float = 0,
    schedule: int | None = None,
    state: str | None = None,
    extra: Iterable[str] = (),
    check: bool = True,
) -> Result:
    """One `vm run`. `put` maps host to guest paths, or lists host paths; `get` lists guest paths,
    whose files end up in Result.files under their base names; `kernel` may be (series, flavour).
    Several CPUs run in virtual time, unless it says `icount=False`. A run begins with a kept state
    where TACTUS_STATE says so; `state=""` boots in any case."""
    parallel = smp > 1 and icount is None and PARALLEL
    if icount is None:
        icount = smp > 1 and not parallel
    if schedule is None and icount and smp > 1 and "TACTUS_SCHEDULE" in os.environ:
        schedule = int(os.environ["TACTUS_SCHEDULE"])       # tests/vm/explore
    if isinstance(kernel, tuple):
        kernel, flavour = kernel
    number = len(list(folder.glob("run*")))
    files = folder / f"run{number}"
    files.mkdir()
    log = folder / f"run{number}.console"
    words = [str(VM), "run", "--kernel", kernel, "--flavour", flavour, "--smp", str(smp),
             "--timeout", str(timeout), "--log", str(log)]
    words += ["--icount"] * icount + ["--busy"] * busy + ["--parallel"] * parallel
    words += ["--undisturbed"] * (parallel and not disturbed(smp))
    for option, value in (("--modules", modules), ("--with-modules", with_modules)):
        text = value if isinstance(value, str) else " ".join(value)
        if text:
            words += [option, text]
    puts = [f"{host}:{guest}" for host, guest in put.items()] if isinstance(put, Mapping) else [
        str(host) for host in put]
    for spec in puts:
        words += ["--put", spec]
    for guest in get:
        words += ["--get", f"{guest}:{files / Path(guest).name}"]
    for pattern in allow:
        words += ["--allow", pattern]
    if append:
        words += [f"--append={append}"]
    if qemu:
        words += [f"--qemu={qemu}"]
    if nmi:
        words += ["--nmi", str(nmi)]
    if schedule is not None:
        words += ["--schedule", str(schedule)]
    if state is None:
        state = os.environ.get("TACTUS_STATE", "")
    # Also when there is none: a shell that repeats it may have another TACTUS_STATE.
    words += [f"--state={state}", *extra, "--", command]
    commands.append(shlex.join(words))
    if twice.WANTED and not (icount and smp > 1):
        pytest.skip("one CPU, or the host's time: not one that runs twice")
    result = once(words, files, log)
    if twice.WANTED:
        again = files.with_name(f"{files.name}-again")
        again.mkdir()
        other = once([word.replace(f"{files}/", f"{again}/") for word in words], again, log)
        twice.compare(result, other)
    if check and result.status == EXIT_EMULATOR:
        pytest.xfail(f"{result.command}\n{result.stderr}")     # with its proof
    if check and result.status in (123, 124, 125):
        pytest.fail(f"{result.command}\nended with {result.status}:\n{result.stderr}\n"
                    f"its stdout:\n{result.stdout[-3000:]}", pytrace=False)
    return result
