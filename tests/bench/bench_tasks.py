# SPDX-License-Identifier: GPL-2.0
"""What tasks cost and how they keep their time: switches and releases in instructions, Linux's
share, the lateness of a 1 kHz task beside four others, and a 20 kHz task for 10 virtual seconds.

Figures go to out/bench/tasks.json. Fails if one breaks its promise.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent.parent
from measure import figures
from measure.costs import EVENT_LIMIT, SHARE_TOLERANCE, costs, event_cost, linux_share
from measure.lateness import LIMIT_NS, Case, complaints, measure_all, table

# Four tasks beside the measured one, a tenth of the CPU: see tests/vm/exec/modules/taskset.
BESIDE = ("a 20000 700000 0 0 2", "b 30000 1100000 0 0 3", "c 50000 1900000 0 0 4",
          "d 100000 4700000 0 0 5")


def main() -> int:
    """Measure, print, keep, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="virtual, of the 20 kHz task")
    parser.add_argument("--kernel", default="6.1")
    options = parser.parse_args()

    cost = costs(options.kernel)
    trouble = cost.complaints()
    print(f"{cost.table()}\n", flush=True)

    event = event_cost(options.kernel)
    print(f"an event: {event:g} instructions\n", flush=True)
    if event > EVENT_LIMIT:
        trouble.append(f"an event: {event:g} instructions, {EVENT_LIMIT} allowed")

    promised, share = linux_share(options.kernel)
    print(f"Linux's share: {share:.2f} %, {promised:.0f} % promised\n", flush=True)
    if abs(share - promised) > SHARE_TOLERANCE:
        trouble.append(f"Linux's share: {share:.2f} %, {promised:.0f} % promised")

    beside = measure_all([Case("task", "load", options.seconds / 5),
                          Case("task", "irqoff", options.seconds / 5)],
                         kernel=options.kernel, beside=BESIDE)
    print(f"1 kHz beside four others\n{table(beside)}\n", flush=True)
    fast = measure_all([Case("task", "load", options.seconds, 50)], kernel=options.kernel)
    print(f"20 kHz\n{table(fast)}", flush=True)
    for result in beside + fast:
        where = f"{result.case.period_us} us, {result.case.condition}"
        trouble += [f"{where}: {text}" for text in complaints(result, LIMIT_NS["task"])]

    figures.write("tasks", {"costs": cost.raw, "event": event, "linux_share": share,
                            "beside": [result.as_dict() for result in beside],
                            "fast": [result.as_dict() for result in fast]})
    return figures.failed(trouble)


if __name__ == "__main__":
    sys.exit(main())
