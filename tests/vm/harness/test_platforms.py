# SPDX-License-Identifier: GPL-2.0-only
"""Every check of platforms.py on two machines; `make test-platforms` has all."""

from __future__ import annotations

import dataclasses
import json
import os
import struct
from pathlib import Path

import pytest

from harness.bench.channel import MAGIC, Channel, Record
from harness.bench.initrd import BUSYBOX
from harness.bench.kernels import local
from harness.bench.modules import SIGNED, contents
from harness.fixtures import have
from harness.platforms import (
    MORE_CHECKS,
    PLATFORMS,
    TESTED,
    Row,
    cells,
    check,
    judge,
    kept,
    page,
    renewed,
    table,
)


@pytest.mark.parametrize("name", TESTED)
def test_machine(name: str) -> None:
    """It loads, an RT task is exact, and nothing is left when it is gone."""
    row = check(PLATFORMS[name])
    assert row.trouble == [] and row.good
    assert row.timer and row.max_ns


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", [name for name, one in PLATFORMS.items() if one.what == "kernel"],
                         ids=lambda name: name.removeprefix("kernel "))
def test_kernel(name: str) -> None:
    """The same on a kernel of our own; the first time it is built."""
    have(PLATFORMS[name].kernel)
    row = check(PLATFORMS[name])
    assert row.trouble == [] and row.good


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", [name for name, one in PLATFORMS.items() if one.bochs])
def test_in_bochs(name: str) -> None:
    """The same on a CPU with what QEMU lacks: TSC deadline, mwait, a real #XM."""
    row = check(PLATFORMS[name])
    assert row.trouble == [] and row.good


GOOD = """\
PLATFORM load active 0
PLATFORM timer lapic
PLATFORM cpu QEMU Virtual CPU
PLATFORM task period_ns=1000000 releases=299 expected=299 skipped=0 overruns=0 max_ns=1000
PLATFORM unload
PLATFORM text ktext: regions=3 bytes=9000000 different=0 gone=0
PLATFORM again
"""


def judged(text: str, cpus: int = 1) -> Row:
    row = Row("pc")
    judge(row, text, cpus)
    return row


def test_a_good_machine_is_good() -> None:
    """The text that a guest prints when all is well; of several CPUs lateness is not looked at."""
    row = judged(GOOD)
    assert row.good and (row.max_ns, row.timer, row.x2apic) == (1000, "lapic", False)
    late = GOOD.replace("active 0", "active 0-3").replace("max_ns=1000", "max_ns=9000")
    assert judged(late, 4).good and judged(late, 4).max_ns is None
    assert "1000    lapic, x2APIC" in table([judged(GOOD + "PLATFORM x2apic\n")])


@pytest.mark.parametrize(("old", "new", "check_name"), [
    ("load active 0", "load active", "load"),
    ("load active 0", "load active 0-1", "load"),
    ("releases=299", "releases=298", "task"),
    ("skipped=0", "skipped=1", "task"),
    ("max_ns=1000", "max_ns=2001", "task"),
    ("releases=299 expected=299", "releases=9 expected=9", "task"),
    ("PLATFORM unload\n", "", "unload"),
    ("different=0", "different=1", "text"),
    ("PLATFORM again\n", "", "again"),
])
def test_each_check_can_fail(old: str, new: str, check_name: str) -> None:
    """One thing wrong fails one check."""
    assert GOOD.count(old) == 1
    row = judged(GOOD.replace(old, new))
    assert [name for name, passed in row.passed.items() if not passed] == [check_name]
    assert len(row.trouble) == 1 and not row.good


IN_BOCHS = GOOD.replace("timer lapic", "timer tsc-deadline") + """\
PLATFORM idle mwait
PLATFORM fifo hello, world hello, world
PLATFORM fault.divide #DE divide+0x9
PLATFORM fault.sse #XM sse+0x3f
"""


@pytest.mark.parametrize(("old", "new", "check_name"), [
    ("", "", ""),
    ("tsc-deadline", "lapic", "deadline"),
    ("idle mwait", "idle hlt", "idle"),
    ("fifo hello, world hello", "fifo hello", "fifo"),
    ("#XM sse+0x3f", "#XM sse+0x43", "fault"),
    ("#DE divide", "#DE", "fault"),
])
def test_each_check_in_bochs_can_fail(old: str, new: str, check_name: str) -> None:
    """As above; an exception from the `int` behind the division is not #XM."""
    row = Row("bochs")
    judge(row, IN_BOCHS.replace(old, new), 1, False, "sse+0x3f")
    assert "".join(name for name, passed in row.passed.items() if not passed) == check_name
    assert row.good == (not check_name) and row.max_ns is None


MORE = """\
PLATFORM ibt Indirect Branch Tracking enabled
PLATFORM hotplug.1 0 0-1
PLATFORM hotplug.2 0 0-1
PLATFORM hotplug.task period_ns=2000000 releases=900 expected=900 skipped=0 overruns=0
PLATFORM kvm nested: outs=6400 kicks=400 wrong=0 max_late_ms=0.25
PLATFORM kvm.task period_ns=1000000 releases=400 expected=400 skipped=0 overruns=0
"""


@pytest.mark.parametrize(("old", "new", "check_name"), [
    ("", "", ""),
    ("PLATFORM ibt Indirect Branch Tracking enabled\n", "", "ibt"),
    ("PLATFORM hotplug.1", "PLATFORM ibt.cp Missing ENDBR: sse+0x0\nPLATFORM hotplug.1", "ibt"),
    ("hotplug.2 0 0-1", "hotplug.2 0-1 0-1", "hotplug"),
    ("hotplug.2 0 0-1\n", "hotplug.2 0 0\n", "hotplug"),
    ("releases=900", "releases=899", "hotplug"),
    ("releases=900 expected=900", "releases=9 expected=9", "hotplug"),
    ("kicks=400", "kicks=401", "kvm"),
    ("outs=6400 kicks=400", "outs=64 kicks=4", "kvm"),
    ("wrong=0", "wrong=1", "kvm"),
    ("releases=400", "releases=399", "kvm"),
])
def test_each_check_of_some_machines_can_fail(old: str, new: str, check_name: str) -> None:
    """As above: of what not each machine in Bochs has."""
    assert MORE.count(old) == 1 or not old
    row = Row("bochs")
    judge(row, IN_BOCHS + MORE.replace(old, new, 1 if old else 0), 1, False, "sse+0x3f",
          MORE_CHECKS)
    assert "".join(name for name, passed in row.passed.items() if not passed) == check_name
    assert row.good == (not check_name)


def test_a_table_of_machines_that_differ() -> None:
    """What a machine has not is neither a failure nor a cell."""
    names = [name for name, one in PLATFORMS.items() if one.bochs][-3:]
    rows = []
    for name in names:
        row = Row(name)
        judge(row, IN_BOCHS + MORE, 1, False, "sse+0x3f", PLATFORMS[name].more)
        rows.append(row)
    assert cells(rows) == (30, 30)
    lines = page(rows, "CPU").splitlines()
    assert lines[0].endswith("| fault | ibt | hotplug | kvm | max ns | timer |")
    assert [line.split("|")[11:14] for line in lines[2:5]] == [
        [" - ", " ok ", " - "], [" - ", " - ", " ok "], [" ok ", " - ", " - "]]


def test_a_wanted_refusal_is_good() -> None:
    """Unsigned modules under Secure Boot: refused is good, and one cell; loaded is a failure, and
    so is another reason."""
    row = Row("pc", wanted="unsigned module")
    judge(row, "PLATFORM refused Loading of unsigned module is rejected\n", 1)
    assert row.good and cells([row]) == (1, 1)
    row = Row("pc", wanted="unsigned module")
    judge(row, "PLATFORM load unsigned\n", 1)
    assert row.trouble == ["it was not refused"] and not row.good and cells([row]) == (0, 1)
    row = Row("pc", wanted="unsigned module")
    judge(row, "PLATFORM refused the clock is not the TSC; nothing was changed\n", 1)
    assert row.trouble and not row.good
    row = Row("pc", wanted="unsigned module")
    judge(row, "", 1)
    assert row.trouble and not row.good


def test_records_on_a_serial_line() -> None:
    """They begin behind the magic number, whatever the firmware has printed; parts wait."""
    channel = Channel(1 << 16, serial=True)
    assert channel.line is not None
    ready = struct.pack("<II", Record.STDOUT, 2) + b"ok"
    for part in (b"firmware\x1b[2J", struct.pack("@Q", MAGIC) + ready[:5]):
        os.write(channel.line, part)
        assert list(channel.records()) == []
    os.write(channel.line, ready[5:] + ready)
    assert list(channel.records()) == [(Record.STDOUT, b"ok")] * 2
    channel.close()


def test_rows_are_kept(tmp_path: Path) -> None:
    """A run of some machines leaves the others' rows; what is no machine any more goes."""
    path = tmp_path / "rows.json"
    assert kept(path) == []
    rows = [judged(GOOD), Row("a machine of old")]
    path.write_text(json.dumps([dataclasses.asdict(row) for row in rows]), encoding="utf-8")
    assert kept(path) == rows[:1]


def test_the_page_has_what_works() -> None:
    """Every row of the table; none if one has failed."""
    row = judged(GOOD)
    assert "| pc | ok | ok | ok | ok | ok | 1000 | lapic |\n" in page([row])
    assert "5 of 5 cells passed." in page([row])
    with pytest.raises(SystemExit, match="pc failed"):
        page([judged(GOOD.replace("different=0", "different=1"))])


def test_signed_modules_stay_signed(tmp_path: Path) -> None:
    """What the guest gets of a signed module is every byte; of others, no debugging information."""
    path = tmp_path / "big.ko"
    path.write_bytes(BUSYBOX.read_bytes() + SIGNED)
    assert contents(path, tmp_path) == path.read_bytes()
    path.write_bytes(BUSYBOX.read_bytes() + b"rest")
    assert not contents(path, tmp_path).endswith(b"rest")


@pytest.mark.parametrize(("config", "words"), [
    ("CONFIG_CC_IS_GCC=y\nCONFIG_GCC_VERSION=120200\nCONFIG_CLANG_VERSION=0\n", []),
    ("CONFIG_CC_IS_CLANG=y\nCONFIG_CLANG_VERSION=190107\n", ["LLVM=-19"]),
])
def test_modules_take_the_kernels_compiler(tmp_path: Path, config: str, words: list[str]) -> None:
    """The release of clang that built it, if it was that."""
    (tmp_path / "include/config").mkdir(parents=True)
    (tmp_path / "include/config/kernel.release").write_text("6.12.0\n", encoding="utf-8")
    (tmp_path / "Makefile").touch()
    (tmp_path / ".config").write_text(config, encoding="utf-8")
    assert local(tmp_path).compiler_words() == words


def test_a_refusal_is_told() -> None:
    """A machine that is refused is neither good nor a failure of a check."""
    row = judged("PLATFORM refused the clock is not the TSC; nothing was changed\n")
    assert row.refused.startswith("the clock") and not row.trouble and not row.good
    assert "refused: the clock" in table([row])


def test_rows_that_were_not_run_stay_on_the_page() -> None:
    """A row that was run takes its old one's place; a machine without any row is an error."""
    names = [name for name, one in PLATFORMS.items() if one.what == "kernel"]
    rows = [Row(name, passed=dict.fromkeys(PLATFORMS[name].checks, True), timer="old")
            for name in names]
    for row in rows:
        if wanted := PLATFORMS[row.name].refused:
            row.wanted = row.refused = wanted
    old = page(rows, "kernel")
    assert renewed(old, rows[:1], "kernel") == old
    again = dataclasses.replace(rows[0], timer="new")
    assert renewed(old, [again], "kernel") == page([again, *rows[1:]], "kernel")
    with pytest.raises(SystemExit, match=f"not run: {names[-1]}$"):
        renewed(page(rows[:-1], "kernel"), [again], "kernel")
    other_columns = old.replace("| task |", "|", 1)
    with pytest.raises(SystemExit, match="not run"):
        renewed(other_columns, [again], "kernel")
