# SPDX-License-Identifier: GPL-2.0
"""The bench itself: what a command and a kernel do comes out as documented. Real runs all."""

from __future__ import annotations

from collections.abc import Callable

Vm = Callable[..., object]


def test_output_and_status_are_the_commands(vm):
    done = vm("echo out; echo err >&2; exit 7")
    assert (done.stdout, done.stderr, done.status) == ("out\n", "err\n", 7)
    assert "Linux version 6.1" in done.console
