# SPDX-License-Identifier: GPL-2.0-only
"""Every command block of the pages has a test, or is listed here with why it has none.

README's example, the tutorial, the how-tos and the labs are run as they stand. The others' commands
are those of the test named here, with other arguments perhaps.
"""
from __future__ import annotations

import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[1]
COMMAND = re.compile(r"(sudo )?(make|pytest|insmod|modprobe|tactus|tactus-tapfile|halrun|gcc|pip"
                     r"|mkdir|cat|grep|sigrok-cli|(tests|userland|examples|tools)/\S+) |[$] ")

NEEDS_SOUND = "needs a sound file of the reader's"
NEEDS_HARDWARE = "needs a port or a keyboard, or a machine of the reader's"
NEEDS_FILES = "needs files of the reader's"
TESTED_BY_PARTS = "the same commands by the example's tests, with a limit to how long they read"
# A page, and a word of the first line of its block -> the test of its commands, or why none.
BLOCKS: dict[tuple[str, str], str] = {
    ("CONTRIBUTING.md", "make unit"): ".ci/run",
    ("README.md", "make demo"): ".ci/run",
    ("README.md", "tests/vm/vm build"): "tests/test_docs.py",
    ("README.md", "make deb"): "tests/packages/run",
    ("docs/applications.md", "cat song.au"): NEEDS_SOUND,
    ("docs/applications.md", "make demo"): ".ci/run",
    ("docs/applications.md", "modprobe rt_daq"): "tests/vm/userland/test_record.py",
    ("docs/applications.md", "modprobe rt_tap"): "examples/tap/tests/test_tap_user.py",
    ("docs/applications.md", "tests/vm/measure/run tap"): "examples/tap/tests/test_tap.py",
    ("docs/course/README.md", ""): "tests/test_course.py",
    ("docs/howto-latency.md", ""): "tests/test_tutorial.py",
    ("docs/howto-policy.md", ""): "tests/test_tutorial.py",
    ("docs/stick.md", "make iso"): NEEDS_HARDWARE,
    ("docs/tutorial.md", ""): "tests/test_tutorial.py",
    ("docs/measuring.md", "tests/vm/measure/run"): "tests/vm/measure/test_run.py",
    ("docs/measuring-6.12.md", "tests/vm/measure/run"): "tests/vm/measure/test_run.py",
    ("docs/measuring.md", "make bench"): "tests/vm/measure/systems",
    ("docs/measuring.md", "tools/setup bench"): "installs packages",
    ("docs/measuring.md", "make test-matrix"): "tests/vm/harness/test_matrix.py",
    ("docs/measuring.md", "sudo tactus measure"): NEEDS_HARDWARE,
    ("docs/porting.md", "tests/vm/vm build --rtl"): NEEDS_FILES,
    ("docs/porting.md", "tools/libm"): "tests/vm/compat/test_libm.py",
    ("docs/porting.md", "halrun"): "tests/vm/compat/test_linuxcnc.py",
    ("docs/scheduling.md", "cat textbook.toml"): "tests/userland/test_analyze.py",
    ("docs/tap-language.md", "tactus tap --check"): NEEDS_FILES,
    ("docs/tap-language.md", "tactus-tapfile"): "tests/test_docs.py",
    ("docs/tap.md", "modprobe rt_tap"): "examples/tap/tests/test_tap_user.py",
    ("docs/tap.md", "tests/vm/python -m pytest"): "examples/tap/tests/test_tap_user.py",
    ("docs/testing.md", "tests/vm/vm run"): "tests/test_blocks.py",
    ("docs/testing.md", "cat ~/mine/Kbuild"): NEEDS_FILES,
    ("docs/testing.md", "tests/vm/explore"): "tests/vm/harness/test_explore.py",
    ("docs/tracing.md", "tactus trace record"): "tests/vm/userland/test_trace.py",
    ("docs/userspace.md", "sudo tactus load"): "tests/vm/user/test_user.py",
    ("examples/appendix_b/README.md", "tests/vm/vm"): NEEDS_SOUND,
    ("examples/daq/README.md", "modprobe"): "tests/vm/userland/test_record.py",
    ("examples/finegrain/README.md", "tests/vm/vm"): "tests/test_blocks.py",
    ("examples/hello/README.md", "tests/vm/vm run"): "tests/test_blocks.py",
    ("examples/hello/README.md", "tests/vm/vm build"): TESTED_BY_PARTS,
    ("examples/latency/README.md", "sudo tactus load"): TESTED_BY_PARTS,
    ("examples/linuxcnc/README.md", "make demo-cnc"): "tests/vm/compat/test_linuxcnc.py",
    ("examples/pathfinder/README.md", "modprobe"): "tests/test_course.py",
    ("examples/serial/README.md", "examples/serial"): "examples/serial/tests/test_serial.py",
    ("examples/serial/README.md", "modprobe"): NEEDS_HARDWARE,
    ("examples/servo/README.md", "examples/servo"): "examples/servo/tests/test_servo.py",
    ("examples/servo/README.md", "tactus scope"): "draws until it is stopped",
    ("examples/speaker/README.md", "sudo tactus load"): NEEDS_SOUND,
    ("examples/speaker/README.md", "sudo modprobe"): NEEDS_SOUND,
    ("examples/speaker/README.md", "gcc"): NEEDS_HARDWARE,
    ("examples/speaker/alsa/README.md", "sudo tactus load"): NEEDS_SOUND,
    ("examples/tap/README.md", "modprobe"): NEEDS_HARDWARE,
    ("examples/tap/README.md", "make tapuser"): "examples/tap/tests/test_tap_program.py",
    ("examples/tap/README.md", "grep -l"): NEEDS_HARDWARE,
    ("examples/tap/tapper/README.md", "modprobe"): "examples/tap/tests/test_tap_user.py",
    ("examples/user/README.md", "sudo tactus load"): "tests/vm/user/test_user.py",
    ("examples/workbench/README.md", "examples/workbench"):
        "examples/workbench/tests/test_workbench.py",
    ("examples/workbench/README.md", "sigrok-cli"): "tests/userland/test_digital.py",
    ("examples/workbench/README.md", "modprobe"): NEEDS_HARDWARE,
    ("userland/python/README.md", "pip"): "installs packages",
}
# The answers above that are no test.
REASONS = {NEEDS_SOUND, NEEDS_HARDWARE, NEEDS_FILES, TESTED_BY_PARTS, "installs packages",
           "draws until it is stopped"}


def pages() -> list[str]:
    return sorted(str(path.relative_to(TOP)) for pattern in
                  ("*.md", "docs/**/*.md", "examples/**/*.md", "userland/python/README.md")
                  for path in TOP.glob(pattern) if "decisions" not in path.parts)


def blocks(text: str) -> list[str]:
    """Those that are commands: fenced as sh, or indented and beginning with one."""
    fenced = re.findall(r"^```(?:sh|bash)\n(.*?)^```", text, re.M | re.DOTALL)
    plain = re.sub(r"^```.*?^```", "", text, flags=re.M | re.DOTALL)
    indented = [re.sub("^    ", "", part, flags=re.M)
                for part in re.findall(r"(?:(?<=\n\n)|\A)((?:    .*\n)+)", plain)]
    return fenced + [part for part in indented if COMMAND.match(part.replace("\n", " "))]


def unlisted(page: str, text: str) -> list[str]:
    """The first line of each block that no entry is about."""
    known = [word for listed, word in BLOCKS if listed == page]
    firsts = [block.splitlines()[0].removeprefix("$ ") for block in blocks(text)]
    return [first for first in firsts if not any(first.startswith(word) for word in known)]


@pytest.mark.parametrize("page", pages())
def test_each_block_is_run_or_listed(page: str) -> None:
    assert unlisted(page, (TOP / page).read_text()) == []


def test_a_new_block_would_be_seen() -> None:
    page = "docs/tracing.md"
    text = (TOP / page).read_text()
    assert unlisted(page, text + "\n    sudo make install\n") == ["sudo make install"]
    assert unlisted(page, text + "\n```sh\nls\n```\n") == ["ls"]


def test_no_entry_is_stale() -> None:
    for (page, word), answer in BLOCKS.items():
        found = [block.splitlines()[0].removeprefix("$ ")
                 for block in blocks((TOP / page).read_text())]
        assert any(first.startswith(word) for first in found), (page, word)
        assert answer in REASONS or (TOP / answer).exists(), answer
