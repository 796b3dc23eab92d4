# SPDX-License-Identifier: GPL-2.0-only
"""The command `tactus` in the guest, and many of its calls in one boot."""
from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .bench.tool import put
from .vmrun import Vm

__all__ = ["Step", "put", "run_steps"]


@dataclass(frozen=True)
class Step:
    said: str
    status: int


def run_steps(vm: Vm, commands: Mapping[str, str], into: Path,
              also: Mapping[str | Path, str] | None = None, **options: object) -> dict[str, Step]:
    """One boot for all @commands, by name, in virtual time: what each said, on both streams, and
    how it ended.

    @into: a folder for what put() gathers; @also: what to put beside it; @options are the bench's.
    """
    script = "\n".join(f"{{ {command}; }} 2>&1\necho \"=== $?\"" for command in commands.values())
    done = vm(script, put=put(into) | dict(also or {}), timeout=600,
              **{"icount": True, **options})
    parts = re.split(r"=== (\d+)\n", done.stdout)[:-1]
    assert len(parts) == 2 * len(commands), done.stdout + done.stderr
    return {name: Step(parts[2 * n], int(parts[2 * n + 1])) for n, name in enumerate(commands)}
