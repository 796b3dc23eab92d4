# SPDX-License-Identifier: GPL-2.0-only
"""`tactus doctor` on made-up machines: one that is well, and one for each defect."""
from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes import RELEASE, FakeMachine
from tactus import cli, health

FLAGS = "fpu lm constant_tsc nonstop_tsc tsc_deadline_timer arat x2apic"
WELL = {
    f"/boot/config-{RELEASE}": "CONFIG_PARAVIRT_XXL=y\nCONFIG_KPROBES=y\nCONFIG_KVM=m\n",
    "/proc/cpuinfo": f"processor\t: 0\nflags\t\t: {FLAGS}\n\nprocessor\t: 1\n",
    "/proc/cmdline": "quiet",
    "/proc/interrupts": "           CPU0\n   8:   0  IO-APIC   8-edge      rtc0\n",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
    "/sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet",
    "/sys/devices/system/clockevents/clockevent0/current_device": "lapic-deadline",
    "/sys/devices/system/cpu/cpuidle/current_driver": "intel_idle",
    "/sys/devices/system/cpu/cpu0/cpuidle/state1/latency": "2",
}


@pytest.fixture
def well(machine: FakeMachine) -> FakeMachine:
    for path, text in WELL.items():
        machine.write(path, text)
    return machine


def levels(machine: FakeMachine, level: str) -> list[str]:
    return [f.subject for f in health.examine(machine) if f.level == level]


def test_a_machine_that_is_well(well: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor"], well) == 0
    out = capsys.readouterr().out
    assert "0 that block" in out and "--dry-run" in out
    assert levels(well, "advice") == [] and levels(well, "unknown") == []


DEFECTS = [  # path, text, subject, level
    (f"/boot/config-{RELEASE}", "CONFIG_KPROBES=y\n", "config", "blocks"),
    (f"/boot/config-{RELEASE}", "CONFIG_PARAVIRT_XXL=y\n", "config", "blocks"),
    (f"/boot/config-{RELEASE}", "CONFIG_PARAVIRT_XXL=y\nCONFIG_KPROBES=y\nCONFIG_CFI_CLANG=y\n",
     "config", "blocks"),
    (f"/boot/config-{RELEASE}", "CONFIG_PARAVIRT_XXL=y\nCONFIG_KPROBES=y\nCONFIG_KVM=y\n",
     "config", "blocks"),
    ("/proc/cpuinfo", f"flags : {FLAGS} fred\n", "cpu", "blocks"),
    ("/proc/cpuinfo", f"flags : {FLAGS} tdx_guest hypervisor\n", "cpu", "blocks"),
    ("/proc/cpuinfo", f"flags : {FLAGS} sev_snp hypervisor\n", "cpu", "blocks"),
    ("/proc/cpuinfo", f"flags : {FLAGS} hypervisor\n", "cpu", "advice"),
    ("/proc/cpuinfo", "flags : lm arat nonstop_tsc\n", "clock", "blocks"),
    ("/proc/cpuinfo", "flags : lm arat constant_tsc\n", "clock", "blocks"),
    ("/proc/cpuinfo", "flags : lm constant_tsc nonstop_tsc\n", "timer", "advice"),
    ("/proc/cpuinfo", "", "cpu", "unknown"),
    ("/proc/cmdline", "tsc=unstable", "clock", "blocks"),
    ("/proc/cmdline", "noapic", "timer", "blocks"),
    ("/sys/devices/system/clockevents/clockevent0/current_device", "hpet", "timer", "blocks"),
    ("/sys/devices/system/cpu/cpuidle/current_driver", "psci_idle", "idle", "blocks"),
    ("/sys/devices/system/cpu/cpu0/cpuidle/state4/latency", "600", "idle", "advice"),
    ("/sys/kernel/security/lockdown", "none [integrity] confidentiality", "secure boot", "advice"),
    ("/sys/firmware/efi/efivars/SecureBoot-8be4df61", "\x06\0\0\0\x01", "secure boot", "advice"),
    ("/sys/module/module/parameters/sig_enforce", "Y", "secure boot", "advice"),
    ("/sys/firmware/efi/systab", "", "secure boot", "unknown"),
    ("/proc/modules", "vboxdrv 1 0 - Live 0x0\n", "neighbours", "advice"),
    ("/proc/modules", "p_lkrg 1 0 - Live 0x0\n", "neighbours", "blocks"),
    ("/proc/4711/comm", "irqbalance\n", "irqbalance", "advice"),
    ("/proc/interrupts", "   0:  9  IO-APIC  2-edge  hpet0\n", "irq 8", "advice"),
    ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave", "frequency", "advice"),
    ("/sys/devices/system/cpu/smt/active", "1", "cpu", "advice"),
    ("/sys/hypervisor/type", "xen", "cpu", "blocks"),
]


@pytest.mark.parametrize(("path", "text", "subject", "level"), DEFECTS)
def test_each_defect_is_seen(well: FakeMachine, path: str, text: str, subject: str,
                             level: str) -> None:
    """The finding is there with the defect, and was not there without it."""
    assert subject not in levels(well, level)
    well.write(path, text)
    assert subject in levels(well, level)
    assert cli.main(["doctor"], well) == (5 if level == "blocks" else 0)


def test_an_unstable_clock(well: FakeMachine) -> None:
    folder = "/sys/devices/system/clocksource/clocksource0"
    well.write(f"{folder}/current_clocksource", "hpet")
    well.write(f"{folder}/available_clocksource", "hpet acpi_pm")
    assert "clock" in levels(well, "blocks")


def test_what_mends_it_is_said(well: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    well.write("/proc/cpuinfo", f"flags : {FLAGS} fred\n")
    assert cli.main(["doctor", "--quiet"], well) == 5
    out = capsys.readouterr().out
    assert "-> boot with fred=off" in out and "fine  " not in out
    well.write("/proc/cmdline", "quiet fred=off")
    assert cli.main(["doctor"], well) == 0


def test_checks_of_calls_can_be_off(well: FakeMachine) -> None:
    """Only where the kernel has the argument, which comes with FineIBT."""
    plain = "CONFIG_PARAVIRT_XXL=y\nCONFIG_KPROBES=y\nCONFIG_CFI_CLANG=y\n"
    well.write("/proc/cmdline", "quiet cfi=off")
    for config, blocks in ((plain, ["config"]), (f"{plain}CONFIG_FINEIBT=y\n", [])):
        well.write(f"/boot/config-{RELEASE}", config)
        assert levels(well, "blocks") == blocks


def test_json(well: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", "--json"], well) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["blocks"] == 0
    assert {finding["level"] for finding in said["findings"]} == {"fine"}


def test_gaps_put_the_tracer_back(well: FakeMachine, tmp_path: Path) -> None:
    """hwlat is switched on for the time asked for, and what was there before comes back."""
    folder = well.path("/sys/kernel/tracing")
    folder.mkdir(parents=True)
    (folder / "available_tracers").write_text("hwlat function nop\n")
    (folder / "current_tracer").write_text("function\n")
    seen: list[str] = []

    def sleep(seconds: float) -> None:
        seen.append((folder / "current_tracer").read_text())
        (folder / "tracing_max_latency").write_text("137\n")

    found = {f.subject: f for f in health.watch(well, 2, sleep)}
    assert seen == ["hwlat"] and (folder / "current_tracer").read_text() == "function"
    assert found["gaps"].level == "advice" and "137 us" in found["gaps"].text
    assert found["smi"].level == "unknown"


def test_smis_are_counted(well: FakeMachine) -> None:
    msr = well.path("/dev/cpu/0/msr")
    msr.parent.mkdir(parents=True)

    def count(number: int) -> None:
        msr.write_bytes(b"\0" * 0x34 + number.to_bytes(8, "little"))

    count(5)
    found = {f.subject: f for f in health.watch(well, 1, lambda _: count(8))}
    assert found["smi"].level == "advice" and found["smi"].text.startswith("3 SMIs")
    found = {f.subject: f for f in health.watch(well, 1, lambda _: None)}
    assert found["smi"].level == "fine"


def test_seconds_are_checked(well: FakeMachine, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", "--seconds", "-1"], well) == 2
    assert "0 to 3600" in capsys.readouterr().err
