# SPDX-License-Identifier: GPL-2.0-only
"""Runs one guest from boot to its end and sorts out how it ended."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import re
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import bochs, console, emulator, initrd, kept, parallel, plugins, secureboot
from .channel import Channel, Record
from .common import (
    EXIT_EMULATOR,
    EXIT_KERNEL,
    EXIT_SETUP,
    EXIT_TIMEOUT,
    BenchError,
    first_use,
    locked,
    say,
)
from .kernels import Kernel
from .modules import Plan
from .monitor import Monitor

PR_SET_PDEATHSIG = 1     # <linux/prctl.h>
POLL_S = 0.02
# The longest turn of one of several CPUs: an RT task waits no longer for another CPU's, and each
# turn costs the host some microseconds.
TURN_NS = 50_000
# A panicked guest is given up when it has printed nothing for so long: of its own CPU time, which a
# busy host does not shorten, or, for one that has halted, of the host's.
PANIC_GRACE_CPU_S = 5.0
PANIC_GRACE_S = 60.0
TRIPLE_FAULT = r"Triple fault|exception\(\): 3rd"      # in QEMU's words, and in Bochs's


@dataclass
class Job:
    """One run, as the command line asks for it."""

    kernel: Kernel
    plan: Plan
    command: str
    smp: int = 1
    icount: bool = False
    busy: bool = False
    timeout_s: float = 300.0
    memory: str = "512M"
    puts: list[str] = field(default_factory=list)
    gets: list[tuple[str, Path]] = field(default_factory=list)
    log: Path | None = None
    append: str = ""
    qemu: str = ""
    allowed: list[re.Pattern[str]] = field(default_factory=list)
    nmi_hz: float = 0.0
    schedule: int | None = None
    secure_boot: bool = False
    mok: Path | None = None             # a certificate; with secure_boot
    new_qemu: bool = False
    parallel: bool = False
    undisturbed: bool = False           # with parallel: before other processes of the host
    unmended: bool = False              # with parallel: without the plug-in forget
    model: str = ""                     # of Bochs's CPU: it runs in Bochs
    state: str = ""                     # "keep": begin with a kept state; "boot": stop as for one


def _delay(job: Job) -> str:
    """What a further CPU would find out by waiting, in vain, as the CPUs run by turns."""
    if not job.icount or job.smp == 1:
        return ""
    return f"lpj={10**9 // job.kernel.hz()} "


def _append(job: Job) -> str:
    """The kernel's arguments."""
    # HPET off, unless asked for: in its legacy mode it keeps IRQ 8 to itself. Panic at the first
    # oops and reset at once (-no-reboot makes that an end): what runs after an oops proves nothing.
    hpet = "" if "hpet=" in job.append else "hpet=disable "
    # Linux takes the TSCs of several CPUs for unsynchronized unless the CPU promises more than any
    # that is emulated here does; these are one. In the host's time a busy host makes a TSC differ
    # from other clocks, and Bochs loses ticks while Linux boots.
    tsc = "" if "tsc=" in job.append or job.smp == 1 and job.icount else "tsc=reliable "
    tsc += bochs.kernel_words(job.smp) if job.model else ""
    # Half of what a boot would execute: the kernel's tests of its ciphers, and waits for a timer
    # and a CPU that an emulator has at once.
    return (
        f"console=ttyS0,115200 rdinit=/init {hpet}{tsc}oops=panic panic=-1 "
        f"printk.devkmsg=on cryptomgr.notests no_timer_check cpu_init_udelay=0 "
        f"{_delay(job)}{job.append}"
    ).strip()


def _command_line(job: Job, qemu: emulator.Emulator, channel: Channel, monitor: Monitor,
                  image_initrd: str, log: str, witness: str, scratch: Path) -> list[str]:
    append = _append(job)
    # QEMU up to 7.2 leaves rubbish in the flags after cmpxchg16b, which the kernel's allocator
    # uses: an interrupt there saves it, and Linux, with or without us, gets a set NT, VM or DF
    # back. The figures are taken with the instruction, as on real machines.
    cpu = "max" if job.icount else "max,-cx16"
    args = [
        qemu.program, *qemu.args, "-machine", "pc", "-cpu", cpu, "-smp", str(job.smp), "-m",
        job.memory,
        # Tells a triple fault from a reset that the guest asked for.
        "-nodefaults", "-display", "none", "-no-reboot", "-d", "cpu_reset",
        "-chardev", f"file,id=console,path={log},append=on", "-serial", "chardev:console",
        "-device", "isa-debug-exit,iobase=0xf4,iosize=4",
        *channel.qemu_args(),
        # By it a guest stops the machine, and asks for its job.
        "-device", "pvpanic", "-action", "panic=pause",
    ]
    if job.mok:
        args += secureboot.mok_args(job.mok, scratch, job.kernel.image, Path(image_initrd), append)
    else:
        args += ["-kernel", str(job.kernel.image), "-initrd", image_initrd, "-append", append]
    if job.icount:
        args += ["-accel", "tcg", "-icount", "shift=0,sleep=off",
                 "-rtc", "clock=vm,base=2026-01-01T00:00:00", "-seed", "42"]
        if job.smp > 1:
            turn_ns = TURN_NS if job.schedule is None else 0     # a seed chooses them itself
            args += ["-plugin", f"{plugins.plugin(plugins.STEADY)},turn_ns={turn_ns}"]
        if job.schedule is not None:
            args += ["-plugin", f"{plugins.plugin(plugins.SCHEDULE)},seed={job.schedule}"
                                f",out={witness}"]
    else:
        # An older QEMU's threads keep stale code after one CPU patches another's: one thread only.
        args += ["-accel", f"tcg,thread={'multi' if job.parallel else 'single'}",
                 "-rtc", "clock=vm,base=2026-01-01T00:00:00"]
    if job.parallel:
        args += parallel.plugin_args(witness, not job.unmended)
    if job.secure_boot and not job.mok:
        args += secureboot.qemu_args()
    return args + monitor.qemu_args() + shlex.split(job.qemu)


class _Files:
    """Writes the files that --get asked for as their parts arrive."""

    def __init__(self, gets: list[tuple[str, Path]]) -> None:
        self._gets = gets
        self._now: int | None = None
        self.failed: list[str] = []

    def start(self, data: bytes) -> None:
        self.stop()
        number, mode = struct.unpack_from("<II", data)
        below = data[8:].decode()
        guest, host = self._gets[number]
        if below:
            host = host / below.lstrip("/")
        elif host.is_dir():
            host = host / os.path.basename(guest)
        try:
            host.parent.mkdir(parents=True, exist_ok=True)
            self._now = os.open(host, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode | 0o600)
        except OSError as error:
            self.failed.append(f"--get {guest}: {error}")

    def data(self, data: bytes) -> None:
        if self._now is not None:
            with memoryview(data) as view:
                at = 0
                while at < len(data):
                    at += os.write(self._now, view[at:])

    def fail(self, data: bytes) -> None:
        self.stop()
        self.failed.append(f"--get: {data[4:].decode(errors='replace')}")

    def stop(self) -> None:
        if self._now is not None:
            os.close(self._now)
            self._now = None


def _mib(memory: str) -> int:
    """A size as QEMU takes it, in MiB."""
    match = re.fullmatch(r"(\d+)([MG]?)", memory)
    if not match:
        raise BenchError(f"--memory {memory}: a number with M or G is wanted")
    return int(match[1]) * (1024 if match[2] == "G" else 1)


def _last_panic(job: Job, log: Path) -> bool:
    """Has the kernel panicked, which has nothing to do behind that? Not one with `crashkernel=`: it
    starts another, which panics at its own end."""
    try:
        return log.read_bytes().count(b"Kernel panic") > ("crashkernel=" in job.append)
    except OSError:
        return False


def _cpu_s(pid: int) -> float:
    """The CPU time that a process has used."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class _Silence:
    """How long a guest has printed nothing."""

    def __init__(self, log: Path, pid: int) -> None:
        self._log, self._pid = log, pid
        self._size = -1
        self._since = self._cpu_since = 0.0

    def lasts(self) -> bool:
        """Has it been too long? Counts from the first call, and from each change of the log."""
        now, cpu, size = time.monotonic(), _cpu_s(self._pid), self._log.stat().st_size
        if size != self._size:
            self._size, self._since, self._cpu_since = size, now, cpu
        return now - self._since > PANIC_GRACE_S or cpu - self._cpu_since > PANIC_GRACE_CPU_S


class Waited:
    """How long a process was ready to run and others had the CPUs: no fault of its guest's."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._most_s = 0.0

    def seconds(self) -> float:
        """Of the thread that waited longest. Nobody can ask one that has ended, as all but one have
        while their process ends: so ask often, this remembers."""
        with contextlib.suppress(OSError, IndexError):
            for task in Path(f"/proc/{self._pid}/task").iterdir():
                waited_s = int((task / "schedstat").read_text().split()[1]) / 1e9
                self._most_s = max(self._most_s, waited_s)
        return self._most_s


def _last(text: str) -> str:
    """What an emulator said at its end; Bochs says much before, and rules below."""
    return "\n".join(line for line in text.strip().splitlines()[-6:] if not line.startswith("="))


def _tail(text: str, lines: int = 15) -> str:
    return "\n".join(f"  | {line}" for line in text.strip().splitlines()[-lines:])


class _Run:
    """The state of one run; `status` and `setup` come from the guest, if it gets that far."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.files = _Files(job.gets)
        self.status: int | None = None
        self.setup: str | None = None
        self.ready = False
        self.kmsg = bytearray()
        self.timed_out = False
        self.stale: list[str] = []
        self.schedules: list[str] = []

    def take(self, channel: Channel) -> None:
        for kind, data in channel.records():
            if kind == Record.STDOUT:
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()
            elif kind == Record.STDERR:
                sys.stderr.buffer.write(data)
                sys.stderr.buffer.flush()
            elif kind == Record.FILE:
                self.files.start(data)
            elif kind == Record.DATA:
                self.files.data(data)
            elif kind == Record.FILE_FAILED:
                self.files.fail(data)
            elif kind == Record.KMSG:
                self.kmsg += data
            elif kind == Record.STATUS:
                (self.status,) = struct.unpack("<i", data)
            elif kind == Record.SETUP_FAILED:
                self.setup = data.decode(errors="replace")
            elif kind == Record.READY:
                self.ready = True

    def wait(self, qemu: subprocess.Popen[bytes], channel: Channel, monitor: Monitor,
             log: Path, said: Path) -> None:
        start = time.monotonic()
        silence: _Silence | None = None
        looked = time.monotonic()
        waited = Waited(qemu.pid)
        threads = parallel.Threads(qemu.pid, self.job.smp) if self.job.undisturbed else None
        while qemu.poll() is None:
            self.take(channel)
            if threads:
                threads.settle()
            now = time.monotonic()
            if (now - start > self.job.timeout_s
                    and now - start - waited.seconds() > self.job.timeout_s):
                self.timed_out = True
                return
            if self.job.model and self.status is not None:
                return                  # the host's programs end Bochs, not the guest's
            if now - looked > 1.0:
                looked = now
                waited.seconds()
                if self.job.model and bochs.was_reset(said.read_bytes()):
                    return
                if silence is None and _last_panic(self.job, log):
                    silence = _Silence(log, qemu.pid)
                if silence and silence.lasts():
                    return
            if self.ready and self.status is None:
                monitor.nmis(self.job.nmi_hz, now)
            time.sleep(POLL_S)

    def verdict(self, log_text: str, qemu_said: str, qemu_status: int | None) -> int:
        """The exit status of `vm run`, its reason told on stderr."""
        status = self._end(log_text, qemu_said, qemu_status)
        if status and self.schedules:
            say(f"the last schedule was {self.schedules[-1]}")
        if not self.stale or status not in (EXIT_TIMEOUT, EXIT_KERNEL):
            return status
        say("the emulator's own fault: it executed code that memory does not hold, so what became"
            " of the guest tells nothing")
        print("\n".join(f"  | {line}" for line in self.stale[:10]), file=sys.stderr)
        return EXIT_EMULATOR

    def _end(self, log_text: str, qemu_said: str, qemu_status: int | None) -> int:
        bad = [_bare(line) for line in console.trouble(log_text, self.job.allowed)]
        if bad:
            say("the guest's kernel complained:")
            for line in bad[:10]:
                print(f"  | {line}", file=sys.stderr)
            if self.setup:
                say(self.setup)
            return EXIT_KERNEL
        told = re.search(r"^bench: (.*)$", log_text, re.M)
        if self.setup is None and self.status is None and told:
            self.setup = told[1]        # PID 1 found no way to say so but the console
        if self.setup is not None:
            say(self.setup)
            print(_tail(console.kmsg_text(bytes(self.kmsg)) or log_text, 8), file=sys.stderr)
            return EXIT_SETUP
        if self.status is not None:
            for text in self.files.failed:
                say(text)
            return EXIT_SETUP if self.files.failed and not self.status else self.status
        if self.timed_out:
            where = "the command ran" if self.ready else "the guest booted"
            say(f"no end after {self.job.timeout_s:g} s, while {where}; the console ended with:")
            print(_tail(log_text), file=sys.stderr)
            return EXIT_TIMEOUT
        if qemu_status != 0 and not log_text.strip():
            say(f"{'Bochs' if self.job.model else 'QEMU'} did not start: "
                f"{_last(qemu_said) or 'no reason given'}")
            return EXIT_SETUP
        how = "by a triple fault" if re.search(TRIPLE_FAULT, qemu_said) else (
            "without a word (reset or powered off)")
        say(f"the guest stopped {how}; the console ended with:")
        print(_tail(log_text), file=sys.stderr)
        return EXIT_KERNEL


def image_of(job: Job) -> bytes:
    """The job as an archive: from here on the run needs nothing of what was built any more."""
    return initrd.write(job.kernel.release, job.plan, job.command, job.puts,
                        [guest for guest, _ in job.gets], job.busy)


def run(job: Job, image: bytes) -> int:
    """Boots, or begins with a booted guest's state, gives it the archive `image`, runs, collects;
    the exit status for `vm run`.

    Raises BenchError when the run cannot even be started.
    """
    with tempfile.TemporaryDirectory(prefix="tactus-disk-") as scratch:
        base = initrd.base()
        with _Machine(job, Path(scratch)) as machine:
            if not _waits(job, image, machine.channel):
                machine.boot(base + image)
                return machine.run()
            state = _state_or_none(job, base, Path(scratch)) if job.state != "boot" else None
            if state:
                machine.begin(state, base)
            else:
                machine.boot(base)
                machine.wait_for_ask()
            machine.give(image)
            return machine.run()


def _state_or_none(job: Job, base: bytes, scratch: Path) -> kept.State | None:
    """The state; None, and it is told, while none can be kept in virtual time: the run boots."""
    refused = kept.refused_file()
    with contextlib.suppress(OSError):
        if job.icount and time.time() - refused.stat().st_mtime < kept.REFUSED_S:
            return None
    try:
        return _state(job, base, scratch)
    except kept.ClockMovesError as error:
        say(f"{error}: such runs boot for some minutes")
        refused.touch()
        return None


def _waits(job: Job, image: bytes, channel: Channel) -> bool:
    """Is it a guest that asks for its job? Those alone whose state is worth keeping: of what many
    runs share. A state for one run costs more than its boot."""
    rare = job.append or not kept.shared(job.qemu) or job.memory not in ("512M", "1G")
    other = (job.model or job.secure_boot or job.mok or job.parallel or job.schedule is not None
             or job.smp > 1 and not job.icount)     # their turns are the host's from the start
    return (bool(job.state) and job.kernel.may_wait and not rare and not other
            and len(image) <= channel.room)


def _state(job: Job, base: bytes, scratch: Path) -> kept.State:
    """The kept state that a run begins with; booted now if nobody has yet."""
    with _Machine(job, scratch) as machine:
        state = machine.state(base)
        with locked(state.lock):
            if state.use():
                return state
        say(f"booting {job.kernel.release} once for all runs like this")
    for _ in range(kept.TRIES):
        with locked(state.lock):
            if state.use():
                return state
            with first_use(f"a state of {job.kernel.release}"), _Machine(job, scratch) as machine:
                if machine.keep(state, base):
                    return state
    raise kept.ClockMovesError("the clock does not stand still while the guest does")


class _Machine:
    """One QEMU or Bochs, from its start to its end."""

    def __init__(self, job: Job, scratch: Path) -> None:
        self.job = job
        self.scratch = scratch
        self.log_file = job.log
        self.result = _Run(job)
        self.channel = Channel(serial=job.secure_boot or bool(job.model))
        self.monitor = Monitor()
        self.files = {name: os.memfd_create(name)
                      for name in ("initrd", "console", "said", "state", "witness")}
        self.said = f"/proc/self/fd/{self.files['said']}"
        self.log = f"/proc/self/fd/{self.files['console']}"
        self.witness = f"/proc/self/fd/{self.files['witness']}"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> _Machine:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.channel.close()
        self.monitor.close()
        for handle in self.files.values():
            os.close(handle)

    def _emulator(self) -> emulator.Emulator:
        job = self.job
        return (emulator.parallel() if job.parallel else
                emulator.newer() if job.new_qemu else emulator.pick(job.smp, job.icount))

    def _words(self, log: str, archive: str) -> list[str]:
        return _command_line(self.job, self._emulator(), self.channel, self.monitor, archive, log,
                             self.witness, self.scratch)

    def state(self, base: bytes) -> kept.State:
        """The name of the state that this machine has when its guest asks for a job."""
        job = self.job
        image = job.kernel.image.read_bytes()
        # By inheritance: numbers of open files say nothing of a boot.
        words = [re.sub(r"/proc/self/fd/\d+|fd=\d+", "", word) for word in self._words("", "")]
        plug_ins = [Path(word.split(",")[0]) for before, word in itertools.pairwise(words)
                    if before == "-plugin"]
        label = f"{job.kernel.release}-{job.kernel.version}".replace("/", "_")
        return kept.State(f"{label}-{'virtual' if job.icount else 'host'}-{job.smp}",
                          kept.key(words, kept.made_by(words[0]), image, base,
                                   *(path.read_bytes() for path in plug_ins)))

    def boot(self, archive: bytes, extra: tuple[str, ...] = (), said: bytes = b"") -> None:
        """Starts it with an initrd; `said` is what its console had before."""
        job = self.job
        if self.log_file:
            # QEMU writes into it directly, so that it can be watched while the guest runs.
            self.log_file.parent.mkdir(parents=True, exist_ok=True)
            self.log_file.write_bytes(said)
            self.log = str(self.log_file.absolute())
        else:
            os.write(self.files["console"], said)
        if job.model:
            words = bochs.command(self.scratch, job.model, job.smp, _mib(job.memory),
                                  job.kernel.image, archive, _append(job), self.log,
                                  f"/proc/self/fd/{self.channel.line}", self.said)
            env = dict(os.environ)
        else:
            with open(self.files["initrd"], "wb", closefd=False) as handle:
                handle.write(archive)
            words = self._words(self.log, f"/proc/self/fd/{self.files['initrd']}")
            env = os.environ | self._emulator().env
        try:
            self.process = subprocess.Popen(
                [*words, *extra], env=env, stdin=subprocess.DEVNULL,
                # What Bochs draws is no use to anybody.
                stdout=subprocess.DEVNULL if job.model else self.files["said"],
                stderr=self.files["said"],
                pass_fds=(*self.channel.handles, self.monitor.handle, *self.files.values()),
                start_new_session=True,
                preexec_fn=(  # noqa: PLW1509 (system calls alone)
                    _alone if job.undisturbed else _die_with_parent),
            )
        except OSError as error:
            raise BenchError(f"{words[0]}: {error.strerror}") from None
        self.monitor.started()

    def begin(self, state: kept.State, base: bytes) -> None:
        """Starts it with a kept state."""
        with open(state.path, "rb") as handle:
            os.dup2(handle.fileno(), self.files["state"])
        os.set_inheritable(self.files["state"], True)
        self.boot(base, ("-S", "-incoming", f"fd:{self.files['state']}"),
                  state.console.read_bytes())
        kept.load(self.monitor)

    def wait_for_ask(self) -> None:
        """Waits until its guest asks for the job."""
        assert self.process
        with kept.one_cpu(self.process.pid):
            stopped = kept.wait_stop(self.monitor, self.job.timeout_s)
        if not stopped:
            raise BenchError(f"the guest does not boot; its console ended with:\n"
                             f"{_tail(_read(Path(self.log)))}\n{_last(_read(Path(self.said)))}")

    def keep(self, state: kept.State, base: bytes) -> bool:
        """Boots it and keeps its state; False if the clock went on while it stood still."""
        self.log_file = None
        self.boot(base)
        self.wait_for_ask()
        scratch = state.path.with_name(f".{state.path.name}.{os.getpid()}")
        scratch.parent.mkdir(parents=True, exist_ok=True)
        try:
            kept.save(self.monitor, scratch)
            console_now = Path(self.log).read_bytes()
            self.channel.give(None)
            self.monitor.go()               # without a job: it looks at the clock, and ends
            assert self.process
            self.process.wait(60)
            if self.job.icount and self.channel.stood_ns() > kept.STOOD_NS:
                return False
            state.put(scratch, console_now)
        finally:
            scratch.unlink(missing_ok=True)
        return True

    def give(self, image: bytes) -> None:
        """Brings the job, and has the guest go on."""
        self.channel.give(image)
        self.monitor.go()

    def run(self) -> int:
        """Waits for its end; the exit status for `vm run`."""
        assert self.process
        try:
            self.result.wait(self.process, self.channel, self.monitor, Path(self.log),
                             Path(self.said))
            if self.result.timed_out and not self.job.model:
                print(self.monitor.where(), end="", file=sys.stderr)
        finally:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()
            self.result.take(self.channel)
            self.result.files.stop()
            if self.job.nmi_hz:
                say(f"{self.monitor.injected} NMIs were injected")
            text = _with_late(_read(Path(self.log)), console.kmsg_text(bytes(self.result.kmsg)))
            if self.job.log:
                self.job.log.write_text(text, encoding="utf-8")
        told = _read(Path(self.witness))
        if self.job.schedule is None:
            self.result.stale = parallel.stale(told)
        else:
            self.result.schedules = told.split()
        return self.result.verdict(text, _read(Path(self.said)), self.process.returncode)


def _with_late(printed: str, kept: str) -> str:
    """The console's text and what the kernel logged but had not printed when the guest ended."""
    seen = {_bare(line) for line in printed.splitlines()}
    late = [line for line in kept.splitlines() if line and _bare(line) not in seen]
    if printed and not printed.endswith("\n"):
        printed += "\n"
    return printed + "".join(f"{line}\n" for line in late)


def _bare(line: str) -> str:
    """A line of the kernel's log without its level, time and caller."""
    return re.sub(r"^(<\d+>)?\[ *\d+\.\d+\](\[ *[TC]\d+\])? *", "", line).strip()


def _die_with_parent() -> None:
    """In the child: a bench that is killed takes its QEMU with it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _alone() -> None:
    """The same, for a QEMU that comes before other processes."""
    _die_with_parent()
    parallel.go_first()


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", errors="replace").replace("\r\n", "\n")
    except FileNotFoundError:
        return ""
