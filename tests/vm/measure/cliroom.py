# SPDX-License-Identifier: GPL-2.0-only
"""What a kernel without CONFIG_PARAVIRT_XXL would cost: a prototype, measured.

`tools/cli-room --list` says where such a kernel has room for a jump in the place of its bare cli,
sti and pushf. A plug-in of the emulator (cliroom_count.c) counts how often each runs under the
load, and how long interrupts are off by those that have no room. A module (cliroom/detour.c) then
writes jumps, and breakpoints where there is no room, runs the load on top, and takes times.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness import TOP, VM, programs
from harness.bench import kernels
from harness.bench.plugins import plugin

from . import figures
from .figures import MeasureError

SOURCE = Path(__file__).with_name("cliroom_count.c")
MODULE = Path(__file__).with_name("cliroom")
KERNEL = "bare"
WAYS = ("as it is", "jumps", "jumps and breakpoints")
KINDS = ("cli", "sti", "pushf-pop")
CLASSES = {"jump": "room for a jump", "none": "no room", "hard": "stays hard in any case"}

# Work that is the same each time; the module's clock is read around it.
_WORK = """
cat /proc/cli_detour | sed 's/^/BEGIN /'
i=0; while [ $i -lt 50 ]; do /bin/true; i=$((i + 1)); done
dd if=/dev/zero of=/dev/null bs=1 count=10000 2>/dev/null
cat /proc/cli_detour | sed 's/^/END /'
"""


def listing(kernel: kernels.Kernel) -> str:
    """The places of a kernel of our own."""
    done = subprocess.run([str(TOP / "tools/cli-room"), "--list", str(kernel.kdir / "vmlinux")],
                          capture_output=True, text=True, check=False)
    if done.returncode or not done.stdout:
        raise MeasureError(f"tools/cli-room: {done.stderr}")
    return done.stdout


def class_of(where: str) -> str:
    """A key of CLASSES for what the list says."""
    return where if where in ("none", "hard") else "jump"


def tally(places: str, counts: str) -> list[dict[str, Any]]:
    """A row for each class: how many places, how often they ran, and the longest time off.

    `places` is the list, `counts` what the plug-in wrote. MeasureError if they do not fit.
    """
    known = {words[0]: words for words in map(str.split, places.splitlines())}
    rows = {name: {"class": name, "places": Counter[str](), "runs": Counter[str](), "longest": 0,
                   "where": ""} for name in CLASSES}
    total = 0
    for _, kind, where, *_ in known.values():
        rows[class_of(where)]["places"][kind] += 1
    for line in counts.splitlines():
        at, count, longest = line.split()
        if at == "total":
            total = int(count)
            continue
        if at not in known:
            raise MeasureError(f"{at} is no place")
        _, kind, where, _, _, function = known[at]
        row = rows[class_of(where)]
        row["runs"][kind] += int(count)
        if int(longest) > row["longest"]:
            row["longest"], row["where"] = int(longest), function
    if not total:
        raise MeasureError("the plug-in counted nothing")
    return [row | {"places": dict(row["places"]), "runs": dict(row["runs"]), "instructions": total}
            for row in rows.values()]


def _run(places: Path, script: str, *options: str, qemu: str = "") -> str:
    return figures.boot(script, "--icount", "--no-tree", "--timeout=1200",
                        f"--qemu={figures.UART} {qemu}",
                        f"--put={programs.build('load')}", f"--put={programs.build('took')}",
                        f"--put={places}:/root/places", *options, kernel=KERNEL)


def count(places: Path, seconds: float) -> str:
    """What the plug-in counts under the load."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch, "counts")
        _run(places, f"./mark; ./load --seconds={seconds} && ./mark",
             f"--put={programs.build('mark')}",
             qemu=f"-plugin {plugin(SOURCE)},places={places},out={out}")
        if not out.exists():
            raise MeasureError("the plug-in left nothing")
        return out.read_text(encoding="ascii")


def built(scratch: Path) -> Path:
    """The prototype's module."""
    folder = scratch / "cliroom"
    shutil.copytree(MODULE, folder)
    source = folder / "detour.c"
    source.write_text(source.read_text(encoding="utf-8").replace(
        '"../../pipeline/modules/', f'"{TOP}/tests/vm/pipeline/modules/'), encoding="utf-8")
    done = subprocess.run([str(VM), "build", "--kernel", KERNEL, str(folder)], text=True,
                          capture_output=True, check=False)
    if done.returncode:
        raise MeasureError(f"the prototype does not build:\n{done.stderr}")
    return folder / "cli_detour.ko"


def detours(places: Path, seconds: float) -> Iterator[dict[str, Any]]:
    """What each of WAYS makes of Linux."""
    with tempfile.TemporaryDirectory() as scratch:
        module = built(Path(scratch))
        for write, name in enumerate(WAYS):
            text = _run(places, f"""
insmod cli_detour.ko places=/root/places write={write} || exit 1
{_WORK}
./load --seconds={seconds} || exit 1
rmmod cli_detour && ./load --seconds=0.1 && echo GONE
""", f"--put={module}")
            if "\nGONE" not in text:
                raise MeasureError(f"{name}: Linux did not come through")
            begin, end = ({key: value for key, value in re.findall(
                r"(\w+)=(\S+)", " ".join(re.findall(rf"^{mark} (.*)$", text, re.M)))}
                          for mark in ("BEGIN", "END"))
            if "now_ns" not in begin or "now_ns" not in end:
                raise MeasureError(f"{name}: the module did not say what it did")
            yield {"way": name, **end,
                   "work_ns": int(end["now_ns"]) - int(begin["now_ns"]),
                   "work_hits": int(end["hits"]) - int(begin["hits"])}


def room_table(classes: Sequence[Mapping[str, Any]]) -> str:
    """For people."""
    lines = [f"{'':<28}{'places':>14}{'runs a million instructions':>30}{'longest off':>13}"]
    for row in classes:
        lines.append(f"{CLASSES[row['class']]:<28}{triple(row['places']):>14}{often(row):>30}"
                     f"{row['longest']:>13} {row['where']}")
    return "\n".join(lines)


def triple(numbers: Mapping[str, object]) -> str:
    """Of each of KINDS."""
    return ", ".join(str(numbers.get(kind, 0)) for kind in KINDS)


def often(row: Mapping[str, Any]) -> str:
    """How often each of KINDS ran in a million instructions."""
    return triple({kind: round(number * 1e6 / row["instructions"])
                   for kind, number in row["runs"].items()})


def detour_table(ways: Sequence[Mapping[str, Any]]) -> str:
    """For people."""
    return "\n".join(f"{way['way']}: " + " ".join(f"{key}={value}" for key, value in way.items()
                                                  if key != "way") for way in ways)


def _room(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    with tempfile.TemporaryDirectory() as scratch:
        places = Path(scratch, "places")
        text = listing(kernels.resolve(KERNEL))
        places.write_text(text, encoding="ascii")
        classes = tally(text, count(places, options.seconds))
    yield figures.Outcome(classes, room_table(classes))


def _detour(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    with tempfile.TemporaryDirectory() as scratch:
        places = Path(scratch, "places")
        places.write_text(listing(kernels.resolve(KERNEL)), encoding="ascii")
        ways = list(detours(places, options.seconds))
    yield figures.Outcome(ways, detour_table(ways))


MEASUREMENTS = (
    figures.Measurement(
        "cli-room", "how often cli, sti and pushf run on a kernel without CONFIG_PARAVIRT_XXL, by "
        "whether a jump has room there", _room,
        lambda parser: figures.add_seconds(parser, 0.3, "of the load"), where=()),
    figures.Measurement(
        "cli-detour", "what jumps and breakpoints in their place cost, by a prototype", _detour,
        lambda parser: figures.add_seconds(parser, 0.2, "of the load in each run"), where=()))
