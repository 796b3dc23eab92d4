"""The run-time scan against the truth: every site of the image found, and nothing else."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from truth import true_sites
from vmrun import skip_without_chroot

VM = Path(__file__).resolve().parent / "vm"

# All flavours are covered: the scan depends on nothing but the image.
IMAGES = [
    (series, flavour)
    for series in ("6.1", "6.12")
    for flavour in ("cloud", "generic", "rt")
] + [("7", "cloud")]


def image_of(kernel: tuple[str, str]) -> Path:
    series, flavour = kernel
    out = subprocess.run([VM, "fetch", "--kernel", series, "--flavour", flavour, "--json"],
                         stdout=subprocess.PIPE, check=True).stdout
    return Path(json.loads(out)["image"])


def found_sites(text: str) -> dict[int, str]:
    """The listing's cli, sti and save_fl; a cli that stays hard was found all the same."""
    rows = (line.split() for line in text.splitlines())
    return {
        int(address, 16): kind.removesuffix("_hard")
        for address, kind in rows
        if kind in ("cli", "cli_hard", "sti", "save_fl")
    }


@pytest.mark.slow
@pytest.mark.parametrize("kernel", IMAGES, ids="-".join)
def test_scan_finds_the_truth(vm, kernel: tuple[str, str]) -> None:
    skip_without_chroot(kernel)
    done = vm("cat /sys/kernel/tactus/slots_list && rmmod tactus", modules="tactus",
              kernel=kernel, append="nokaslr")
    assert done.status == 0, done.stderr
    found, true = found_sites(done.stdout), true_sites(image_of(kernel))
    assert len(true) > 1000
    assert found == true


def test_truth_can_differ() -> None:
    """The control: one site more, less, or of another kind is a difference."""
    listing = "ffffffff81000010 cli     \nffffffff81000020 sti     \nffffffff81000030 irq     \n"
    assert found_sites(listing) == {0xFFFFFFFF81000010: "cli", 0xFFFFFFFF81000020: "sti"}
    assert found_sites(listing.replace("sti", "cli")) != found_sites(listing)
