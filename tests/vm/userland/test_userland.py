# SPDX-License-Identifier: GPL-2.0-only
"""librtf, as `make install` leaves it, and the Python FIFO API in a guest, on the real device."""
from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from harness import TOP, guest_python, programs

MODULES = "tactus_core tactus rtfifo fifo_test"
SCRIPT = Path(__file__).with_name("fifo_python.py")
CASES = re.search(r"^CASES = \[([^]]*)\]", SCRIPT.read_text(), re.M)[1].replace(",", " ").split()


def installed(into: Path) -> Path:
    """All of user space below @into, librtf among it."""
    subprocess.run(["make", "-s", "-C", TOP, "install-userland", f"PREFIX={into}"], check=True)
    return into


def pkg_config(prefix: Path, *words: str) -> list[str]:
    where = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    return subprocess.run(["pkg-config", *words, "librtf"], check=True, text=True,
                          capture_output=True, env=os.environ | where).stdout.split()


def test_librtf(vm, tmp_path: Path) -> None:
    """A program that finds it by pkg-config, with the shared library."""
    prefix = installed(tmp_path / "usr")
    assert pkg_config(prefix, "--modversion") == ["1.0.0"]
    program = tmp_path / "librtf_check"
    subprocess.run(["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program,
                    programs.source("librtf_check"), *pkg_config(prefix, "--cflags", "--libs"),
                    "-Wl,-rpath,/lib"], check=True)
    library = prefix / "lib/librtf.so.1"
    done = vm("./librtf_check", modules=MODULES, icount=True,
              put={program: "/root/librtf_check", library: "/lib/librtf.so.1"})
    assert done.stdout == "ok librtf\n"


def test_librtf_exports_what_it_documents(tmp_path: Path) -> None:
    """The header, the symbols of the library and the manual page name the same functions."""
    prefix = installed(tmp_path / "usr")
    header = (prefix / "include/tactus/rtf.h").read_text()
    declared = set(re.findall(r"^(?:int|ssize_t|bool|[\w ]+\*) ?\*?(rtf_\w+)\(", header, re.M))
    symbols = subprocess.run(["nm", "-D", "--defined-only", prefix / "lib/librtf.so.1"], check=True,
                             capture_output=True, text=True).stdout
    exported = {line.split()[2].split("@")[0] for line in symbols.splitlines()
                if not line.endswith(" A LIBRTF_1.0")}
    page = set(re.findall(r"^\.(?:Fn|Nm) (rtf_\w+)",
                          (prefix / "share/man/man3/librtf.3").read_text(), re.M))
    assert declared == exported == page
    assert len(declared) > 10


def test_uninstall(tmp_path: Path) -> None:
    """What was installed goes again, a stranger's file stays, and no headers are needed."""
    make = ["make", "-s", "-C", str(TOP), f"DESTDIR={tmp_path}", "PREFIX=/usr"]
    subprocess.run([*make, "install-userland"], check=True)
    strange = tmp_path / "usr/bin/strange"
    strange.write_text("")
    subprocess.run([*make, "uninstall-userland"], check=True)
    assert [path for path in tmp_path.rglob("*") if path.is_file()
            or path.is_symlink()] == [strange]
    module = tmp_path / "lib/modules/1.2.3/updates/tactus/tactus.ko"
    module.parent.mkdir(parents=True)
    module.write_text("")
    subprocess.run([*make, "uninstall", "RELEASE=1.2.3", "KDIR=/nowhere"], check=True)
    assert not module.parent.exists()


def test_install(tmp_path: Path) -> None:
    """All of user space, in place and at work."""
    subprocess.run(["make", "-s", "-C", TOP, "install-userland", f"DESTDIR={tmp_path}",
                    "PREFIX=/usr"],
                   check=True)
    said = subprocess.run([tmp_path / "usr/bin/tactus", "--version"], check=True, text=True,
                          capture_output=True).stdout
    assert re.fullmatch(r"tactus \d+\.\d+\.\d+ \(modules: [\w. ]+\)\n", said)
    for page in ("man1/tactus.1", "man3/librtf.3", "man4/rtf.4", "man4/tactus.4",
                 "man8/tactus.8"):
        assert (tmp_path / "usr/share/man" / page).is_file()
    unit = (tmp_path / "usr/lib/systemd/system/tactus-record@.service").read_text()
    command = re.search(r"^ExecStart=(\S+) (\w+)", unit, re.M)
    assert command and (tmp_path / command[1].lstrip("/")).is_file()
    assert "--into" in subprocess.run([tmp_path / "usr/bin/tactus", command[2], "--help"],
                                      text=True,
                                      capture_output=True, check=True).stdout
    experiments = sorted((tmp_path / "usr/share/tactus/experiments").iterdir())
    path = f"{tmp_path}/usr/bin:{os.environ['PATH']}"
    checked = subprocess.run([tmp_path / "usr/bin/tactus", "tap", "--check", *experiments],
                             text=True,
                             capture_output=True, check=True, env=os.environ | {"PATH": path})
    assert checked.stdout.count(": right:") == len(experiments) == 8
    prefix = f"-I{tmp_path}/usr/include"
    subprocess.run(["g++", "-Wall", "-Wextra", "-Werror", prefix, "-fsyntax-only", "-x", "c++",
                    "-"],
                   input=b"#include <tactus/rtf.h>\nint main() { return rtf_flush(0); }\n",
                   check=True)


@pytest.mark.parametrize("page", sorted((TOP / "userland/man").glob("*.[1-8]")),
                         ids=lambda p: p.name)
def test_manual_pages_are_well_formed(page: Path) -> None:
    done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", page], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.fixture(scope="module")
def lines(vm_module, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    put = guest_python.put(tmp_path_factory.mktemp("python"), "numpy", "asyncio", "threading")
    done = vm_module("PYTHONPATH=/usr/lib/tactus-src python3 fifo_python.py",
                     modules=MODULES, icount=True, put=put | {SCRIPT: "/root/fifo_python.py"})
    return set(done.stdout.splitlines()) | {done.stderr}


@pytest.mark.slow  # numpy is a large thing to unpack
@pytest.mark.parametrize("case", CASES)
def test_python(lines: set[str], case: str) -> None:
    assert f"ok {case}" in lines, lines
