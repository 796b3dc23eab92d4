# SPDX-License-Identifier: GPL-2.0-only
"""Several CPUs in virtual time: a run repeats to the last digit, and where its emulator comes
from."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from harness import programs
from harness.bench import emulator, guest, kernels, modules
from harness.bench.common import BenchError
from harness.bench.emulator import Emulator
from harness.bench.monitor import Monitor

# Forks, pipes, IPIs, an RT task on the second CPU: whatever depends on time or turns shows
# somewhere.
WORK = """
for i in 1 2 3 4 5 6 7 8; do (true) & done; wait
dd if=/dev/zero bs=64k count=30 2> /dev/null | gzip | md5sum
sleep 0.2
cat /proc/rt_latency/summary /sys/kernel/tactus/tasks /sys/kernel/tactus/pipeline*
cat /proc/interrupts /proc/softirqs /proc/stat /proc/schedstat /proc/vmstat /proc/uptime
"""


@pytest.mark.parametrize("cpus", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_two_runs_agree_in_every_counter(vm, cpus):
    """However busy the host is: without steady.c some three in seven runs differ on a busy one."""
    first, second = (vm(WORK, modules="tactus rt_latency cpu=1 period_us=200", smp=cpus,
                        icount=True)
                     for _ in range(2))
    assert "LOC:" in first.stdout and "releases=" in first.stdout
    assert first.stdout == second.stdout
    assert first.console == second.console


def test_the_hosts_timers_end_no_turn(vm):
    """QEMU has one for half a second after it has loaded a state, to announce network cards; here
    for longer, and each millisecond."""
    often = " ".join(f"-global migration.announce-{name}" for name in
                     ("initial=1", "max=1", "step=1", "rounds=1000"))
    first, second = (vm("for i in 1 2 3 4; do (true) & done; wait; cat /proc/schedstat",
                        smp=2, qemu=often, state="keep") for _ in range(2))
    assert first.stdout == second.stdout


@pytest.mark.parametrize("cpus", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_busy_cpus_leave_a_job_its_budget(vm, cpus):
    """A turn of theirs is short. Else it lasts until the job's next timer, its budget's end."""
    busy = "\n".join(f"taskset -c {cpu} sh -c 'while :; do :; done' &" for cpu in range(1, cpus))
    done = vm(f"{busy}\ntaskset -c 0 ./user_latency --seconds=0.2 --json\n"
              "tail -n +2 /sys/kernel/tactus/demotions",
              modules="tactus rtfifo tactus_user", smp=cpus, icount=True,
              put=[programs.build("user_latency")])
    figures = json.loads(done.stdout)
    assert figures["missed"] == 0
    assert figures["max_ns"] < (cpus - 1) * guest.TURN_NS + 5000


class Goes(Monitor):
    """Has a machine that has stopped go on."""

    stops = 0

    def nmis(self, per_second: float, now: float) -> None:
        with contextlib.suppress(OSError):
            if b'"STOP"' in self._ours.recv(65536):
                self.stops += 1
                self.go()


def test_a_stop_ends_the_turns_of_all_cpus(monkeypatch, capfdbinary):
    """Ten stops while the other CPU is busy: it has the same turns whenever QEMU's main loop comes
    to stop them."""
    monitors: list[Goes] = []
    monkeypatch.setattr(guest, "Monitor", lambda: monitors.append(Goes()) or monitors[-1])
    kernel = kernels.resolve("6.1", "cloud")
    job = guest.Job(kernel=kernel, plan=modules.Planner(kernel, {}).want([], []), smp=2,
                    icount=True, state="keep", puts=[str(programs.build("stops"))],
                    command="(while :; do :; done) & /root/stops 10; cat /proc/schedstat")
    said = []
    for _ in range(2):
        assert guest.run(job, guest.image_of(job)) == 0
        said.append(capfdbinary.readouterr().out)
        assert sum(monitor.stops for monitor in monitors) == 10
        monitors.clear()
    assert said[0] == said[1] != b""


def test_a_schedule_moves_the_turns_and_repeats(vm):
    """The seed alone decides. What each CPU did when, and for how long, differs with it."""
    first, again, other = (vm("for i in 1 2 3 4; do (true) & done; wait; cat /proc/schedstat",
                              smp=2, schedule=seed) for seed in (1, 1, 2))
    assert first.stdout == again.stdout != other.stdout


def fake(version: tuple[int, int], name: str = "qemu") -> Emulator:
    return Emulator(name, version)


@pytest.fixture(autouse=True)
def nothing_remembered():
    yield
    emulator.newer.cache_clear()


def test_the_installed_one_serves_if_it_is_new_enough(monkeypatch):
    monkeypatch.setattr(emulator, "installed", lambda: fake((10, 0)))
    monkeypatch.setattr(emulator, "_fetch", lambda: pytest.fail("looked for another"))
    assert emulator.pick(2, True) == fake((10, 0))


def test_one_cpu_and_the_hosts_time_take_the_installed_one(monkeypatch):
    monkeypatch.setattr(emulator, "installed", lambda: fake((7, 2)))
    monkeypatch.setattr(emulator, "newer", lambda: pytest.fail("looked for another"))
    assert emulator.pick(1, True) == emulator.pick(2, False) == fake((7, 2))


@pytest.mark.parametrize("fetched, reason", [
    (None, "without a network none can be fetched"),
    (fake((8, 1)), "the backports have 8.1"),
])
def test_without_a_newer_one_the_reason_is_told(monkeypatch, tmp_path: Path, fetched, reason):
    monkeypatch.setenv("TACTUS_CACHE", str(tmp_path))
    monkeypatch.setattr(emulator, "installed", lambda: fake((7, 2)))
    monkeypatch.setattr(emulator, "_fetch", lambda: fetched)
    with pytest.raises(BenchError, match=reason):
        emulator.newer()


def test_without_a_network_the_cached_one_serves(monkeypatch):
    monkeypatch.setattr(emulator, "installed", lambda: fake((7, 2)))
    monkeypatch.setattr(emulator, "_cached", lambda: fake((10, 0), "cached"))
    monkeypatch.setattr(emulator.packages, "asked_lately", lambda home: False)
    monkeypatch.setattr(emulator, "_fetch", lambda: None)
    assert emulator.newer().program == "cached"
