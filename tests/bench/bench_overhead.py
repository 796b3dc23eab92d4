# SPDX-License-Identifier: GPL-2.0
"""What the pipeline costs Linux: instructions for 200 shells, a pipe, and gzip of 8 MB.

Figures go to out/bench/overhead.json. Fails if a job costs more than its limit.
"""

from __future__ import annotations

import sys
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent.parent
from measure import figures
from measure.overhead import complaints, measure, table


def main() -> int:
    """Measure, print, keep, judge."""
    parser = figures.parser(__doc__)
    options = parser.parse_args()
    return figures.keep(
        "overhead", lambda: measure(kernel=options.kernel, flavour=options.flavour), table,
        complaints)


if __name__ == "__main__":
    sys.exit(main())
