# SPDX-License-Identifier: GPL-2.0-only
"""Each lab of docs/course runs as written, and ends with the output that its page shows."""
from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from harness.pages import shell

TOP = Path(__file__).resolve().parents[1]
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")
# Virtual time counts instructions: another compiler or kernel moves figures, but not by this.
SPREAD = 0.3


def labs() -> dict[str, tuple[str, list[str]]]:
    """Number -> its command, and the lines that its page shows."""
    found = {}
    for part in (TOP / "docs/course/README.md").read_text().split("\n## ")[1:]:
        blocks = re.findall(r"(?:^    .*\n)+", part, re.M)
        shown = [line[4:].rstrip() for line in "".join(blocks[1:]).splitlines()]
        found[part[0]] = re.sub("^    ", "", blocks[0], flags=re.M), shown
    return found


def alike(shown: str, got: str) -> bool:
    """The same words, and numbers that differ by no more than SPREAD, or 5."""
    if NUMBER.sub("N", " ".join(shown.split())) != NUMBER.sub("N", " ".join(got.split())):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(got), strict=True)
    return all(abs(float(a) - float(b)) <= max(5.0, SPREAD * abs(float(a))) for a, b in pairs)


def last_lines(number: str, folder: Path) -> None:
    """Run a lab, what it writes to out/ going to @folder; compare."""
    command, shown = labs()[number]
    command = re.sub(r"(?<![-\w])out(?=[/\s])", str(folder), command)
    output = shell(command)
    got = output.splitlines()[-len(shown):]
    assert shown and len(got) == len(shown), output
    assert [(a, b) for a, b in zip(shown, got, strict=True) if not alike(a, b)] == []


def test_what_counts_as_alike() -> None:
    assert alike("task idle  3001 0 834", "task  idle 3003 2 900")
    assert not alike("task idle 3001", "task load 3001")
    assert not alike("late 1130", "late 20000")
    assert not alike("lost 0", "lost 7")
    assert not alike("took 8 ms", "took 8 ms and more")


def test_six_labs_ask_and_answer() -> None:
    page = (TOP / "docs/course/README.md").read_text()
    assert list(labs()) == ["1", "2", "3", "4", "5", "6"]
    assert page.count("*Question.*") == page.count("*Answer.*") == 6


@pytest.mark.parametrize("number", ["1", pytest.param("2", marks=pytest.mark.long), "5",
                                    pytest.param("6", marks=pytest.mark.long)])
def test_a_lab(number: str, tmp_path: Path) -> None:
    last_lines(number, tmp_path)
    if number == "6":
        assert {path.name for path in tmp_path.glob("*/*.wav")} == {
            "slope.wav", "sigma-2-32000.wav", "pwm-16384.wav"}


@pytest.mark.long
def test_the_lab_on_priority_inversion(tmp_path: Path) -> None:
    """The lander resets without inheritance alone, and both charts are drawn."""
    last_lines("4", tmp_path)
    for name in ("inherit0", "inherit1"):
        assert "<svg" in (tmp_path / f"{name}.svg").read_text()
    bars = [len(re.findall('class="run"', (tmp_path / f"inherit{n}.svg").read_text()))
            for n in (0, 1)]
    assert min(bars) > 20, bars


def test_the_lab_on_policies(tmp_path: Path) -> None:
    """What the sheet answers is what its command shows."""
    page = (TOP / "docs/course/README.md").read_text()
    command = re.search(r"^    userland/tactus (analyze .*)$", page, re.M)
    assert command
    subprocess.run(["make", "-s", "analysis"], cwd=TOP, check=True)
    words = command[1].replace("out/gantt.svg", str(tmp_path / "gantt.svg")).split()
    done = subprocess.run([TOP / "userland/tactus", *words], cwd=TOP, text=True,
                          capture_output=True, check=True)
    assert "slow would answer within 8 ms, its deadline is 7 ms" in done.stdout
    assert re.search(r"^edf: meets every deadline, at 97.14 % of the CPU$", done.stdout, re.M)
    assert "<svg" in (tmp_path / "gantt.svg").read_text()

    text = (TOP / "docs/course/rm-against-edf.toml").read_text()
    (tmp_path / "less.toml").write_text(text.replace("4ms", "3ms"))
    done = subprocess.run([TOP / "userland/tactus", "analyze", tmp_path / "less.toml"], text=True,
                          capture_output=True, check=True)
    assert "rm: meets every deadline, at 82.86 % of the CPU" in done.stdout
    assert "bound: 82.84 %" in done.stdout
