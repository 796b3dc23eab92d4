# SPDX-License-Identifier: GPL-2.0-only
"""The tutorial's shell blocks run as they stand; the site builds, and its search finds things."""
from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from harness.bench.common import cache_dir
from harness.pages import shell

TOP = Path(__file__).resolve().parents[1]


def run(page: str, count: int, home: Path) -> str:
    """What the `count` shell blocks of a page print, with `home` as the home folder."""
    blocks = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == count
    return shell("\n".join(blocks), HOME=str(home), TACTUS_CACHE=str(cache_dir()))


def test_the_policy_runs(tmp_path: Path) -> None:
    """To the letter what the page shows."""
    page = (TOP / "docs/howto-policy.md").read_text()
    shown = re.search(r"It prints\n\n((?:    .*\n)+)", page)
    assert shown
    # The build names its modules first.
    output = run(page, 2, tmp_path).partition("/two.ko\n")[2]
    assert output == re.sub("^    ", "", shown[1], flags=re.M)


def without_numbers(text: str) -> str:
    return re.sub(r"[\d.]+", "N", re.sub(" +", "", text))


@pytest.mark.slow
def test_the_latency_is_found(tmp_path: Path) -> None:
    """Both answers are those of the page, but for numbers."""
    page = (TOP / "docs/howto-latency.md").read_text()
    output = run(page, 2, tmp_path)
    shown = re.findall(r"^    (?:latency on|latest of).*\n(?:    .*\n)*", page, re.M)
    assert len(shown) == 2
    for part in shown:
        assert without_numbers(part) in without_numbers(output), output
    held = re.search(r"([\d.]+) us  interrupts were hard-off until hard_section", output)
    assert held and 50 < float(held[1]) < 1600


def test_the_tutorial_runs(tmp_path: Path) -> None:
    output = run((TOP / "docs/tutorial.md").read_text(), 4, tmp_path)
    assert output.startswith("active\n")
    assert (tmp_path / "late/late.bin").stat().st_size == 8000
    latest = re.search(r"^1000 jobs, latest (\d+) ns$", output, re.M)
    assert latest, output
    assert 0 < int(latest[1]) < 5000
    assert "<svg" in (tmp_path / "late/late.svg").read_text()


def test_the_site(tmp_path: Path) -> None:
    if subprocess.run(["/usr/bin/python3", "-c", "import sphinx, myst_parser, furo"],
                      stderr=subprocess.DEVNULL).returncode:
        pytest.skip("Sphinx is not installed: run tools/setup docs")
    done = subprocess.run([TOP / "tools/docs", "--out", tmp_path / "site"], text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    index = (tmp_path / "site/searchindex.js").read_text()
    for word in ("rt_task_make_periodic", "barabanov", "take_irq"):
        assert word in index, word
    task = (tmp_path / "site/reference/rt-task.html").read_text()
    assert "rt_task_make_periodic" in task and "rt_task_set_budget" in task
    assert "tactus load" in (tmp_path / "site/reference/commands.html").read_text()
    assert list((tmp_path / "site/_images").glob("graphviz-*.svg"))
    # Offline: no page fetches anything.
    for page in (tmp_path / "site").rglob("*.html"):
        assert not re.search(r'<(script|link)[^>]*(src|href)="https?://', page.read_text()), page
