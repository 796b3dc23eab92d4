# SPDX-License-Identifier: GPL-2.0-only
"""The tactus command, librtf and the Python package in guests."""
