# SPDX-License-Identifier: GPL-2.0
"""FIFOs beside Linux's own means, in instructions: see tests/vm/fifo/fifo_speed.c for what is measured.

Figures go to out/bench/fifo.json. Fails if one breaks a promise of docs/fifo.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent.parent
from harness import programs

NAMES = {"read 64": ("pipe", "FIFO"), "drain 64": ("pipe", "mapped FIFO"),
         "read 4096": ("pipe", "FIFO"), "drain 4096": ("pipe", "mapped FIFO"),
         "wake": ("FIFO", "eventfd"), "wakemax": ("FIFO", "eventfd"),
         "stall": ("Linux idle", "Linux reading"), "puts": ("puts",)}


def main() -> int:
    """Measure, print, keep, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernel", default="6.1")
    parser.add_argument("--flavour", default="cloud")
    options = parser.parse_args()
    done = subprocess.run(
        [TREE / "tests/vm/vm", "run", "--kernel", options.kernel, "--flavour", options.flavour,
         "--icount", "--busy", "--modules", "tactus_core tactus rtfifo fifo_wake",
         "--put", programs.build("fifo_speed"), "--", "./fifo_speed"],
        stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return done.returncode
    told = fifo_figures.parse(done.stdout)
    for name, values in told.items():
        print(f"{name:12}" + "".join(f"{what:>16} {value:6}"
                                     for what, value in zip(NAMES[name], values, strict=True)))
    folder = TREE / "out/bench"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "fifo.json").write_text(json.dumps(told, indent=2))
    found = fifo_figures.complaints(told)
    for complaint in found:
        print(complaint)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
