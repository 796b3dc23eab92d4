// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random code in RT mode: user_crashme FIRST COUNT [PERIOD_NS] runs a process for each of COUNT seeds.
 * Each has to end, whatever it does, and the machine to go on. Prints how they ended: by exit, or by a
 * signal (a system call of Linux's, mostly: seccomp). None may be refused, but for a bad period; stderr
 * has each that was, and why.
 *
 * Random code is the process: stack, registers and data are its own. So whatever the next try needs
 * lies where it cannot write (struct kept, pipes), and its own words are not believed.
 *
 * Left out are far returns (ca, cb, cf): QEMU 7.2 does those of ring 3 with the kernel's rights. So the
 * code cannot be written either: an address that it stores may have such a byte.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <linux/seccomp.h>
#include <unistd.h>
#include <uapi/tactus/rt.h>

#define CODE_BYTES 4096
#define STACK_BYTES 65536
#define TRIES 8
#define PERIOD_NS 1000000

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
	/* push rsp; pop rdi; rep stosq: over the stack, to its end */
	{ 5, { 0x54, 0x5f, 0xf3, 0x48, 0xab } },
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

/*
 * All that a process has besides random code.
 * @begin: of each try
 * @stack: where it begins
 * @device: /dev/rt
 * @tries: a pipe that holds a byte for each try: its number
 * @told: a pipe to the parent
 */
struct kept {
	struct rt_attr attr;
	struct {
		const uint8_t *code;
		unsigned long a, b;
	} begin[TRIES];
	const uint8_t *code;
	char *stack;
	unsigned long fs_base;
	unsigned int seed;
	int device, tries, told;
};

/* At a fixed place: there is no pointer to it that could be changed. It can only be read later. */
#define KEPT ((struct kept *)0x150000000)
#define KEPT_BYTES 4096

/* To the parent. Random code may exit with any status; it will not find out @magic. */
struct refusal {
	uint64_t magic;
	unsigned int seed;
	int err;
	char why[RT_WHY_BYTES];
};

#define MAGIC 0x7265667573656421

static long call3(long number, long a, long b, long c)
{
	long ret;

	__asm__ volatile("syscall" : "=a" (ret) : "0" (number), "D" (a), "S" (b), "d" (c)
			 : "rcx", "r11", "memory");
	return ret;
}

/* Once for each signal, and at first: nothing of the C library's, whose data may be spoiled. */
__attribute__((noreturn, used)) static void try_again(void)
{
	struct refusal refusal;
	struct rt_enter enter;
	uint8_t number;
	long ret;

	if (call3(SYS_read, KEPT->tries, (long)&number, 1) != 1)
		for (;;)
			call3(SYS_exit, 0, 0, 0);
	do {	/* EINTR: a SIGALRM; ENOSYS: its memory changed before the first release */
		enter = (struct rt_enter) { .attr = KEPT->attr };
		ret = call3(SYS_read, KEPT->device, (long)&enter, sizeof(enter));
	} while (ret == -EINTR || ret == -ENOSYS);
	if (ret != sizeof(enter)) {
		refusal = (struct refusal) { .magic = MAGIC, .seed = KEPT->seed, .err = ret };
		__builtin_memcpy(refusal.why, enter.why, sizeof(refusal.why));
		call3(SYS_write, KEPT->told, (long)&refusal, sizeof(refusal));
		for (;;)
			call3(SYS_exit, 1, 0, 0);
	}
	__asm__ volatile("jmp *%0" : : "r" (KEPT->begin[number].code), "a" (KEPT->begin[number].a),
			 "b" (KEPT->begin[number].b), "c" (KEPT->code), "d" (KEPT->code),
			 "S" (KEPT->code), "D" (0L) : "memory");
	__builtin_unreachable();
}

/* Random code may have changed the flags, for instance to alignment checks, and fs. */
static void on_signal(int number)
{
	(void)number;
	__asm__ volatile("pushq $2\n\tpopfq\n\t"
			 "wrfsbase %0\n\t"
			 "movq %1, %%rsp\n\t"
			 "call try_again" : : "r" (KEPT->fs_base), "r" (KEPT->stack) : "memory");
	__builtin_unreachable();
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

static int open_device(void)
{
	struct rt_object semaphore = { .kind = RT_OBJECT_SEM, .count = 1 };
	int device = open("/dev/rt", O_RDWR);

	return ioctl(device, RT_IOC_OBJECT, &semaphore) ? -1 : device;
}

/* False: it could not be made ready. */
static bool keep(unsigned int seed, long period_ns, int told)
{
	struct kept *k = mmap(KEPT, KEPT_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	int tries[2];

	if (k == MAP_FAILED || stack == MAP_FAILED || pipe(tries))
		return false;
	*k = (struct kept) {
		.attr = { .period_ns = period_ns, .budget_ns = period_ns / 10 * 9, .priority = 1,
			  .cpu = -1 },
		.code = make_code(), .stack = stack + STACK_BYTES / 2, .seed = seed,
		.device = open_device(), .tries = tries[0], .told = told,
	};
	for (uint8_t i = 0; i < TRIES; i++) {
		k->begin[i].code = k->code + random() % 64;
		k->begin[i].a = random();
		k->begin[i].b = random();
		if (write(tries[1], &i, 1) != 1)
			return false;
	}
	close(tries[1]);
	__asm__ volatile("rdfsbase %0" : "=r" (k->fs_base));
	return k->device >= 0 && !mprotect(k, KEPT_BYTES, PROT_READ);
}

static void be_random(unsigned int seed, long period_ns, int told)
{
	static const int signals[] = {
		SIGSEGV, SIGFPE, SIGTRAP, SIGBUS, SIGILL, SIGXCPU, SIGALRM, SIGSYS,
	};
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER };
	struct itimerval often = { { 0, 20000 }, { 0, 20000 } };
	/* It may block the signals: sigreturn() is allowed. */
	struct rlimit second = { 1, 1 };
	stack_t stack = { .ss_size = STACK_BYTES };

	srandom(seed);
	stack.ss_sp = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	if (!keep(seed, period_ns, told) || sigaltstack(&stack, NULL) || setrlimit(RLIMIT_CPU, &second))
		abort();
	for (unsigned int i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	/* read(), write(), exit() and sigreturn() are all that is left to it. */
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	on_signal(0);
}

/* What has come through the pipe: how many refusals. */
static unsigned int refusals(int told)
{
	struct refusal r;
	unsigned int count = 0;
	ssize_t bytes;

	while ((bytes = read(told, &r, sizeof(r))) > 0) {
		if (bytes != sizeof(r) || r.magic != MAGIC)
			continue;	/* random code wrote it */
		count++;
		fprintf(stderr, "seed %u was refused: %d, %.*s\n", r.seed, r.err, RT_WHY_BYTES,
			r.why);
	}
	return count;
}

int main(int argc, char **argv)
{
	unsigned int first = argc >= 3 ? atoi(argv[1]) : 0, count = argc >= 3 ? atoi(argv[2]) : 0;
	long period_ns = argc == 4 ? atol(argv[3]) : PERIOD_NS;
	unsigned int exited = 0, killed = 0, refused = 0;

	for (unsigned int seed = first; seed != first + count; seed++) {
		int status, told[2];
		pid_t pid;

		if (pipe2(told, O_NONBLOCK))
			return 1;
		pid = fork();
		if (!pid) {
			close(told[0]);
			be_random(seed, period_ns, told[1]);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return 1;
		/* Before it began: not by random code, which is not sent that. */
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT)
			return 2;
		killed += WIFSIGNALED(status);
		exited += WIFEXITED(status);
		close(told[1]);
		refused += refusals(told[0]);
		close(told[0]);
	}
	printf("exited %u killed %u refused %u\n", exited, killed, refused);
	return 0;
}
