# SPDX-License-Identifier: GPL-2.0
"""Linux's clock against the machine's over ten virtual minutes with tactus loaded.

Figures go to out/bench/drift.json. Fails on drift, on a step backwards, or if a control passes.
"""

from __future__ import annotations

import sys
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent.parent
from measure import figures
from measure.drift import judge, measure, table


def main() -> int:
    """Measure, print, keep, judge."""
    parser = figures.parser(__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="virtual; default 600")
    options = parser.parse_args()
    return figures.keep(
        "drift", lambda: measure(options.seconds, kernel=options.kernel, flavour=options.flavour), table,
        judge)


if __name__ == "__main__":
    sys.exit(main())
