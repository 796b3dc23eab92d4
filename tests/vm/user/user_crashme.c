// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random code in RT mode: user_crashme FIRST COUNT runs a process for each of COUNT seeds. Each has to
 * end, whatever it does, and the machine to go on. Prints how they ended: by exit, by a signal (a
 * system call of Linux's, mostly: seccomp), or refused before they began.
 *
 * Left out are far returns (ca, cb, cf): QEMU 7.2 does those of ring 3 with the kernel's rights. So the
 * code cannot be written either: an address that it stores may have such a byte.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <linux/seccomp.h>
#include <unistd.h>
#include <tactus/rt.h>

#define CODE_BYTES 4096
#define STACK_BYTES 65536
#define TRIES 8

/* What random bytes are unlikely to be: entries to the kernel, and what only the kernel may do. */
static const struct {
	uint8_t count, bytes[7];
} special[] = {
	{ 2, { 0x0f, 0x05 } },			/* syscall */
	{ 2, { 0x0f, 0x34 } },			/* sysenter */
	{ 2, { 0xcd, 0x80 } },			/* int 0x80 */
	{ 2, { 0xcd, 0x02 } }, { 2, { 0xcd, 0x0e } }, { 2, { 0xcd, 0xec } },
	{ 1, { 0xcc } }, { 1, { 0xf1 } },	/* int3, int1 */
	{ 1, { 0xf4 } }, { 1, { 0xfa } }, { 1, { 0xfb } },	/* hlt, cli, sti */
	{ 1, { 0x9d } }, { 2, { 0x50, 0x9d } },	/* popf; push rax, popf */
	{ 3, { 0x0f, 0x01, 0xf8 } },		/* swapgs */
	{ 5, { 0xf3, 0x48, 0x0f, 0xae, 0xd0 } },	/* wrfsbase rax */
	{ 5, { 0xf3, 0x48, 0x0f, 0xae, 0xd8 } },	/* wrgsbase rax */
	{ 2, { 0x8e, 0xd8 } }, { 2, { 0x8e, 0xe0 } }, { 2, { 0x8e, 0xe8 } }, { 2, { 0x8e, 0xd0 } },
	{ 3, { 0x0f, 0x22, 0xd8 } },		/* mov cr3, rax */
	{ 2, { 0x0f, 0x30 } }, { 2, { 0x0f, 0x32 } },	/* wrmsr, rdmsr */
	{ 3, { 0x0f, 0xae, 0x10 } },		/* ldmxcsr */
	{ 2, { 0xeb, 0xfe } },			/* for ever */
	{ 3, { 0x48, 0x89, 0xc4 } },		/* mov rsp, rax */
	/* RT calls: wait, put, get, of a semaphore, a mutex, a mailbox, a condition, an event. */
	{ 7, { 0xb8, 0x00, 0, 0x43, 0x54, 0x0f, 0x05 } },
	{ 7, { 0xb8, 0x03, 0, 0x43, 0x54, 0x0f, 0x05 } },
	{ 7, { 0xb8, 0x04, 0, 0x43, 0x54, 0x0f, 0x05 } },
	{ 7, { 0xb8, 0x05, 0, 0x43, 0x54, 0x0f, 0x05 } },
	{ 7, { 0xb8, 0x06, 0, 0x43, 0x54, 0x0f, 0x05 } },
	{ 7, { 0xb8, 0x07, 0, 0x43, 0x54, 0x0f, 0x05 } },
	{ 7, { 0xb8, 0x09, 0, 0x43, 0x54, 0x0f, 0x05 } },
	{ 7, { 0xb8, 0x0a, 0, 0x43, 0x54, 0x0f, 0x05 } },
	{ 7, { 0xb8, 0x0b, 0, 0x43, 0x54, 0x0f, 0x05 } },
	{ 7, { 0xb8, 0x0e, 0, 0x43, 0x54, 0x0f, 0x05 } },
	{ 7, { 0xb8, 0x0f, 0, 0x43, 0x54, 0x0f, 0x05 } },
};

#define SPECIALS (sizeof(special) / sizeof(special[0]))

/* Shared with the parent: random code may exit with any status. */
static unsigned int *refused;
static sigjmp_buf again;
static unsigned long fs_base;

static void on_signal(int number)
{
	/* Random code may have changed it. */
	__asm__ volatile("wrfsbase %0" : : "r" (fs_base));
	siglongjmp(again, number);
}

static void refuse(unsigned int seed, int err)
{
	dprintf(2, "seed %u was refused: %d, %s\n", seed, err, rt_why());
	(*refused)++;
	syscall(SYS_exit, 1);
}

static uint8_t *make_code(void)
{
	uint8_t *code = mmap(NULL, CODE_BYTES + 16, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int at = 0; at < CODE_BYTES; ) {
		unsigned int which = random() % SPECIALS;

		if (random() % 3) {
			code[at++] = random();
			continue;
		}
		memcpy(code + at, special[which].bytes, special[which].count);
		at += special[which].count;
	}
	for (int at = 0; at < CODE_BYTES; at++)
		if (code[at] == 0xca || code[at] == 0xcb || code[at] == 0xcf)
			code[at] = 0x90;
	mprotect(code, CODE_BYTES + 16, PROT_READ | PROT_EXEC);
	return code;
}

static void be_random(unsigned int seed)
{
	static const int signals[] = {
		SIGSEGV, SIGFPE, SIGTRAP, SIGBUS, SIGILL, SIGXCPU, SIGALRM, SIGSYS,
	};
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER };
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } };
	struct rt_attr attr = {
		.period_ns = 1000000, .budget_ns = 900000, .priority = 1, .cpu = -1,
	};
	stack_t stack = { .ss_size = STACK_BYTES };
	volatile int tries = 0;
	int err;
	uint8_t *code;

	srandom(seed);
	stack.ss_sp = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	sigaltstack(&stack, NULL);
	for (unsigned int i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
	code = make_code();
	if (rt_init() || rt_sem_open(NULL, 1) != 0)
		refuse(seed, 0);
	setitimer(ITIMER_REAL, &often, NULL);
	__asm__ volatile("rdfsbase %0" : "=r" (fs_base));
	/* read(), write(), exit() and sigreturn() are all that is left to it. */
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	sigsetjmp(again, 0);
	if (tries++ == TRIES)
		syscall(SYS_exit, 0);
	do
		err = rt_enter(&attr);
	while (err == -EINTR);	/* a SIGALRM */
	if (err)
		refuse(seed, err);
	__asm__ volatile("jmp *%0" : : "r" (code + random() % 64), "a" (random()), "b" (random()),
			 "c" (code), "d" (code), "S" (code), "D" (0L) : "memory");
	__builtin_unreachable();
}

int main(int argc, char **argv)
{
	unsigned int first = argc == 3 ? atoi(argv[1]) : 0, count = argc == 3 ? atoi(argv[2]) : 0;
	unsigned int exited = 0, killed = 0;

	refused = mmap(NULL, sizeof(*refused), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	for (unsigned int seed = first; seed != first + count; seed++) {
		pid_t pid = fork();
		int status;

		if (!pid)
			be_random(seed);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return 1;
		killed += WIFSIGNALED(status);
		exited += WIFEXITED(status);
	}
	printf("exited %u killed %u refused %u\n", exited, killed, *refused);
	return 0;
}
