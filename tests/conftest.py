# SPDX-License-Identifier: GPL-2.0
"""What all tests share: the mark of those that `make test-quick` leaves out."""
from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes more than 30 s; left out of the quick run")
