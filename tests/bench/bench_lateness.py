# SPDX-License-Identifier: GPL-2.0
"""Lateness over 10 virtual seconds per condition: RT tick, RT task, and a Linux hrtimer beside;
of the tick also 2 seconds beside interrupts-off sections of each context alone.

Figures go to out/bench/lateness.json. Fails if an RT figure breaks its promise, or if the
hrtimer is *not* late under interrupts-off sections: then the sections were none.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent.parent
from measure import figures
from measure.lateness import (
    CONTEXT_CONDITIONS,
    LIMIT_NS,
    MAIN_CONDITIONS,
    Case,
    MeasureError,
    complaints,
    measure_all,
    table,
)


def main() -> int:
    """Measure, print, keep, judge."""
    parser = figures.parser(__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="virtual, per condition")
    options = parser.parse_args()
    results, trouble = [], []
    for kind in ("tick", "task", "hrtimer"):
        cases = [Case(kind, condition, options.seconds) for condition in MAIN_CONDITIONS]
        if kind == "tick":
            cases += [Case(kind, one, options.seconds / 5) for one in CONTEXT_CONDITIONS]
        print(f"{kind}: {sum(case.seconds for case in cases):g} virtual seconds", flush=True)
        begin = time.monotonic()
        try:
            measured = measure_all(
                cases,
                kernel=options.kernel,
                flavour=options.flavour,
            )
        except MeasureError as error:
            trouble.append(f"{kind}: {error}")
            continue
        results += measured
        print(f"{table(measured)}\n({time.monotonic() - begin:.0f} s of real time)\n", flush=True)
        for result in measured:
            if kind == "hrtimer":
                continue
            where = f"{kind}, {result.case.condition}"
            trouble += [f"{where}: {text}" for text in complaints(result, LIMIT_NS[kind])]
        if kind == "hrtimer" and measured[-1].max_ns < 15_000_000:
            trouble.append("hrtimer, irqoff: not late, so nothing kept interrupts off")
    figures.write("lateness", [result.as_dict() for result in results])
    return figures.failed(trouble)


if __name__ == "__main__":
    sys.exit(main())
