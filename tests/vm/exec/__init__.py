# SPDX-License-Identifier: GPL-2.0-only
"""RT tasks, timers and policies in guests."""
