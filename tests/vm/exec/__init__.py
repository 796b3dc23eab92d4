# SPDX-License-Identifier: GPL-2.0
"""RT tasks, timers and policies in guests."""
