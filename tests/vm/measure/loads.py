# SPDX-License-Identifier: GPL-2.0-only
"""What `stress` runs beside an RT task, in words: stress-ng's classes, and loops of shell text."""

from __future__ import annotations

# One of each, as the kernel's paths are worth it; each is a stressor of stress-ng.
STRESSORS = ("fork", "mmap", "timer", "futex", "sock", "pipe", "sigq", "vm", "itimer", "clock",
             "poll", "mprotect", "kill", "aio", "hrtimers", "nanosleep", "exec", "membarrier",
             "userfaultfd")

# Of each class of `stress-ng --class`, what a guest can do, all at once. Left out: what needs a
# device or a kernel option that is not there, what is in another class already, and what fills
# the memory.
CLASSES = {
    # On ext4, on a RAM disk.
    "filesystem": "access chdir chmod dentry dir dup eventfd fallocate fcntl fstat "
                  "getdent hdd inotify io iomix link locka lockf mknod open rename seek symlink "
                  "sync-file touch utime xattr",
    # By loop-back.
    "network": "epoll icmp-flood netdev rawsock rawudp sockdiag sockfd sockmany "
               "sockpair udp udp-flood",
    "io": "aio hdd io readahead revio seek sync-file",
    "scheduler": "affinity clone daemon exit-group forkheavy mmapfork mq msg mutex nice "
                 "pthread schedpolicy sem sem-sysv session sleep spawn switch vfork wait yield "
                 "zombie",
    "memory": "madvise malloc memfd mincore mlock mmapfixed mremap msync munmap remap shm "
              "shm-sysv tlb-shootdown vm-addr vm-rw vm-segv",
    "interrupt": "alarm pidfd sigabrt sigchld sigfd sigfpe sigio signal signest sigpending "
                 "sigpipe sigrt sigsegv sigsuspend sigtrap timerfd",
    "pipes": "fifo pipeherd sendfile splice tee vm-splice",
    "os": "cap env get getrandom key prctl ptrace rlimit seccomp set sysinfo unshare vdso",
}

# What a round of a loop is; a round that fails ends the loop, and with it the measurement.
LOOPS = {
    "ftrace": "for t in function nop function_graph nop; do "
              "echo $t > /sys/kernel/tracing/current_tracer && sleep 0.02 || exit 1; done",
    "perf-record": "perf record -q -a -e cpu-clock -o /tmp/perf sleep 0.05",
    "perf-stat": "perf stat -a -e context-switches,page-faults sleep 0.05",
    "bpf": "(sleep 0.1; touch /tmp/stop) & ./bpf /tmp/stop; s=$?; wait; rm /tmp/stop; [ $s = 0 ]",
    "modules": "modprobe dummy && sleep 0.01 && rmmod dummy",
}
# What `stress` measures beside, one after the other.
LOADS = (*STRESSORS, "all", "all-sections", *CLASSES, *LOOPS)
