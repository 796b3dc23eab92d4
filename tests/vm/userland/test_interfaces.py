# SPDX-License-Identifier: GPL-2.0-only
"""The modules' files: tables longer than a page, with 200 tasks, and docs/abi against all files."""
from __future__ import annotations

import json

import pytest

import abi
from harness import guest_python
from harness.guest_python import Step

pytestmark = pytest.mark.slow
TASKS = 200
FOLDER = "/sys/kernel/tactus"
MODULES = ("tactus_rm tactus_user rtfifo rtshm rt_latency rt_speaker rt_tap rtl_compat "
           "rtai_compat")

STEPS = {
    "add": f"n=0; while [ $n -lt {TASKS} ]; do "
           "echo task$n 0 $((1000000 + n)) 0 0 $((n + 1)) > /sys/module/taskset/parameters/add;"
           " n=$((n + 1)); done; ls /sys/module/taskset > /dev/null",
    "tasks": f"cat {FOLDER}/tasks",
    "by odd pieces": f"dd if={FOLDER}/tasks bs=77 2> /dev/null",
    "timing": f"cat {FOLDER}/timing",
    "status": "tactus status --json",
    "top": "tactus top --count 1 --json",
    "none": f"rmmod taskset; cat {FOLDER}/tasks",
    "files": f"for module in {MODULES}; do modprobe $module || echo no $module; done; "
             f"find {FOLDER} /proc/rt_latency /sys/module/rt_speaker/control "
             f"/sys/module/*/stats -type f; "
             f"for module in tactus tactus_core {MODULES}; do "
             "find /sys/module/$module/parameters -type f 2> /dev/null; done; true",
}


@pytest.fixture(scope="module")
def steps(vm_module, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Step]:
    return guest_python.run_steps(vm_module, STEPS, tmp_path_factory.mktemp("python"),
                                  modules="tactus taskset", with_modules=MODULES, icount=True)


NAMES = {f"task{n}" for n in range(TASKS)}


@pytest.mark.parametrize("table", ["tasks", "by odd pieces", "timing"])
def test_each_task_has_a_whole_row(steps: dict[str, Step], table: str) -> None:
    head, *rows = steps[table].said.splitlines()
    assert {row.split("\t")[0] for row in rows} == NAMES
    assert {len(row.split("\t")) for row in rows} == {len(head.split("\t"))} == {8}
    assert {int(row.split("\t")[3]) for row in rows} == {1_000_000 + n for n in range(TASKS)}


def test_a_table_ends_where_its_rows_end(steps: dict[str, Step]) -> None:
    assert steps["none"].said.splitlines() == [steps["tasks"].said.splitlines()[0]]


def test_the_tool_shows_them_all(steps: dict[str, Step]) -> None:
    assert steps["status"].status == 0, steps["status"].said
    assert {row["name"] for row in json.loads(steps["status"].said)["tasks"]} == NAMES
    rows = json.loads(steps["top"].said)["tasks"]
    assert {row["task"] for row in rows} == NAMES
    assert all(row["period_us"] >= 1000 for row in rows)


def test_each_file_has_a_page_and_each_page_its_file(steps: dict[str, Step]) -> None:
    assert set(steps["files"].said.splitlines()) == abi.files()
