# SPDX-License-Identifier: GPL-2.0-only
"""Measure on the bench, in virtual time: each NAME in turn, with the options behind the names.

Exit status: 0 every promise holds, 1 one does not or a measurement could not be made, 2 usage.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Mapping, Sequence

from .figures import MeasureError, Measurement, kept, write

# Each has MEASUREMENTS. The speaker's and the tap loop's are in their folders below examples/.
MODULES = ("measure.lateness", "measure.tasks", "measure.costs", "measure.device_irq",
           "measure.drift", "measure.overhead", "measure.fifo", "measure.users", "measure.user",
           "measure.kernel_tasks", "measure.gate", "measure.promotion", "measure.cyclictest",
           "measure.skins", "measure.systems.runner",
           "measure.path", "measure.late", "measure.heavy", "measure.rtla", "measure.ltp",
           "measure.scale", "measure.backup", "measure.cliroom",
           "speaker_quality", "pcsp", "compare", "twins", "tap_figures")
DEFAULTS = {"kernel": "6.1", "flavour": "cloud"}


def registry() -> dict[str, Measurement]:
    """All measurements by name."""
    return {one.name: one for module in MODULES
            for one in importlib.import_module(module).MEASUREMENTS}


def options_of(one: Measurement, words: Sequence[str]) -> argparse.Namespace:
    """The options that a measurement is made with; wrong ones end the program."""
    parser = argparse.ArgumentParser(prog=f"tests/vm/measure/run {one.name}",
                                     description=one.summary)
    for name in one.where:
        parser.add_argument(f"--{name}", default=DEFAULTS[name], help="default %(default)s")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    if one.long is not None:
        parser.add_argument("--long", action="store_true",
                            help="as `make bench-long` does: by default "
                            f"{one.long_text()}; figures are kept in out/bench/{one.name}.json")
    one.add_options(parser)
    if one.long is not None and "--long" in words:
        parser.set_defaults(**one.long)
    else:
        parser.set_defaults(long=False)
    return parser.parse_args(words)


def carry_out(one: Measurement, options: argparse.Namespace) -> list[str]:
    """Make one measurement and print it part by part; all that is wrong. Figures to keep are
    written after each part, so that a run that is cut short leaves them."""
    figures: list[Mapping[str, object]] = []
    trouble: list[str] = []
    only = getattr(options, "only", None) if one.key else None
    before = [row for row in kept(one.name) if row[one.key] not in only] if only else []
    try:
        for part in one.run(options):
            if options.json:
                for figure in part.figures:
                    print(json.dumps(figure), flush=True)
            else:
                print(part.text, flush=True)
            figures += part.figures
            trouble += part.trouble
            if options.long:
                write(one.name, [*before, *figures])
    except MeasureError as error:
        trouble.append(str(error))
    if options.long:
        print(f"figures: {write(one.name, [*before, *figures])}", file=sys.stderr)
    return trouble


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    known = registry()
    count = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    names, rest = list(dict.fromkeys(words[:count])), words[count:]
    listing = "\n".join(f"  {name:<16} {one.summary}" for name, one in known.items())
    parser = argparse.ArgumentParser(
        prog="tests/vm/measure/run", usage="%(prog)s NAME... [OPTION...]", description=__doc__,
        epilog="measurements ('all': those that `make bench-long` makes; NAME --help: its "
        f"options):\n{listing}", formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="name all measurements and end")
    if not names:
        if parser.parse_args(rest).list:
            print(listing)
            return 0
        parser.error("NAME is missing; --list has all")
    if names == ["all"]:
        names = [name for name, one in known.items() if one.long is not None and not one.alone]
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no such measurement: {' '.join(unknown)}; --list has all")
    wanted = {name: options_of(known[name], rest) for name in names}
    failed = []
    for name, options in wanted.items():
        if len(wanted) > 1 and not options.json:
            print(f"== {name}", flush=True)
        trouble = carry_out(known[name], options)
        for line in trouble:
            print(f"FAILED: {name}: {line}", file=sys.stderr)
        failed += [name] if trouble else []
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
