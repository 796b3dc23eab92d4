# SPDX-License-Identifier: GPL-2.0-only
"""The timer is set sooner by what the way to RT code takes at least: nothing is early for that, and
whoever would be waits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import mutant

MODES = ("tick", "task")
# Without gravity the way alone takes longer, and with it no job is that late on an idle CPU.
WAY_NS = 200
EDGE_NS = 150


def lateness(vm, modules: str) -> dict[str, tuple[int, int, int]]:
    """By mode, the least, mean and most of 100 releases; and, in ns, the gravity: timer, job, 0."""
    runs = "; ".join(f"echo {mode} > $p/mode; echo 1 > $r/running; sleep 0.1; echo 0 > $r/running; "
                     "cat $r/summary" for mode in MODES)
    done = vm("p=/sys/module/rt_latency/parameters r=/proc/rt_latency; "
              f"cat /sys/kernel/tactus/gravity; {runs}",
              modules=f"{modules} rt_latency", icount=True, busy=True)
    gravity, *rest = done.stdout.splitlines()
    found = {"gravity": (*map(int, re.findall(r"=(\d+)", gravity)), 0)}
    for mode, line in zip(MODES, rest, strict=True):
        of = dict(word.split("=") for word in line.split())
        assert int(of["releases"]) >= 90
        found[mode] = tuple(int(of[name]) for name in ("min_ns", "avg_ns", "max_ns"))
    return found


def test_releases_are_on_time(vm) -> None:
    found = lateness(vm, "tactus")
    timer, job, _ = found["gravity"]
    assert WAY_NS < timer < job < 1000
    for mode in MODES:
        least, mean, _ = found[mode]
        assert 0 <= least <= mean < EDGE_NS, (mode, found)


def test_not_if_not_wanted(vm) -> None:
    found = lateness(vm, "tactus gravity=0")
    assert found["gravity"] == (0, 0, 0)
    assert all(found[mode][0] > WAY_NS for mode in MODES), found


@pytest.mark.parametrize(("name", "early"), [
    ("too_much_gravity", False), pytest.param("nobody_waits", True, marks=pytest.mark.long)])
def test_who_comes_early_waits(vm, tmp_path: Path, name: str, early: bool) -> None:
    """With a microsecond too much nothing is early. The control: without the wait all is."""
    found = lateness(vm, mutant.build(tmp_path, name))
    for mode in MODES:
        assert (found[mode][2] < -500 if early else 0 <= found[mode][0] < EDGE_NS), found
