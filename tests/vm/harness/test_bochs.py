# SPDX-License-Identifier: GPL-2.0-only
"""The bench in Bochs: the same command line, and the same ends. What boots there is long."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import ClassVar

import pytest

from harness.bench import bochs, sources
from harness.bench.common import BenchError
from harness.vmrun import Vm

IN_BOCHS = ["--machine", "bochs"]


@pytest.mark.parametrize("words", [["--icount"], ["--nmi", "5"], ["--secure-boot"],
                                   ["--qemu=-s"], ["--new-qemu"]])
def test_what_is_qemus_is_refused(vm: Vm, words: list[str]) -> None:
    done = vm("true", extra=[*IN_BOCHS, *words], check=False)
    name = words[0].partition("=")[0]
    assert done.status == 123
    assert f"vm: {name} is for QEMU, not for --machine bochs\n" in done.stderr


def test_a_wrong_machine_is_refused() -> None:
    with pytest.raises(BenchError, match="bochs or bochs:MODEL is wanted"):
        bochs.model_of("qemu")


def test_the_second_reset_is_the_guests() -> None:
    line = b"00000000000i[SYS   ] bx_pc_system_c::Reset(HARDWARE) called\n"
    assert not bochs.was_reset(line) and bochs.was_reset(line + b"more\n" + line)


class FakeApt:
    """Debian's sources of "thing": sid's newer one cannot be fetched."""

    asked: ClassVar[list[str]] = []

    def __init__(self, suite: str, kind: str) -> None:
        assert kind == "deb-src"
        self.suite = suite
        self.asked.append(suite)

    def refresh(self) -> bool:
        return True

    def source(self, name: str) -> str:
        return {"sid": "2", "trixie": "1"}[self.suite]

    def tarball(self, name: str, version: str, into: Path) -> Path:
        if self.suite == "sid":
            raise BenchError("404")
        (into / f"{name}-{version}").mkdir(parents=True)
        (into / f"{name}-{version}/text").write_text("old\n")
        archive = into / f"{name}.tar"
        with tarfile.open(archive, "w") as tar:
            tar.add(into / f"{name}-{version}", arcname=f"{name}-{version}")
        return archive


def test_a_program_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first source that can be fetched; again when its options change; and one that was
    built once is there without a network."""
    monkeypatch.setattr(sources, "Apt", FakeApt)
    patch = tmp_path / "patch"
    patch.write_text("--- a/text\n+++ b/text\n@@ -1 +1 @@\n-old\n+new\n")
    built: list[Path] = []

    def build(folder: Path) -> Path:
        built.append(folder)
        (folder / "made").write_text(f"{folder.name} {(folder / 'text').read_text()}")
        return folder / "made"

    def program(*options: str, suites: tuple[str, ...] = ("sid", "trixie")) -> Path:
        return sources.program("thing", suites, tmp_path, options, patch, build)

    FakeApt.asked.clear()
    first = program("-a")
    assert FakeApt.asked == ["sid", "trixie"]
    assert first.read_text() == "thing-1 new\n" and first.parent.name.startswith("1-")
    assert program("-a") == first and len(built) == 1 and len(FakeApt.asked) == 2
    (tmp_path / "asked").unlink()
    assert program("-a", suites=("sid",)) == first and len(built) == 1
    assert program("-b") != first and len(built) == 2 and not first.exists()
    patch.write_text("--- a/text\n+++ b/text\n@@ -1 +1 @@\n-other\n+new\n")
    with pytest.raises(BenchError, match="patching thing failed"):
        program("-b")
    with pytest.raises(BenchError, match="404"):
        program("-c", suites=("sid",))


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_a_run_and_its_end(vm: Vm, tmp_path: Path) -> None:
    """Output, files and status come home; RT time comes from the TSC's deadline."""
    (tmp_path / "there").write_text("and back\n")
    done = vm("uname -r; cat there > /tmp/back; cat /sys/kernel/tactus/timer; echo err >&2; exit 7",
              modules="tactus", put={tmp_path / "there": ""}, get=["/tmp/back"], extra=IN_BOCHS)
    assert done.status == 7 and done.stderr.endswith("err\n")
    assert done.stdout.startswith("6.1.") and done.stdout.endswith("\ntsc-deadline\n")
    assert done.get("back") == b"and back\n"
    assert "Linux version 6.1" in done.console


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_a_dead_kernel_is_125(vm: Vm) -> None:
    done = vm("echo c > /proc/sysrq-trigger", extra=IN_BOCHS, check=False)
    assert done.status == 125 and "Kernel panic" in done.console


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_a_reset_is_125(vm: Vm) -> None:
    done = vm("echo b > /proc/sysrq-trigger", extra=IN_BOCHS, append="reboot=p", check=False)
    assert done.status == 125 and "reset or powered off" in done.stderr


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_a_hang_is_124(vm: Vm) -> None:
    done = vm("sleep 100000", extra=IN_BOCHS, timeout=60, check=False)
    assert done.status == 124 and "no end after 60 s, while the command ran" in done.stderr
