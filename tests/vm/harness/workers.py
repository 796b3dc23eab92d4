# SPDX-License-Identifier: GPL-2.0-only
"""Keeps the tests of each worker in its main thread: Python sets handlers of signals there alone.

In a verbose run, xdist asks a new worker for its version, and then for the tests. execnet gives
the second request a thread of its own if the first has not quite ended, as on a busy host. So
the first request is left out.
"""
from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest


class Quiet:
    """Hides from xdist, while it starts a worker, that the run is verbose."""

    def __init__(self, config: pytest.Config) -> None:
        self.option = config.option

    @pytest.hookimpl(hookwrapper=True, optionalhook=True)
    def pytest_xdist_newgateway(self, gateway: Any) -> Iterator[None]:
        verbose, self.option.verbose = self.option.verbose, 0
        yield
        self.option.verbose = verbose


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        if threading.current_thread() is not threading.main_thread():
            raise pytest.UsageError("this worker does not run its tests in its main thread")
    else:
        config.pluginmanager.register(Quiet(config))
