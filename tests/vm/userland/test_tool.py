# SPDX-License-Identifier: GPL-2.0-only
"""The tactus command in a guest with a stock kernel: load, look, be refused, unload."""
from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harness import guest_python
from harness.guest_python import Step

pytestmark = pytest.mark.slow
MODULES = "tactus_core tactus tactus_rm rtfifo rt_hello"

STEPS = {
    "nothing there": "tactus status",
    "bad parameter": "tactus load --param tactus.mode=silly",
    "after that": "tactus status",
    "load": "tactus load",
    "load again": "tactus load",
    "a user": "modprobe rt_hello && sleep 2",
    "status": "tactus status",
    "json": "tactus status --json",
    "unload under a module": "tactus unload",
    "module goes, a reader stays": "sleep 1000 < /dev/rtf0 & sleep 1; rmmod rt_hello",
    "unload under a reader": "tactus unload",
    "unload": "kill $!; wait $!; tactus unload",
    "all gone": "tactus status",
    "from a folder": "tactus load --policy fixed_priority --dir /lib/modules/$(uname -r)",
    "its policy": "cat /sys/kernel/tactus/policy",
    "unload that": "tactus unload",
}


@pytest.fixture(scope="module")
def steps(vm_module, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Step]:
    return guest_python.run_steps(vm_module, STEPS, tmp_path_factory.mktemp("python"),
                                  with_modules=MODULES)


def test_before_and_after_it_is_not_loaded(steps: dict[str, Step]) -> None:
    for name in ("nothing there", "after that", "all gone"):
        assert steps[name] == Step("tactus is not loaded\n", 3)


def test_a_refusal_is_quoted(steps: dict[str, Step]) -> None:
    refused = steps["bad parameter"]
    assert refused.status == 1
    assert "cannot load tactus: " in refused.said
    assert "the kernel says: tactus: refused: mode=silly is unknown" in refused.said


def test_load(steps: dict[str, Step]) -> None:
    loaded = steps["load"]
    assert loaded.status == 0
    assert loaded.said.endswith("tactus: loaded\ntactus_rm: loaded\nrtfifo: loaded\n")
    assert steps["load again"].status == 0
    assert "rtfifo: already loaded\n" in steps["load again"].said


def test_status(steps: dict[str, Step]) -> None:
    assert steps["a user"].status == 0
    assert steps["status"].status == 0
    assert steps["status"].said.startswith("OK: tactus is active on ")
    told = json.loads(steps["json"].said)
    assert told["state"] == "active"
    assert told["mode"] == "pipeline"
    assert told["policy"] == "rm"
    assert told["slots"]["cli"] > 100 and told["slots"]["sti"] > 100
    (task,) = told["tasks"]
    assert task["period_ns"] == 500_000_000
    assert task["releases"] >= 2
    assert [fifo["fifo"] for fifo in told["fifos"]] == [0]
    assert told["fifos"][0]["used_out"] > 0


def test_unload_names_the_users(steps: dict[str, Step]) -> None:
    under_module, under_reader = steps["unload under a module"], steps["unload under a reader"]
    assert under_module.status == under_reader.status == 1
    assert "rtfifo is used by rt_hello: unload that first" in under_module.said
    assert re.search(r"rtfifo is in use by sleep \(pid \d+\)", under_reader.said)


def test_unload(steps: dict[str, Step]) -> None:
    assert steps["unload"].status == 0
    assert steps["unload"].said.splitlines()[-4:] == [
        "rtfifo: unloaded", "tactus_rm: unloaded", "tactus: unloaded",
        "tactus_core: stays resident until the next boot"]


def test_from_a_folder_with_the_built_in_policy(steps: dict[str, Step]) -> None:
    assert steps["from a folder"].status == 0
    assert steps["its policy"].said == "fixed_priority\n"
    assert steps["unload that"].status == 0


def test_the_guest_got_no_whole_library(tmp_path: Path) -> None:
    guest_python.put(tmp_path)
    bytes_put = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert bytes_put < 12_000_000
