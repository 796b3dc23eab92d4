# SPDX-License-Identifier: GPL-2.0-only
"""Tapping experiments: what `tactus tap` and `tactus tap-report` are made of."""
