# SPDX-License-Identifier: GPL-2.0-only
"""The thesis's stress test: a file system is backed up over the network beside two 1 ms tasks.

Two network namespaces of one guest, joined by veth, stand for the two machines: tar of an ext4 on
a RAM disk goes over TCP from one to the other. Each of the systems of `make bench` does it without
the tasks and with them, in a boot of its own. The bytes that arrive must be those that were sent.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness import programs
from tactus import figure

from . import figures
from .figures import MeasureError
from .heavy import task_trouble
from .systems.model import SYSTEMS, System

_MARK = "BACKUP "
_PERIOD_NS = 1_000_000
_FILE_KIB = 256
# Of the time without tasks, for which the tasks run: they must outlast every backup beside them.
_OUTLAST = 2

# The machine `a` sends, `b` receives. BusyBox's ip names no peer, so the kernel does: veth0.
_MACHINES = """
unshare -n sleep 86400 & a=$!
unshare -n sleep 86400 & b=$!
sleep 0.1
on_a() { nsenter -t $a -n "$@"; }
on_b() { nsenter -t $b -n "$@"; }
on_a ip link add here type veth
on_a ip link set veth0 netns $b
on_a ip addr add 10.0.0.1/24 dev here
on_a ip link set here up
on_b ip addr add 10.0.0.2/24 dev veth0
on_b ip link set veth0 up
# A receiver whose input ended would end the connection.
mkfifo /tmp/quiet
echo 'tar -C /mnt -cf - . | nc 10.0.0.2 9000' > /tmp/send
backup() {
    on_b nc -l -p 9000 <> /tmp/quiet > /tmp/arrived & to=$!
    until on_b netstat -ltn | grep -q :9000; do sleep 0.01; done
    on_a ./took 1 sh /tmp/send
    wait $to
    echo "arrived $(md5sum < /tmp/arrived) $(wc -c < /tmp/arrived)"
}
backups() { for n in $(seq $rounds); do backup; done > /tmp/said; cat /tmp/said; }
"""
# Where Tactus is, one task is of rt_measure and the other of rt_latency.
_RT_TASKS = """
./measure file /proc/rt_measure "late {period} 0 10 $releases" > /tmp/one & one=$!
modprobe rt_latency priority=2
backups
kill -0 $one || {{ echo the task ended before the backups; exit 1; }}
echo 0 > /proc/rt_latency/running
wait $one
echo "{mark}task"; cat /tmp/one
echo "{mark}task"; cat /proc/rt_latency/summary
"""
_LINUX_TASKS = """
late="./measure late --by=clock_nanosleep --as=fifo --period-ns={period} --busy-ns=0 --warm-up=10"
late="$late --count=$releases --load=none --dir=/tmp"
$late > /tmp/one & one=$!
$late > /tmp/two & two=$!
backups
kill -0 $one $two || {{ echo a task ended before the backups; exit 1; }}
wait $one; wait $two
echo "{mark}task"; cat /tmp/one
echo "{mark}task"; cat /tmp/two
"""


@dataclass(frozen=True)
class Backup(figures.Result):
    """The backups on one system; times in ns, of the tasks the worse."""

    system: str
    rounds: int
    bytes: int
    """Of one."""
    alone_ns: int
    """All, without the tasks."""
    beside_ns: int
    """All, beside the tasks."""
    wrong: int
    """Backups that arrived with another checksum, of both kinds."""
    releases: int
    missed: int
    max_ns: int

    @property
    def percent(self) -> float:
        """What the tasks take of Linux's throughput."""
        return (1 - self.alone_ns / self.beside_ns) * 100

    def per_second(self, ns: int) -> float:
        """Megabytes in a virtual second."""
        return self.bytes * self.rounds / ns * 1e3


def _script(system: System, rounds: int, kib: int) -> str:
    tasks = _RT_TASKS if "rt_measure" in system.modules else _LINUX_TASKS
    return f"""set -e
until grep -q 'hres_active *: 1' /proc/timer_list; do sleep 0.05; done
rounds={rounds}
mke2fs /dev/ram0 > /dev/null; mkdir -p /mnt; mount -t ext4 -o noatime /dev/ram0 /mnt
for n in $(seq {max(1, kib // _FILE_KIB)}); do
    dd if=/dev/urandom of=/mnt/$n bs=1k count={_FILE_KIB} 2> /dev/null
done
./awake 86400 &
{_MACHINES}
echo "sent $(tar -C /mnt -cf - . | md5sum)"
backup > /dev/null
echo "{_MARK}alone"; backups
ns=$(sed -n 's/^took: ns=\\([0-9]*\\) .*/\\1/p' /tmp/said | awk '{{ s += $1 }} END {{ print s }}')
# What is between the backups takes as long as they do, about.
releases=$(awk "BEGIN {{ print int({_OUTLAST} * $ns / {_PERIOD_NS}) + 200 * $rounds }}")
echo "{_MARK}beside"
{tasks.format(period=_PERIOD_NS, mark=_MARK)}
echo "{_MARK}end"
"""


def _task(text: str) -> tuple[int, int, int]:
    """(releases, missed, ns of the latest) of either kind of task."""
    if words := re.search(r"^period_ns=.* releases=.*$", text, re.M):
        said = dict(word.split("=", 1) for word in words[0].split())
        return (int(said["releases"]), int(said["skipped"]) + int(said["overruns"]),
                int(said["max_ns"]))
    one = figure.parse(text)
    return one.count, one.missed, one.max


def parse(text: str, system: str, rounds: int) -> Backup:
    """Of what the guest prints; raises MeasureError where something is missing."""
    head, *rest = text.replace("\r", "").split(_MARK)
    parts = [part.partition("\n") for part in rest]
    if [name for name, *_ in parts] != ["alone", "beside", "task", "task", "end"]:
        raise MeasureError(f"{system}: the guest did not finish:\n{text[-2000:]}")
    sent = re.search(r"^sent ([0-9a-f]{32})", head, re.M)
    took = [[int(ns) for ns in re.findall(r"^took: ns=(\d+) ", parts[at][2], re.M)]
            for at in (0, 1)]
    arrived = [found for at in (0, 1) for found in
               re.findall(r"^arrived ([0-9a-f]{32}) +- +(\d+)$", parts[at][2], re.M)]
    if not sent or any(len(some) != rounds for some in took) or len(arrived) != 2 * rounds:
        raise MeasureError(f"{system}: a backup is missing:\n{text[-2000:]}")
    try:
        tasks = [_task(parts[at][2]) for at in (2, 3)]
    except (KeyError, ValueError) as error:
        raise MeasureError(f"{system}: {error}:\n{text[-2000:]}") from error
    return Backup(system, rounds, int(arrived[-1][1]), sum(took[0]), sum(took[1]),
                  sum(sum_ != sent[1] for sum_, _ in arrived), min(task[0] for task in tasks),
                  sum(task[1] for task in tasks), max(task[2] for task in tasks))


def measure(system: str, rounds: int = 3, kib: int = 4096, kernel: str = "6.1") -> Backup:
    """That many backups of that much on one of SYSTEMS, without the tasks and with them, one
    boot."""
    one = SYSTEMS[system]
    return parse(figures.boot(
        _script(one, rounds, kib), "--icount", "--memory=512M",
        f"--timeout={180 + 60 * rounds}",
        f"--modules=brd rd_nr=1 rd_size={2 * kib + 4096} crc32c_generic ext4 veth "
        + one.modules.replace("irq_measure", ""), "--with-modules=rt_latency",
        *(f"--put={programs.build(name)}" for name in ("measure", "awake", "took")),
        kernel=kernel, flavour=one.flavour), system, rounds)


def table(backups: Sequence[Backup]) -> str:
    """For people."""
    lines = [f"{'backup':<16} {'bytes':>9} {'wrong':>5} {'MB/s':>8} {'with tasks':>10} "
             f"{'less':>8} {'releases':>8} {'missed':>6} {'max ns':>9}"]
    lines += [f"{SYSTEMS[one.system].title:<16} {one.bytes:>9} {one.wrong:>5} "
              f"{one.per_second(one.alone_ns):>8.2f} {one.per_second(one.beside_ns):>10.2f} "
              f"{one.percent:>6.2f} % {one.releases:>8} {one.missed:>6} {one.max_ns:>9}"
              for one in backups]
    return "\n".join(lines)


def judge(backups: Sequence[Backup]) -> list[str]:
    """What breaks the promise: a wrong byte on any system, a late release of Tactus."""
    found = [f"{one.system}: {one.wrong} backups arrived with other bytes" for one in backups
             if one.wrong]
    for one in backups:
        if one.system == "tactus":
            found += task_trouble("beside the backup", one.max_ns, one.missed)
    return found


def _run(options: argparse.Namespace) -> Iterator[figures.Outcome]:
    for name in options.system or SYSTEMS:
        yield figures.outcome([measure(name, options.rounds, options.kib, options.kernel)], table,
                              judge)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--system", action="append", choices=SYSTEMS,
                        help="may be repeated; default: all")
    parser.add_argument("--rounds", type=int, default=3, help="backups; default %(default)s")
    parser.add_argument("--kib", type=int, default=4096, help="of one; default %(default)s")


MEASUREMENTS = (figures.Measurement(
    "backup", "a file system's backup over the network beside two 1 ms tasks, on three systems",
    _run, _options, where=("kernel",)),)
