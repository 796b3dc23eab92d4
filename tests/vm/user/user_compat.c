// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls that 32-bit code makes, and sysenter: user_compat HOW linux|rt, as a thread of Linux's or
 * in RT mode. HOW is int80, syscall, sysenter (32-bit code, by a far jump), sysenter64, or
 * sysenter-step, which has the trap flag set. Each asks for getpid(), which is 20 there. Prints what came
 * of it; "at it": the instruction is known as that of the demotion, or of the fault.
 *
 * user_compat selectors: 300 jobs in RT mode, half of the time, with null selectors in ds, es, fs and gs.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <tactus/rt.h>

#define PERIOD_NS 1000000
#define STACK_BYTES 65536
#define GETPID 20
#define FLAG_IF 0x200UL
#define JOBS 300

/*
 * long NAME(void *stack, long number): on a stack below 4 GB. The far jump is one that reads its target
 * with ring 3's rights; far returns of QEMU 7.2 do not. 32-bit code here uses no memory but the stack:
 * RT mode has no selectors of its own.
 */
#define ENTER(name)						\
	".globl " #name "\n" #name ":\n\t"			\
	"pushq %rbx\n\tpushq %rbp\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n\t"	\
	"movq %rsp, kept_sp\n\t"				\
	"movq %rdi, %rsp\n\tmovq %rdi, %rbp\n\tmovl %esi, %eax\n\t"

#define LEAVE							\
	"movq kept_sp, %rsp\n\t"				\
	"popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbp\n\tpopq %rbx\n\tret\n"

#define IN_32(name, code)					\
	ENTER(name)						\
	"ljmpl *1f\n"						\
	"1:\t.long 2f\n\t.word 0x23\n"				\
	".code32\n2:\t" code "\n\t"				\
	"ljmp $0x33, $3f\n"					\
	".code64\n3:\t" LEAVE

asm(".text\n"
    IN_32(by_int80, "at_int80: int $0x80")
    IN_32(by_syscall, "at_syscall: syscall")
    IN_32(by_sysenter, "at_sysenter: sysenter")
    IN_32(by_step, "pushf; orl $0x100, (%esp); popf; at_step: sysenter")
    ENTER(by_sysenter64) "at_sysenter64: sysenter\n\t" LEAVE
    ".local kept_sp\n.comm kept_sp, 8, 8\n");

#define WAY(name) long by_##name(void *, long); extern const char at_##name[];
WAY(int80) WAY(syscall) WAY(sysenter) WAY(step) WAY(sysenter64)

static const struct {
	const char *name;
	long (*call)(void *stack, long number);
	const char *at;
} ways[] = {
	{ "int80", by_int80, at_int80 }, { "syscall", by_syscall, at_syscall },
	{ "sysenter", by_sysenter, at_sysenter }, { "sysenter-step", by_step, at_step },
	{ "sysenter64", by_sysenter64, at_sysenter64 },
};

static const struct rt_attr usual = {
	.period_ns = PERIOD_NS, .budget_ns = PERIOD_NS / 4 * 3, .priority = 10, .cpu = -1,
};

static ucontext_t resume_at;
static volatile int got_signal;
static volatile unsigned long got_ip, flags_then, flags_in_handler;

static unsigned long flags_now(void)
{
	unsigned long flags;

	asm volatile("pushfq; popq %0" : "=r" (flags));
	return flags;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	const ucontext_t *at = context;

	(void)info;
	flags_in_handler = flags_now();
	flags_then = at->uc_mcontext.gregs[REG_EFL];
	got_ip = at->uc_mcontext.gregs[REG_RIP];
	got_signal = number;
	setcontext(&resume_at);
}

/* The handler needs a stack: sysenter may leave any pointer to one behind. */
static void catch_signals(void)
{
	static const int signals[] = { SIGSEGV, SIGILL, SIGTRAP, SIGBUS };
	struct sigaction action = {
		.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK,
	};
	stack_t stack = { .ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES };

	sigaltstack(&stack, NULL);
	for (unsigned int i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}

static void enter(void)
{
	int err = rt_enter(&usual);

	if (!err)
		return;
	fprintf(stderr, "%d: %s\n", err, rt_why());
	exit(1);
}

static int say(const char *at, bool in_rt, long got)
{
	struct rt_stat stat = {};
	int err;

	if (got_signal)
		printf("signal %d%s", got_signal, got_ip == (unsigned long)at ? " at it" : "");
	else
		printf("%s", got == getpid() ? "made" : "wrong");
	if (!(flags_now() & FLAG_IF) ||
	    (got_signal && !(flags_then & flags_in_handler & FLAG_IF)))
		printf(", interrupts off in ring 3");
	if (in_rt) {
		if (rt_stat(&stat))
			return 1;
		printf(", reason %u nr %llu vector %u%s", stat.reason,
		       (unsigned long long)stat.nr, (unsigned int)stat.vector,
		       stat.ip == (unsigned long)at ? " at it" : "");
		err = rt_wait(NULL);
		rt_leave();
		printf(", then %d", err);
	}
	printf("\n");
	return 0;
}

static int try(unsigned int way, bool in_rt)
{
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	volatile bool tried = false;
	volatile long got = 0;

	if (stack == MAP_FAILED)
		return 1;
	catch_signals();
	getcontext(&resume_at);
	if (!tried) {
		tried = true;
		if (in_rt)
			enter();
		got = ways[way].call(stack + STACK_BYTES / 2, GETPID);
	}
	return say(ways[way].at, in_rt, got);
}

static int use_selectors(void)
{
	struct rt_job job;
	struct rt_stat stat;
	int bad = 0;

	enter();
	for (int k = 0; k < JOBS; k++) {
		bad += rt_wait(&job) != 0;
		asm volatile("rdfsbase %%rax; movl %0, %%ds; movl %0, %%es; movl %0, %%gs;"
			     "movl %0, %%fs; wrfsbase %%rax" : : "r" (0) : "rax", "memory");
		while (rt_now() < job.release_ns + PERIOD_NS / 2)
			;
	}
	rt_leave();
	if (rt_stat(&stat))
		return 1;
	printf("bad %d, promotions %llu\n", bad, (unsigned long long)stat.promotions);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "selectors"))
		return use_selectors();
	for (unsigned int way = 0; argc == 3 && way < sizeof(ways) / sizeof(ways[0]); way++)
		if (!strcmp(argv[1], ways[way].name))
			return try(way, !strcmp(argv[2], "rt"));
	return 2;
}
