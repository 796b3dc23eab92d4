# SPDX-License-Identifier: GPL-2.0
"""Lateness over 10 virtual seconds per condition: RT tick, RT task, and a Linux hrtimer beside.

Figures go to out/bench/lateness.json. Fails if an RT figure breaks its promise, or if the
hrtimer is *not* late under interrupts-off sections: then the sections were none.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TREE / "tests" / "vm"))

from measure import LIMIT_NS, Case, MeasureError, complaints, measure_all, table  # noqa: E402

CONDITIONS = ("idle", "load", "irqoff")


def main() -> int:
    """Measure, print, keep, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="virtual, per condition")
    parser.add_argument("--kernel", default="6.1")
    parser.add_argument("--flavour", default="cloud")
    options = parser.parse_args()
    results, trouble = [], []
    for kind in ("tick", "task", "hrtimer"):
        print(f"{kind}: {len(CONDITIONS)} x {options.seconds:g} virtual seconds", flush=True)
        begin = time.monotonic()
        try:
            measured = measure_all(
                [Case(kind, condition, options.seconds) for condition in CONDITIONS],
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
    out = TREE / "out" / "bench" / "lateness.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps([result.as_dict() for result in results], indent=1) + "\n")
    print(f"figures: {out.relative_to(TREE)}")
    for line in trouble:
        print(f"FAILED: {line}", file=sys.stderr)
    return 1 if trouble else 0


if __name__ == "__main__":
    sys.exit(main())
