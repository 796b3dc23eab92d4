# SPDX-License-Identifier: GPL-2.0-only
"""`make figures`: a new reference from out/bench/results.json, and docs/measuring.md from it."""

from __future__ import annotations

import json
import sys

from harness import TOP

from . import reference, report

PAGE = TOP / "docs" / "measuring.md"
BENCH = TOP / "out" / "bench"
RESULTS = BENCH / "results.json"


def main() -> int:
    """Take what `make bench` found, if it made any, and render the page."""
    known = reference.load()
    found = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else dict(known)
    if reason := reference.incomplete(found):
        print(f"figures: {RESULTS.relative_to(TOP)}: {reason}; run make bench", file=sys.stderr)
        return 1
    # What takes programs of its own is kept by `tests/vm/measure/run NAME --long`.
    for name in reference.EXTRAS:
        extra = BENCH / f"{name}.json"
        found[name] = (json.loads(extra.read_text(encoding="utf-8")) if extra.exists()
                       else known.get(name, []))
    reference.save(found)
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(report.docs(text, reference.load()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
