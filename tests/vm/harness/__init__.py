# SPDX-License-Identifier: GPL-2.0-only
"""The bench, and what tests and measurements share to run it."""

from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
VM = TOP / "tests/vm/vm"
