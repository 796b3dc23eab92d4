# SPDX-License-Identifier: GPL-2.0-only
"""Reads and downloads packages without installing them.

The lists and downloads are private to the bench's cache, so that neither root nor the state of
the machine's own lists matters; mirrors and keys come from the machine's own configuration.
"""

from __future__ import annotations

import functools
import re
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .common import BenchError, cache_dir, locked, output_of, say

REFRESH_S = 24 * 3600
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def newer(a: str, b: str) -> int:
    """Debian's order of versions, for functools.cmp_to_key."""
    if a == b:
        return 0
    done = subprocess.run(["dpkg", "--compare-versions", a, "gt", b], check=False)
    return 1 if done.returncode == 0 else -1


version_key = functools.cmp_to_key(newer)


@dataclass(frozen=True)
class Package:
    """One version of one package, as the lists show it."""

    name: str
    version: str
    depends: tuple[str, ...]


def _machine_sources() -> list[tuple[str, str]]:
    """(URI, codename) of every package source of this machine."""
    text = output_of(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(RELEASE)",
         "Created-By: Packages"],
        "reading apt's sources",
    )
    found = []
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 3:
            uri, codename, release = fields
            # Without lists there is no codename yet, only the name written in the source.
            found.append((uri, release if codename.startswith("$") else codename))
    return found


class Apt:
    """The packages of one Debian suite with its updates and security repository, or, by the kind
    "deb-src", their sources."""

    def __init__(self, suite: str, kind: str = "deb") -> None:
        self.suite = suite
        self.kind = kind
        self.home = cache_dir() / kind.replace("deb", "apt") / suite
        self.fetched = self.home / "fetched"

    def _sources(self) -> list[tuple[str, str]]:
        machine = _machine_sources()
        wanted = [self.suite]
        if self.suite != "sid" and not self.suite.endswith("-backports"):   # which have neither
            wanted += [f"{self.suite}-updates", f"{self.suite}-security"]
        chosen = [(uri, name) for uri, name in machine if name in wanted]
        have = {name for _, name in chosen}
        # A machine of another release: its mirror carries the wanted suite under the same URI.
        host = re.compile(r"^[a-z]+(-updates|-security)?$")
        for name in wanted:
            if name in have:
                continue
            security = name.endswith("-security")
            for uri, other in machine:
                if host.match(other) and other.endswith("-security") == security and (
                    "debian" in uri
                ):
                    chosen.append((uri, name))
                    break
        if not chosen:
            raise BenchError(
                f"apt's sources name no Debian mirror to look for {self.suite}'s kernels in"
            )
        return chosen

    def sources_text(self) -> str:
        """The suite's sources as a .sources file.

        Raises BenchError when this machine's sources name no Debian mirror.
        """
        signed = f"Signed-By: {KEYRING}\n" if KEYRING.exists() else ""
        return "\n".join(
            f"Types: {self.kind}\nURIs: {uri}\nSuites: {name}\nComponents: main\n{signed}"
            for uri, name in self._sources()
        )

    def _options(self) -> list[str]:
        pairs = {
            "Dir::Etc::sourcelist": self.home / "bench.sources",
            "Dir::Etc::sourceparts": "-",
            "Dir::State": self.home / "state",
            "Dir::State::lists": self.home / "lists",
            "Dir::State::status": "/dev/null",
            "Dir::Cache": self.home / "cache",
            "APT::Sandbox::User": "",
            "APT::Architecture": "amd64",
            "APT::Architectures": "amd64",
            "Acquire::Languages": "none",
            "Acquire::Check-Valid-Until": "false",
            "Acquire::Retries": "2",
            "Acquire::http::Timeout": "30",
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
            "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled": "false",
        }
        return [part for key, value in pairs.items() for part in ("-o", f"{key}={value}")]

    def _fresh(self) -> bool:
        try:
            return 0 <= time.time() - self.fetched.stat().st_mtime < REFRESH_S
        except OSError:
            return False

    def refresh(self) -> bool:
        """Fetches the lists when they are older than a day; False: they could not be fetched."""
        if self._fresh():
            return True
        with locked(self.home / "lock"):
            if self._fresh():
                return True
            text = self.sources_text()
            for folder in ("lists/partial", "cache/archives/partial", "state"):
                (self.home / folder).mkdir(parents=True, exist_ok=True)
            (self.home / "bench.sources").write_text(text, encoding="utf-8")
            what = "packages" if self.kind == "deb" else "sources"
            say(f"fetching {self.suite}'s lists of {what} (once a day)")
            done = subprocess.run(
                ["apt-get", *self._options(), "-qq", "update"],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            )
            # apt ends with 0 after a failed fetch and says so with W: or E: only.
            if done.returncode or re.search(r"^(E:|W: (Failed|Some index))", done.stderr, re.M):
                say("the package lists could not be fetched: "
                    + (done.stderr.strip().splitlines() or ["no reason given"])[0])
                return False
            self.fetched.touch()
        return True

    def names(self, prefix: str) -> list[str]:
        """Names of all known packages that start with `prefix`."""
        text = output_of(["apt-cache", *self._options(), "pkgnames", prefix], "apt-cache pkgnames")
        return text.split()

    def newest(self, names: Iterable[str]) -> dict[str, Package]:
        """The newest version of each of the named packages that exists."""
        names = list(names)
        if not names:
            return {}
        done = subprocess.run(
            ["apt-cache", *self._options(), "show", *names],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )
        found: dict[str, Package] = {}
        for stanza in done.stdout.split("\n\n"):
            fields = dict(re.findall(r"^([A-Za-z-]+): (.*)$", stanza, re.M))
            if "Package" not in fields:
                continue
            depends = tuple(
                part.split("|")[0].split()[0]
                for part in fields.get("Depends", "").split(",") if part.strip()
            )
            package = Package(fields["Package"], fields["Version"], depends)
            old = found.get(package.name)
            if old is None or newer(package.version, old.version) > 0:
                found[package.name] = package
        return found

    def closure(self, names: Iterable[str], without: Iterable[str] = ()) -> list[Package]:
        """The packages with all that they depend on and that the same suite has, save `without`
        and what only that needs."""
        found: dict[str, Package] = {}
        known = set(self.names("")) - set(without)
        wanted = set(names)
        while wanted:
            newest = self.newest(wanted)
            found.update(newest)
            wanted = {dep for package in newest.values() for dep in package.depends}
            wanted &= known - set(found)
        return list(found.values())

    def download(self, packages: Iterable[Package], into: Path) -> list[Path]:
        """Downloads the .deb files into the folder `into`."""
        into.mkdir(parents=True, exist_ok=True)
        wanted = [f"{package.name}={package.version}" for package in packages]
        output_of(["apt-get", *self._options(), "-qq", "download", *wanted],
                  "downloading " + " ".join(wanted), cwd=into)
        return sorted(into.glob("*.deb"))

    def source(self, name: str) -> str:
        """The newest version of a source package; of the kind "deb-src". Raises BenchError if the
        suite has none."""
        text = output_of(["apt-cache", *self._options(), "showsrc", name], "apt-cache showsrc")
        versions = [version for package, version in
                    re.findall(r"^Package: (\S+)$(?:.|\n)*?^Version: (\S+)$", text, re.M)
                    if package == name]
        if not versions:
            raise BenchError(f"{self.suite} has no source of {name}")
        return max(versions, key=version_key)

    def tarball(self, name: str, version: str, into: Path) -> Path:
        """Downloads a source package's tar archive into a folder, and nothing else of it: apt
        compares it with the list."""
        into.mkdir(parents=True, exist_ok=True)
        output_of(["apt-get", *self._options(), "-qq", "--download-only", "--tar-only", "source",
                   f"{name}={version}"], f"downloading the source of {name} {version}", cwd=into)
        return next(into.glob(f"{name}_*.orig.tar.*"))
