# SPDX-License-Identifier: GPL-2.0-only
"""What RT code of a module does: its calls, floating point, stack. By objdump, before loading.

RT code is what the module hands to rt_task_init(), request_RTirq(), rtf_create_rt_handler() or an
RT timer, and all that this calls. Calls through pointers are not followed; they are counted.
"""
from __future__ import annotations

import dataclasses
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tactus.errors import ToolError

# The argument that is RT code, by the call's name.
TAKES_CODE = {"rt_task_init": "si", "request_RTirq": "si", "rtf_create_rt_handler": "si"}
TIMER_START = "rt_timer_start"
TASK_STACK = "cx"  # rt_task_init()'s stack_size

# What RT code may call. tests/userland/test_check.py compares it with the headers.
OURS = {
    "request_RTirq": False, "free_RTirq": False, "rt_cnd_broadcast": True, "rt_cnd_destroy": True,
    "rt_cnd_init": True, "rt_cnd_signal": True, "rt_cnd_wait_until": True, "rt_context": True,
    "rt_evt_clear": True, "rt_evt_destroy": True, "rt_evt_init": True, "rt_evt_set": True,
    "rt_evt_wait_until": True, "rt_fifo_get": True, "rt_fifo_put": True,
    "rt_from_monotonic_ns": False, "rt_get_time": True,
    "rt_mbx_destroy": True, "rt_mbx_init": True, "rt_mbx_receive_until": True,
    "rt_mbx_send_until": True, "rt_mtx_destroy": True, "rt_mtx_init": True,
    "rt_mtx_lock_until": True, "rt_mtx_unlock": True, "rt_named_get": False,
    "rt_named_put": False, "rt_printk": True, "rt_shm_attach_for": False,
    "rt_shm_create_for": False, "rt_shm_detach_for": False,
    "rt_sem_destroy": True, "rt_sem_init": True, "rt_sem_post": True,
    "rt_sem_wait_until": True, "rt_task_delete": True, "rt_task_init": False,
    "rt_task_make_periodic": True, "rt_task_make_sporadic": True, "rt_task_self": True,
    "rt_task_set_budget": True, "rt_task_set_cpu": False, "rt_task_set_deadline": True,
    "rt_task_set_name": False, "rt_task_set_priority": True, "rt_task_set_section": True,
    "rt_task_set_suspension": True,
    "rt_task_sleep_until": True, "rt_task_suspend": True, "rt_task_wait": True,
    "rt_task_wakeup": True, "rt_timer_cancel": True, "rt_timer_start": True,
    "rt_to_monotonic_ns": False, "rt_use_fp": True, "rtf_create": False, "rtf_create_for": False,
    "rtf_create_handler": False, "rtf_create_named": False, "rtf_create_rt_handler": False,
    "rtf_destroy": False, "rtf_find_named": False, "rtf_flush": True, "rtf_free": True,
    "rtf_get": True, "rtf_get_some": True, "rtf_isempty": True, "rtf_of_file": False,
    "rtf_peek": True, "rtf_put": True, "rtf_put_overwrite": True, "rtf_resize": False,
    "rtf_set_filter": False, "rtf_set_loop": True, "rtf_set_record": False, "rtf_used": True,
    "rtf_watch_writers": False,
}
# Of Linux: what neither waits, nor locks, nor touches a task.
LINUX = re.compile(
    r"mem(cpy|set|move|cmp|chr)|__mem(cpy|set|move)|str(n?len|n?cmp|scpy|lcpy|n?cpy|chr|rchr)|"
    r"v?scn?printf|"
    r"v?snprintf|int_sqrt(64)?|gcd|__?div64_.*|__fentry__|__x86_return_thunk|__x86_indirect_.*|"
    r"__ubsan_.*|__stack_chk_fail|__sanitizer_cov_.*|__asan_.*|__tsan_.*|ktime_get_mono_fast_ns|"
    r"ktime_get_raw_fast_ns|irq_work_queue|sort|bsearch|crc32_le|_find_.*|__sw_hweight\d+|"
    r"rtc_cmos_(read|write)|__bitmap_.*|fortify_panic|__rt_.*|rt_post_.*|rt_rq_.*")
INSTEAD = (
    (r"_?v?printk.*|_dev_.*|dev_printk.*", "use rt_printk()"),
    (r"k[mzv].*alloc.*|__k[mv]alloc.*|kfree.*|vfree|kvfree|v[mz]alloc.*|__get_free_pages.*",
     "allocate in the module's init, before the task starts"),
    (r"mutex_.*|__mutex_.*|down.*|up", "use rt_mtx_lock() or rt_sem_wait()"),
    (r"_?raw_(spin|read|write)_.*|queued_spin_.*", "use rt_mtx_lock()"),
    (r"m?sleep.*|usleep.*|schedule.*|__cond_resched|_cond_resched|wait_.*|prepare_to_wait.*",
     "use rt_task_sleep_until() or rt_sem_wait()"),
    (r"__wake_up.*|wake_up.*|complete.*|queue_.*work.*|__tasklet_.*|send_sig.*|kill_.*",
     "use rt_post(): Linux then does it"),
    (r"_?copy_(to|from)_user.*|__(get|put)_user.*", "use an RT-FIFO"),
    (r"ktime_get.*|do_gettimeofday|getnstimeofday.*", "use rt_get_time()"),
)
FP = re.compile(r"%[xyz]mm\d|"
                r"^f(ld|st|ild|ist|add|sub|mul|div|sqrt|com|xch|abs|chs|sin|cos)")


@dataclass
class Function:
    """Of .text: what it does itself."""

    name: str
    calls: set[str] = field(default_factory=set)
    indirect: int = 0
    frame: int = 8  # the return address
    fp: bool = False


@dataclass(frozen=True)
class Root:
    """@name is RT code because of @why; @stack bytes, if that is known."""

    name: str
    why: str
    stack: int | None = None


@dataclass(frozen=True)
class Complaint:
    """Why it is not RT code, by which calls it is reached, and what to do."""

    text: str
    path: tuple[str, ...]
    mend: str

    def as_dict(self) -> dict[str, object]:
        return dataclasses.asdict(self)


@dataclass
class Report:
    module: str
    roots: list[Root]
    complaints: list[Complaint]
    stack: dict[str, int]
    indirect: int

    def as_dict(self) -> dict[str, object]:
        return {"module": self.module, "ok": not self.complaints and bool(self.roots),
                "rt_code": [dataclasses.asdict(root) for root in self.roots],
                "complaints": [complaint.as_dict() for complaint in self.complaints],
                "stack_bytes": self.stack, "indirect_calls": self.indirect}


class Text:
    """The functions of a module, who hands out which as RT code."""

    def __init__(self) -> None:
        self.functions: dict[str, Function] = {}
        self.roots: list[Root] = []
        self.stores: set[tuple[str, str]] = set()  # (place, function): a pointer put there
        self.timers: set[str] = set()              # places whose address rt_timer_start() got
        self.imports: set[str] = set()


INSTRUCTION = re.compile(r"\s+[0-9a-f]+:\t(.*)")
RELOCATION = re.compile(r"\s+[0-9a-f]+: (R_X86_64_\w+)\t(\S+)")
ADDEND = re.compile(r"(.*?)([+-]0x[0-9a-f]+)?$")


def objdump(path: Path, *options: str) -> str:
    try:
        done = subprocess.run(["objdump", *options, str(path)], capture_output=True, text=True,
                              errors="replace")
    except FileNotFoundError as problem:
        raise ToolError("objdump is needed: apt install binutils") from problem
    if done.returncode:
        raise ToolError(f"{path} cannot be read: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout


def split(target: str) -> tuple[str, int]:
    match = ADDEND.match(target)
    assert match
    return match[1], int(match[2], 16) if match[2] else 0


class Symbols:
    """Section and offset of each function and object."""

    def __init__(self, path: Path) -> None:
        self.by_place: dict[tuple[str, int], str] = {}
        self.place: dict[str, tuple[str, int]] = {}
        for line in objdump(path, "-t").splitlines():
            match = re.match(r"([0-9a-f]{16}) (.{7}) (\S+)\t[0-9a-f]+\s+(?:\.hidden )?(\S+)$", line)
            if match and match[3] not in ("*UND*", "*ABS*"):
                value = int(match[1], 16)
                self.place[match[4]] = (match[3], value)
                if "F" in match[2]:
                    self.by_place[match[3], value] = match[4]

    def function(self, target: str, more: int = 0) -> str | None:
        """The function that a relocation names: by itself, or by section and offset."""
        name, addend = split(target)
        section, value = self.place.get(name, (name, 0))
        return self.by_place.get((section, value + addend + more))

    def where(self, target: str, more: int = 0) -> str:
        name, addend = split(target)
        section, value = self.place.get(name, (name, 0))
        return f"{section}+{value + addend + more:#x}"


def units(dump: str) -> Iterator[tuple[str, list[tuple[str, list[tuple[str, str]]]]]]:
    """(function, its instructions, each with its relocations)."""
    name = ""
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for line in dump.splitlines():
        head = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        if head:
            if name:
                yield name, found
            name, found = head[1], []
        elif match := RELOCATION.match(line):
            if found:
                found[-1][1].append((match[1], match[2]))
        elif match := INSTRUCTION.match(line):
            found.append((match[1].strip(), []))
    if name:
        yield name, found


def constant(text: str, register: str) -> int | None:
    match = re.match(rf"mov\w*\s+\$0x([0-9a-f]+),%[re]{register}$", text)
    return int(match[1], 16) if match else None


def read(path: Path) -> Text:
    if not path.is_file():
        raise ToolError(f"there is no file {path}")
    symbols, text = Symbols(path), Text()
    # All code: gcc puts a function that always prints into .text.unlikely.
    dump = objdump(path, "-dr", "--no-show-raw-insn")
    for name, body in units(dump):
        function = text.functions.setdefault(name, Function(name))
        held: dict[str, tuple[str, str]] = {}  # register -> the relocation that it was loaded with
        numbers: dict[str, int] = {}
        for code, relocations in body:
            word = code.split()[0]
            if word.startswith("push"):
                function.frame += 8
            if match := re.match(r"sub\s+\$0x([0-9a-f]+),%rsp", code):
                function.frame += int(match[1], 16)
            function.fp |= bool(FP.search(code))
            target = next((symbol for kind, symbol in relocations
                           if kind in ("R_X86_64_PLT32", "R_X86_64_PC32")), None)
            if word.startswith(("call", "j")):
                callee = None
                if target:
                    callee = symbols.function(target, 4) or split(target)[0]
                elif match := re.search(r"<([^>+]+)>$", code):
                    callee = match[1]
                elif "*" in code:
                    function.indirect += 1
                if callee and callee.startswith("__x86_indirect_thunk"):
                    function.indirect += 1
                elif callee and not callee.startswith(".") and (
                        word.startswith("call") or callee != name):
                    function.calls.add(callee)
                    note_root(text, symbols, callee, held, numbers)
                if word.startswith("call"):
                    held, numbers = {}, {}
                continue
            if match := re.match(r"(?:mov\w*|lea)\s+.*,%[re](si|di|cx)$", code):
                register = match[1]
                held.pop(register, None)
                numbers.pop(register, None)
                if relocations:
                    held[register] = (relocations[-1][0], relocations[-1][1])
                value = constant(code, register)
                if value is not None:
                    numbers[register] = value
            elif word.startswith("mov") and len(relocations) == 2:
                # movq $function,place(%rip): the addend of the place counts the 4 bytes behind it
                code_of = symbols.function(relocations[1][1])
                if code_of:
                    text.stores.add((symbols.where(relocations[0][1], 8), code_of))
    note_data(path, symbols, text)
    for place, name in sorted(text.stores):
        if place in text.timers:
            text.roots.append(Root(name, "an RT timer"))
    text.imports = {name for name in undefined(path)}
    return text


def note_root(text: Text, symbols: Symbols, callee: str, held: dict[str, tuple[str, str]],
              numbers: dict[str, int]) -> None:
    register = TAKES_CODE.get(callee)
    if register and register in held:
        name = symbols.function(held[register][1], 4 if "PC32" in held[register][0] else 0)
        stack = numbers.get(TASK_STACK) if callee == "rt_task_init" else None
        if name:
            text.roots.append(Root(name, callee, stack))
    if callee == TIMER_START and "di" in held:
        kind, target = held["di"]
        text.timers.add(symbols.where(target, 4 if "PC32" in kind else 0))


def note_data(path: Path, symbols: Symbols, text: Text) -> None:
    """Pointers to functions in initialised data."""
    section = ""
    for line in objdump(path, "-r").splitlines():
        if match := re.match(r"RELOCATION RECORDS FOR \[(.*)\]:", line):
            section = match[1]
        elif section.startswith(".data") and (
                match := re.match(r"([0-9a-f]+) R_X86_64_64\s+(\S+)", line)):
            name = symbols.function(match[2])
            if name:
                text.stores.add((f"{section}+{int(match[1], 16):#x}", name))


def undefined(path: Path) -> Iterator[str]:
    for line in objdump(path, "-t").splitlines():
        if " *UND*\t" in line:
            yield line.split()[-1]


def reason(name: str) -> str | None:
    """What to do instead of calling @name; None: RT code may."""
    if name in OURS:
        return None if OURS[name] else "call it from Linux: in the module's init or exit"
    if LINUX.fullmatch(name):
        return None
    for pattern, mend in INSTEAD:
        if re.fullmatch(pattern, name):
            return mend
    return "RT code may call only what docs/api.md lists"


def walk(text: Text, root: Root) -> tuple[dict[str, tuple[str, ...]], int]:
    """(function that is reached -> by which calls, the deepest stack in bytes; -1: unbounded)."""
    paths: dict[str, tuple[str, ...]] = {}
    depth: dict[str, int] = {}

    def visit(name: str, path: tuple[str, ...]) -> int:
        if name in path:
            return -1
        if name not in paths:
            paths[name] = (*path, name)
        function = text.functions.get(name)
        if function is None:
            return 8
        if name not in depth:
            below = [visit(callee, (*path, name)) for callee in sorted(function.calls)]
            depth[name] = -1 if -1 in below else function.frame + max(below, default=0)
        return depth[name]

    return paths, visit(root.name, ())


def check(path: Path, more: list[str]) -> Report:
    """@more: names of further functions that are RT code."""
    text = read(path)
    unknown = [name for name in more if name not in text.functions]
    if unknown:
        raise ToolError(f"{path} has no function {unknown[0]}", 2)
    roots = sorted({*text.roots, *(Root(name, "--rt") for name in more)},
                   key=lambda root: (root.name, root.why, root.stack or 0))
    complaints: dict[str, Complaint] = {}
    stack: dict[str, int] = {}
    reached: set[str] = set()
    for root in roots:
        paths, depth = walk(text, root)
        reached |= set(paths)
        stack[root.name] = depth
        for name, way in paths.items():
            if name not in text.functions:
                mend = reason(name)
                if mend:
                    complaints.setdefault(name, Complaint(f"calls {name}()", way, mend))
            elif text.functions[name].fp and "rt_use_fp" not in text.imports:
                complaints.setdefault("fp " + name, Complaint(
                    f"{name}() uses floating point", way, "call rt_use_fp(1) in the task first"))
        if depth < 0:
            complaints.setdefault("deep " + root.name, Complaint(
                f"{root.name}() calls itself in the end: its stack has no bound", (root.name,),
                "use a loop"))
        elif root.stack is not None and depth > root.stack:
            complaints.setdefault("deep " + root.name, Complaint(
                f"{root.name}() needs {depth} bytes of stack, and rt_task_init() asks for "
                f"{root.stack}", (root.name,), "ask for more"))
    return Report(str(path), roots, [complaints[key] for key in sorted(complaints)], stack,
                  sum(text.functions[name].indirect for name in reached if name in text.functions))
