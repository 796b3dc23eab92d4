# SPDX-License-Identifier: GPL-2.0-only
"""A stock kernel plays linux.au through /dev/rtf0, on time, while a driver holds interrupts off.

Builds the modules, boots the distribution's unmodified kernel in QEMU and measures,
idle, under load, and under load while interrupts are held off for 20 ms at a time: how late an
RT timer tick and an RT task are, how late a Linux hrtimer is without our modules, and
whether every bit of a sound reaches the PC speaker's port when it should; and, under the same
load, how steady a tone is that a Linux program plays in the driver's place.

Writes report.html, speaker.wav, tone-*.wav, lateness.png and results.json. Exit status: 0 all
checks passed, 1 one failed or a measurement could not be made, 2 usage.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import checks
import drawings
import playing
import report
import svg
import twins
from harness import TOP as TREE
from harness import VM, programs
from measure.lateness import Case, Condition, Kind, Lateness, MeasureError, measure_all
from model import wav

Twins = dict[str, twins.Twin]
Result = list[Lateness] | playing.Played | Twins


class Progress:
    """Lines with the time since the start."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def say(self, text: str) -> None:
        """One line, at once."""
        print(f"[{time.monotonic() - self._start:5.1f} s] {text}", flush=True)


def build(options: argparse.Namespace) -> str:
    """Fetch the kernel and build the modules for it; the kernel's release."""
    command = [str(VM), "build", "--json"]
    command += [f"--kernel={options.kernel}", f"--flavour={options.flavour}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return str(json.loads(done.stdout)["kernel"])


def jobs(options: argparse.Namespace, sound: Path) -> dict[str, Callable[[], Result]]:
    """What is to be done, each in a boot of its own, the long ones first."""
    on = {"kernel": options.kernel, "flavour": options.flavour}

    def lateness(kinds: Sequence[Kind], conditions: Sequence[str]) -> Result:
        cases = [Case(k, c, options.seconds) for c in conditions
                 for k in kinds]  # type: ignore[arg-type]
        log = options.out / "logs" / f"{'-'.join(kinds)}-{'-'.join(conditions)}.log"
        return measure_all(cases, log=log, **on)

    def sounds(condition: Condition) -> Result:
        return playing.play(sound, condition, out=options.out / "logs" / f"speaker-{condition}",
                            **on)

    result: dict[str, Callable[[], Result]] = {}
    result["hrtimer, all three conditions"] = lambda: lateness(["hrtimer"],
                                                               list(drawings.CONDITIONS))
    for condition in ("irqoff", "load"):
        name = drawings.CONDITIONS[condition]
        result[f"RT tick and task, {name}"] = lambda c=condition: lateness(["tick", "task"], [c])
        result[f"speaker, {name}"] = lambda c=condition: sounds(c)
    result["a tone by a Linux program and by the driver"] = lambda: dict(
        twins.play(options.out / "logs" / "twins", **on))
    result["speaker, idle"] = lambda: sounds("idle")
    result["RT tick and task, idle"] = lambda: lateness(["tick", "task"], ["idle"])
    return result


def summary(result: Result) -> str:
    """A job's outcome in a few words."""
    if isinstance(result, playing.Played):
        return "; ".join(result.problems()) or f"{len(result.sound)} bytes, every bit right"
    if isinstance(result, dict):
        return ", ".join(f"{name}: off by up to {drawings.show_ns(twin.worst_half_off_ns())}"
                         for name, twin in result.items())
    return ", ".join(
        f"{r.case.kind} {r.case.condition}: {r.releases} releases, latest "
        f"{drawings.show_ns(r.max_ns)}" for r in result
    )


def carry_out(
    work: dict[str, Callable[[], Result]], at_a_time: int, progress: Progress
) -> tuple[dict[tuple[str, str], Lateness], dict[str, playing.Played], Twins, int]:
    """Do the jobs; what was measured, what was played, and how many could not be done."""
    lateness: dict[tuple[str, str], Lateness] = {}
    played: dict[str, playing.Played] = {}
    tones: Twins = {}
    broken = 0

    def start(name: str, job: Callable[[], Result]) -> Result:
        progress.say(f"     {name} ...")
        return job()

    with ThreadPoolExecutor(at_a_time) as pool:
        futures = {pool.submit(start, name, job): name for name, job in work.items()}
        try:
            for number, future in enumerate(as_completed(futures), 1):
                head = f"{number}/{len(work)}  {futures[future]}"
                try:
                    result = future.result()
                except (MeasureError, playing.PlayError, playing.TraceError) as error:
                    broken += 1
                    progress.say(f"{head}: FAILED: {error}")
                    continue
                progress.say(f"{head}: {summary(result)}")
                if isinstance(result, playing.Played):
                    played[result.condition] = result
                elif isinstance(result, dict):
                    tones.update(result)
                else:
                    lateness.update({(r.case.kind, r.case.condition): r for r in result})
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return lateness, played, tones, broken


def write_results(
    options: argparse.Namespace,
    kernel: str,
    lateness: dict[tuple[str, str], Lateness],
    played: dict[str, playing.Played],
    tones: Twins,
    outcome: list[checks.Check],
) -> None:
    """All files of the output directory."""
    out: Path = options.out
    heard = [p for c in drawings.CONDITIONS if (p := played.get(c)) and p.play]
    sound: Path | None = None
    if heard and heard[-1].play:
        sound = out / "speaker.wav"
        wav.write_wav(sound, wav.samples(heard[-1].play))
    heard_tones = {name: out / f"tone-{name.replace(' ', '-')}.wav" for name in tones}
    for name, path in heard_tones.items():
        wav.write_wav(path, wav.samples(tones[name].play))
    histograms = {key: (r.histogram, r.max_ns) for key, r in lateness.items()}
    svg.write_png(drawings.lateness(histograms), out / "lateness.png")
    page = report.page(lateness, played, tones, outcome, sound, kernel, heard_tones)
    (out / "report.html").write_text(page, encoding="utf-8")
    data = {
        "kernel": kernel,
        "passed": all(check.passed for check in outcome),
        "checks": [vars(check) for check in outcome],
        "lateness": [r.as_dict() for r in lateness.values()],
        "speaker": [
            {
                "condition": p.condition,
                "bytes": len(p.sound),
                "writes": len(p.values),
                "worst_deviation_ns": p.play.worst_deviation_ns() if p.play else None,
                "problems": p.problems(),
                "stats": p.stats,
                "load": p.load,
            }
            for p in played.values()
        ],
        "tone": {
            name: {
                "half_waves": len(twin.halves_ns()),
                "worst_half_off_ns": twin.worst_half_off_ns(),
                "problems": twin.problems(),
            }
            for name, twin in tones.items()
        },
    }
    (out / "results.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=TREE / "out" / "demo", metavar="DIR",
                        help="where the results go (default: out/demo)")
    parser.add_argument("--seconds", type=float, default=3.0, metavar="S",
                        help="virtual seconds of each lateness measurement (default: %(default)s)")
    parser.add_argument("--kernel", default="6.1", help="series or release (default: %(default)s)")
    parser.add_argument("--flavour", default="cloud", help="default: %(default)s")
    parser.add_argument("--jobs", type=int, default=2, metavar="N",
                        help="virtual machines at a time (default: %(default)s)")
    options = parser.parse_args()
    if options.jobs < 1 or not 0 < options.seconds <= 600:
        parser.error("--jobs takes a number from 1, --seconds one above 0 and up to 600")
    options.out.mkdir(parents=True, exist_ok=True)
    for name in ("report.html", "speaker.wav", "lateness.png", "results.json"):
        (options.out / name).unlink(missing_ok=True)  # a run that fails must not leave an old one's
    for path in options.out.glob("tone-*.wav"):
        path.unlink()

    progress = Progress()
    progress.say("building the modules and linux.au")
    try:
        kernel = build(options)
        sound = playing.make_au(options.out)
        programs.build("load")
        programs.build("naive")
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1

    work = jobs(options, sound)
    progress.say(f"kernel {kernel}: {len(work)} virtual machines, {options.jobs} at a time")
    try:
        lateness, played, tones, broken = carry_out(work, options.jobs, progress)
    except KeyboardInterrupt:
        print("demo: interrupted", file=sys.stderr)
        return 130

    outcome = checks.judge(lateness, played, tones)
    write_results(options, kernel, lateness, played, tones, outcome)
    progress.say(f"report: {options.out / 'report.html'}")
    print()
    print(report.terminal(lateness, played, outcome))
    return 0 if not broken and all(check.passed for check in outcome) else 1


if __name__ == "__main__":
    sys.exit(main())
