# SPDX-License-Identifier: GPL-2.0-only
"""What a build made serves an equal one, and no other."""
from __future__ import annotations

import dataclasses
import os
import subprocess
from pathlib import Path

import pytest

from harness import VM
from harness.bench import kernels, results

SOURCE = '#include <linux/module.h>\nMODULE_INFO(made, "{}");\nMODULE_LICENSE("GPL");\n'


def build(folder: Path, made: str, *words: str) -> tuple[bool, bytes]:
    """Builds a module with that text in it; did anything compile, and the module."""
    folder.mkdir(parents=True)
    (folder / "Kbuild").write_text("obj-m := mine.o\n")
    (folder / "mine.c").write_text(SOURCE.format(made))
    log = folder / ".ccache.log"
    done = subprocess.run([VM, "build", *words, folder], text=True, capture_output=True,
                          check=False, env=os.environ | {"CCACHE_STATSLOG": str(log)})
    assert done.returncode == 0, done.stderr
    return log.exists(), (folder / "mine.ko").read_bytes()


def test_an_equal_folder_has_it_at_once(tmp_path: Path) -> None:
    """Not even the compiler's cache is asked. What is told is of the folder itself."""
    made = str(tmp_path)
    compiled, first = build(tmp_path / "one", made, "--alone")
    assert compiled
    compiled, second = build(tmp_path / "an" / "other", made, "--alone")
    assert not compiled and first == second
    assert (tmp_path / "an/other/modules.order").read_text() == f"{tmp_path}/an/other/mine.ko\n"
    compiled, third = build(tmp_path / "changed", f"{made}.", "--alone")
    assert compiled and f"made={made}.".encode() in third
    compiled, _ = build(tmp_path / "words", made, "--alone", "--make", "W=1")
    assert compiled


def test_a_folder_that_may_read_more_is_built(tmp_path: Path) -> None:
    assert build(tmp_path / "one", str(tmp_path))[0]
    assert build(tmp_path / "other", str(tmp_path))[0]


def test_one_byte_more_is_another_result(tmp_path: Path) -> None:
    """Of a source, of what it reads elsewhere, of a word, of the kernel or of a program."""
    folder, headers, program = tmp_path / "mine", tmp_path / "include", tmp_path / "gcc"
    (folder / "sub").mkdir(parents=True)
    headers.mkdir()
    for path in (folder / "Kbuild", folder / "sub/mine.h", headers / "rt.h", program,
                 tmp_path / "symbols", tmp_path / "Makefile"):
        path.write_text("text")
    kernel = kernels.Kernel(release="6.1", version="6.1.1-1", flavour="cloud", root=tmp_path,
                            image=tmp_path, config=None, kdir=tmp_path, modules=tmp_path)
    seen: set[Path] = set()

    def fresh(kernel: kernels.Kernel = kernel, word: str = "modules", debug: str = "") -> bool:
        env = {"TACTUS_DEBUG": debug, "PATH": word}
        found = results.result(kernel, folder, ["make", word], env, [
            headers, tmp_path / "symbols"], results.stamps([program])).path
        before = len(seen)
        seen.add(found)
        return len(seen) > before

    assert fresh()
    for left in ("mine.o", "mine.ko", ".mine.o.cmd", "modules.order", "Module.symvers", "x.mod.c"):
        (folder / left).write_text("made")
    assert not fresh()
    for path in (folder / "Kbuild", folder / "sub/mine.h", headers / "rt.h", program,
                 tmp_path / "symbols", tmp_path / "Makefile"):
        path.write_text("texts")
        assert fresh(), path
        assert not fresh()
    (folder / "sub/new.c").write_text("")
    assert fresh()
    (folder / "sub/new.c").rename(folder / "new.c")
    assert fresh()
    assert fresh(word="all") and fresh(debug="1")
    assert fresh(kernel=dataclasses.replace(kernel, version="6.1.1-2"))
    assert not fresh()


def test_the_programs_are_found(tmp_path: Path) -> None:
    """Here, and in a chroot under its own folder: the compiler's own half, too."""
    names = [name for name, *_ in results.programs("gcc-12")]
    assert {Path(name).name for name in names} >= {"gcc-12", "cc1", "make", "ld", "nm"}
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/gcc-14").write_text("")
    (tmp_path / "usr/bin/gcc-14").chmod(0o755)
    assert [name for name, *_ in results.programs("gcc-14", tmp_path)] == [
        str(tmp_path / "usr/bin/gcc-14")]


def test_the_longest_unused_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for age, name in enumerate(("new", "old", "older")):
        (tmp_path / f"{name}.tar.gz").write_bytes(b"12345")
        os.utime(tmp_path / f"{name}.tar.gz", (1000 - age, 1000 - age))
    monkeypatch.setattr(results, "KEEP_BYTES", 15)
    assert results.outdated(tmp_path, 0) == []
    assert [path.name for path in results.outdated(tmp_path, 6)] == [
        "old.tar.gz", "older.tar.gz"]
