# SPDX-License-Identifier: GPL-2.0
"""The one exception that ends a subcommand with a sentence and not a traceback."""


class ToolError(Exception):
    """What went wrong, in a sentence for the person at the keyboard."""

    def __init__(self, sentence: str, exit_status: int = 1) -> None:
        super().__init__(sentence)
        self.exit_status = exit_status
