# SPDX-License-Identifier: GPL-2.0-only
"""Reads a kernel's log for the lines that make a run worthless, whatever its command said."""

from __future__ import annotations

import re

# What the kernel prints when it has found a fault in itself or in a module.
TROUBLE = re.compile(
    r"BUG:|WARNING:|\bOops\b|Kernel panic|KASAN|KCSAN|UBSAN:|\bkmemleak: \d+ new"
    r"|INFO: rcu|rcu: INFO:|INFO: task .* blocked|INFO: possible|possible circular"
    r"|possible recursive|inconsistent lock state|self-detected stall|detected stalls"
    r"|soft lockup|hard LOCKUP|general protection fault|kernel BUG at|unable to handle"
    r"|double fault|stack-protector|scheduling while atomic|sleeping function called"
    r"|irq \d+: nobody cared|NMI received for unknown|kernel tried to execute|\bstack guard page"
    r"|bad page state|Bad page map|ODEBUG:|refcount_t:|list_(add|del) corruption"
    r"|segfault at .* in init\[|Attempted to kill init|[Ll]ocal_bh_enable|NULL pointer"
    r"|unregister_netdevice: waiting|DEBUG_LOCKS_WARN|suspicious RCU"
)

# Words of stock kernels that look like trouble in a healthy machine.
HARMLESS = re.compile(
    r"NMI watchdog: (Perf|Enabled|disabled)|Command line:|unchecked MSR access"
    r"|WARNING: Spectre v2 mitigation leaves CPU vulnerable"
)


def trouble(log: str, allowed: list[re.Pattern[str]]) -> list[str]:
    """The log's lines that tell of a fault, without those that a caller expects."""
    found = []
    for line in log.splitlines():
        if TROUBLE.search(line) and not HARMLESS.search(line):
            if not any(pattern.search(line) for pattern in allowed):
                found.append(line.strip())
    return found


def kmsg_text(raw: bytes) -> str:
    """Records of /dev/kmsg as log lines: "6,123,4567,-;text" becomes "[0.004567] text"."""
    lines = []
    for record in raw.decode("utf-8", errors="replace").splitlines():
        head, found, text = record.partition(";")
        fields = head.split(",")
        if found and len(fields) >= 3 and fields[2].isdigit():
            lines.append(f"[{int(fields[2]) / 1e6:12.6f}] {text}")
    return "\n".join(lines)
