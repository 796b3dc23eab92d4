# SPDX-License-Identifier: GPL-2.0-only
"""`tactus play` in a guest, on the real driver, with the host's sox beside it."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import guest_python
from model import porttrace

SECONDS = 0.5
CONTROL = "/sys/module/rt_speaker/control"

# A file that must be resampled and mixed; one by another mode, less loud, that is stopped; and one
# that comes while somebody else plays.
SCRIPT = f"""
settings() {{ cat {CONTROL}/mode {CONTROL}/volume {CONTROL}/raw | tr '\\n' ' '; echo; }}
echo 1 > {CONTROL}/raw
settings
tactus play tone.wav --json; echo "status $?"
tactus play long.wav --mode sigma --volume 50 --json > stopped & player=$!
until [ "$(cat /sys/module/rt_speaker/control/volume)" = 50 ]; do sleep 0.1; done; sleep 1
until [ $(cat /sys/module/rt_speaker/stats/frames) -gt 1000 ]; do sleep 0.1; done
settings
kill -TERM $player; wait $player; echo "status $?"
cat stopped
before=$(cat /sys/module/rt_speaker/stats/frames); sleep 0.3
echo "$(($(cat /sys/module/rt_speaker/stats/frames) - before)) more"
sleep 1000 > /dev/rtf0 & sleep 0.1; tactus play tone.wav 2>&1; echo "status $?"; kill $!
settings
"""


@pytest.mark.slow
def test_play(vm: Any, tmp_path: Path) -> None:
    for name, seconds in (("tone.wav", SECONDS), ("long.wav", 30)):
        subprocess.run(["sox", "-n", "-r", "44100", "-c", "2", str(tmp_path / name), "synth",
                        str(seconds),
                        "sine", "1000", "vol", "0.5"], check=True)
    put = guest_python.put(tmp_path / "python")
    put |= {tmp_path / name: f"/root/{name}" for name in ("tone.wav", "long.wav")}
    put |= {Path("/usr/bin/sox"): "/usr/bin/sox"}
    with porttrace.Capture(tmp_path / "ports") as capture:
        done = vm(SCRIPT, modules="tactus_core tactus rtfifo rt_speaker", icount=True, put=put,
                  qemu=shlex.join(capture.qemu_arguments), timeout=280)
    lines = done.stdout.splitlines()
    assert len(lines) == 10, done.stdout + done.stderr
    before, first, ok, between, status, stopped, more, busy, refused, after = lines
    assert (ok, status, refused) == ("status 0", "status 130", "status 1")
    assert before == after == "auto 100 1 " and between == "sigma 50 0 "

    played = json.loads(first)
    assert (played["mode"], played["clock"], played["stopped"]) == ("pwm", "task", False)
    assert played["seconds"] == SECONDS
    assert played["samples"] == pytest.approx(SECONDS * 1e9 / played["period_ns"], abs=3)
    assert played["underruns"] == played["missed"] == 0
    assert played["interval_max_dev_ns"] < 2000
    cut = json.loads(stopped)
    assert cut["mode"] == "sigma" and cut["stopped"] and 1000 < cut["frames"] < 10 * 32000
    assert more == "0 more"
    assert "somebody else plays" in busy

    # From outside: in as many counts as samples, behind the 1 of the set-up, as many waves as 1 kHz
    # has.
    counts = [w.value for w in capture.writes() if w.port == 0x42]
    start = counts.index(1) + 1
    tone = counts[start:start + played["samples"]]
    middle = played["levels"] // 2
    assert waves(tone, middle) == pytest.approx(1000 * SECONDS, abs=4)


def waves(counts: list[int], middle: int) -> int:
    """How often they go from well below the middle to well above it."""
    found, low = 0, False
    for count in counts:
        if count < middle - 8:
            low = True
        elif count > middle + 8 and low:
            found, low = found + 1, False
    return found
