# SPDX-License-Identifier: GPL-2.0-only
"""Every check of matrix.py on the kernels that `make test` looks at; `make test-matrix` has all."""

from __future__ import annotations

import pytest

from harness.matrix import MOST, TESTED, Row, check, functions, table
from harness.truth import found_sites
from harness.vmrun import skip_without_chroot


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [
    kernel if kernel in TESTED else pytest.param(kernel, marks=pytest.mark.long)
    for kernel in MOST], ids="-".join)
def test_kernel(kernel: tuple[str, str]) -> None:
    """Slots, text, hello, FIFOs, unloading, lateness."""
    skip_without_chroot(kernel)
    row = check(*kernel)
    print(table([row]))
    assert row.refused == ""
    assert row.trouble == []
    assert all(row.passed.values()) and len(row.passed) == 5
    assert {kind: len(figures) for kind, figures in row.max_ns.items()} == {"tick": 3, "task": 3}


TRUE = {0xFFFFFFFF81000000 + 16 * i: "cli" for i in range(1001)}
LISTING = "".join(f"{address:x} {kind:8}\n" for address, kind in TRUE.items())
GOOD = f"""\
MATRIX slots
{LISTING}ffffffff82000000 irq     \nMATRIX end
MATRIX active ktext: regions=3 bytes=9000000 different=3500 gone=0
MATRIX fifo ok two_rings
MATRIX fifo ok stream_out
MATRIX fifo ok stream_in
MATRIX hello hello, world
MATRIX hello hello, world
MATRIX hello hello, world
MATRIX unload
MATRIX text ktext: regions=3 bytes=9000000 different=0 gone=0
"""


def judged(text: str, true: dict[int, str]) -> Row:
    row = Row("6.1", "cloud")
    functions(row, text, true)
    return row


def test_a_good_kernel_is_good() -> None:
    """The text that a guest prints when all is well."""
    assert judged(GOOD, TRUE).good


@pytest.mark.parametrize(("old", "new", "check_name"), [
    ("ffffffff81000010 cli ", "ffffffff81000010 sti ", "slots"),     # another kind
    ("ffffffff81000010 cli     \n", "", "slots"),                    # one not found
    ("ffffffff82000000 irq ", "ffffffff82000000 sti ", "slots"),     # one that is none
    ("different=0", "different=1", "text"),
    ("different=3500", "different=0", "text"),
    ("MATRIX fifo ok stream_in", "MATRIX fifo not ok stream_in: 3", "fifo"),
    ("MATRIX hello hello, world\nMATRIX unload", "MATRIX unload", "hello"),
    ("MATRIX unload\n", "", "unload"),
])
def test_each_check_can_fail(old: str, new: str, check_name: str) -> None:
    """One thing wrong fails one check."""
    assert GOOD.count(old) == 1
    row = judged(GOOD.replace(old, new), TRUE)
    assert [name for name, passed in row.passed.items() if not passed] == [check_name]
    assert len(row.trouble) == 1 and not row.good


def test_a_refusal_is_told() -> None:
    """A kernel that is refused is neither good nor a failure of a check."""
    row = judged("MATRIX refused no CONFIG_PARAVIRT_XXL; nothing was changed\n", TRUE)
    assert row.refused.startswith("no CONFIG_PARAVIRT_XXL") and not row.trouble and not row.good
    assert "refused: no CONFIG" in table([row])


def test_a_hard_cli_counts_as_found() -> None:
    """What stays hard on purpose is in the image's list as well."""
    assert found_sites("ffffffff81000010 cli_hard\nffffffff81000020 irq\n") == {
        0xFFFFFFFF81000010: "cli"}
