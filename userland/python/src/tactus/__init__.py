# SPDX-License-Identifier: GPL-2.0-only
"""The command-line side of Tactus: load it, unload it, say what it is doing."""

__version__ = "0.1.0"
