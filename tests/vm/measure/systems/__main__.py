# SPDX-License-Identifier: GPL-2.0-only
"""`make figures`: new references from out/bench, and the kernels' pages from them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from harness import TOP

from .. import scale
from . import reference, report

PLOT = TOP / "docs/images/scale.svg"


def renew(kernel: str, page: Path) -> str:
    """Take what `make bench` found, if it made any, and render the page; why it cannot, or ""."""
    results = reference.results_of(kernel)
    known = reference.load(kernel) if reference.file_of(kernel).exists() else {}
    found = json.loads(results.read_text(encoding="utf-8")) if results.exists() else dict(known)
    if not found:
        return ""
    if reason := reference.incomplete(found):
        return f"{results.relative_to(TOP)}: {reason}; run make bench"
    # What takes programs of its own is kept by `tests/vm/measure/run NAME --long`.
    for name in reference.EXTRAS if page == next(iter(reference.PAGES.values())) else ():
        extra = reference.BENCH / f"{name}.json"
        found[name] = (json.loads(extra.read_text(encoding="utf-8")) if extra.exists()
                       else known.get(name, []))
    reference.save(found, kernel)
    if found.get("scale"):
        PLOT.write_text(scale.plot(found["scale"]).svg() + "\n", encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    page.write_text(report.docs(text, reference.load(kernel)), encoding="utf-8")
    return ""


def main() -> int:
    """All kernels' pages."""
    trouble = [renew(kernel, page) for kernel, page in reference.PAGES.items()]
    for reason in filter(None, trouble):
        print(f"figures: {reason}", file=sys.stderr)
    return 1 if any(trouble) else 0


if __name__ == "__main__":
    sys.exit(main())
