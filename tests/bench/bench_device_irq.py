# SPDX-License-Identifier: GPL-2.0
"""How late IRQ 8 is as an RT interrupt, beside a level-triggered line that waits for 20 ms.

Figures go to out/bench/device_irq.json. Fails if it is later than promised, or if the control
without masking is *not* late.
"""

from __future__ import annotations

import sys
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent.parent
from measure import figures
from measure.device_irq import judge, measure, table


def main() -> int:
    """Measure, print, keep, judge."""
    parser = figures.parser(__doc__)
    options = parser.parse_args()
    return figures.keep(
        "device_irq", lambda: measure(kernel=options.kernel, flavour=options.flavour, seconds=3, rounds=50), table,
        judge)


if __name__ == "__main__":
    sys.exit(main())
