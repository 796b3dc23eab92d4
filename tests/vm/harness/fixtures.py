# SPDX-License-Identifier: GPL-2.0-only
"""The bench as a fixture: each `vm(...)` is one real run of the command `tests/vm/vm`.

    def test_it(vm):
        done = vm("cat /sys/kernel/tactus/state", modules="tactus")
        assert done.stdout == "active\n"

A status of 123 to 125 (no set-up, hang, kernel trouble) fails the test at once with the
bench's reason, unless the call says `check=False`.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from . import ownkernel, twice
from .vmrun import KERNELS, Result, Vm, commands, run_vm


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Each test has commands of its own."""
    commands.clear()
    if twice.WANTED and not {"vm", "vm_module"} & set(getattr(item, "fixturenames", ())):
        pytest.skip("without a guest of its own: not one that runs twice")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, object, None]:
    """A failure shows how to repeat it: its last run, a shared one that it looked at included."""
    report = (yield).get_result()  # type: ignore[attr-defined]
    if report.failed:
        shared = [value.command for value in getattr(item, "funcargs", {}).values()
                  if isinstance(value, Result)]
        if last := (commands or shared)[-1:]:
            report.sections.append(("to repeat it", last[0]))


def have(kernel: str) -> None:
    """Skips the test if this kernel of our own is missing and may not be built; else it is built on
    first use."""
    if why := ownkernel.forbidden(kernel):
        pytest.skip(why)


@pytest.fixture
def vm(tmp_path: Path) -> Vm:
    """`vm(command, modules=..., ...)`: see run_vm for what it takes."""
    return lambda command, **options: run_vm(tmp_path, command, **options)


@pytest.fixture(scope="module")
def vm_module(tmp_path_factory: pytest.TempPathFactory) -> Vm:
    """The same for a module's shared runs: one boot, many checks on its Result."""
    folder = tmp_path_factory.mktemp("vm")
    return lambda command, **options: run_vm(folder, command, **options)


@pytest.fixture(params=KERNELS, ids="-".join)
def kernel(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Each stock kernel of the set, as (series, flavour); hand it on as `kernel=`."""
    return request.param
