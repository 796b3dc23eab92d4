# SPDX-License-Identifier: GPL-2.0-only
"""Measure the tap loop as Finney's paper does (Figure 2 and "I/O tests"), in virtual time.

The loop test: output is joined to input, one Note On and one Note Off 1 ms apart go in and are fed
back. From then on one of them is on the wire and the other waits for it, so messages come in as
fast as the wire carries them: three bytes of 320 us, 960 us. The pacing alone would show that, so
the delay that the loop adds to an answer is measured beside it.

    for run in measure("wire", ["idle", "irqoff"], runs=10, inputs=10_000):
        print(run.mean_us, run.max_us, run.added_max_ns)

Ports: ``wire`` (in memory), ``uart`` (an emulated 16550 with its internal loop). Conditions:
``idle``, ``load``, ``irqoff`` as in measure/lateness.py. Two controls must fail: ``poll``, whose
output is looked at every 10 ms only, on the wire, and ``twin``, the same loop as a SCHED_FIFO
process on the UART of Linux's driver (examples/tap/tests/tap_twin.c), while interrupts are off for
20 ms at a time.

``delay`` is another test: keys tapped on the far one of two joined UARTs are answered after 0, 75
and 275 ms.

See docs/applications.md.
"""

from __future__ import annotations

import argparse
import json
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from harness import EXACT_TIMERS, programs
from measure import figures, lateness
from tactus.tap.records import RECORD, Figure, Kind, Record, unpack

Port = Literal["wire", "uart"]
Condition = Literal["idle", "load", "irqoff"]

PORTS: tuple[Port, ...] = get_args(Port)
CONDITIONS: tuple[Condition, ...] = get_args(Condition)
DELAYS_MS = (0, 75, 275)

WIRE_US = 960.0
"""A message of three bytes at 31,250 baud."""
MEAN_TOLERANCE_US = 0.5
"""That the paper's .960 ms is .960 and no neighbour."""
MAX_US = 965.0
ADDED_NS = 5000
"""What the loop may add to an answer, beside what the wire takes."""
DELAY_NS = 20_000
"""How far an answer may be from its tap plus the delay. The emulated far end sends three bytes at
once, and an answer that is due meanwhile waits for their interrupts; on a wire they are 320 us
apart."""
POLL_MS = 10
TWIN_MIN_US = 2000.0
"""What the user-space twin must exceed while interrupts are off (the paper's worst)."""

# The 16550 for the loop, of which 31,250 baud is 500,000 / 16; its index makes it ttyS3.
UART_BASE, UART_IRQ = 0x2E8, 5
UART_TTY = "/dev/ttyS3"
UART = f"isa-serial,index=3,iobase={UART_BASE:#x},irq={UART_IRQ},baudbase=500000"
UART_PARAMETERS = (f"port=uart uart_base={UART_BASE:#x} uart_irq={UART_IRQ} "
                   "uart_baud_base=500000 uart_divisor=16")
UNBIND = (f"for d in /sys/bus/pnp/devices/*; do ! grep -q {UART_BASE:#x}- $d/resources || "
          "echo ${d##*/} > /sys/bus/pnp/drivers/serial/unbind; done\n")
"""Guest shell text: take the UART from Linux's serial driver."""
# The far end of the delay test, Linux's.
FAR_TTY = "/dev/ttyS1"
FAR = "isa-serial,index=1,iobase=0x2f8,irq=7"

_STATS = "/sys/module/rt_tap/stats"
_MARK = "TAP "


def parse_records(data: bytes) -> list[Record]:
    """Records from the bytes that the loop's FIFO had."""
    if len(data) % RECORD.size:
        raise figures.MeasureError(f"{len(data)} bytes are no whole number of records")
    return list(unpack(data))


def trials(records: Sequence[Record]) -> Iterator[list[Record]]:
    """The records of each trial, from TAP_STARTED to TAP_DONE."""
    trial: list[Record] = []
    for record in records:
        trial.append(record)
        if record.kind == Kind.DONE:
            yield trial
            trial = []
    if trial:
        raise figures.MeasureError("the last trial has no end")


def summary(trial: Sequence[Record]) -> dict[str, int]:
    """The figures at a trial's end, by name."""
    return {Figure(record.param).name.lower(): record.value for record in trial
            if record.kind == Kind.FIGURE}


def complete(trial: Sequence[Record]) -> bool:
    """Is every record there that was made?"""
    return [record.sequence for record in trial] == list(range(trial[-1].value))


@dataclass(frozen=True)
class Run(figures.Result):
    """One run of the loop test."""

    port: Port
    condition: str
    inputs: int
    mean_us: float
    """From one message that came in to the next."""
    min_us: float
    max_us: float
    added_max_ns: int
    """From the moment that a message had arrived to its answer's being handed to the line: the
    worst time stamp after the true arrival (known on the wire only) and the worst hand-over
    after the stamp; or the wire's longest idle time, if that is more."""
    lost: int
    """Bytes, messages and records that are missing, and messages out of order."""
    passes: int
    gap_max_us: float
    round_us: float
    """Mean time in which a message goes round."""
    load: dict[str, float] = field(default_factory=dict)


def disorder(trial: Sequence[Record]) -> int:
    """How many messages came in that are not the ones sent, in the order of sending."""
    sent = [record.message for record in trial if record.went_out]
    came = [record.message for record in trial if record.came_in]
    return sum(a != b for a, b in zip(sent, came)) + max(0, len(came) - len(sent))


def judge_loop(run: Run) -> list[str]:
    """Why a run of the loop test is not as it should be; empty if it is."""
    found = []
    if abs(run.mean_us - WIRE_US) > MEAN_TOLERANCE_US:
        found.append(f"{run.mean_us:.3f} us from message to message, not {WIRE_US}")
    if run.max_us > MAX_US:
        found.append(f"{run.max_us:.3f} us once, {MAX_US} allowed")
    if run.added_max_ns > ADDED_NS:
        found.append(f"the loop added {run.added_max_ns} ns, {ADDED_NS} allowed")
    if run.lost:
        found.append(f"{run.lost} lost or out of order")
    return [f"{run.port} {run.condition}: {text}" for text in found]


def _run(port: Port, condition: str, trial: Sequence[Record], stats: dict[str, int],
         load: dict[str, float]) -> Run:
    came = [record for record in trial if record.came_in]
    intervals = [b.scheduled_ns - a.scheduled_ns for a, b in zip(came, came[1:])]
    on = [r.scheduled_ns for r in came if r.message[0] & 0xF0 == 0x90 and r.message[2]]
    if len(intervals) < 2 or len(on) < 2:
        raise figures.MeasureError(f"{port} {condition}: only {len(came)} messages came in")
    found = summary(trial)
    lost = found["bytes_lost"] + found["bytes_broken"] + found["records_lost"] + disorder(trial)
    lost += found["notes_refused"] + (not complete(trial))
    added = max(stats["stamp_late_max_ns"] + found["late_max_ns"], stats["idle_max_ns"])
    return Run(port, condition, len(came), sum(intervals) / len(intervals) / 1e3,
               min(intervals) / 1e3, max(intervals) / 1e3, added, lost, found["passes"],
               found["gap_max_ns"] / 1e3, (on[-1] - on[0]) / (len(on) - 1) / 1e3, load)


def loop_words(inputs: int) -> str:
    """What tap_say is told for the loop test: the metronome's only beat is the one note.

    An end at a press: for 10,000 messages, of which every other is one, the 5,001st.
    """
    return ("reset METRON_ON=1 MET_COUNT=1 MET_CHAN=1 MET_NOTE=60 MET_LEN=1 FEED_ON=1 FEED_CHAN=0 "
            f"K:{inputs // 2 + 1}:END_EXP=0")


def _load(condition: str, seconds: float) -> str:
    """The shell text that loads the guest for so long, in the background."""
    if condition == "idle":
        return ""
    command = ["./load", "--json", "--disk=/dev/ram0", f"--seconds={seconds:g}"]
    command += [f"--min-{name}={floor * seconds:g}"
                for name, floor in lateness.LOAD_FLOORS_PER_S.items()]
    if condition == "irqoff":
        command += ["--irqoff=process,timer,tasklet",
                    f"--min-sections={int(lateness.SECTIONS_PER_S * seconds)}"]
    return f"{shlex.join(command)} > /tmp/load & load=$!\nsleep 0.05\n"


def _loaded(condition: str, name: str, text: str, seconds: float) -> str:
    """`text` in the guest with the load around all of it."""
    if condition == "idle":
        return text
    return (f"{_load(condition, seconds)}{text}"
            'kill -0 $load || { echo "the load ended too early" >&2; exit 1; }\n'
            f'wait $load\necho "{_MARK}{name} load $(cat /tmp/load)"\n')


def _one_run(name: str, words: str) -> str:
    """The shell text for one trial whose records go to /tmp/tap/NAME."""
    return (f"./tap_say {words} start=1 read=/tmp/tap/{name}\n"
            f'for f in {_STATS}/*; do echo "{_MARK}{name} ${{f##*/}} $(cat $f)"; done\n')


def _parse(text: str) -> dict[str, dict[str, Any]]:
    """What the guest printed: by name, counts and the load."""
    found: dict[str, dict[str, Any]] = {}
    for line in text.replace("\r", "").splitlines():
        if line.startswith(_MARK):
            name, what, value = line[len(_MARK):].split(" ", 2)
            found.setdefault(name, {})[what] = json.loads(value)
    return found


def _boot(script: str, qemu: str, with_modules: str, kernel: str, flavour: str, timeout_s: float,
          log: str = "") -> tuple[dict[str, dict[str, Any]], dict[str, bytes], str]:
    """Run `script` in virtual time: its counts, its files in /tmp/tap, and all that it printed."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "tap"
        text = figures.boot(
            "set -e\nmkdir /tmp/tap; touch /tmp/tap/.keep\n" + script, "--icount", "--busy",
            f"--timeout={timeout_s:g}",
            f"--modules={figures.RAM_DISK} hog", f"--with-modules={with_modules}",
            *(f"--put={programs.build(name)}" for name in ("load", "tap_say", "tap_twin")),
            f"--get=/tmp/tap:{home}", f"--qemu={figures.UART} {qemu}",
            *([f"--log={log}"] if log else []), kernel=kernel, flavour=flavour)
        files = {path.name: path.read_bytes() for path in home.iterdir()}
    return _parse(text), files, text


_RT = "tactus_core tactus tactus_rm rtfifo rt_tap"
_LOAD_RT = "modprobe tactus_core; modprobe tactus; modprobe rtfifo\n"


def _loop_script(port: Port, conditions: Sequence[str], runs: int, inputs: int) -> str:
    parameters = "port=wire" if port == "wire" else f"{UART_PARAMETERS} uart_loop=1"
    # What starts a run is a process like others, and has to wait for its turn under load.
    seconds = runs * inputs * WIRE_US / 1e6 + 0.6 * runs
    lines = [_LOAD_RT, UNBIND if port == "uart" else ""]
    for condition in conditions:
        options = f" output_poll_us={POLL_MS * 1000}" if condition == "poll" else ""
        lines.append(f"modprobe rt_tap {parameters}{options}\n")
        text = "".join(_one_run(f"{condition}.{n}", loop_words(inputs)) for n in range(runs))
        lines.append(_loaded("idle" if condition == "poll" else condition, condition, text,
                             seconds))
        lines.append("rmmod rt_tap\n")
    return "".join(lines)


def measure(
    port: Port,
    conditions: Sequence[str] = CONDITIONS,
    *,
    runs: int = 10,
    inputs: int = 10_000,
    kernel: str = "6.1",
    flavour: str = "cloud",
    timeout_s: float = 7200,
) -> list[Run]:
    """The loop test, `runs` times under each condition (or ``poll``), in one boot.

    Raises MeasureError when a run has no end, or the load did less than its minimum.
    """
    qemu = "" if port == "wire" else f"-chardev null,id=tap -device {UART},chardev=tap"
    counts, files, _ = _boot(_loop_script(port, conditions, runs, inputs), qemu, _RT, kernel,
                             flavour, timeout_s)
    results = []
    for condition in conditions:
        load = counts.get(condition, {}).get("load", {})
        for n in range(runs):
            name = f"{condition}.{n}"
            (trial,) = trials(parse_records(files[name]))
            results.append(_run(port, condition, trial, counts[name], load))
    return results


def measure_twin(
    conditions: Sequence[str] = ("idle", "irqoff"),
    *,
    inputs: int = 1000,
    kernel: str = "6.1",
    flavour: str = "cloud",
    timeout_s: float = 3600,
) -> dict[str, float]:
    """The twin's longest time between two inputs under each condition, us; no Tactus is loaded."""
    seconds = inputs * WIRE_US / 1e6 * 3 + 1
    script = EXACT_TIMERS + "".join(
        _loaded(condition, condition,
                f'./tap_twin {UART_TTY} {inputs} > /tmp/twin; read a b c < /tmp/twin\n'
                f'echo "{_MARK}{condition} max_ns ${{c#max_ns=}}"\n', seconds)
        for condition in conditions)
    counts, _, _ = _boot(script, f"-chardev null,id=tap -device {UART},chardev=tap", "", kernel,
                         flavour, timeout_s)
    return {condition: counts[condition]["max_ns"] / 1e3 for condition in conditions}


@dataclass(frozen=True)
class Delayed(figures.Result):
    """Taps that were answered after one delay."""

    delay_ms: int
    taps: int
    answers: int
    worst_ns: int
    """|handed to the line - arrival of the tap - delay|, at most."""
    late_ns: float
    """The same on average."""
    outside: bool
    """What left the emulated UART is what the records say, byte for byte."""
    lost: int


def judge_delay(result: Delayed) -> list[str]:
    """Why delayed answers are not as they should be; empty if they are."""
    found = []
    if result.worst_ns > DELAY_NS:
        found.append(f"{result.worst_ns} ns off, {DELAY_NS} allowed")
    if not result.taps or result.answers != 2 * result.taps:
        found.append(f"{result.answers} answers to {result.taps} taps")
    if not result.outside:
        found.append("the bytes that left the UART are not those of the records")
    if result.lost:
        found.append(f"{result.lost} lost")
    return [f"delay {result.delay_ms} ms: {text}" for text in found]


def _delayed(delay_ms: int, trial: Sequence[Record], outside: bool) -> Delayed:
    came = {record.sequence: record for record in trial if record.came_in}
    answers = [record for record in trial if record.went_out and record.source in came]
    off = [r.actual_ns - came[r.source].scheduled_ns - delay_ms * 1_000_000 for r in answers]
    found = summary(trial)
    lost = sum(found[name] for name in ("bytes_lost", "bytes_broken", "records_lost",
                                        "notes_refused")) + (not complete(trial))
    return Delayed(delay_ms, found["keystrokes"], len(answers), max(map(abs, off), default=0),
                   sum(off) / max(1, len(off)), outside, lost)


def measure_delays(
    *,
    taps: int = 1000,
    tap_ms: int = 20,
    kernel: str = "6.1",
    flavour: str = "cloud",
    timeout_s: float = 3600,
) -> list[Delayed]:
    """Answer `taps` keys, one every `tap_ms` ms or so, after each delay; in one boot."""
    lines = [_LOAD_RT, UNBIND, f"modprobe rt_tap {UART_PARAMETERS}\n",
             f"stty -F {FAR_TTY} raw -echo 38400; cat {FAR_TTY} > /tmp/far & far=$!\n"]
    tap = (f"printf '\\220\\074\\100' > {FAR_TTY}; usleep {tap_ms * 400}\n"
           f"printf '\\200\\074\\100' > {FAR_TTY}; usleep {tap_ms * 600}\n")
    for delay_ms in DELAYS_MS:
        name = f"delay.{delay_ms}"
        words = (f"reset FEED_ON=1 FEED_CHAN=0 FEED_DMODE=1 FEED_DVAL={delay_ms} start={delay_ms}")
        lines.append(f"./tap_say {words}\n"
                     f"until [ $(cat {_STATS}/running) = 1 ]; do usleep 1000; done\n"
                     f"n=0; while [ $n -lt {taps} ]; do n=$((n + 1))\n{tap}done\n"
                     f"until [ $(cat {_STATS}/rx_bytes) -ge {6 * taps} ]; do usleep 10000; done\n"
                     f"sleep {(delay_ms + 50) / 1000:g}\n"
                     f"./tap_say stop read=/tmp/tap/{name}\n")
    lines.append("rmmod rt_tap; kill $far; cp /tmp/far /tmp/tap/far\n")
    with tempfile.TemporaryDirectory() as folder:
        socket, log = Path(folder) / "line", Path(folder) / "log"
        qemu = (f"-chardev socket,id=tap,path={socket},server=on,wait=off,logfile={log} "
                f"-chardev socket,id=far,path={socket} "
                f"-device {UART},chardev=tap -device {FAR},chardev=far")
        _, files, _ = _boot("".join(lines), qemu, _RT, kernel, flavour, timeout_s)
        left = log.read_bytes()
    results = []
    for delay_ms in DELAYS_MS:
        (trial,) = trials(parse_records(files[f"delay.{delay_ms}"]))
        sent = b"".join(r.message for r in trial if r.went_out)
        results.append(_delayed(delay_ms, trial, left[:len(sent)] == sent))
        left = left[len(sent):]
    if left:
        raise figures.MeasureError(f"{len(left)} bytes left the UART that no record tells of")
    return results


def table(runs: Sequence[Run]) -> str:
    """The runs as lines for people, those of a condition together."""
    lines = [f"{'port':<5} {'condition':<9} {'runs':>4} {'inputs':>6} {'mean us':>9} {'min us':>9} "
             f"{'max us':>9} {'added ns':>8} {'lost':>4} {'round us':>9} {'pass gap us':>11}"]
    for key in dict.fromkeys((run.port, run.condition) for run in runs):
        same = [run for run in runs if (run.port, run.condition) == key]
        lines.append(
            f"{key[0]:<5} {key[1]:<9} {len(same):>4} {min(run.inputs for run in same):>6} "
            f"{sum(run.mean_us for run in same) / len(same):>9.3f} "
            f"{min(run.min_us for run in same):>9.3f} {max(run.max_us for run in same):>9.3f} "
            f"{max(run.added_max_ns for run in same):>8} {sum(run.lost for run in same):>4} "
            f"{sum(run.round_us for run in same) / len(same):>9.1f} "
            f"{max(run.gap_max_us for run in same):>11.1f}")
    return "\n".join(lines)


def delay_table(results: Sequence[Delayed]) -> str:
    """Delays as lines for people."""
    lines = [f"{'delay ms':>8} {'taps':>6} {'answers':>7} {'mean ns':>8} {'worst ns':>8} "
             f"{'outside':>8} {'lost':>4}"]
    lines += [f"{r.delay_ms:>8} {r.taps:>6} {r.answers:>7} {r.late_ns:>8.0f} {r.worst_ns:>8} "
              f"{'same' if r.outside else 'DIFFERS':>8} {r.lost:>4}" for r in results]
    return "\n".join(lines)


def judge_poll(runs: Sequence[Run]) -> list[str]:
    """The control that polls its output must show it."""
    return [f"poll: a message goes round in {run.round_us:.0f} us, not in {POLL_MS} ms"
            for run in runs if abs(run.round_us - POLL_MS * 1000) > 10 or not judge_loop(run)]


def judge_twin(worst_us: dict[str, float]) -> list[str]:
    """The twin must be good when nothing is in its way, and late when interrupts are off."""
    found = []
    if worst_us["irqoff"] <= TWIN_MIN_US:
        found.append(f"twin: {worst_us['irqoff']:.0f} us, so interrupts were not off")
    if worst_us["idle"] > TWIN_MIN_US:
        found.append(f"twin: {worst_us['idle']:.0f} us on an idle guest: it is no fair twin")
    return found


def judge(runs: Sequence[Run]) -> list[str]:
    """All that is wrong with runs of the loop test."""
    return [text for run in runs for text in judge_loop(run)]


def _run_loop(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    for port in options.port or PORTS:
        yield figures.outcome(
            measure(port, options.condition or CONDITIONS, runs=options.runs, inputs=options.inputs,
                    kernel=options.kernel, flavour=options.flavour), table, judge)


def _run_poll(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    yield figures.outcome(
        measure("wire", ["poll"], runs=1, inputs=options.inputs, kernel=options.kernel,
                flavour=options.flavour), table, judge_poll)


def _run_twin(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    worst = measure_twin(inputs=options.inputs, kernel=options.kernel, flavour=options.flavour)
    yield figures.Outcome(
        [{"twin_max_us": worst}],
        "twin  longest us: " + ", ".join(f"{name} {us:.0f}" for name, us in worst.items()),
        judge_twin(worst))


def _run_delay(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    yield figures.outcome(
        measure_delays(taps=options.taps, kernel=options.kernel, flavour=options.flavour),
        delay_table, lambda all_: [text for result in all_ for text in judge_delay(result)])


def _add_inputs(parser: argparse.ArgumentParser, default: int) -> None:
    parser.add_argument("--inputs", type=int, default=default,
                        help="messages in a run; default %(default)s")


def _add_loop_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", action="append", choices=PORTS,
                        help="may be repeated; default: both")
    parser.add_argument("--condition", action="append", choices=CONDITIONS,
                        help="may be repeated; default: all")
    parser.add_argument("--runs", type=int, default=10, help="of each; default %(default)s")
    _add_inputs(parser, 10_000)


def _add_taps(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--taps", type=int, default=1000, help="of each delay; default %(default)s")


MEASUREMENTS = (
    figures.Measurement("tap", "the paper's loop test of the tap loop, on each port", _run_loop,
                        _add_loop_options, {"runs": 3}),
    figures.Measurement("tap-delay", "how late the tap loop's delayed answers are", _run_delay,
                        _add_taps),
    figures.Measurement("tap-twin", "a control: the same loop as a process of Linux", _run_twin,
                        lambda parser: _add_inputs(parser, 1000)),
    figures.Measurement("tap-poll", "a control: the loop looks at its output every 10 ms",
                        _run_poll,
                        lambda parser: _add_inputs(parser, 200)),
)
