# SPDX-License-Identifier: GPL-2.0-only
"""`tactus record` and `tactus scope` on the FIFOs of examples/daq, in one boot."""
from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import guest_python
from tactus.recording import DATA, END, LOSS, Frame, open_recording

FIELDS = "time_ns:u8,number:u4,late_ns:u4,mv:8i2"

# The FIFO is not there at first; it goes and comes again; then the recorder is held up for longer
# than the FIFO lasts.
SCRIPT = f"""
mkdir out
tactus record daq --fields {FIELDS} --into out --rotate-bytes 40000 2> summary &
recorder=$!
sleep 1
modprobe rt_daq || exit 9
sleep 2.5
rmmod rt_daq && sleep 1 && modprobe rt_daq period_us=500 seconds=1 || exit 8
sleep 1
kill -STOP $recorder; sleep 3; kill -CONT $recorder
tactus scope daq_scope --fields {FIELDS} --show mv --seconds 1 --once || exit 7
kill -TERM $recorder; wait $recorder || exit 6
cat summary
ls -l /dev/rtf/
rmmod rt_daq
! ls /dev/rtf 2> /dev/null
"""


def adc(channel: int, number: int) -> int:
    """What examples/daq makes of a sample's number."""
    phase = number % 500 * (channel + 1) % 500 - 250
    wave = abs(phase) * (250 - abs(phase)) * 8 // 25
    return -wave if phase < 0 else wave


@dataclass(frozen=True)
class Run:
    stdout: str
    frames: list[Frame]
    files: int


@pytest.fixture(scope="module")
def run(vm_module, tmp_path_factory: pytest.TempPathFactory) -> Run:
    put = guest_python.put(tmp_path_factory.mktemp("python"))
    done = vm_module(SCRIPT, modules="tactus_core tactus rtfifo", with_modules="rt_daq",
                     icount=True,
                     put=put, get=["/root/out"], timeout=400)
    assert done.status == 0, done.stdout + done.stderr
    files = sorted(Path(done.files, "out").iterdir())
    recordings = [open_recording(path) for path in files]
    assert all(r.fields and r.fields.text() == FIELDS for r in recordings)
    return Run(done.stdout, [frame for r in recordings for frame in r.frames()], len(files))


pytestmark = pytest.mark.slow


def lives(run: Run) -> list[list[Frame]]:
    """The frames of the first FIFO of this name, and of the second."""
    kinds = [frame.kind for frame in run.frames]
    assert kinds.count(END) == 1
    return [run.frames[:kinds.index(END)], run.frames[kinds.index(END) + 1:]]


def numbers(frames: list[Frame]) -> list[int]:
    data = b"".join(frame.data for frame in frames)
    assert len(data) % 32 == 0
    return [int.from_bytes(data[at + 8:at + 12], "little") for at in range(0, len(data), 32)]


def test_every_sample_is_there(run: Run) -> None:
    """From the first on, though the recorder came before the FIFO; and each as the ADC made it."""
    first = numbers(lives(run)[0])
    assert first == list(range(len(first))) and len(first) > 2000
    for frame in run.frames:
        for at in range(0, len(frame.data), 32):
            record = frame.data[at:at + 32]
            number = int.from_bytes(record[8:12], "little")
            assert [int.from_bytes(record[16 + 2 * c:18 + 2 * c], "little", signed=True)
                    for c in range(8)] == [adc(c, number) for c in range(8)]


def test_loss_is_counted(run: Run) -> None:
    """Samples that are missing from the second life are those that were counted as dropped."""
    second = lives(run)[1]
    got = numbers(second)
    missing = got[-1] - got[0] + 1 - len(got)
    counted = sum(frame.value for frame in second if frame.kind == LOSS)
    assert missing > 1000
    # The last count may be of drops that no sample followed yet.
    assert 0 <= counted - missing <= 5
    assert f", {counted} puts dropped, 0 bytes overwritten, destroyed 1 times" in run.stdout


def test_files_rotate(run: Run) -> None:
    size = sum(len(frame.data) for frame in run.frames if frame.kind == DATA)
    assert run.files >= size // 60000 >= 2


def test_scope_draws(run: Run) -> None:
    assert all(f"mv{c}" in run.stdout for c in range(8))
    assert re.search("[\u2801-\u28ff]{3}", run.stdout)
    low, high = map(int, re.search(r"mv0 .*\[(-?\d+) … (-?\d+)\]", run.stdout).groups())
    assert -5000 <= low < high <= 5000


def test_names_are_nodes(run: Run) -> None:
    assert len(re.findall(r"crw-rw---- .* daq(_scope)?$", run.stdout, re.M)) == 2
