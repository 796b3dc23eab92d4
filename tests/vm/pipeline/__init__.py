# SPDX-License-Identifier: GPL-2.0-only
"""The interrupt pipeline in guests, and what of Linux it must not disturb."""
