# SPDX-License-Identifier: GPL-2.0-only
"""The subcommands, one module each.

A module here has HELP (one line), add_arguments(parser) and run(args, machine), which
returns the exit status. Its docstring is the long help. The dispatcher needs no list.
"""
