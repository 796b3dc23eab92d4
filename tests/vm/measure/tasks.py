# SPDX-License-Identifier: GPL-2.0-only
"""How RT tasks keep their time among others: a 1 kHz task beside four, and a 20 kHz task alone."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from . import figures
from .lateness import LIMIT_NS, Case, Lateness, complaints, measure_all, table

# Four tasks beside the measured one, a tenth of the CPU: see tests/vm/exec/modules/taskset.
BESIDE = ("a 20000 700000 0 0 2", "b 30000 1100000 0 0 3", "c 50000 1900000 0 0 4",
          "d 100000 4700000 0 0 5")


def judge(results: Sequence[Lateness]) -> list[str]:
    """All that is wrong with them."""
    return [f"{result.case.period_us} us, {result.case.condition}: {text}" for result in results
            for text in complaints(result, LIMIT_NS["task"])]


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    where = {"kernel": options.kernel, "flavour": options.flavour}
    beside = [Case("task", "load", options.seconds / 5),
              Case("task", "irqoff", options.seconds / 5)]
    yield figures.outcome(measure_all(beside, beside=BESIDE, **where),
                          lambda all_: f"1 kHz beside four others\n{table(all_)}\n", judge)
    yield figures.outcome(measure_all([Case("task", "load", options.seconds, 50)], **where),
                          lambda all_: f"20 kHz\n{table(all_)}", judge)


def _add_options(parser: argparse.ArgumentParser) -> None:
    figures.add_seconds(parser, 2, "of the 20 kHz task")


MEASUREMENTS = (figures.Measurement(
    "tasks", "how late a 1 kHz task is beside four others, and a 20 kHz task", _run,
    _add_options, {"seconds": 10}),)
