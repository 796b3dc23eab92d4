# SPDX-License-Identifier: GPL-2.0-only
"""RT tasks in ring 3 in guests: threads of ordinary programs in RT mode."""
