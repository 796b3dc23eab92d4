/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * /dev/rt, of the module tactus_user: a thread of an ordinary process goes on as an RT task, in
 * ring 3, with its own registers, stack and memory. Programs use libtactus, <tactus/rt.h>.
 *
 *	int fd = open("/dev/rt", O_RDWR | O_CLOEXEC);		once a process
 *	struct rt_enter enter = { .attr = { .period_ns = 1000000, ... } };
 *	read(fd, &enter, sizeof(enter));
 *
 * The read() returns in RT mode, at the first release, with the number of bytes; or with an error,
 * and then enter.why says why in a sentence. In RT mode the system calls below are RT calls. In a
 * thread of Linux they are ENOSYS. Any other system call, any exception, and any signal turn the
 * task back into the thread, at that very instruction: it is demoted. Then the read() is over, too.
 */
#ifndef _UAPI_TACTUS_RT_H
#define _UAPI_TACTUS_RT_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* What a demotion by a system call or an exception is to do beside being counted. */
#define RT_DEMOTE_SIGNAL	1	/* send the thread SIGXCPU */
#define RT_DEMOTE_ABORT		2	/* send the thread SIGABRT */

/* A start that has passed means now, and not the next of start + k * period. */
#define RT_START_NOW		4

/**
 * struct rt_attr - how a thread runs in RT mode
 * @period_ns: between two releases
 * @start_ns: the first release, by rt_now(); 0: a period from now. If it has passed, the next
 *	of start + k * period
 * @deadline_ns: of each job, after its release; 0: the period
 * @budget_ns: CPU time of each job; a job that needs more demotes its thread, with SIGXCPU. Up to
 *	the period; 0 (none) takes CAP_SYS_ADMIN
 * @priority: 1, the highest, to 1000000
 * @cpu: where; -1: where the thread is
 * @flags: RT_DEMOTE_*, RT_START_NOW
 * @reserved: 0
 */
struct rt_attr {
	__s64 period_ns;
	__s64 start_ns;
	__s64 deadline_ns;
	__s64 budget_ns;
	__u32 priority;
	__s32 cpu;
	__u32 flags;
	__u32 reserved;
};

#define RT_WHY_BYTES 96

/**
 * struct rt_enter - what read() is given
 * @attr: as wished; @attr.start_ns afterwards: the first release
 * @why: after an error, a sentence
 */
struct rt_enter {
	struct rt_attr attr;
	char why[RT_WHY_BYTES];
};

/*
 * RT calls: the instruction `syscall`, number in rax, arguments in rdi, rsi, rdx; the result in
 * rax, negative: -errno. They run with interrupts off, so they are over before anything can end the
 * task.
 */
#define RT_CALL_FIRST	0x54430000
#define RT_CALL_WAIT	0x54430000	/* end the job; rdx: the next one's release, ns */
#define RT_CALL_SLEEP	0x54430001	/* (until, ns) */
#define RT_CALL_LEAVE	0x54430002	/* back to Linux */
#define RT_CALL_PUT	0x54430003	/* (fifo, bytes, count) */
#define RT_CALL_GET	0x54430004	/* (fifo, bytes, count) */
/* Of an object by its place in the process's table; until: ns, S64_MAX for ever, 0 not at all. */
#define RT_CALL_SEM_WAIT	0x54430005	/* (object, until) */
#define RT_CALL_SEM_POST	0x54430006	/* (object) */
#define RT_CALL_MTX_LOCK	0x54430007	/* (object, until) */
#define RT_CALL_MTX_UNLOCK	0x54430008	/* (object) */
#define RT_CALL_MBX_SEND	0x54430009	/* (object, until, message) */
#define RT_CALL_MBX_RECEIVE	0x5443000a	/* (object, until, message) */
#define RT_CALL_CND_WAIT	0x5443000b	/* (object, until, its mutex) */
#define RT_CALL_CND_SIGNAL	0x5443000c	/* (object) */
#define RT_CALL_CND_BROADCAST	0x5443000d	/* (object) */
#define RT_CALL_EVT_WAIT	0x5443000e	/* (object, until, flags | how << 32); rdx: had */
#define RT_CALL_EVT_SET		0x5443000f	/* (object, flags) */
#define RT_CALL_EVT_CLEAR	0x54430010	/* (object, flags) */

/* The most bytes of one RT_CALL_PUT or RT_CALL_GET. */
#define RT_COPY_MOST 256

/* Why a thread was demoted. */
#define RT_END_NONE	0	/* it was not yet, or is in RT mode */
#define RT_END_LEAVE	1	/* RT_CALL_LEAVE */
#define RT_END_SYSCALL	2	/* a system call, nr */
#define RT_END_TRAP	3	/* an exception: vector, error_code, address */
#define RT_END_SIGNAL	4	/* a signal, a debugger, exit, exec */
#define RT_END_STOPPED	5	/* budget or watchdog */
#define RT_END_MEMORY	6	/* the memory at address changed: munmap(), MADV_DONTNEED ... */
#define RT_END_REASONS	7

/**
 * struct rt_stat - what happened to the calling thread
 * @promotions: how often it entered RT mode
 * @demotions: how often it left, by reason
 * @reason: RT_END_*, of the last demotion, as are the next five
 * @vector: of the exception
 * @ip: address of the instruction
 * @address: of the memory
 * @error_code: of the exception
 * @nr: of the system call
 * @pages: in RT mode's address space
 * @pages_ns: what making or checking it took the last time
 * @huge_pages: how many of 2 MiB are in it; @pages counts 512 for each
 */
struct rt_stat {
	__u64 promotions;
	__u64 demotions[RT_END_REASONS];
	__u32 reason;
	__u32 vector;
	__u64 ip, address, error_code, nr;
	__u64 pages, pages_ns, huge_pages;
};

/**
 * struct rt_clock - the clock of RT mode
 * @factor: ns = (unsigned __int128)rdtsc * @factor >> 32
 *
 * It does not change while /dev/rt is open.
 */
struct rt_clock {
	__u64 factor;
};

#define RT_OBJECT_SEM	1	/* a semaphore: counts from @count */
#define RT_OBJECT_MTX	2	/* a mutex with priority inheritance */
#define RT_OBJECT_MBX	3	/* a mailbox: @count messages of @bytes */

#define RT_OBJECT_CND	4	/* a condition variable */
#define RT_OBJECT_EVT	5	/* an event: 32 flags, @count at first */

/* The most objects a process uses; the most bytes of one, and of all messages of a mailbox. */
#define RT_OBJECTS_MOST 64
#define RT_MBX_MOST 65536

/*
 * struct rt_object - what RT_IOC_OBJECT finds or makes
 * @name: printable, ended by 0; with the same name it is the same for all processes of a user, and
 *	for the kernel's RT tasks. Empty: the caller's own
 * @kind: RT_OBJECT_*
 * @count, @bytes: see there; else 0
 */
struct rt_object {
	char name[32];
	__u32 kind;
	__u32 count;
	__u32 bytes;
	__u32 reserved;		/* 0 */
};

/*
 * struct rt_message - a message that a thread of Linux's puts in or takes out
 * @object: the mailbox
 * @at: its address
 */
struct rt_message {
	__u32 object;
	__u32 reserved;		/* 0 */
	__u64 at;
};

/*
 * struct rt_flags - flags that a thread of Linux's sets or clears
 * @object: the event
 */
struct rt_flags {
	__u32 object;
	__u32 flags;
};

#define RT_IOC_CLOCK _IOR(0xEC, 1, struct rt_clock)
#define RT_IOC_STAT _IOR(0xEC, 2, struct rt_stat)
/* Allow RT_CALL_PUT and RT_CALL_GET on a FIFO: a descriptor of /dev/rtfN, open for both; its N */
#define RT_IOC_FIFO _IO(0xEC, 3)
/* The object's place in this process's table; it stays until /dev/rt is closed. */
#define RT_IOC_OBJECT _IOW(0xEC, 4, struct rt_object)
/* For threads of Linux's; none of them waits: ETIMEDOUT instead. Of a semaphore: its place. */
#define RT_IOC_SEM_POST _IO(0xEC, 5)
#define RT_IOC_MBX_SEND _IOW(0xEC, 6, struct rt_message)
#define RT_IOC_MBX_RECEIVE _IOW(0xEC, 7, struct rt_message)
#define RT_IOC_EVT_SET _IOW(0xEC, 8, struct rt_flags)
#define RT_IOC_EVT_CLEAR _IOW(0xEC, 9, struct rt_flags)

#endif
