# SPDX-License-Identifier: LGPL-2.1-or-later
"""The one exception that ends a subcommand with a sentence and not a traceback."""
from __future__ import annotations

from pathlib import Path


class ToolError(Exception):
    """What went wrong, in a sentence for the person at the keyboard."""

    def __init__(self, sentence: str, exit_status: int = 1) -> None:
        super().__init__(sentence)
        self.exit_status = exit_status


def reason(problem: Exception) -> str:
    """Why it failed, without the number and the path that an OSError's own text has."""
    return getattr(problem, "strerror", None) or str(problem)


def save(path: Path, data: str | bytes) -> None:
    """Write a file that the user named."""
    try:
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    except OSError as problem:
        raise ToolError(f"{path}: {problem.strerror}") from problem
