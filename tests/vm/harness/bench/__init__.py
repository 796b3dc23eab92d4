# SPDX-License-Identifier: GPL-2.0-only
"""The bench: stock kernels in QEMU, the project's modules and somebody's command."""
