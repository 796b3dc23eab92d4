# SPDX-License-Identifier: GPL-2.0-only
"""Measurements on the bench, in virtual time; `tests/vm/measure/run --list` names them."""
