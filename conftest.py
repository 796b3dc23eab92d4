# SPDX-License-Identifier: GPL-2.0
"""What all tests share: the mark of those that `make test-quick` leaves out, and second tries."""
from __future__ import annotations

import pytest

pytest_plugins = ["harness.budget", "harness.fixtures", "machines"]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes more than 30 s; left out of the quick run")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A second try (`--reruns`) starts afresh: the guest that a file's tests share boots anew."""
    if getattr(item, "execution_count", 1) > 1:
        for fixtures in item._fixtureinfo.name2fixturedefs.values():  # type: ignore[attr-defined]
            for fixture in fixtures:
                if fixture.scope == "module":
                    fixture.cached_result = None
