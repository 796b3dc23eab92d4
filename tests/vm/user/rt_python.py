# SPDX-License-Identifier: GPL-2.0-only
"""Runs in the guest: tactus.rt with libtactus and /dev/rt. Prints "ok" at the end."""
from __future__ import annotations

import errno
import os
import threading

from tactus import rt

# By name, so the same for all that ask.
box = rt.Mailbox("orders", 8, 2)
again = rt.Mailbox("orders", 8, 2)
assert box.receive() is None
assert box.send(b"12345678") and again.send(b"abcdefgh") and not box.send(b"ABCDEFGH")
assert (again.receive(), box.receive()) == (b"12345678", b"abcdefgh")
try:
    rt.Semaphore("orders")
except OSError as problem:
    assert problem.errno == errno.EEXIST
else:
    raise AssertionError("a mailbox is no semaphore")
rt.Semaphore("go").post()
event = rt.Event("flags", 1)
event.set(6)
event.clear(1)

try:
    rt.enter(period_ns=100, budget_ns=50, priority=10)
except OSError as problem:
    assert problem.errno == errno.EINVAL and "period" in str(problem), problem
else:
    raise AssertionError("entered")

before = rt.now()
rt.enter(period_ns=10_000_000, budget_ns=9_000_000, priority=10)
jobs = [rt.wait() for _ in range(20)]
os.getppid()
rt.leave()
rt.leave()
found = rt.stat()
assert all(b > a for (_, a), (_, b) in zip(jobs, jobs[1:], strict=False)), jobs
assert jobs[-1][0] > before and (jobs[-1][0] - jobs[0][0]) % 10_000_000 == 0
assert found["promotions"] >= 1 and found["demotions"]["syscall"] >= 1, found  # type: ignore

(mine,) = [thread for thread in rt.threads() if thread.pid == threading.get_native_id()]
assert mine.mode == "linux" and mine.demotions >= 1, mine
assert any(d.pid == mine.pid and d.reason == "syscall" and d.what == 110 and d.ip != "0x0"
           for d in rt.demotions()), rt.demotions()
print("ok")
