# SPDX-License-Identifier: GPL-2.0-only
"""What all tests share: the mark of those that `make test-quick` and `make test` leave out."""
from __future__ import annotations

import pytest

pytest_plugins = ["harness.budget", "harness.fixtures", "harness.lastrun", "harness.workers",
                  "machines"]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes more than 30 s; left out of the quick run")
    config.addinivalue_line("markers",
                            "long: by `make test-long` only: it takes minutes of CPU time,"
                            " or its moments are the host's")
