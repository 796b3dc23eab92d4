# SPDX-License-Identifier: GPL-2.0-only
"""Compiles LTP's realtime programs out of a source tree of the user's, for ltp.py.

What there is, is looked up, so that another version's programs are found: all of
testcases/realtime/func/*/*.c, each with the library of testcases/realtime/lib. LTP's own build
needs autotools; what its configure asks about the C library is answered here for every glibc of
today. A program that wants more than that, such as a libltp.a that nobody made, is left out.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from .figures import MeasureError

_COMPILE = ["gcc", "-std=gnu11", "-O2", "-w", "-static", "-D_GNU_SOURCE",
            "-DHAS_PRIORITY_INHERIT=1", "-DHAS_PTHREAD_MUTEXTATTR_ROBUST_APIS=1"]


def _command(command: Sequence[str]) -> str:
    """Why it failed, in a line; "" if it did not."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if not done.returncode:
        return ""
    why = re.search(r"(?:error: |undefined reference|multiple definition).*", done.stderr)
    return why[0] if why else f"{command[0]} exits with {done.returncode}"


def sources(realtime: Path) -> dict[str, Path]:
    """The programs of a testcases/realtime by name, without what another file includes."""
    found = sorted(realtime.glob("func/*/*.c"))
    included = {(one.parent, name) for one in found for name in
                re.findall(r'#include "(.*\.c)"', one.read_text(errors="replace"))}
    return {one.stem: one for one in found if (one.parent, one.name) not in included}


def build(source: Path, into: Path, left_out: Mapping[str, str], only: Sequence[str] | None = None
          ) -> tuple[dict[str, Path], dict[str, str]]:
    """(the programs made in @into by name, why others are left out); of those in `only` alone, if
    there are any. Raises MeasureError if that is no LTP, if its library cannot be made, or if a
    program is unknown."""
    realtime = source / "testcases/realtime"
    programs, library = sources(realtime), sorted(realtime.glob("lib/*.c"))
    if not programs or not library:
        raise MeasureError(f"{source} is no source tree of LTP: it has no testcases/realtime with "
                           "func/*/*.c and lib/*.c")
    if unknown := sorted(set(only or ()) - set(programs)):
        raise MeasureError(f"no program {' '.join(unknown)} there; there are "
                           f"{' '.join(sorted(programs))}")
    headers = [f"-I{folder}" for folder in (realtime / "include", source / "include",
                                            source / "include/old") if folder.is_dir()]
    objects = []
    for one in library:
        objects.append(str(into / f"{one.stem}.o"))
        if why := _command([*_COMPILE, *headers, "-c", str(one), "-o", objects[-1]]):
            raise MeasureError(f"{one}: {why}")
    archive = str(into / "librealtime.a")
    if why := _command(["ar", "rc", archive, *objects]):
        raise MeasureError(why)
    archives = [archive, *(str(one) for one in source.glob("lib/libltp.a"))]
    made: dict[str, Path] = {}
    left: dict[str, str] = {}
    for name, one in programs.items():
        if only and name not in only:
            continue
        if name in left_out:
            left[name] = left_out[name]
        elif why := _command([*_COMPILE, *headers, str(one), *archives, "-lm", "-o",
                              str(into / name)]):
            left[name] = f"cannot be built here: {why}"
        else:
            made[name] = into / name
    return made, left
