# SPDX-License-Identifier: GPL-2.0-only
"""Builds a stick that a PC boots to try Tactus: `make iso`."""
