# SPDX-License-Identifier: GPL-2.0-only
"""What the speaker must do, written without looking at how its driver does it."""
