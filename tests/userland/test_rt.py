# SPDX-License-Identifier: GPL-2.0-only
"""`tactus.rt` on a folder that looks like /sys, and against the header that it speaks for."""
from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import pytest

from fakes import FakeMachine
from tactus import rt, sysfs

TOP = Path(__file__).parents[2]


def test_threads_and_demotions(machine: FakeMachine) -> None:
    machine.write(f"{sysfs.FOLDER}/users",
                  "pid\tname\tuid\tmode\tpages\tpromotions\tleaves\tdemotions\treason\twhat\t"
                  "address\tip\n71\tservo\t1000\trt\t211\t2\t0\t1\tsyscall\t1\t0x0\t0x401234\n")
    machine.write(f"{sysfs.FOLDER}/demotions",
                  "when_ns\tpid\ttask\treason\twhat\taddress\tip\n")
    (thread,) = rt.threads(machine.root)
    assert (thread.name, thread.mode, thread.demotions, thread.ip) == (
        "servo", "rt", 1, "0x401234")
    assert rt.demotions(machine.root) == []
    machine.write(f"{sysfs.FOLDER}/demotions", "when_ns\tpid\n5\t6\n")
    with pytest.raises(KeyError):
        rt.demotions(machine.root)


def test_the_structures_are_the_header_s(tmp_path: Path) -> None:
    """Size and members' places, as the C compiler has them."""
    pairs = {"rt_attr": rt._Attr, "rt_stat": rt._Stat}
    wanted = [f'printf("%zu\\n", sizeof(struct {name}));' for name in pairs]
    wanted += [f'printf("%zu\\n", offsetof(struct {name}, {field[0]}));'
               for name, kind in pairs.items() for field in kind._fields_]
    program = tmp_path / "sizes"
    subprocess.run(["gcc", f"-I{TOP}/kernel/include", "-xc", "-", "-o", program], check=True,
                   text=True, input="#include <stdio.h>\n#include <stddef.h>\n"
                   "#include <uapi/tactus/rt.h>\nint main(void) {" + " ".join(wanted) + "}")
    told = [int(word) for word in subprocess.run([program], check=True, text=True,
                                                 stdout=subprocess.PIPE).stdout.split()]
    ours = [ctypes.sizeof(kind) for kind in pairs.values()]
    ours += [getattr(kind, field[0]).offset for kind in pairs.values() for field in kind._fields_]
    assert told == ours


def test_the_reasons_are_the_header_s() -> None:
    text = (TOP / "kernel/include/uapi/tactus/rt.h").read_text(encoding="utf-8")
    found = re.findall(r"#define RT_END_(\w+)\s+(\d+)\b", text)
    assert [name.lower() for name, _ in found if name != "REASONS"] == list(rt.REASONS)
    assert dict(found)["REASONS"] == str(len(rt.REASONS))
