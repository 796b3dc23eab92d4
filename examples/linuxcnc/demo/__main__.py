# SPDX-License-Identifier: GPL-2.0-only
"""A machine tool's path on a stock kernel: LinuxCNC's HAL on Tactus, and on Linux's own timers.

LinuxCNC's step generator, unchanged, moves two axes by a parallel port while a driver holds
interrupts off for 20 ms three times a second. The emulator writes down what comes out of the port.
The same HAL runs on Linux's timers (mode=hosted), and a SCHED_FIFO thread on a PREEMPT_RT kernel
does the same work. A model of a stepping motor shows what each path becomes.

Writes path.svg, path.png, results.json and the guests' records. Exit status: 0 the path on Tactus
is right, 1 it is not or could not be drawn, 2 usage, 77 LinuxCNC could not be fetched.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import gcode
import picture
import pins
from harness import EXACT_TIMERS, FINAL_CLOCK, TOP, VM, programs
from harness.bench import plugins

HERE = Path(__file__).resolve().parent
PORT = 0x378
MODULES = ("rtapi", "hal_lib", "threads", "stepgen", "streamer", "hal_parport")
TOOLS = ("halcmd", "halstreamer", "linuxcnc_module_helper")
PLACE = "/usr/lib/linuxcnc/modules"
LATE_NS = 1000
SKIPPED = 77


@dataclass(frozen=True)
class Run:
    """How the guest is started, and what the picture calls it."""

    title: str
    hal: bool
    modules: str
    kernel: tuple[str, str]


RUNS = {
    "tactus": Run("LinuxCNC's HAL on Tactus, stock kernel", True,
                  "hog tactus rtfifo rtai_compat", ("6.1", "cloud")),
    "hosted": Run("the same HAL on Linux's timers (mode=hosted)", True,
                  "hog tactus mode=hosted rtfifo rtai_compat", ("6.1", "cloud")),
    "preempt_rt": Run("a SCHED_FIFO thread on a PREEMPT_RT kernel", False, "hog", ("6.1", "rt")),
}


@dataclass(frozen=True)
class Outcome:
    """Of one run. `off` is how far from its start the machine came to rest, in mm."""

    steps: int
    latest_ns: int
    off_x: float
    off_y: float

    def words(self) -> str:
        """For the terminal and the picture."""
        late = (f"{self.latest_ns} ns" if self.latest_ns < 10_000
                else f"{self.latest_ns / 1e6:.1f} ms")
        return (f"{self.steps} steps, latest {late}; back at the start the machine is off by "
                f"{self.off_x:.2f}, {self.off_y:.2f} mm")


def command(*words: object) -> None:
    """Run it; what it prints is shown only if it fails."""
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{words[0]}: ended with {done.returncode}:\n{done.stdout[-3000:]}")


def build(folder: Path) -> list[str]:
    """LinuxCNC's modules and programs; the words of `vm run` that put them into a guest."""
    library, hal = folder / "libm", folder / "hal"
    command(TOP / "tools/libm", library)
    command(VM, "build", library)
    command(TOP / "tools/linuxcnc", hal)
    command("make", "-s", "-j2", "-C", hal)
    command(VM, "build", "--make", f"KBUILD_EXTRA_SYMBOLS={library}/Module.symvers", hal)
    put = [f"--put={library}/rt_libm.ko:{PLACE}/rt_libm.ko"]
    put += [f"--put={hal}/{name}.ko:{PLACE}/{name}.ko" for name in MODULES]
    return put + [f"--put={hal}/{name}:/usr/bin/{name}" for name in TOOLS]


def draw(name: str, hal: list[str], positions: Path, out: Path) -> pins.Pins:
    """One guest draws the path; what came out of its port."""
    run = RUNS[name]
    record = out / f"{name}.pins"
    words: list[object] = [
        VM, "run", "--icount", "--busy", "--kernel", run.kernel[0], "--flavour", run.kernel[1],
        "--modules", run.modules, "--put", HERE / "path.sh", "--put", positions,
        f"--qemu=-plugin {plugins.plugin(plugins.PINS)},base={PORT:#x},out={record.resolve()}"]
    words += [*hal, "--put", HERE / "path.hal"] if run.hal else [
        "--put", programs.build("cnc_linux")]
    command(*words, "--", f"{EXACT_TIMERS}{FINAL_CLOCK}sh path.sh {'hal' if run.hal else 'linux'}")
    return pins.read(record)


def judge(seen: pins.Pins, way: list[pins.Place]) -> Outcome:
    """The path ends where it began, so what is left at its end was lost on the way."""
    edges = seen.edges()
    if not edges or seen.counts() != (0, 0):
        raise RuntimeError(f"the pins do not come back: {len(edges)} steps, {seen.counts()}")
    # Rounded to 10 um, and no -0.0.
    off_x, off_y = (round(value, 2) + 0.0 for value in (way[-1].x, way[-1].y))
    return Outcome(len(edges), max(edge.late for edge in edges), off_x, off_y)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make demo-cnc", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/cnc"), metavar="DIR",
                        help="where picture and records go (default out/cnc)")
    parser.add_argument("--path", type=Path, default=HERE / "tactus.ngc", metavar="FILE",
                        help="another path that ends at 0, 0 (default: the word Tactus)")
    options = parser.parse_args()
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - began:5.1f} s] {text}", flush=True)

    try:
        wanted = gcode.positions(options.path.read_text())
    except (OSError, gcode.GcodeError) as error:
        parser.error(str(error))
    for name in ("musl", "linuxcnc"):
        say(f"fetching the source package {name} ...")
        done = subprocess.run([TOP / "tools/source-package", name], capture_output=True, text=True,
                              check=False)
        if done.returncode:
            say(f"skipped: {done.stderr.strip()}")
            return SKIPPED
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    positions = out / "positions"
    positions.write_text("".join(f"{p.x:.5f} {p.y:.5f} {int(p.down)}\n" for p in wanted))
    drawn: dict[str, list[pins.Place]] = {}
    lateness: dict[str, picture.Lateness] = {}
    outcomes: dict[str, Outcome] = {}

    def one(name: str, hal: list[str]) -> Callable[[], None]:
        def work() -> None:
            say(f"     {RUNS[name].title} ...")
            seen = draw(name, hal, positions, out)
            drawn[name] = seen.way()
            lateness[name] = [(edge.time - seen.times[0], edge.late) for edge in seen.edges()]
            outcomes[name] = judge(seen, drawn[name])
            say(f"{len(outcomes)}/{len(RUNS)}  {RUNS[name].title}: {outcomes[name].words()}")
        return work

    try:
        say("the PREEMPT_RT kernel in one guest, LinuxCNC's build beside it ...")
        with ThreadPoolExecutor(2) as pool:
            beside = pool.submit(one("preempt_rt", []))
            hal = build(out / "build")
            for future in [beside, *(pool.submit(one(name, hal)) for name in ("tactus", "hosted"))]:
                future.result()
    except (RuntimeError, subprocess.CalledProcessError) as error:
        say(f"FAILED: {error}")
        return 1
    panels = [picture.Panel(RUNS[name].title, outcomes[name].words(), drawn[name], lateness[name])
              for name in RUNS]
    picture.write(panels, wanted, out / "path")
    (out / "results.json").write_text(json.dumps(
        {name: asdict(outcomes[name]) for name in RUNS}, indent=2) + "\n")
    tactus = outcomes["tactus"]
    good = tactus.latest_ns <= LATE_NS and (tactus.off_x, tactus.off_y) == (0, 0)
    say(f"{'right' if good else 'WRONG'}: {out / 'path.svg'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
