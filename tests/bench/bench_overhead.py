# SPDX-License-Identifier: GPL-2.0
"""What the pipeline costs Linux: instructions for 200 shells, a pipe, and gzip of 8 MB.

Figures go to out/bench/overhead.json. Fails if a job costs more than its limit.
"""

from __future__ import annotations

import sys
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TREE / "tests" / "vm"))

import figures  # noqa: E402
from overhead import complaints, measure, table  # noqa: E402


def main() -> int:
    """Measure, print, keep, judge."""
    parser = figures.parser(__doc__)
    options = parser.parse_args()
    return figures.keep(
        "overhead", lambda: measure(kernel=options.kernel, flavour=options.flavour), table,
        complaints)


if __name__ == "__main__":
    sys.exit(main())
