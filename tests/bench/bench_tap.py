# SPDX-License-Identifier: GPL-2.0
"""Finney's loop test on the tap loop: 10,000 messages, each port and condition, three times.

Figures go to out/bench/tap.json. Fails if a message takes longer than a wire does, the loop adds more
than 5 us, or anything is lost.
"""

from __future__ import annotations

import sys
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent.parent
from measure import figures
from tap_figures import PORTS, judge_loop, measure, table


def main() -> int:
    """Measure, print, keep, judge."""
    options = figures.parser(__doc__).parse_args()
    return figures.keep(
        "tap",
        lambda: [run for port in PORTS
                 for run in measure(port, runs=3, kernel=options.kernel, flavour=options.flavour)],
        table, lambda runs: [text for run in runs for text in judge_loop(run)])


if __name__ == "__main__":
    sys.exit(main())
