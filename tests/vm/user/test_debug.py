# SPDX-License-Identifier: GPL-2.0-only
"""Debugging as usual: Debian's gdb, strace and perf look at a program in RT mode, in the guest; so
does gdb at what a core dump holds."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from harness import guest_python, programs
from harness.vmrun import Vm

# A watchpoint, of hardware (1) or not, that is met twice.
WATCHED = """
delete
set can-use-hw-watchpoints {}
watch *(long *)&jobs_done
continue
continue
"""

# Attached while it waits in RT mode. The program's symbols are all that gdb has.
ATTACHED = f"""
echo at \\n
info symbol $pc
break job
continue
continue
print *(long *)&jobs_done
info symbol $pc
stepi
info symbol $pc
backtrace
echo software \\n{WATCHED.format(0)}echo hardware \\n{WATCHED.format(1)}call (char *)rt_why()
delete
"""
STOP = "set var *(int *)&stop = 1\n"
RUN = """
echo /root/core > /proc/sys/kernel/core_pattern
ulimit -c unlimited
see() { gdb -q -nx -batch "$@" 2>&1; }

echo == gdb
./user_debuggee loop > out & sleep 0.05
see -p $! -x attached
echo in between; sleep 0.2; cut -f 2,4 /sys/kernel/tactus/users
see -p $! -x stop | grep -v symbol
wait $!; echo "status $?"; cat out
tail -n +2 /sys/kernel/tactus/demotions | cut -f 4,5 | sort | uniq -c | tr -s ' \\t' ' '

echo == fault
./user_debuggee fault; echo "status $?"
see ./user_debuggee core -ex 'info registers rbx r12 r15' -ex 'print $xmm7.v2_int64' \\
    -ex 'x/i $pc' -ex backtrace
rm core

echo == abort
TACTUS_DEMOTE=abort ./user_debuggee stray; echo "status $?"
see ./user_debuggee core -ex backtrace

echo == strace
strace -o calls ./user_debuggee short; cat calls
echo == strace stray
strace -o calls ./user_debuggee stray; cat calls

echo == stat
perf stat -x, -o figures -e context-switches,task-clock ./user_debuggee short; cat figures

echo == record
perf record -q -e cpu-clock -F 1000 -o samples ./user_debuggee spin
perf script -i samples -F ip,sym
"""


def tools() -> dict[str | Path, str]:
    found = {name: shutil.which(name) for name in ("gdb", "strace", "perf")}
    assert all(found.values()), f"not there, see tools/packages: {found}"
    return {str(path): f"/usr/bin/{name}" for name, path in found.items()}


def look(vm: Vm, folder: Path, **options: str) -> dict[str, str]:
    """What each of them said, by its name."""
    scripts = {"attached": ATTACHED, "stop": STOP}
    for name, text in scripts.items():
        (folder / name).write_text(text)
    done = vm(RUN, modules="tactus rtfifo rtshm tactus_user", icount=True, timeout=400,
              extra=["--memory=1G"],
              put=guest_python.put(folder / "python", "traceback", "signal", "threading")
              | tools() | {"/usr/share/gdb": "/usr/share/gdb"}
              | {folder / name: f"/root/{name}" for name in scripts}
              | {programs.build("user_debuggee"): "/root/user_debuggee"}, **options)
    print(done.stdout)
    parts = re.split(r"^== (.*)\n", done.stdout, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def judge_gdb(said: str) -> None:
    attached, rest = said.split("software \n")
    software, rest = rest.split("hardware \n")
    hardware, after = rest.split("in between\n")
    # It waited in an RT call. The first breakpoint was met in Linux, the second in RT mode.
    assert re.search(r"^rt_wait \+ \d+ in section .text", attached, re.M)
    assert re.search(r"^Breakpoint 1, 0x\w+ in job \(\)\n\$1 = (\d+)\njob in section .text",
                     attached, re.M)
    assert re.search(r"^job \+ \d+ in section .text.*\n#0 .* in job \(\)\n#1 .* in main \(\)",
                     attached, re.M)
    first = int(re.search(r"\$1 = (\d+)", attached)[1])
    values = [(int(old), int(new)) for old, new in
              re.findall(r"^Old value = (\d+)\nNew value = (\d+)", software + hardware, re.M)]
    # No change is missed, also of the job after the next rt_wait().
    assert values == [(first + k, first + k + 1) for k in range(4)]
    assert '"a debugger\'s hardware breakpoints do not reach RT mode"' in hardware
    mode, _, end = after.partition("status 0\n")
    assert "user_debuggee\trt\n" in mode
    jobs, promotions, demotions = map(int, re.findall(r"\d+", end.splitlines()[0]))
    assert jobs > first + 100 and promotions > 2 and demotions > 2
    assert {" 1 trap 3"} <= set(end.splitlines()) and re.search(r"^ \d+ trap 1$", end, re.M)


def judge_cores(fault: str, abort: str) -> None:
    assert "status 139" in fault and "terminated with signal SIGSEGV" in fault
    assert re.findall(r"^r\w+ +(0x\w+)", fault, re.M) == [
        "0x1111222233334444", "0x5555666677778888", "0x99990000aaaabbbb"]
    assert f"{{{0x5555666677778888}, 0}}" in fault
    assert re.search(r"^=> 0x\w+ <fault\+\d+>:\s+movb +\$0x0,0x8$", fault, re.M)
    assert re.search(r"^#0 .* in fault \(\)\n#1 .* in main \(\)", fault, re.M)
    assert "status 134" in abort and "terminated with signal SIGABRT" in abort
    assert re.search(r"^#0 .* in getppid \(\)\n#1 .* in stray \(\)\n#2 .* in main \(\)", abort,
                     re.M)


def judge_strace(short: str, stray: str) -> None:
    """RT mode is one read(), which ends with what turned the thread back."""
    calls = [line for line in short.splitlines() if not line.startswith("jobs")]
    reads = [n for n, line in enumerate(calls) if re.match(r"read\(3, .*, 144\) += 0$", line)]
    assert len(reads) == 1 and calls[reads[0] + 1].startswith("ioctl(3, ")
    assert short.startswith("jobs 200 promotions 1 demotions 0\n")
    assert not re.search(r"^syscall_", short, re.M)
    assert re.search(r"^read\(3, .*, 144\) += 110\ngetppid\(\) += \d+\n"
                     r"syscall_0x54430002\(.*\) = -1 ENOSYS", stray, re.M)
    assert stray.startswith("jobs 0 promotions 1 demotions 1\n")


def judge_perf(stat: str, record: str) -> None:
    """Linux counts and samples the thread's time in Linux, and does not turn it back."""
    assert stat.startswith("jobs 200 promotions 1 demotions 0\n")
    switches, clock = (float(re.search(rf"^([\d.]+),\w*,{event}", stat, re.M)[1])
                       for event in ("context-switches", "task-clock"))
    # 200 jobs in RT mode; as a thread of Linux's each would be a switch.
    assert 1 <= switches < 20 and 0 < clock < 10
    said, *samples = record.splitlines()
    assert said == "jobs 0 promotions 1 demotions 0"
    found = [line.split()[-1] for line in samples]
    # Of 50 ms at 1 kHz; what RT mode did in its 50 ms has none.
    assert 40 <= sum(name in ("spin_linux", "rt_now") for name in found) < 60
    assert "spin_rt" not in found


STAT = "jobs 200 promotions 1 demotions 0\n3,,context-switches,1,\n1.5,msec,task-clock,1,\n"


def samples(linux: int, rt: int, elsewhere: int) -> str:
    return "jobs 0 promotions 1 demotions 0\n" + "".join(
        f"  ffff {name}\n" * count
        for name, count in (("spin_linux", linux), ("spin_rt", rt), ("copy_page", elsewhere)))


@pytest.mark.parametrize(("figures", "record"), [
    (STAT, samples(47, 1, 3)), (STAT, samples(39, 0, 20)), (STAT, samples(95, 0, 0)),
    (STAT.replace("3,,", "203,,"), samples(47, 0, 3)), (STAT.replace("1.5,", "101.5,"),
                                                        samples(47, 0, 3))])
def test_samples_elsewhere_are_seen(figures: str, record: str) -> None:
    judge_perf(STAT, samples(47, 0, 3))
    with pytest.raises(AssertionError):
        judge_perf(figures, record)


def judge(said: dict[str, str]) -> None:
    judge_gdb(said["gdb"])
    judge_cores(said["fault"], said["abort"])
    judge_strace(said["strace"], said["strace stray"])
    judge_perf(said["stat"], said["record"])


@pytest.mark.slow
def test_as_usual(vm: Vm, tmp_path: Path) -> None:
    judge(look(vm, tmp_path))


@pytest.mark.long
@pytest.mark.parametrize("kernel", [("6.1", "generic"), ("6.1", "rt"), ("6.12", "cloud"),
                                    ("7", "cloud")])
def test_on_other_kernels(vm: Vm, tmp_path: Path, kernel: tuple[str, str]) -> None:
    judge(look(vm, tmp_path, kernel=kernel[0], flavour=kernel[1]))
