"""The run-time scan against the truth: every site of the image found, and nothing else."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from harness import VM
from harness.truth import found_sites, true_sites
from harness.vmrun import skip_without_chroot

# test_matrix.py does this for the other flavours.
IMAGES = [("6.1", "cloud"),
          *(pytest.param(kernel, marks=pytest.mark.long)
            for kernel in (("6.1", "rt"), ("6.12", "rt")))]


def image_of(kernel: tuple[str, str]) -> Path:
    series, flavour = kernel
    out = subprocess.run([VM, "fetch", "--kernel", series, "--flavour", flavour, "--json"],
                         stdout=subprocess.PIPE, check=True).stdout
    return Path(json.loads(out)["image"])


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
