#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Runs in the guest of test_tap_user.py: trials, one after the other, and what may happen to them.

Python takes a virtual second to start, so each `tactus` is a fork of this.
"""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tactus import cli

LOOPED, TAPPED, TAPPER = (json.loads(word) for word in sys.argv[1:4])


def start(*words: str, lines: str = "") -> int:
    """A `tactus`; `lines` is where its standard error goes. Returns its pid."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    if lines:
        os.dup2(os.open(lines, os.O_WRONLY | os.O_CREAT), 2)
    status = 99
    try:
        status = cli.main(words)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def end(pid: int) -> int:
    """Its exit status; -9 if SIGKILL ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def tactus(*words: str) -> int:
    return end(start(*words))


def module(*words: str) -> None:
    subprocess.run(words, check=True)


def say(what: str, value: object) -> None:
    print(f"{what}: {value}", flush=True)


def wait_for_taps(folder: str, count: int) -> None:
    """Until a trial's file of records has grown so much."""
    while not any(path.stat().st_size > 64 * count for path in Path(folder).glob("*.records")):
        time.sleep(0.1)


say("loops", [tactus("tap", f"{name}.ftap", "--out", "out", "--quiet") for name in LOOPED])

# From here on the passes in between are rare: they are for commands, and take time to emulate.
module("rmmod", "rt_tap")
module("modprobe", "rt_tap", "pass_us=10000")
for name, seed in TAPPED.items():
    module("modprobe", "rt_tapper", *TAPPER, f"seed={seed}")
    say(name, tactus("tap", f"{name}.ftap", "--out", "out", "--quiet"))
    module("rmmod", "rt_tapper")

# A companion is killed; the trial goes on, and another one picks it up.
module("modprobe", "rt_tapper", *TAPPER, "seed=6")
companion = start("tap", "short.ftap", "--out", "killed", "--quiet")
wait_for_taps("killed", 20)
os.kill(companion, signal.SIGKILL)
say("killed", end(companion))
time.sleep(2)
say("running", Path("/sys/module/rt_tap/stats/running").read_text().strip())
say("refused", tactus("tap", "short.ftap", "--out", "killed"))
say("taken over", tactus("tap", "--attach", "--out", "killed", "--quiet"))

# ^C; and a line a second is shown meanwhile.
companion = start("tap", "short.ftap", "--out", "stopped", lines="lines")
wait_for_taps("stopped", 40)
os.kill(companion, signal.SIGINT)
say("interrupted", end(companion))
print(Path("lines").read_text())

# One companion at a time; --stop from outside.
companion = start("tap", "short.ftap", "--out", "other", "--quiet")
wait_for_taps("other", 5)
say("second", tactus("tap", "--attach", "--out", "elsewhere"))
say("stop", tactus("tap", "--stop"))
say("stopped", end(companion))
say("nothing", tactus("tap", "--attach", "--out", "elsewhere"))
module("rmmod", "rt_tapper")

say("wrong", tactus("tap", "wrong.ftap", "--out", "out"))
say("report", tactus("tap-report", "out/task-synccontinuation_run-01"))
