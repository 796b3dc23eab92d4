# SPDX-License-Identifier: GPL-2.0-only
"""RT-FIFOs in guests: /dev/rtfN against RT code."""
