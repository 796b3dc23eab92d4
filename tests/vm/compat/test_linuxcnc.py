# SPDX-License-Identifier: GPL-2.0-only
"""LinuxCNC's HAL, unchanged, as kernel modules on a stock kernel, and its halcmd."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import TOP, VM
from harness.vmrun import Result, Vm, skip_without_chroot

from .test_rtl import PROGRAMS

SECTION_NS = 20_000_000
BASE_NS = 25_000
LATE_NS = 400       # of an interval of the base thread
# Components that these tests and LinuxCNC's own load beside those that are built anyway.
COMPONENTS = ("abs", "and2", "biquad", "charge_pump", "conv_float_u32", "ddt", "edge",
              "encoder_ratio", "flipflop", "ilowpass", "limit3", "logic", "multiclick", "mux2",
              "mux4", "mux_generic", "near", "not", "or2", "threadtest", "timedelay", "timedelta",
              "xor2")
# LinuxCNC's own tests of HAL: all but those of its motion controller, of halcompile and of drivers.
OWN = ("abs.0", "alias.0", "and-or-not-mux.0", "basic", "biquad", "counter-encoder.0", "edge",
       "flipflop.0", "hal-backslash", "halrun-getopt-reset", "halrun-lock", "ilowpass", "limit3",
       "loadrt.1", "loadrt.2", "modparam.0", "module-loading", "multiclick", "mux", "near.0",
       "overrun", "save.0", "source.0", "stepgen.0", "stepgen.1", "stepgen.2", "threads.0",
       "threads.1", "timedelay.0")
OWN_COUNT = 81
# A row of latency-test: longest interval, worst jitter, last interval.
LATENCY = re.compile(r"^(Servo|Base) thread \(\S+\): +(\d+) +(\d+) +(\d+)$", re.MULTILINE)
LAYER = "rtfifo rtshm rtai_compat"
ROOT = "/root/linuxcnc"
# Its helper wants insmod and rmmod in /sbin, some of its tests env in /usr/bin.
BEGIN = ("mkdir -p /sbin /usr/bin; for tool in /sbin/insmod /sbin/rmmod /usr/bin/env; do "
         "[ -e $tool ] || ln -s $(which ${tool##*/}) $tool; done; "
         f"cp -a {ROOT}/* /; ")
END = "rmmod rtai_compat && cat /sys/kernel/tactus/shm && echo unloaded"
NOTHING_LEFT = "name\tbytes\tmode\tuid\tgid\tmodules\tfiles\nunloaded\n"


def make(folder: Path, kernel: str, *components: str | Path) -> dict[Path, str]:
    """What tools/linuxcnc and tools/libm make, by the places where a guest wants it."""
    for name in ("musl", "linuxcnc"):
        done = subprocess.run([TOP / "tools/source-package", name], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            pytest.skip(done.stderr.strip())
    if not shutil.which("yapps2"):
        pytest.skip("halcompile needs yapps2: apt-get install yapps2")
    library, hal, root = folder / "libm", folder / "hal", folder / "root"
    build = [VM, "build", "--kernel", kernel]
    subprocess.run([TOP / "tools/libm", library], check=True)
    subprocess.run([*build, library], check=True)
    subprocess.run([TOP / "tools/linuxcnc", hal, PROGRAMS / "linuxcnc/interval.c", *components],
                   check=True)
    subprocess.run(["make", "-s", "-j2", "-C", hal], check=True)
    subprocess.run([*build, "--make", f"KBUILD_EXTRA_SYMBOLS={library}/Module.symvers", hal],
                   check=True)
    subprocess.run(["make", "-s", "-C", hal, "install", f"LIBM={library}", f"DESTDIR={root}"],
                   check=True)
    shutil.copy(hal / "runtests", root / "usr/bin")
    return {root: ROOT, hal / "tests": "/root/tests", Path("/bin/bash"): "/bin/bash"}


@pytest.fixture(scope="module")
def cnc(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, str]:
    return make(tmp_path_factory.mktemp("linuxcnc"), "6.1", *COMPONENTS)


def pin(stdout: str, name: str) -> float:
    """A pin's value, as `halcmd show pin` prints it."""
    found = re.search(rf"^ +\d+ +(?:u32|s32|float) +\S+ +(\S+) +{re.escape(name)}\b", stdout,
                      re.MULTILINE)
    assert found, stdout
    return float(int(found[1], 16) if found[1].startswith("0x") else float(found[1]))


def threads(vm: Vm, cnc: dict[Path, str], mode: str) -> Result:
    """1.5 s of the two threads beside sections, and the pins while they run."""
    looks = r"loadusr -w sleep 1.5\nshow pin\nshow thread\n"
    done = vm(BEGIN + f"printf '{looks}' >> threads.hal; "
              "( while :; do echo process; done > /proc/hog ) & halrun threads.hal; kill $!; "
              "cat /proc/hog; " + END,
              modules=f"tactus {mode} {LAYER} hog", icount=True, busy=True,
              put=cnc | {PROGRAMS / "linuxcnc/threads.hal": "/root/threads.hal"}, timeout=250)
    assert done.status == 0, done.stderr
    assert done.stdout.endswith(NOTHING_LEFT)
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
def test_latency_test(vm: Vm, cnc: dict[Path, str]) -> None:
    """LinuxCNC's own program for the latency, as it is: its panel is printed in the terminal."""
    done = vm(BEGIN + "(sleep 1; echo r; sleep 2; echo q) | HOME=/root latency-test 25us 1ms && "
              "cat /root/.latency; " + END,
              modules=f"tactus {LAYER}", icount=True, busy=True, put=cnc)
    assert done.status == 0 and done.stdout.endswith(NOTHING_LEFT), done.stderr
    print(done.stdout)
    last = {name: [int(figure) for figure in figures]
            for name, *figures in LATENCY.findall(done.stdout)}
    for name, period in (("Base", BASE_NS), ("Servo", 1_000_000)):
        longest, jitter, _ = last[name]
        assert period <= longest <= period + LATE_NS and 0 < jitter <= LATE_NS
    assert int(done.stdout.splitlines()[-3]) >= max(jitter for _, jitter, _ in last.values())


def own(vm: Vm, cnc: dict[Path, str], **options) -> None:
    """LinuxCNC's own runtests, without those tests that want sudo and halcompile."""
    done = vm(BEGIN + f"cd tests && runtests -u -p {' '.join(OWN)} 2>&1 && " + END,
              modules=f"tactus {LAYER}", icount=True, busy=True, put=cnc, timeout=400,
              extra=["--tactus"], **options)
    print(done.stdout)
    assert done.status == 0 and done.stdout.endswith(NOTHING_LEFT), done.stderr
    assert (f"Runtest: {OWN_COUNT} tests run, {OWN_COUNT} successful, 0 failed + 0 expected, "
            "1 skipped") in done.stdout


@pytest.mark.long
def test_own(vm: Vm, cnc: dict[Path, str]) -> None:
    own(vm, cnc)


@pytest.mark.long
@pytest.mark.parametrize("kernel", ["6.12", "7"])
def test_all_of_it(vm: Vm, tmp_path: Path, kernel: str) -> None:
    """All components build, and the tests pass, on other kernels."""
    skip_without_chroot((kernel, "cloud"))
    own(vm, make(tmp_path, kernel, "all"), kernel=kernel)
