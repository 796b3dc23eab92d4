#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs in the guest of test_tap_user.py: trials, one after the other, and what may happen to them.

Python takes a virtual second to start, so each `tactus` is a fork of this. What one complains of
stands before its status, as both go the same way.
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
NOBODY = 65534
os.dup2(1, 2)


def start(*words: str, lines: str = "", user: int = 0) -> int:
    """A `tactus` of `user`'s; `lines` is where its standard error goes. Returns its pid."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    if user:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
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


def tactus(*words: str, user: int = 0) -> int:
    return end(start(*words, user=user))


def command(*words: str) -> None:
    subprocess.run(words, check=True)


def say(what: str, value: object) -> None:
    print(f"{what}: {value}", flush=True)


def stat(name: str) -> int:
    return int(Path(f"/sys/module/rt_tap/stats/{name}").read_text())


def wait_for_taps(folder: str, count: int) -> None:
    """Until a trial's file of records has grown so much."""
    while not any(path.stat().st_size > 64 * count for path in Path(folder).glob("*.records")):
        time.sleep(0.1)


say("loops", [tactus("tap", f"{name}.ftap", "--out", "out", "--quiet") for name in LOOPED])

# From here on the passes in between are rare: they are for commands, and take time to emulate.
command("rmmod", "rt_tap")
command("modprobe", "rt_tap", "pass_us=10000")
for name, seed in TAPPED.items():
    command("modprobe", "rt_tapper", *TAPPER, f"seed={seed}")
    say(name, tactus("tap", f"{name}.ftap", "--out", "out", "--quiet"))
    command("rmmod", "rt_tapper")

# A companion is killed; the trial goes on, and another one picks it up.
command("modprobe", "rt_tapper", *TAPPER, "seed=6")
companion = start("tap", "short.ftap", "--out", "killed", "--quiet")
wait_for_taps("killed", 20)
os.kill(companion, signal.SIGKILL)
say("killed", end(companion))
time.sleep(2)
say("running", stat("running"))
say("refused", tactus("tap", "short.ftap", "--out", "killed"))
say("taken over", tactus("tap", "--attach", "--out", "killed", "--quiet"))

# ^C; and a line a second is shown meanwhile.
companion = start("tap", "short.ftap", "--out", "stopped", lines="lines")
wait_for_taps("stopped", 100)
os.kill(companion, signal.SIGINT)
say("interrupted", end(companion))
print(Path("lines").read_text())

# ^C when the loop has hardly begun.
companion = start("tap", "short.ftap", "--out", "early", "--quiet")
while not stat("running"):
    time.sleep(0.001)
os.kill(companion, signal.SIGINT)
say("early", end(companion))

# A full disk: the trial goes on, and when there is room it is taken over.
Path("full").mkdir()
command("mount", "-t", "tmpfs", "-o", "size=4k", "none", "full")
say("full", tactus("tap", "short.ftap", "--out", "full", "--quiet"))
say("goes on", stat("running"))
command("mount", "-o", "remount,size=1m", "full")
say("room", tactus("tap", "--attach", "--out", "full", "--quiet"))

# One companion at a time; --stop from outside.
companion = start("tap", "short.ftap", "--out", "other", "--quiet")
wait_for_taps("other", 5)
say("second", tactus("tap", "--attach", "--out", "elsewhere"))
say("stop", tactus("tap", "--stop"))
say("stopped", end(companion))
say("nothing", tactus("tap", "--attach", "--out", "elsewhere"))
say("stranger", tactus("tap", "--attach", "--out", "/tmp", user=NOBODY))
say("stranger stops", tactus("tap", "--stop", user=NOBODY))

begun = stat("trials")
say("wrong", tactus("tap", "wrong.ftap", "--out", "out"))
say("begun", stat("trials") - begun)
command("rmmod", "rt_tapper")
command("rmmod", "rt_tap")
say("no module", tactus("tap", "short.ftap", "--out", "out"))
say("report", tactus("tap-report", "out/task-synccontinuation_run-01"))
