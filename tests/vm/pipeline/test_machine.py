# SPDX-License-Identifier: GPL-2.0-only
"""Machines that the pipeline is refused on: one sentence, and the kernel's text is as it was.

Real where an emulator has them; else faked, by a module that changes Linux's notes about the
machine (modules/fake_machine) or by a build that is told another configuration of the kernel.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import FINAL_CLOCK, mutant, programs
from harness.vmrun import Vm, skip_without_chroot

# Each fake, and what the refusal says.
FAKES = {
    "hyperv": 'the pipeline was never tried under the hypervisor "TCGTCGTCGTCG" '
              '(mode=hosted works)',
    "sev": "this is an encrypted guest (SEV-ES or SEV-SNP), which reaches its APIC by exceptions",
    "tdx": "this is an encrypted guest (TDX), which reaches its APIC by exceptions",
    "fred": "this CPU delivers interrupts by FRED, which is not handled yet (boot with fred=off)",
}
TRY = """
./ktext save /tmp/before || exit 1
modprobe tactus $how 2> /dev/null && exit 2
[ ! -e /sys/kernel/tactus ] || exit 3
./ktext diff /tmp/before || exit 5
dmesg | sed -n 's/.*tactus: refused: //p' | tail -n 1
"""


def refused(vm: Vm, before: str = "", **options) -> list[str]:
    """What `modprobe tactus` is refused for, one sentence; `before` is run before it."""
    done = vm(before + TRY, put=[programs.build("ktext")],
              **{"with_modules": "tactus fake_machine", "modules": "tactus_core"} | options)
    assert done.status == 0, done.stdout + done.stderr
    unchanged, *said = done.stdout.splitlines()
    assert "different=0" in unchanged
    return said


@pytest.mark.parametrize("fake", ["hyperv", "sev", "tdx"])
def test_a_faked_machine(vm: Vm, fake: str) -> None:
    assert refused(vm, FINAL_CLOCK + f"modprobe fake_machine as={fake} || exit 4") == [
        f"{FAKES[fake]}; nothing was changed"]


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "fake"),
                         [("6.12", "fred"), ("7", "sev"), *(
                             pytest.param(*words, marks=pytest.mark.long)
                             for words in [("6.12", "tdx"), ("7", "fred")])])
def test_a_faked_machine_of_today(vm: Vm, kernel: str, fake: str) -> None:
    skip_without_chroot((kernel, "cloud"))
    faked = FINAL_CLOCK + f"modprobe fake_machine as={fake} || exit 4"
    assert refused(vm, faked, kernel=kernel) == [
        f"{FAKES[fake]}; nothing was changed"]


@pytest.mark.parametrize(("options", "sentence"), [
    ({"append": "noapic"},
     "interrupts come from the 8259 (noapic?), not from an I/O APIC"),
    ({"append": "tsc=unstable"},
     "Linux has found the TSC unstable, and RT has no other clock"),
    ({"qemu": "-cpu max,-cx16,tcg-cpuid=off"},
     'the pipeline was never tried under the hypervisor "" (mode=hosted works)'),
    ({"qemu": "-cpu max,-cx16,-hypervisor"},
     "this CPU's TSC changes its rate or stops in idle, and RT has no other clock"),
    pytest.param({"append": "initcall_blacklist=init_tsc_clocksource", "icount": True},
                 "Linux is still measuring the TSC's rate (clocksource tsc-early)"),
    pytest.param({"kernel": "7", "icount": True, "qemu": "-cpu Skylake-Server-v1",
                  "append": "retbleed=stuff spectre_v2=retpoline"},
                 "Linux counts the depth of calls, so that its entry code calls no function itself "
                 "(boot without retbleed=stuff)", marks=pytest.mark.long),
], ids=["noapic", "tsc_unstable", "unknown_hypervisor", "bare_tsc", "tsc_early", "call_depth"])
def test_a_real_one(vm: Vm, options: dict[str, str], sentence: str) -> None:
    # Linux rewrites text when it has found its clock, and with call_depth, the space
    # before each function that a module is the first to call. So the second load is looked at.
    said = refused(vm, "sleep 3; modprobe tactus 2> /dev/null", **options)
    assert said == [f"{sentence}; nothing was changed"]


@pytest.mark.slow
@pytest.mark.parametrize(("configuration", "how", "sentence"), [
    *(("config_cfi", how,
     "this kernel checks whom its indirect calls reach (CONFIG_CFI), which traps those of "
     "functions that are not its own (boot with cfi=off)") for how in ("", "mode=hosted")),
    ("config_kvm", "",
     "this kernel has KVM built in, whose cli must stay hard and is looked for in modules only"),
])
def test_another_configuration(vm: Vm, tmp_path: Path, configuration: str, how: str,
                               sentence: str) -> None:
    core, tactus = mutant.build(tmp_path, configuration).split()
    assert refused(vm, f"how={how}\n", modules=core, with_modules=tactus) == [
        f"{sentence}; nothing was changed"]


def test_a_clock_that_turns_bad_is_told(vm: Vm) -> None:
    done = vm("cat /sys/kernel/tactus/clock; modprobe fake_machine as=unstable; "
              "cat /sys/kernel/tactus/clock", modules="tactus", with_modules="fake_machine",
              icount=True)
    assert done.stdout == "tsc\ntsc-unstable\n"


def test_an_early_load_waits_for_the_rate(vm: Vm) -> None:
    """Half a per cent off is what Linux believes until it has compared the TSC with another clock;
    the bench loads modules before that."""
    seconds = 10
    done = vm(f"modprobe rt_latency; sleep {seconds}; cat /proc/rt_latency/summary; dmesg",
              modules="tactus", with_modules="rt_latency", append="tsc_early_khz=1005000",
              icount=True)
    summary, *log = done.stdout.splitlines()
    assert any("Refined TSC clocksource calibration" in line for line in log)
    releases = int(summary.split("releases=")[1].split()[0])
    assert releases == pytest.approx(seconds * 1000, rel=0.002)
