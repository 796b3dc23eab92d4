# SPDX-License-Identifier: GPL-2.0-only
"""FIFOs against a reference model, against fuzz, and short of memory: see the C programs.

Quick by default; TACTUS_THOROUGH=1, as `make test-long` sets it, runs 10^7 operations, 10^6 calls,
and as many again on a kernel with KASAN and lockdep, whose log must stay silent.
"""
from __future__ import annotations

import os
import re

import pytest

from harness import programs

MODULES = "tactus_core tactus rtfifo fifo_test alloc_fail"
THOROUGH = bool(os.environ.get("TACTUS_THOROUGH"))
OPERATIONS = 10_000_000 if THOROUGH else 100_000
CALLS = 1_000_000 if THOROUGH else 40_000


def numbers(line: str) -> dict[str, int]:
    """"a 1 b 2" -> {"a": 1, "b": 2}."""
    return {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", line)}


def test_random_operations(vm) -> None:
    """Every length and every byte as the model says, through kills of the worker."""
    done = vm(f"./fifo_random {OPERATIONS} 1; echo $?", modules=MODULES, timeout=1500,
              put=[programs.build("fifo_random")])
    first, second, status = done.stdout.splitlines()[-3:]
    assert status == "0", done.stdout
    told = numbers(first)
    assert told["operations"] == OPERATIONS
    assert told["kills"] >= 20
    assert told["refused"] and told["resizes"] and told["maps"]
    assert numbers(second)["words"] > 1000


def test_short_of_memory_and_fuzzed(vm) -> None:
    """Each allocation fails once, and the call with it; then calls at random, on both CPUs; and a
    model with an error in it is found out."""
    done = vm(f"./fifo_alloc; ./fifo_fuzz {CALLS} 1; ./fifo_random 20000 1 wrong",
              modules=MODULES, smp=2, timeout=1500,
              put=[programs.build(name) for name in ("fifo_alloc", "fifo_fuzz", "fifo_random")])
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"ok alloc \d+", lines[0]), done.stdout
    assert int(lines[0].split()[2]) >= 18
    assert "ok fuzz" in lines, done.stdout
    assert sum(numbers(line)["calls"] for line in lines if "succeeded" in line) == CALLS
    assert lines[-1].startswith("not ok random") and done.status == 1


@pytest.mark.long
@pytest.mark.timeout(6000)
@pytest.mark.parametrize("seed", range(1, 5))
def test_fuzzed_on_a_checking_kernel(vm, seed: int) -> None:
    """A quarter of a million calls each; the bench ends a run whose log has a complaint."""
    done = vm(f"./fifo_fuzz 250000 {seed}", kernel="debug", modules=MODULES, extra=["--memory=1G"],
              timeout=5000, put=[programs.build("fifo_fuzz")])
    assert "ok fuzz" in done.stdout and done.status == 0, done.stdout


if THOROUGH:
    test_random_operations = pytest.mark.long(test_random_operations)
    test_short_of_memory_and_fuzzed = pytest.mark.long(test_short_of_memory_and_fuzzed)
