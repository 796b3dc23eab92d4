# SPDX-License-Identifier: GPL-2.0-only
"""RT mode of ordinary programs, in the guest: what it promises is in the C program user_check."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import guest_python, mutant, programs
from harness.fixtures import have
from measure import users
from model import porttrace, speaker

MODULES = "tactus rtfifo rtshm tactus_user"
CASES = re.findall(r"do\((\w+)\)", programs.source("user_check").read_text().split(
    "#define CASES(do)", 1)[1].split("\n\n", 1)[0])
AFTER = """
rmmod user_peer; tail -n +2 /sys/kernel/tactus/tasks
rmmod tactus_user rtshm rtfifo tactus && echo unloaded
"""


def run_all(vm, modules: str = f"{MODULES} user_peer", before: str = "", **options) -> None:
    """All cases pass, nothing is left behind, and all can be unloaded."""
    done = vm(f"{before} ./user_check; {AFTER}", modules=modules,
              put=[programs.build("user_check")], **options)
    assert done.stdout.splitlines() == [*(f"ok {case}" for case in CASES), "unloaded"]


def test_the_cases_are_found() -> None:
    assert len(CASES) > 25


def test_programs_in_rt_mode(vm) -> None:
    run_all(vm, icount=True)


@pytest.mark.long
def test_on_a_checking_kernel(vm) -> None:
    """Its log stays silent, also with the modules' own assertions."""
    have("debug")
    run_all(vm, icount=True, kernel="debug", timeout=1800, extra=["--memory=1G"], before="SLOW=1")


@pytest.mark.long
@pytest.mark.parametrize("series", ["6.12", "7"])
def test_on_other_kernels(vm, series: str) -> None:
    run_all(vm, icount=True, kernel=series)


@pytest.mark.slow
def test_on_two_cpus_with_page_table_isolation(vm) -> None:
    run_all(vm, icount=True, smp=2, append="pti=on")


@pytest.mark.long
@pytest.mark.parametrize(("kernel", "smp", "append"), [
    (("6.1", "cloud"), 1, "pti=on"), (("6.1", "cloud"), 2, ""), (("6.1", "generic"), 1, ""),
    (("6.1", "generic"), 2, ""), (("6.1", "rt"), 1, ""), (("6.1", "rt"), 2, "pti=on"),
    (("6.12", "cloud"), 1, "pti=on"), (("6.12", "cloud"), 2, ""), (("7", "cloud"), 1, "pti=on"),
    (("7", "cloud"), 2, "")],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else str(value))
def test_on_each_kernel(vm, kernel: tuple[str, str], smp: int, append: str) -> None:
    run_all(vm, icount=True, kernel=kernel, smp=smp, append=append, timeout=900)


@pytest.mark.long
@pytest.mark.parametrize("policy", ["tactus_rm", "tactus_edf"])
def test_under_each_policy(vm, policy: str) -> None:
    """All cases but those about the order that priorities make; the policy is not ejected."""
    cases = [case for case in CASES if "inheritance" not in case]
    done = vm(f"./user_check {' '.join(cases)}; cat /sys/kernel/tactus/policy; "
              f"rmmod user_peer tactus_user {policy} && echo unloaded",
              modules=f"tactus {policy} rtfifo rtshm tactus_user user_peer", icount=True,
              put=[programs.build("user_check")])
    assert done.stdout.splitlines() == [*(f"ok {case}" for case in cases),
                                        policy.removeprefix("tactus_"), "unloaded"]


def test_not_without_the_pipeline(vm) -> None:
    done = vm("modprobe tactus_user; ls /dev/rt; cat /sys/kernel/tactus/mode",
              modules="tactus mode=hosted", with_modules="tactus_user", icount=True)
    assert done.stdout == "hosted\n"
    assert "tactus_user: refused: in mode hosted" in done.console


def test_who_is_not_admitted_has_nothing_pinned(vm) -> None:
    done = vm("./user_check not_admitted", modules="tactus admission=enforce rtfifo tactus_user",
              put=[programs.build("user_check")], icount=True)
    assert done.stdout == "ok not_admitted\n"


def test_it_stays_while_it_is_used(vm) -> None:
    done = vm("""
        ./user_latency --seconds=1 --json > figures & sleep 0.3
        cut -f 4 /sys/kernel/tactus/users; awk 'NR == 2 { print length() }' /sys/kernel/tactus/users
        rmmod tactus_user 2> /dev/null && echo gone
        wait $!; cat figures; rmmod tactus_user && echo unloaded""",
              modules=MODULES, put=[programs.build("user_latency")], icount=True)
    lines = done.stdout.splitlines()
    # Rows have one length, so that none is torn between two reads of a long table.
    assert lines[:3] == ["mode", "rt", "191"] and lines[4:] == ["unloaded"]
    assert json.loads(lines[3])["missed"] == 0


def test_the_examples(vm) -> None:
    """The pendulum stays upright in RT mode while 20 ms sections come; the node gets its orders."""
    done = vm("""
        ./load --json --seconds=2 --irqoff=process,timer --min-sections=10 > sections & sleep 0.1
        ./pendulum --seconds=1 --json; wait $!
        ./periodic_node --seconds=0.8 | tail -1
        tail -n +2 /sys/kernel/tactus/demotions | cut -f 4""",
              modules=f"hog {MODULES}", icount=True,
              put=[programs.build(name) for name in ("load", "pendulum", "periodic_node")])
    first, last = done.stdout.splitlines()
    servo = json.loads(first)
    assert servo["jobs"] == 1000 and servo["missed"] == 0 and not servo["fallen"]
    assert servo["latest_ns"] < users.LIMIT_NS and 0.008 < servo["worst_rad"] < 0.01
    assert "wanted -1.00 m/s" in last and "0 states lost" in last


def test_the_speaker(vm, tmp_path: Path) -> None:
    """The bits that the machine got are the thesis's, while sections come; the port is put back."""
    sound = bytes(range(256)) + b"\x7f\xff\xff\x7f" * 64 + bytes(range(255, -1, -3)) * 20
    (tmp_path / "sound").write_bytes(sound)
    with porttrace.Capture(tmp_path / "ports") as capture:
        done = vm("""
            ./load --json --seconds=2 --irqoff=process,timer --min-sections=10 > sections &
            sleep 0.1; ./speaker sound; wait $!
            ./speaker 2>&1; echo $?""",
                  modules=f"hog {MODULES}", icount=True, qemu=shlex.join(capture.qemu_arguments),
                  put={programs.build("load"): "/root/load", tmp_path / "sound": "/root/sound",
                       programs.build("speaker"): "/root/speaker"})
    said, *usage = done.stdout.splitlines()
    found = re.fullmatch(r"(\d+) bytes, the latest write (\d+) ns after its release, 0 missed, "
                         r"0 demotions by ports", said)
    assert found and int(found[1]) == len(sound) and int(found[2]) < 2 * users.LIMIT_NS
    assert usage == ["speaker: usage: speaker FILE; see --help", "2"]
    (play,) = speaker.split_plays(capture.writes())
    assert speaker.compare_bits(speaker.values(play)[:len(sound)], sound) == []
    assert len(speaker.values(play)) - len(sound) in (0, 1)     # one more if the gate was open


def build_library(into: Path) -> Path:
    subprocess.run(["make", "-s", "-C", programs.LIBTACTUS, f"BUILD={into}"], check=True)
    return into / "libtactus.so.1.0.0"


@pytest.mark.slow
def test_python(vm, tmp_path: Path) -> None:
    done = vm("PYTHONPATH=/usr/lib/tactus-src python3 rt_python.py", modules=MODULES, icount=True,
              put=guest_python.put(tmp_path / "python", "threading")
              | {build_library(tmp_path): "/lib/libtactus.so.1",
                 Path(__file__).with_name("rt_python.py"): "/root/rt_python.py"})
    assert done.stdout == "ok\n"


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("cargo"), reason="no cargo, which is an extra")
def test_rust(vm, tmp_path: Path) -> None:
    """The crate's own tests, and its example in RT mode."""
    build_library(tmp_path)
    target, folder = tmp_path / "cargo", programs.LIBTACTUS.parent / "rust"
    environment = os.environ | {"CARGO_TARGET_DIR": str(target), "TACTUS_LIB_DIR": str(tmp_path)}
    subprocess.run(["cargo", "test", "--offline", "-q"], check=True, cwd=folder, env=environment)
    subprocess.run(["cargo", "build", "--offline", "-q", "--release", "--example", "loop",
                    "--target", "x86_64-unknown-linux-gnu"], check=True, cwd=folder,
                   env=environment | {"RUSTFLAGS": "-C target-feature=+crt-static"})
    done = vm("./loop", modules=MODULES, icount=True,
              put=[target / "x86_64-unknown-linux-gnu/release/examples/loop"])
    jobs, worst = map(int, re.findall(r"\d+", done.stdout))
    assert jobs == 200 and worst < users.LIMIT_NS


def test_the_shared_library(vm, tmp_path: Path) -> None:
    """A dynamic program works, and the library exports what its manual page has."""
    folder = programs.LIBTACTUS
    library, program = build_library(tmp_path), tmp_path / "user_latency"
    subprocess.run(["gcc", "-O2", f"-I{folder}", f"-I{programs.HEADERS}", "-o", program,
                    programs.source("user_latency") / "user_latency.c", f"-L{tmp_path}",
                    "-ltactus"],
                   check=True)
    names = subprocess.run(["nm", "-D", "--defined-only", library], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    page = (folder.parent / "man" / "libtactus.3").read_text(encoding="utf-8")
    title = page.split(".SH NAME\n", 1)[1].split(r" \- ", 1)[0]
    assert set(re.findall(r" T (\w+)@@LIBTACTUS_1.0", names)) == set(re.findall(r"\w+", title))
    done = vm("./user_latency --seconds=0.1 --json", modules=MODULES, icount=True,
              put={program: "/root/user_latency", library: "/lib/libtactus.so.1"})
    figures = json.loads(done.stdout)
    assert figures["jobs"] == 100 and figures["missed"] == 0


def run_random_code(vm, first: int, count: int, **options) -> None:
    """A process for each seed ends, whatever its code does; the next one is served as ever. The
    control comes first: who is refused, here by a period of 1 us, is counted."""
    done = vm(f"""
        ./user_crashme 1 2 1000
        ./user_crashme {first} {count}
        tail -n +2 /sys/kernel/tactus/demotions | cut -f 4 | sort -u
        ./user_check jobs syscall; {AFTER}""",
              modules=f"{MODULES} user_peer",
              put=[programs.build("user_crashme"), programs.build("user_check")], icount=True,
              **options)
    control, ends, *reasons = done.stdout.splitlines()
    assert control == "exited 2 killed 0 refused 2"
    assert done.stderr.count("was refused: -22, the period is not 5 us to 1 h") == 2
    exited, killed, refused = map(int, re.findall(r" (\d+)", ends))
    assert exited + killed == count and exited and killed and not refused, done.stderr
    assert {"syscall", "trap"} <= set(reasons[:-3])
    assert reasons[-3:] == ["ok jobs", "ok syscall", "unloaded"]


def test_random_code(vm) -> None:
    run_random_code(vm, 1, 40)


def test_random_code_on_intel(vm) -> None:
    """There sysenter gets to the kernel from 64-bit code, too. One of these left interrupts off."""
    run_random_code(vm, 140, 20, qemu="-cpu max,vendor=GenuineIntel")


@pytest.mark.long
@pytest.mark.parametrize("first", range(100_000, 200_000, 10_000))
def test_random_code_for_long(vm, first: int) -> None:
    run_random_code(vm, first, 10_000, timeout=3600)


@pytest.mark.parametrize("condition", ["irqoff"])
def test_lateness(condition: str) -> None:
    """In ring 3, with the control beside it: the same program as Linux runs it."""
    results = users.measure_all([users.Case("rt", condition, 1), users.Case("linux", condition, 1)])
    assert users.judge(results) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [
    pytest.param("ring3_is_kernel", marks=pytest.mark.long), "linux_stack_in_ring3"])
def test_a_mutant_is_seen(vm, tmp_path: Path, name: str) -> None:
    """The dispatcher's row, and the stack's top: without either the guest does not survive."""
    def run(core: str | Path, **options) -> int:
        return vm("./user_check jobs null syscall signals", modules=f"{core} rtfifo tactus_user",
                  put=[programs.build("user_check")], icount=True, timeout=25, **options).status

    assert run("tactus") == 0
    # A case fails, or the guest hangs or does not survive.
    assert run(mutant.build(tmp_path, name), check=False) in (1, 124, 125)


@pytest.mark.parametrize(("name", "seen"), [
    ("direct_tables", ["vdso"]), ("shadow_stays", ["dontneed", "mapped_over"]),
    *(pytest.param(*words, marks=pytest.mark.long) for words in [
        ("view_written", ["fifo_pages"]), ("huge_offset", ["huge_pages"]),
        ("kernel_in_ring3", ["kernel_memory"]), ("calls_reach_kernel", ["fifo"]),
        ("pins_not_awaited", ["pinned_twice"]), ("late_recall", ["thrown_away"]),
        ("a_page_more", ["service_limits"]), ("view_stays", ["fifo_pages"]),
        ("huge_at_once", ["huge_pages"])])])
def test_a_mutant_of_the_tables_is_seen(vm, tmp_path: Path, name: str, seen: list[str]) -> None:
    """RT mode's page tables: the kernel reached from ring 3, memory kept that is no more. The
    cases that are about that fail, and others do not; unchanged, all of them pass (above)."""
    module = mutant.build_one(tmp_path, "tactus_user", name)
    done = vm(f"./user_check jobs null {' '.join(seen)}",
              modules=f"tactus rtfifo {module}", put=[programs.build("user_check")], icount=True,
              check=False)
    said = [line.partition(":")[0] for line in done.stdout.splitlines()]
    assert said == ["ok jobs", "ok null", *(f"not ok {case}" for case in seen)]
    assert done.status == 1
