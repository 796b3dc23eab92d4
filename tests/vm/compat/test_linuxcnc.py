# SPDX-License-Identifier: GPL-2.0-only
"""LinuxCNC's HAL, unchanged, as kernel modules on a stock kernel, and its halcmd."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import TOP, VM
from harness.vmrun import Result, Vm

from .test_rtl import PROGRAMS

SECTION_NS = 20_000_000
BASE_NS = 25_000
LATE_NS = 400       # of an interval of the base thread
# Tests of LinuxCNC's own that have no more than halcmd's commands.
OWN = ("stepgen.0", "stepgen.1", "stepgen.2", "counter-encoder.0", "modparam.0")
# The same; their components are in LinuxCNC's language for the most part, halcompile's.
OWN_COMP = ("abs.0", "alias.0", "and-or-not-mux.0", "biquad", "flipflop.0", "near.0", "mux",
            "multiclick", "source.0", "loadrt.1", "threads.0", "threads.1", "timedelay.0")
COMPONENTS = ("abs", "and2", "biquad", "flipflop", "near", "mux_generic", "multiclick", "mux2",
              "mux4", "not", "or2", "timedelay", "xor2", "ddt", "logic", "threadtest")
MODULES = ("rtapi", "hal_lib", "threads", "stepgen", "interval", "sampler", "streamer", "encoder")
PLACES = {"ko": "/usr/lib/linuxcnc/modules", "halcmd": "/usr/bin/halcmd",
          "halsampler": "/usr/bin/halsampler", "halstreamer": "/usr/bin/halstreamer",
          "linuxcnc_module_helper": "/usr/bin/linuxcnc_module_helper"}
# Its helper wants them in /sbin.
BEGIN = ("mkdir -p /sbin; for tool in insmod rmmod; do "
         "[ -e /sbin/$tool ] || ln -s $(which $tool) /sbin/$tool; done; "
         f"cd {PLACES['ko']} && insmod ./rt_libm.ko && cd /root || exit 1; ")
LOAD = f"insmod {PLACES['ko']}/rtapi.ko && insmod {PLACES['ko']}/hal_lib.ko || exit 1; "
UNLOAD = "halcmd stop; halcmd unloadrt all && rmmod hal_lib rtapi || exit 1; "
END = "rmmod rt_libm rtai_compat && cat /sys/kernel/tactus/shm && echo unloaded"


@pytest.fixture(scope="module")
def cnc(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, str]:
    """What `tools/linuxcnc` and `tools/libm` make, by the places where a guest wants it."""
    folder = tmp_path_factory.mktemp("linuxcnc")
    for name in ("musl", "linuxcnc"):
        done = subprocess.run([TOP / "tools/source-package", name], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            pytest.skip(done.stderr.strip())
    library, hal = folder / "libm", folder / "hal"
    subprocess.run([TOP / "tools/libm", library], check=True)
    subprocess.run([VM, "build", library], check=True)
    more = COMPONENTS if shutil.which("yapps2") else ()
    subprocess.run([TOP / "tools/linuxcnc", hal, PROGRAMS / "linuxcnc/interval.c", *more],
                   check=True)
    subprocess.run(["make", "-s", "-j2", "-C", hal], check=True)
    subprocess.run([VM, "build", "--make", f"KBUILD_EXTRA_SYMBOLS={library}/Module.symvers", hal],
                   check=True)
    put = {path: f"{PLACES['ko']}/{path.name}"
           for path in (library / "rt_libm.ko",
                        *(hal / f"{name}.ko" for name in (*MODULES, *more)))}
    put |= {hal / name: place for name, place in PLACES.items() if name != "ko"}
    return put | {hal / "tests" / name: f"/root/tests/{name}" for name in (*OWN, *OWN_COMP)}


def pin(stdout: str, name: str) -> float:
    """A pin's value, as `halcmd show pin` prints it."""
    found = re.search(rf"^ +\d+ +(?:u32|s32|float) +\S+ +(\S+) +{re.escape(name)}\b", stdout,
                      re.MULTILINE)
    assert found, stdout
    return float(int(found[1], 16) if found[1].startswith("0x") else float(found[1]))


def threads(vm: Vm, cnc: dict[Path, str], mode: str) -> Result:
    """1.5 s of the two threads beside sections, and the pins while they run."""
    done = vm(BEGIN + LOAD + "( while :; do echo process; done > /proc/hog ) & "
              "halcmd -f threads.hal && sleep 1.5; halcmd show pin; halcmd show thread; kill $!; "
              "cat /proc/hog; " + UNLOAD + END,
              modules=f"tactus {mode} rtfifo rtai_compat hog", icount=True, busy=True,
              put=cnc | {PROGRAMS / "linuxcnc/threads.hal": "/root/threads.hal"}, timeout=250)
    assert done.status == 0, done.stderr
    assert done.stdout.endswith("name\tbytes\tmode\tuid\tgid\tmodules\tfiles\nunloaded\n")
    hog = dict(re.findall(r"(\w+)=(\d+)", done.stdout))
    assert int(hog["longest_ns"]) >= SECTION_NS and hog["leaked"] == "0"
    print(f"{mode or 'pipeline'}: base thread, ns:",
          *(f"{name} {pin(done.stdout, f'interval.0.{name}'):.0f}"
            for name in ("count", "min", "max")))
    return done


@pytest.mark.slow
def test_threads(vm: Vm, cnc: dict[Path, str]) -> None:
    """25 us beside sections of 20 ms: 400 ns more at most; halcmd shows pins."""
    out = threads(vm, cnc, "").stdout
    assert pin(out, "interval.0.count") > 40_000
    assert BASE_NS - LATE_NS <= pin(out, "interval.0.min") <= BASE_NS
    assert BASE_NS <= pin(out, "interval.0.max") <= BASE_NS + LATE_NS
    assert pin(out, "interval.1.count") > 1000
    # It has arrived.
    assert pin(out, "stepgen.0.counts") == 3000
    assert abs(pin(out, "stepgen.0.position-fb") - 3) < 1e-3


@pytest.mark.slow
def test_threads_by_linux(vm: Vm, cnc: dict[Path, str]) -> None:
    """The control: by Linux's timers an interval is as long as a section, nearly."""
    out = threads(vm, cnc, "mode=hosted").stdout
    assert pin(out, "interval.0.max") >= 15_000_000


@pytest.mark.slow
@pytest.mark.parametrize("names", [OWN, OWN_COMP], ids=["c", "comp"])
def test_own(vm: Vm, cnc: dict[Path, str], names: tuple[str, ...]) -> None:
    """Tests of LinuxCNC's own, judged as it does: by their `expected` or their `checkresult`."""
    if names is OWN_COMP and not shutil.which("yapps2"):
        pytest.skip("halcompile needs yapps2: apt-get install yapps2")
    done = vm(BEGIN + "".join(
        f"cd /root/tests/{name} && {LOAD} halcmd -f test.hal > /root/{name}.result || exit 1; "
        f"{UNLOAD}" for name in names) + END,
              modules="tactus rtfifo rtai_compat", icount=True, put=cnc, timeout=250,
              get=[f"/root/{name}.result" for name in names])
    assert done.status == 0, done.stderr
    tests = next(path for path, place in cnc.items() if place.startswith("/root/tests/")).parent
    for name in names:
        result = done.files / f"{name}.result"
        if (tests / name / "expected").is_file():
            assert result.read_text() == (tests / name / "expected").read_text(), name
        else:
            subprocess.run([tests / name / "checkresult", result], check=True)
        print("passed", name)
