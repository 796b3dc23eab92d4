# SPDX-License-Identifier: GPL-2.0
"""RT tasks in ring 3 in guests: threads of ordinary programs in RT mode."""
