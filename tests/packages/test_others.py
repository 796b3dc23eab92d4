# SPDX-License-Identifier: GPL-2.0-only
"""The RPM and Arch packages build where their tools are, and hold what `make install-userland` has.

`make test-packages` installs the tools and runs this. The packages are unpacked and the command in
them is run; they are installed on no machine of their kind.
"""
from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import tactus

pytestmark = pytest.mark.long
TOP = Path(__file__).resolve().parents[2]
VERSION = tactus.__version__
# makepkg builds as a user without a home, where ccache has no place.
NO_CACHE = {"CCACHE_DISABLE": "1"}


def run(*words: str | Path, cwd: Path = TOP, **more: str) -> str:
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True,
                          check=False, env=os.environ | NO_CACHE | more)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def tarball(into: Path) -> None:
    """The checkout as it is: what git knows of, changes included."""
    names = run("git", "ls-files", "--cached", "--others", "--exclude-standard").split("\n")
    listed = into / "files"
    listed.write_text("\n".join(name for name in names if (TOP / name).is_file()))
    run("tar", "czf", into / f"tactus-{VERSION}.tar.gz", f"--transform=s,^,tactus-{VERSION}/,S",
        "-T", listed)


def judge(root: Path, libraries: str) -> None:
    """@root: all packages unpacked together."""
    python = run("/usr/bin/python3", "-c", "import sysconfig; print(sysconfig.get_path('purelib',"
                 " 'posix_prefix', vars={'base': '/usr'}))").strip()
    lines = run("tools/userland", "list", PREFIX="/usr", LIBDIR=libraries, PYTHONDIR=python)
    wanted = {line.split()[2].replace("vendor-completions/_", "site-functions/_")
              for line in lines.splitlines()}
    found = {f"/{path.relative_to(root)}".removesuffix(".gz") for path in root.rglob("*")
             if not path.is_dir()}
    assert wanted <= found, sorted(wanted - found)
    source = f"/usr/src/tactus-{VERSION}/"
    sources = {source + name for name in run("tools/product-sources").split()}
    assert {name for name in found if name.startswith(source)} == sources | {source + "dkms.conf"}
    config = (root / source.lstrip("/") / "dkms.conf").read_text()
    assert f"/{VERSION}/build" in config and "#MODULE_VERSION#" not in config
    said = run(root / "usr/bin/tactus", "--version")
    assert said.startswith(f"tactus {VERSION} ")
    rest = {name for name in found - wanted - sources if not name.startswith(
        ("/usr/share/doc/", "/usr/share/licenses/", source, "/usr/lib/.build-id/"))}
    assert not {name for name in rest if "/." not in name}, rest


@pytest.mark.skipif(not shutil.which("rpmbuild"), reason="there is no rpmbuild: apt install rpm")
def test_rpm(tmp_path: Path) -> None:
    (tmp_path / "SOURCES").mkdir()
    tarball(tmp_path / "SOURCES")
    run("rpmbuild", "-bb", "--nodeps", "--define", f"_topdir {tmp_path}", "--define",
        "debug_package %{nil}", TOP / "packaging/rpm/tactus.spec")
    packages = sorted((tmp_path / "RPMS").rglob("*.rpm"))
    assert {path.name.split(f"-{VERSION}")[0] for path in packages} == {
        "tactus", "tactus-devel", "tactus-dkms"}
    root = tmp_path / "root"
    root.mkdir()
    for path in packages:
        run("sh", "-c", f"rpm2cpio {path} | cpio -idm --quiet", cwd=root)
    judge(root, run("rpm", "--eval", "%{_libdir}").strip())


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """makepkg refuses root, and nobody else may enter pytest's folders."""
    with tempfile.TemporaryDirectory(prefix="tactus-arch.") as name:
        yield Path(name)


@pytest.mark.skipif(not shutil.which("makepkg"), reason="there is no makepkg: apt install makepkg")
def test_arch(open_folder: Path) -> None:
    shutil.copy(TOP / "packaging/arch/PKGBUILD", open_folder)
    tarball(open_folder)
    words: tuple[str | Path, ...] = ("makepkg", "--nodeps", "--noconfirm")
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        for path in (open_folder, *open_folder.iterdir()):
            os.chown(path, nobody.pw_uid, nobody.pw_gid)
        words = ("runuser", "-u", "nobody", "--", *words)
    # pacman is asked for dependencies alone, which --nodeps leaves out.
    run(*words, cwd=open_folder, HOME=str(open_folder), BUILDDIR=str(open_folder), PACMAN="true",
        PKGEXT=".pkg.tar.gz")
    packages = sorted(open_folder.glob("*.pkg.tar.gz"))
    assert {path.name.split(f"-{VERSION}")[0] for path in packages} == {"tactus", "tactus-dkms"}
    root = open_folder / "root"
    root.mkdir()
    for path in packages:
        run("tar", "xzf", path, "-C", root)
    judge(root, "/usr/lib")
