// SPDX-License-Identifier: GPL-2.0-only
/*
 * A 32-bit process, without a C library: user_32 ROUNDS [int80]. Each round asks for getpid() by the vDSO,
 * as 32-bit C libraries do, or by int $0x80; and looks whether its registers are its own: the selectors of
 * the segments, a word of memory through ds, one through gs, which is its thread's storage. Prints the
 * vDSO's instruction (sysenter, syscall or int80), and "right", or what was wrong.
 *
 * user_32 device: what RT mode says to it.
 */
#include <asm/unistd_32.h>
#include <linux/auxvec.h>
#include <uapi/tactus/rt.h>

#define O_RDWR 2
#define VDSO_BYTES 32	/* of __kernel_vsyscall, beyond its instruction */
#define WORD 0x7ac705

static unsigned long by_vdso;	/* __kernel_vsyscall */
static volatile unsigned int word = WORD, storage = WORD;

static long int80(long number, long a, long b, long c)
{
	long ret;

	asm volatile("int $0x80" : "=a" (ret) : "0" (number), "b" (a), "c" (b), "d" (c) : "memory");
	return ret;
}

static long vdso(long number, long a, long b, long c)
{
	long ret;

	asm volatile("call *%1" : "=a" (ret)
		     : "m" (by_vdso), "0" (number), "b" (a), "c" (b), "d" (c) : "memory");
	return ret;
}

static unsigned int length(const char *text)
{
	unsigned int count = 0;

	while (text[count])
		count++;
	return count;
}

static void say(const char *text)
{
	int80(__NR_write, 1, (long)text, length(text));
}

static void say_number(unsigned int number)
{
	char text[12], *at = text + sizeof(text) - 1;

	*at = '\0';
	do
		*--at = '0' + number % 10;
	while (number /= 10);
	say(at);
}

static const char *instruction(void)
{
	const unsigned char *at = (const unsigned char *)by_vdso;

	for (int i = 0; i < VDSO_BYTES; i++) {
		if (at[i] == 0x0f && at[i + 1] == 0x34)
			return "sysenter";
		if (at[i] == 0x0f && at[i + 1] == 0x05)
			return "syscall";
	}
	return "int80";
}

struct selectors {
	unsigned int ds, es, fs, gs;
};

static struct selectors selectors(void)
{
	struct selectors s;

	asm volatile("movl %%ds, %0; movl %%es, %1; movl %%fs, %2; movl %%gs, %3"
		     : "=r" (s.ds), "=r" (s.es), "=r" (s.fs), "=r" (s.gs));
	return s;
}

/* As a C library has it: a segment of the thread's own in gs. */
static int set_storage(void)
{
	/* struct user_desc: any entry, base, limit, of 32 bits, in pages, and for our use */
	unsigned int area[] = { -1, (unsigned long)&storage, 0xfffff, 0x51 };

	if (int80(__NR_set_thread_area, (long)area, 0, 0))
		return -1;
	asm volatile("movl %0, %%gs" : : "r" (area[0] * 8 + 3));
	return 0;
}

static const char *a_round(long (*call)(long, long, long, long), long pid, struct selectors were)
{
	struct selectors are;
	unsigned int got;

	if (call(__NR_getpid, 0, 0, 0) != pid)
		return "getpid()";
	/* Some time in ring 3, where it is interrupted. */
	for (volatile int i = 0; i < 1000; i++)
		;
	are = selectors();
	if (are.ds != were.ds || are.es != were.es || are.fs != were.fs || are.gs != were.gs)
		return "selectors";
	asm volatile("movl %%gs:0, %0" : "=r" (got));
	return got != WORD ? "gs" : word != WORD ? "ds" : 0;
}

static int try(unsigned int rounds, int old)
{
	long pid = int80(__NR_getpid, 0, 0, 0);
	struct selectors were;

	say(instruction());
	if (set_storage())
		return 2;
	were = selectors();
	for (unsigned int k = 0; k < rounds; k++) {
		const char *wrong = a_round(old ? int80 : vdso, pid, were);

		if (!wrong)
			continue;
		say(", wrong: ");
		say(wrong);
		say("\n");
		return 1;
	}
	say(", right\n");
	return 0;
}

static int ask_device(void)
{
	struct rt_enter enter = {
		.attr = { .period_ns = 1000000, .budget_ns = 500000, .priority = 1, .cpu = -1 },
	};
	long device = int80(__NR_open, (long)"/dev/rt", O_RDWR, 0);
	long ret = int80(__NR_read, device, (long)&enter, sizeof(enter));

	say("error ");
	say_number(-ret);
	say(": ");
	say(enter.why);
	say("\n");
	return device < 0;
}

__attribute__((noreturn, used)) static void begin(unsigned long *stack)
{
	char **argv = (char **)(stack + 1);
	unsigned long argc = stack[0], *at = stack + 1 + argc + 1;
	unsigned int rounds = 0;
	int status;

	while (*at++)
		;
	for (; at[0] != AT_NULL; at += 2)
		if (at[0] == AT_SYSINFO)
			by_vdso = at[1];
	for (const char *c = argc > 1 ? argv[1] : ""; *c >= '0' && *c <= '9'; c++)
		rounds = rounds * 10 + *c - '0';
	status = argc == 2 && argv[1][0] == 'd' ? ask_device() : try(rounds, argc == 3);
	for (;;)
		int80(__NR_exit, status, 0, 0);
}

asm(".globl _start\n_start:\n\tmovl %esp, %eax\n\tpushl $0\n\tpushl %eax\n\tcall begin\n");
