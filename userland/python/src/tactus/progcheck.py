# SPDX-License-Identifier: GPL-2.0-only
"""What the RT loops of a program call that would demote it. By objdump, without running it.

A loop that calls rt_wait() or rt_sleep_until(), itself or by a function, is an RT loop. What it
reaches and what makes a system call is told: by its name where libraries are shared, by the
instruction where they are in the program. Calls through pointers are counted and not followed.
"""
from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from tactus.errors import ToolError
from tactus.modcheck import Complaint, Report, Root, objdump

WAITS = {"rt_wait", "rt_sleep_until"}
# Of libtactus, what stays in RT mode. test_check_program.py compares it with the manual page.
STAYS = WAITS | {
    "rt_leave", "rt_now", "rt_in_rt", "rt_fifo_put", "rt_fifo_get", "rt_sem_post",
    "rt_sem_wait_until", "rt_mtx_lock_until", "rt_mtx_unlock", "rt_mbx_send_until",
    "rt_mbx_receive_until", "rt_cnd_wait_until", "rt_cnd_signal", "rt_cnd_broadcast",
    "rt_evt_wait_until", "rt_evt_set", "rt_evt_clear"}
OURS = re.compile(r"rt_(init|enter|why|stat|fifo|\w+_open|shm_\w+)")
# Of shared libraries: what computes, and no more.
PLAIN = re.compile(
    r"(__)?(mem|wmem)(p?cpy|move|set|cmp|r?chr|mem)(_chk)?|"
    r"(__)?str(n?len|n?cmp|n?cpy|n?cat|r?chr|str|c?spn|pbrk|tou?ll?|tod)(_chk)?|"
    r"ll?abs|abs|ldiv|div|bsearch|ffs|__errno_location|_?_?(sig)?setjmp|(__)?longjmp(_chk)?|"
    r"(a?(sin|cos|tan)h?|atan2|sincos|exp2?|expm1|log(2|10|1p|b)?|pow|sqrt|cbrt|hypot|fabs|floor|"
    r"ceil|l?l?round|trunc|l?l?rint|nearbyint|fmod|remainder|fma|f(min|max|dim)|ldexp|frexp|modf|"
    r"copysign|erfc?|[lt]gamma|scalbl?n)[fl]?")
ENDS = re.compile(r"_?_?exit|_Exit|quick_exit|abort|v?errx?|__assert_fail|__stack_chk_fail|"
                  r"__fortify_fail|__chk_fail|__libc_fatal|pthread_exit")
INSTEAD = (
    (r"(_IO_)?(__)?v?[fds]?n?printf(_chk)?|_?(IO_)?f?put[sc]\w*|fwrite\w*|fflush\w*|"
     r"perror|v?warnx?",
     "put it into a FIFO, rt_fifo_put(), and print it elsewhere"),
    (r"(__libc_)?(m|c|re)alloc|free|aligned_alloc|posix_memalign|(__)?strn?dup|"
     r"_Zn[wa]m|_Zd[la]Pv\w*",
     "allocate before rt_enter()"),
    (r"(__)?(clock_gettime|gettimeofday|time)(64)?", "use rt_now()"),
    (r"(__)?(u|nano|clock_nano)?sleep", "use rt_sleep_until() or rt_wait()"),
    (r"(__)?pthread_(mutex|cond|rwlock|barrier|spin)_\w+|sem_(wait|post|timedwait|trywait)",
     "use rt_mtx_*, rt_cnd_* or rt_sem_*, or libtactus-posix"),
    (r"rt_\w+", "call it before rt_enter()"),
)
INSTRUCTION = re.compile(r"\s+([0-9a-f]+):\t(\S+)(?:\s+(.*))?$")
HEAD = re.compile(r"[0-9a-f]+ <(.*)>:$")
TARGET = re.compile(r"([0-9a-f]+) <([^>]*)>")
SYSTEM_CALL = {"syscall", "sysenter"}
NO_NEXT = re.compile(r"(bnd )?(jmp|ret|ud2|hlt)")


@dataclass
class Code:
    """An instruction: what runs after it, and what it calls."""

    function: str
    after: set[int] = field(default_factory=set)
    calls: str = ""
    pointer: bool = False
    system: bool = False


def base(symbol: str) -> str:
    """The function: a part of it that is seldom run has a name of its own."""
    plain = re.sub(r"(@@?[\w.]+)?(\+0x[0-9a-f]+)?$", "", symbol)
    return re.sub(r"(\.cold|\.part\.\d+)+$", "", plain)


def read(path: Path) -> dict[int, Code]:
    """All instructions by their addresses; ToolError if it is no program for x86-64."""
    if not path.is_file():
        raise ToolError(f"there is no file {path}")
    found: dict[int, Code] = {}
    name, before = "", None
    for line in objdump(path, "-d", "--no-show-raw-insn").splitlines():
        if head := HEAD.match(line):
            name, before = base(head[1]), None
        elif match := INSTRUCTION.match(line):
            at, word, rest = int(match[1], 16), match[2], match[3] or ""
            if word in ("bnd", "notrack", "rep", "repz", "lock"):
                word, _, rest = rest.partition(" ")
            code = found[at] = Code(name, system=word in SYSTEM_CALL
                                    or (word == "int" and rest.strip() == "$0x80"))
            target = TARGET.search(rest)
            if word.startswith(("call", "j")) and target:
                callee = base(target[2])
                if word.startswith("j") and callee == name:
                    code.after.add(int(target[1], 16))
                else:
                    code.calls = callee
            elif word.startswith(("call", "j")) and "*" in rest:
                code.pointer = True
            if before is not None:
                found[before].after.add(at)
            ends = NO_NEXT.match(word) or (code.calls and ENDS.fullmatch(code.calls))
            before = None if ends else at
    return found


def reached(start: int, edges: dict[int, set[int]]) -> set[int]:
    seen: set[int] = set()
    ahead = set(edges.get(start, ()))
    while ahead:
        at = ahead.pop()
        seen.add(at)
        ahead |= edges.get(at, set()) - seen
    return seen


class Program:
    """Its instructions, and its RT loops."""

    def __init__(self, path: Path) -> None:
        self.code = read(path)
        self.functions: dict[str, list[Code]] = defaultdict(list)
        for code in self.code.values():
            self.functions[code.function].append(code)
        self.loops: dict[str, set[int]] = defaultdict(set)
        self._find_loops()

    def _find_loops(self) -> None:
        after = {at: code.after for at, code in self.code.items()}
        before: dict[int, set[int]] = defaultdict(set)
        for at, nexts in after.items():
            for one in nexts:
                before[one].add(at)
        # One that waits without a loop around it does so for its caller, whose loop it may be.
        new, waits = set(WAITS), set(WAITS)
        while new:
            calls = [(at, code) for at, code in self.code.items() if code.calls in new
                     and not OURS.fullmatch(code.function) and code.function not in STAYS]
            new = set()
            for at, code in calls:
                around = reached(at, after) & reached(at, before)
                if around:
                    self.loops[code.function] |= around | {at}
                elif code.function not in waits:
                    new.add(code.function)
            waits |= new

    def look(self, report: Report) -> None:
        """Add what speaks against each loop."""
        complaints: dict[str, Complaint] = {}
        for name, loop in sorted(self.loops.items()):
            seen: set[str] = set()
            ahead: list[tuple[str, list[Code]]] = [(name, [self.code[at] for at in sorted(loop)])]
            paths: dict[str, tuple[str, ...]] = {name: (name,)}
            while ahead:
                who, body = ahead.pop(0)
                report.indirect += sum(code.pointer for code in body)
                if any(code.system for code in body):
                    complaints.setdefault(who, Complaint(
                        f"{who}() makes a system call", paths[who],
                        "do it before rt_enter(), or in another thread"))
                for callee in sorted({code.calls for code in body if code.calls} - seen):
                    seen.add(callee)
                    paths.setdefault(callee, (*paths[who], callee))
                    mend = self._instead(callee)
                    if mend:
                        complaints.setdefault(callee, Complaint(
                            f"calls {callee}(), which would demote", paths[callee], mend))
                    elif self._goes_on(callee):
                        ahead.append((callee, self.functions[callee]))
        report.complaints += [complaints[key] for key in sorted(complaints)]

    def _goes_on(self, name: str) -> bool:
        return not (name in STAYS or PLAIN.fullmatch(name) or ENDS.fullmatch(name))

    def _instead(self, name: str) -> str | None:
        if not self._goes_on(name):
            return None
        for pattern, mend in INSTEAD:
            if re.fullmatch(pattern, name):
                # A function of the program's own may have such a name.
                return None if name.startswith("rt_") and not OURS.fullmatch(name) else mend
        if len(self.functions.get(name, ())) > 3 or name.startswith("*ABS*"):
            return None
        return "it is in a shared library; nothing says that it makes no system call"


def check(path: Path, more: list[str]) -> Report:
    """@more: names of functions that run in RT mode as well."""
    program = Program(path)
    for name in more:
        if name not in program.functions:
            raise ToolError(f"{path} has no function {name}", 2)
        program.loops[name] |= {at for at, code in program.code.items() if code.function == name}
    report = Report(str(path), [Root(name, "--rt" if name in more else "its loop waits")
                                for name in sorted(program.loops)], [], {}, 0)
    program.look(report)
    return report
