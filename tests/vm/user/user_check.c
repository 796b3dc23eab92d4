// SPDX-License-Identifier: GPL-2.0-only
/*
 * What RT mode promises an ordinary program: user_check [CASE ...] runs each case in a process of
 * its own and says "ok CASE" or "not ok CASE: why". Exit status 1 if any failed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <uapi/tactus/fifo.h>
#include <tactus/rt.h>
#include <tactus/shm.h>

#define PERIOD_NS 1000000
#define ROUNDS 20	/* in which memory is thrown away */
#define MOST_LATE_NS 2000
/* Several CPUs take turns in the bench: what is late waited for the end of another one's turn. */
#define MOST_LATE_IN_TURNS_NS (PERIOD_NS / 4)

#define CHECK(cond)							\
	do {								\
		if (!(cond)) {						\
			printf("line %d: %s\n", __LINE__, #cond);	\
			fflush(stdout);					\
			_exit(1);					\
		}							\
	} while (0)

static bool slow;	/* a kernel that checks each access of memory: SLOW in the environment */
static int64_t most_late_ns;
/* Until all threads of a case are in RT mode: a thread's stack of 8 MB takes 16 ms. */
static int64_t soon_ns = 80000000;

static const struct rt_attr usual = {
	.period_ns = PERIOD_NS, .budget_ns = PERIOD_NS / 2, .priority = 10, .cpu = -1,
};

static void enter(const struct rt_attr *attr)
{
	int err;

	do
		err = rt_enter(attr);
	while (err == -EINTR);
	if (err)
		printf("%s (%d)\n", rt_why(), err);
	CHECK(!err);
}

static struct rt_stat stat_now(void)
{
	struct rt_stat stat;

	CHECK(!rt_stat(&stat));
	return stat;
}

static unsigned long long demotions(const struct rt_stat *stat)
{
	unsigned long long sum = 0;

	for (int i = 0; i < RT_END_REASONS; i++)
		sum += stat->demotions[i];
	return sum;
}

/* ---- jobs ---- */

static void case_jobs(void)
{
	int64_t worst = 0, late;
	struct rt_job job = {};
	struct rt_stat stat;
	double sum = 0;
	int bad = 0;

	enter(&usual);
	for (int k = 1; k <= 300; k++) {
		bad += rt_wait(&job) != 0 || job.number != k;
		late = rt_now() - job.release_ns;
		worst = late > worst ? late : worst;
		sum += late * 1e-9;
	}
	rt_leave();
	stat = stat_now();
	CHECK(!bad);
	CHECK(worst > 0 && worst < most_late_ns);
	CHECK(sum > 0 && sum < 300 * most_late_ns * 1e-9);
	CHECK(stat.promotions == 1 && stat.demotions[RT_END_LEAVE] == 1 && demotions(&stat) == 1);
	CHECK(stat.pages > 10 && stat.pages_ns > 0);
}

static void case_the_shadow_is_kept(void)
{
	unsigned long long first_ns;
	struct rt_stat stat;

	enter(&usual);
	rt_leave();
	first_ns = stat_now().pages_ns;
	enter(&usual);
	rt_leave();
	stat = stat_now();
	CHECK(stat.promotions == 2 && stat.pages_ns < first_ns / 5);
}

static void case_sleep(void)
{
	int64_t until, woke;
	int err;

	enter(&usual);
	until = rt_now() + 200000;
	err = rt_sleep_until(until);
	woke = rt_now();
	rt_leave();
	CHECK(!err && woke >= until && woke < until + most_late_ns);
	CHECK(rt_sleep_until(until) == -ENOSYS && rt_wait(NULL) == -EPERM);
}

/* ---- what only Linux can do: the instruction, the signal, its address ---- */

static volatile sig_atomic_t got_signal;
static volatile unsigned long got_address, got_ip;
static ucontext_t resume_at;

static void on_fault(int number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	got_signal = number;
	got_address = (unsigned long)info->si_addr;
	got_ip = at->uc_mcontext.gregs[REG_RIP];
	setcontext(&resume_at);
}

static volatile int after;

/* @code contains a label `here' at what is to fail. */
#define FAILS(name, signal, vector_, address, ip_add, code)				\
static void case_##name(void)								\
{											\
	struct sigaction action = { .sa_sigaction = on_fault,				\
				    .sa_flags = SA_SIGINFO | SA_NODEFER };		\
	struct rt_stat stat;								\
	unsigned long here = 0;								\
											\
	sigaction(signal, &action, NULL);						\
	after = 0;									\
	getcontext(&resume_at);								\
	if (!after) {									\
		after = 1;								\
		enter(&usual);								\
		asm volatile("leaq 1f(%%rip), %0\n\tmovq %0, %1\n\t" code		\
			     : "=&r" (here), "=m" (after_ip) : : "rax", "rcx", "rdx",	\
			       "memory", "cc");						\
		rt_leave();								\
		CHECK(!"the instruction had no effect");				\
	}										\
	stat = stat_now();								\
	CHECK(got_signal == signal);							\
	CHECK(got_ip == after_ip + ip_add);						\
	CHECK(address == -1L || got_address == (unsigned long)address);			\
	CHECK(stat.reason == RT_END_TRAP && stat.vector == vector_);			\
	CHECK(stat.ip == after_ip + (vector_ == 1 ? 1 : 0));			\
}

static unsigned long after_ip;

/* A page that the kernel has: of a table that it only reads. */
static unsigned long kernel_page __attribute__((used));

static void find_kernel_page(void)
{
	char line[200], name[100], newline;
	unsigned long addr;
	FILE *file = fopen("/proc/kallsyms", "r");

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx %*c %99s%c", &addr, name, &newline) == 3 &&
		    newline == '\n' && !strcmp(name, "_ctype"))
			kernel_page = addr;
	fclose(file);
	CHECK(kernel_page);
}

FAILS(null, SIGSEGV, 14, 0x10, 0, "movl $0x10, %%eax; 1: movl (%%rax), %%ecx")
FAILS(kernel_page, SIGSEGV, 14, -1L, 0,
      "movq kernel_page(%%rip), %%rax; 1: movl (%%rax), %%ecx")
FAILS(privileged, SIGSEGV, 13, -1L, 0, "1: cli")
FAILS(divide, SIGFPE, 0, -1L, 0, "xorl %%ecx, %%ecx; xorl %%edx, %%edx; movl $1, %%eax;"
      "1: idivl %%ecx")
FAILS(invalid, SIGILL, 6, -1L, 0, "1: ud2")
FAILS(breakpoint, SIGTRAP, 3, -1L, 1, "1: int3")
/* The step has been made when it is told; Linux makes another. */
FAILS(single_step, SIGTRAP, 1, -1L, 2,
      "pushfq; orl $0x100, (%%rsp); popfq; 1: nop; nop; nop")

static void case_kernel_memory(void)
{
	find_kernel_page();
	case_kernel_page();
}

/* ---- ports: those that Linux lets the thread use, and no more ---- */

#define DMA_PAGES 0x80		/* eight bytes to keep values in; the first shows boot codes */
#define PCI_ADDRESS 0xcf8	/* four bytes at once */

FAILS(port, SIGSEGV, 13, -1L, 0, "1: outb %%al, $0x80")
FAILS(word_half_allowed, SIGSEGV, 13, -1L, 0, "movl $0x87, %%edx; 1: inw %%dx, %%ax")
FAILS(last_port, SIGSEGV, 13, -1L, 0, "movl $0xffff, %%edx; 1: inl %%dx, %%eax")

/* Linux's page faults are its own: RT code may fault when one of them has just begun. */
#define FAULTS 3000
#define TOUCHED_PAGES 64

static void touches_for_ever(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	volatile char *area = mmap(NULL, TOUCHED_PAGES * page, PROT_READ,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(area != MAP_FAILED);
	for (;;) {
		CHECK(!madvise((void *)area, TOUCHED_PAGES * page, MADV_DONTNEED));
		/* Of the page of zeros, so that the fault's beginning is much of it. */
		for (int i = 0; i < TOUCHED_PAGES; i++)
			CHECK(!area[i * page]);
	}
}

static void case_faults_beside(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct rt_attr attr = usual;
	volatile int64_t began;
	volatile int count = 0;
	int status;
	pid_t pid;

	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		touches_for_ever();
	CHECK(!rt_init());
	began = rt_now();
	attr.period_ns = PERIOD_NS / 10;
	attr.budget_ns = PERIOD_NS / 20;
	sigaction(SIGSEGV, &action, NULL);
	getcontext(&resume_at);
	if (count++ < FAULTS) {
		enter(&attr);
		asm volatile("movb $0, 8" : : : "memory");
		CHECK(!"there is memory at address 8");
	}
	CHECK(!kill(pid, SIGKILL));
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	CHECK(stat_now().demotions[RT_END_TRAP] == FAULTS);
	/* There and back waits for no tick of Linux's, nor for its other tasks. */
	CHECK(slow || rt_now() - began < FAULTS * 2LL * PERIOD_NS);
}

static void case_port_beyond(void)
{
	CHECK(!ioperm(DMA_PAGES, 8, 1));
	case_word_half_allowed();
}

/* What goes out comes in; what of rax an instruction has no business with stays. */
static void use_ports(unsigned long got[6])
{
	unsigned long rax = 0x1122334455667701;

	asm volatile("outb %%al, $0x82" : : "a" (rax));
	asm volatile("outb %%al, %%dx" : : "a" (rax + 1), "d" (DMA_PAGES + 3));
	for (int i = 0; i < 6; i++)
		got[i] = 0x1122334455667788;
	asm volatile("inb $0x82, %%al" : "+a" (got[0]));
	asm volatile("inb %%dx, %%al" : "+a" (got[1]) : "d" (DMA_PAGES + 3));
	asm volatile("inw $0x82, %%ax" : "+a" (got[2]));
	asm volatile("outw %%ax, %%dx" : : "a" (0x1234UL), "d" (DMA_PAGES + 2));
	asm volatile("inw %%dx, %%ax" : "+a" (got[3]) : "d" (DMA_PAGES + 2));
	asm volatile("outl %%eax, %%dx" : : "a" (0x80000800UL), "d" (PCI_ADDRESS));
	asm volatile("inl %%dx, %%eax" : "+a" (got[4]) : "d" (PCI_ADDRESS));
	asm volatile("inb $0x82, %%al" : "+a" (got[5]));
}

static void case_ports(void)
{
	unsigned long in_linux[6], in_rt[6], at = 0;
	struct rt_stat stat;
	char byte = 0x5a;

	CHECK(!ioperm(DMA_PAGES, 8, 1) && !ioperm(PCI_ADDRESS, 4, 1));
	use_ports(in_linux);
	CHECK(in_linux[0] == 0x1122334455667701 && in_linux[3] == 0x1122334455661234);
	CHECK(in_linux[4] == 0x80000800);
	enter(&usual);
	use_ports(in_rt);
	rt_leave();
	stat = stat_now();
	CHECK(!memcmp(in_linux, in_rt, sizeof(in_rt)));
	CHECK(stat.demotions[RT_END_LEAVE] == 1 && demotions(&stat) == 1);
	/* Strings are Linux's. */
	enter(&usual);
	asm volatile("1: outsb; leaq 1b(%%rip), %0"
		     : "=r" (at) : "S" (&byte), "d" (DMA_PAGES + 2) : "memory");
	stat = stat_now();
	CHECK(stat.reason == RT_END_TRAP && stat.vector == 13 && stat.ip == at);
	CHECK(inb(DMA_PAGES + 2) == byte);
	/* What Linux takes back is not allowed, at the next rt_enter(). */
	CHECK(!ioperm(DMA_PAGES, 8, 0));
	case_port();
}

static void case_all_ports(void)
{
	struct rt_stat stat;

	CHECK(!iopl(3));
	enter(&usual);
	outb(0x33, DMA_PAGES + 2);
	inl(PCI_ADDRESS);
	rt_leave();
	stat = stat_now();
	CHECK(inb(DMA_PAGES + 2) == 0x33 && demotions(&stat) == 1);
	case_last_port();
}

static void case_syscall(void)
{
	char buffer[8] = "";
	struct rt_stat stat;
	int pipes[2];
	long written;

	CHECK(!pipe(pipes));
	enter(&usual);
	written = write(pipes[1], "hello", 5);
	stat = stat_now();
	CHECK(written == 5 && read(pipes[0], buffer, 5) == 5 && !strcmp(buffer, "hello"));
	CHECK(stat.reason == RT_END_SYSCALL && stat.nr == 1);
	CHECK(rt_sleep_until(0) == -ENOSYS);
}

/* A system call of the 32-bit way from 64-bit code: getpid is 20 there. */
static void case_int80(void)
{
	int pid = getpid(), got = 20;
	struct rt_stat stat;

	enter(&usual);
	asm volatile("int $0x80" : "+a" (got) : : "memory", "r8", "r9", "r10", "r11");
	stat = stat_now();
	CHECK(got == pid && stat.reason == RT_END_SYSCALL && stat.nr == 20);
}

/* Linux's clock is on a page that RT mode's own tables do not have. */
static void case_vdso(void)
{
	struct timespec time = {};
	struct rt_stat stat;
	int err = clock_gettime(CLOCK_MONOTONIC, &time);	/* the process's tables have it then */

	CHECK(!err);
	enter(&usual);
	err = clock_gettime(CLOCK_MONOTONIC, &time);
	stat = stat_now();
	CHECK(!err && (time.tv_sec || time.tv_nsec));
	CHECK(stat.demotions[RT_END_TRAP] == 1 && demotions(&stat) == 1);
}

/* After a stray call the next wait is in RT mode again, on the same grid. */
static void case_back_again(void)
{
	struct rt_job first, second;
	struct rt_stat stat;
	int err;

	enter(&usual);
	err = rt_wait(&first);
	getppid();
	err = err ?: rt_wait(&second);
	err = err ?: rt_sleep_until(0);
	rt_leave();
	stat = stat_now();
	CHECK(!err && second.number > first.number);
	CHECK(second.release_ns - first.release_ns == (second.number - first.number) * PERIOD_NS);
	CHECK(stat.promotions == 2 && stat.demotions[RT_END_SYSCALL] == 1);
}

/* ---- told of demotions ---- */

static void case_demote_signal(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	struct rt_attr attr = usual;

	sigaction(SIGXCPU, &action, NULL);
	attr.flags = RT_DEMOTE_SIGNAL;
	getcontext(&resume_at);
	if (!got_signal) {
		enter(&attr);
		getppid();
		CHECK(!"no signal");
	}
	CHECK(got_signal == SIGXCPU);
}

static int status_of(void (*child)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		child();
		_exit(77);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

static void stray_call(void)
{
	enter(&usual);
	getppid();
}

static void case_demote_abort(void)
{
	int status;

	setenv("TACTUS_DEMOTE", "abort", 1);
	status = status_of(stray_call);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	setenv("TACTUS_DEMOTE", "signal", 1);
	status = status_of(stray_call);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU);
	setenv("TACTUS_DEMOTE", "count", 1);
	status = status_of(stray_call);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 77);
}

static void set_file(const char *path, const char *text, int want)
{
	int fd = open(path, O_WRONLY), err = 0;

	CHECK(fd >= 0);
	if (write(fd, text, strlen(text)) < 0)
		err = errno;
	close(fd);
	CHECK(err == want);
}

/* Tables fill their rows with blanks up to one length. */
static void strip(char *line)
{
	size_t len = strlen(line);

	while (len && strchr(" \n", line[len - 1]))
		len--;
	strcpy(line + len, "\n");
}

/* Is @text in the file of /sys/kernel/tactus? */
static bool tells(const char *name, const char *text)
{
	char path[80], line[400];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/tactus/%s", name);
	file = fopen(path, "r");
	CHECK(file);
	while (fgets(line, sizeof(line) - 1, file)) {
		strip(line);
		found |= strstr(line, text) != NULL;
	}
	fclose(file);
	return found;
}

/* The files, and the trace, have the task's name, the reason and the instruction. */
static void case_demotion_is_told(void)
{
	char listed[120], user[120], event[120], left[120];

	set_file("/sys/kernel/tactus/trace/slots", "64", 0);
	set_file("/sys/kernel/tactus/trace/on", "1", 0);
	prctl(PR_SET_NAME, "stray call");
	enter(&usual);
	asm volatile("leaq 1f(%%rip), %%rax; movq %%rax, %0; movl $110, %%eax; 1: syscall"
		     : "=m" (after_ip) : : "rax", "rcx", "r11", "memory");
	rt_wait(NULL);
	rt_leave();
	set_file("/sys/kernel/tactus/trace/on", "0", 0);
	snprintf(user, sizeof(user), "\t2\t1\t1\tsyscall\t110\t0x0\t%#lx\n", after_ip);
	snprintf(listed, sizeof(listed), "\t%d\tstray_call\tsyscall\t110\t0x0\t%#lx\n", getpid(),
		 after_ip);
	snprintf(event, sizeof(event), " demote   stray_call      syscall:110@%#lx\n", after_ip);
	snprintf(left, sizeof(left), " demote   stray_call      leave:0@0x");
	CHECK(tells("users", user));
	CHECK(tells("demotions", listed) && !tells("demotions", "leave"));
	CHECK(tells("events", event) && tells("events", left));
	set_file("/sys/kernel/tactus/trace/slots", "0", 0);
}

/* ---- budget, signals, death ---- */

static void case_budget(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	struct rt_stat stat;

	sigaction(SIGXCPU, &action, NULL);
	getcontext(&resume_at);
	if (!got_signal) {
		enter(&usual);
		asm volatile("leaq 1f(%%rip), %%rax; movq %%rax, %0; 1: jmp 1b"
			     : "=m" (after_ip) : : "rax");
	}
	stat = stat_now();
	CHECK(got_signal == SIGXCPU && got_ip == after_ip);
	CHECK(stat.reason == RT_END_STOPPED && stat.ip == after_ip);
}

static volatile int alarms;

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

static void case_signals(void)
{
	struct itimerval every = { { 0, 20000 }, { 0, 20000 } };
	int64_t worst = 0, late;
	struct rt_stat stat;
	struct rt_job job;
	int recalled = 0;

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
	enter(&usual);
	while (alarms < 5) {
		int err = rt_wait(&job);

		if (err == -EINTR) {
			recalled++;
			continue;
		}
		late = rt_now() - job.release_ns;
		worst = late > worst && late < PERIOD_NS / 2 ? late : worst;
	}
	rt_leave();
	stat = stat_now();
	CHECK(stat.demotions[RT_END_SIGNAL] >= 4 && stat.promotions >= 5);
	CHECK(recalled >= 1);
	/* Slow ones find every release past. */
	CHECK(slow || (worst && worst < most_late_ns));
}

static void wait_for_ever(void)
{
	enter(&usual);
	for (;;)
		rt_wait(NULL);
}

static void run_for_ever(void)
{
	struct rt_attr attr = usual;

	attr.period_ns = 100000000;
	attr.budget_ns = 90000000;
	enter(&attr);
	for (;;)
		asm volatile("pause");
}

static void killed(void (*child)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		child();
		_exit(77);
	}
	usleep(150000);
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status));
}

static void case_kill(void)
{
	killed(wait_for_ever);
	killed(run_for_ever);
}

static void *executes(void *unused)
{
	(void)unused;
	usleep(20000);
	execl("/proc/self/exe", "user_check", "executed", NULL);
	return NULL;
}

static void case_exec(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, executes, NULL);
	wait_for_ever();
}

/* ---- memory ---- */

static void *forks(void *stop)
{
	while (!*(volatile bool *)stop) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return NULL;
}

/*
 * fork() protects every page of a process; RT code writes on. No budget: in virtual time CPUs take
 * turns, and that of one that is busy may last until another's budget is over.
 */
static void case_fork(void)
{
	struct rt_attr attr = usual;
	static volatile int written[1024 * 8];
	pthread_t thread;
	bool stop = false;
	struct rt_stat stat;
	int bad = 0, err;

	attr.budget_ns = 0;
	pthread_create(&thread, NULL, forks, &stop);
	enter(&attr);
	for (int k = 0; k < 100; k++) {
		err = rt_wait(NULL);
		bad += err && err != -ETIMEDOUT;
		for (int i = 0; i < 8; i++)
			written[1024 * i] = k;
	}
	rt_leave();
	stop = true;
	pthread_join(thread, NULL);
	stat = stat_now();
	CHECK(!bad && stat.promotions == 1);
	for (int i = 0; i < 8; i++)
		CHECK(written[1024 * i] == 99);
}

/* Each fork() leaves copies that pinning has to make; entry ends however fast the forks come. */
static void case_entry_beside_forks(void)
{
	uint64_t most_ns = slow ? UINT64_MAX : 250000000;
	pthread_t thread;
	bool stop = false;
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(page != MAP_FAILED);
	pthread_create(&thread, NULL, forks, &stop);
	for (int k = 0; k < 5; k++) {
		enter(&usual);
		rt_leave();
		CHECK(stat_now().pages > 100 && stat_now().pages_ns < most_ns);
		/* The next one pins all anew. */
		CHECK(!madvise(page, 4096, MADV_DONTNEED));
	}
	stop = true;
	pthread_join(thread, NULL);
}

static char *volatile area;
static volatile bool in_rt;
static int advice;

static void *changes(void *unused)
{
	(void)unused;
	while (!in_rt)
		usleep(1000);
	if (advice)
		madvise(area, 4096, advice);
	else
		mmap(area, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	return NULL;
}

static void change(int how)
{
	pthread_t thread;
	struct rt_stat stat;
	int jobs = 0;

	advice = how;
	area = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	area[0] = 1;
	pthread_create(&thread, NULL, changes, NULL);
	enter(&usual);
	/* When RT mode is over the process's memory is what it sees: and it has been renewed. */
	while (area[0] && jobs < 1000) {
		in_rt = true;
		rt_wait(NULL);
		jobs++;
	}
	rt_leave();
	pthread_join(thread, NULL);
	stat = stat_now();
	CHECK(jobs < 1000);
	CHECK(stat.demotions[RT_END_MEMORY] >= 1);
}

static void case_dontneed(void)
{
	change(MADV_DONTNEED);
}

static void case_mapped_over(void)
{
	change(0);
}

static volatile unsigned long asked, answered;
static volatile unsigned long *thrown;

static void *answers(void *unused)
{
	enter(&usual);
	while (asked != ROUNDS) {
		unsigned long g = asked;

		if (g != answered) {
			*thrown = g;
			answered = g;
		}
		rt_wait(NULL);
	}
	rt_leave();
	return unused;
}

/*
 * What RT code writes after memory was thrown away is there for Linux to see. A release comes
 * before any other thread of Linux's can run.
 */
static void case_thrown_away(void)
{
	struct sched_param urgent = { .sched_priority = 50 };
	pthread_t thread;
	int64_t until;

	thrown = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*thrown = 1;
	pthread_create(&thread, NULL, answers, NULL);
	CHECK(!sched_setscheduler(0, SCHED_FIFO, &urgent));
	usleep(soon_ns / 1000);
	for (unsigned long g = 1; g < ROUNDS; g++) {
		usleep(5000);
		CHECK(!madvise((void *)thrown, 4096, MADV_DONTNEED));
		asked = g;
		until = rt_now() + 2 * PERIOD_NS;
		while (rt_now() < until)
			;
		while (answered != g)
			usleep(500);
		CHECK(*thrown == g);
	}
	asked = ROUNDS;
	pthread_join(thread, NULL);
}

/* Memory that came after the shadow was made: there when RT mode is entered next. */
static void case_new_memory(void)
{
	volatile char *fresh;
	struct rt_stat stat;
	int err;

	enter(&usual);
	rt_leave();
	fresh = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	enter(&usual);
	err = rt_wait(NULL);
	fresh[0] = 1;
	fresh[1] = 2;
	err = err ?: rt_sleep_until(0);
	rt_leave();
	stat = stat_now();
	CHECK(!err && fresh[0] == 1 && fresh[1] == 2 && demotions(&stat) == 2);
}

/* ---- several ---- */

static volatile long shared;

static void *counts(void *unused)
{
	struct rt_attr attr = usual;

	(void)unused;
	attr.budget_ns = PERIOD_NS / 10;
	enter(&attr);
	for (int k = 0; k < 50; k++)
		if (!rt_wait(NULL))
			__atomic_add_fetch(&shared, 1, __ATOMIC_RELAXED);
	rt_leave();
	return NULL;
}

static void case_threads(void)
{
	pthread_t thread[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, counts, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	CHECK(shared == 150);
}

static void case_ptrace(void)
{
	struct user_regs_struct regs;
	pid_t pid = fork();
	int status;

	if (!pid) {
		run_for_ever();
		_exit(77);
	}
	usleep(50000);
	CHECK(!ptrace(PTRACE_ATTACH, pid, 0, 0) && waitpid(pid, &status, 0) == pid);
	CHECK(WIFSTOPPED(status) && !ptrace(PTRACE_GETREGS, pid, 0, &regs));
	CHECK(regs.cs == 0x33);
	CHECK(!ptrace(PTRACE_SINGLESTEP, pid, 0, 0) && waitpid(pid, &status, 0) == pid);
	CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	CHECK(!ptrace(PTRACE_DETACH, pid, 0, 0) && !kill(pid, SIGKILL));
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
}

static void case_fifo(void)
{
	int fd, fifo, control = open("/dev/rtfctl", O_RDWR);
	struct rtf_new new = { .fifo = 0, .size = 4096 };
	long value = 12345, back = 0, put, missing, far, kernels;

	CHECK(control >= 0 && !ioctl(control, RTF_IOC_CREATE, &new));
	fd = open("/dev/rtf0", O_RDWR | O_NONBLOCK);
	fifo = rt_fifo(fd);
	find_kernel_page();
	CHECK(fd >= 0 && fifo == 0);
	CHECK(rt_fifo(0) < 0);
	enter(&usual);
	put = rt_fifo_put(fifo, &value, sizeof(value));
	missing = rt_fifo_put(5, &value, sizeof(value));
	far = rt_fifo_put(fifo, (void *)0x10, 8);
	kernels = rt_fifo_put(fifo, (void *)kernel_page, 8);
	rt_leave();
	CHECK(put == sizeof(value) && missing == -EBADF && far == -EFAULT && kernels == -EFAULT);
	CHECK(read(fd, &back, sizeof(back)) == sizeof(back) && back == value);
	CHECK(write(fd, &value, sizeof(value)) == sizeof(value));
	value = 0;
	enter(&usual);
	put = rt_fifo_get(fifo, &value, sizeof(value));
	rt_leave();
	CHECK(put == sizeof(value) && value == 12345);
}

#define PAGE 4096

static char *map_pages(void *at, int count)
{
	return mmap(at, count * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
}

/* The page of the last call is remembered: not the wrong one, nor for what is not allowed there. */
static void case_fifo_pages(void)
{
	static const char constant[8] = "constant";
	int control = open("/dev/rtfctl", O_RDWR), fd, fifo;
	struct rtf_new new = { .fifo = 1, .size = 4 * PAGE };
	char *pages = map_pages(NULL, 2), back[16];
	long top, ends[3], wrong[2], again;

	CHECK(control >= 0 && !ioctl(control, RTF_IOC_CREATE, &new));
	fd = open("/dev/rtf1", O_RDWR | O_NONBLOCK);
	fifo = rt_fifo(fd);
	memset(pages, 'a', PAGE);
	memset(pages + PAGE, 'b', PAGE);
	enter(&usual);
	/* The first call, when no page is remembered. */
	top = rt_fifo_put(fifo, (void *)(-PAGE + 8L), 8);
	ends[0] = rt_fifo_put(fifo, pages, 8);
	ends[1] = rt_fifo_put(fifo, pages + PAGE - 8, 16);
	ends[2] = rt_fifo_put(fifo, constant, 8);
	wrong[0] = rt_fifo_get(fifo, (void *)constant, 8);
	wrong[1] = rt_fifo_put(fifo, pages + 2 * PAGE - 8, RT_COPY_MOST);
	rt_fifo_put(fifo, pages, 8);
	rt_leave();
	CHECK(top == -EFAULT && ends[0] == 8 && ends[1] == 16 && ends[2] == 8);
	CHECK(wrong[0] == -EFAULT);
	CHECK(wrong[1] == -EFAULT || wrong[1] == RT_COPY_MOST);
	CHECK(read(fd, back, 8) == 8 && !memcmp(back, "aaaaaaaa", 8));
	CHECK(read(fd, back, 16) == 16 && !memcmp(back, "aaaaaaaabbbbbbbb", 16));
	CHECK(read(fd, back, 8) == 8 && !memcmp(back, constant, 8));
	while (read(fd, back, 8) == 8)
		;
	/* Another page at that address. */
	CHECK(map_pages(pages, 1) == pages);
	memset(pages, 'c', PAGE);
	enter(&usual);
	again = rt_fifo_put(fifo, pages, 8);
	rt_leave();
	CHECK(again == 8 && read(fd, back, 8) == 8 && !memcmp(back, "cccccccc", 8));
}

#define HUGE (2UL << 20)

/* Pages of 2 MiB are mapped as such, of which each byte is where it was; one in parts is not. */
static void case_huge_pages(void)
{
	int control = open("/dev/rtfctl", O_RDWR), fd, fifo;
	struct rtf_new new = { .fifo = 2, .size = 4 * PAGE };
	char *pages = map_pages(NULL, 4 * HUGE / PAGE), back[16];
	struct rt_stat before, after;
	/* In a guest of little memory they are off; a kernel of our own has none. */
	int on = open("/sys/kernel/mm/transparent_hugepage/enabled", O_WRONLY);
	unsigned long long most = on < 0 ? 0 : 2;
	long put, wrong = 0;

	CHECK(on < 0 || write(on, "madvise", 7) == 7);
	pages = (char *)(((unsigned long)pages + HUGE - 1) & -HUGE);
	CHECK(!madvise(pages, 3 * HUGE, MADV_HUGEPAGE) || !most);
	for (unsigned long at = 0; at < 3 * HUGE; at += 8)
		*(unsigned long *)(pages + at) = at;
	/* The last one: in parts, with another page in the middle. */
	CHECK(!madvise(pages + 2 * HUGE + HUGE / 2, PAGE, MADV_DONTNEED));
	pages[2 * HUGE + HUGE / 2] = 1;
	CHECK(control >= 0 && !ioctl(control, RTF_IOC_CREATE, &new));
	fd = open("/dev/rtf2", O_RDWR | O_NONBLOCK);
	fifo = rt_fifo(fd);
	enter(&usual);
	for (unsigned long at = 0; at < 2 * HUGE; at += PAGE)
		wrong += *(unsigned long *)(pages + at) != at;
	pages[HUGE + 5 * PAGE] = 'x';
	put = rt_fifo_put(fifo, pages + HUGE - 8, 16);
	rt_leave();
	before = stat_now();
	CHECK(!wrong && put == 16 && pages[HUGE + 5 * PAGE] == 'x');
	CHECK(before.huge_pages == most && before.demotions[RT_END_LEAVE] == 1);
	CHECK(read(fd, back, 16) == 16 && ((unsigned long *)back)[0] == HUGE - 8 &&
	      ((unsigned long *)back)[1] == HUGE);
	/* A piece of it goes: what is left of it are pages. */
	CHECK(!madvise(pages + HUGE, PAGE, MADV_DONTNEED));
	enter(&usual);
	wrong = pages[HUGE + 8] || pages[HUGE + 5 * PAGE] != 'x';
	rt_leave();
	after = stat_now();
	CHECK(!wrong && after.huge_pages == most / 2 && after.pages == before.pages);
	CHECK(after.demotions[RT_END_LEAVE] == 2 && !after.demotions[RT_END_TRAP]);
}

/* ---- semaphores, mutexes, mailboxes ---- */

/* All of them end at once: the end of a thread changes the memory of the others. */
static pthread_barrier_t barrier;

static pthread_t run_beside(void *(*run)(void *arg), void *arg)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, run, arg));
	return thread;
}

static void enter_at(int64_t start, int priority)
{
	struct rt_attr attr = {
		.period_ns = 200000000, .budget_ns = 50000000, .priority = priority,
		.start_ns = start, .cpu = 0,
	};

	enter(&attr);
}

#define POSTS 20
static int64_t posted[POSTS], taken[POSTS];
static int taker_errors, taker_timeout;
static int64_t timed_out_late;

static void *takes(void *sem)
{
	int64_t until;

	enter_at(rt_now() + soon_ns, 5);
	for (int k = 0; k < POSTS; k++) {
		taker_errors += rt_sem_wait_until((long)sem, RT_NO_DEADLINE) != 0;
		taken[k] = rt_now();
	}
	until = rt_now() + 100000;
	taker_timeout = rt_sem_wait_until((long)sem, until);
	timed_out_late = rt_now() - until;
	/* From Linux. */
	taker_errors += rt_sem_wait_until((long)sem, RT_NO_DEADLINE) != 0;
	rt_leave();
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void case_semaphore(void)
{
	int sem = rt_sem_open("", 0), err = 0;
	struct rt_attr attr = usual;
	pthread_t taker;

	CHECK(sem >= 0 && !pthread_barrier_init(&barrier, NULL, 2));
	taker = run_beside(takes, (void *)(long)sem);
	usleep(soon_ns / 1000 + 20000);
	attr.cpu = 0;	/* the taker's: a virtual CPU that has to come first is late */
	enter(&attr);
	for (int k = 0; k < POSTS; k++) {
		rt_wait(NULL);
		posted[k] = rt_now();
		err = err ?: rt_sem_post(sem);
	}
	rt_leave();
	usleep(10000);
	CHECK(!err && !rt_sem_post(sem));
	pthread_barrier_wait(&barrier);
	pthread_join(taker, NULL);
	CHECK(!taker_errors && taker_timeout == -ETIMEDOUT && timed_out_late < most_late_ns);
	for (int k = 0; k < POSTS; k++)
		CHECK(taken[k] > posted[k] && taken[k] - posted[k] < most_late_ns);
}

static void compute(long turns)
{
	for (volatile long i = 0; i < turns; i++)
		;
}

/* The task that wants the lock of the least urgent one, and the task that wants the CPU meanwhile. */
static struct {
	int lock;
	bool mutex;
	int64_t start, got, middle_ended;
	int errors;
} pathfinder;

static int take(void)
{
	return pathfinder.mutex ? rt_mtx_lock_until(pathfinder.lock, RT_NO_DEADLINE) :
	       rt_sem_wait_until(pathfinder.lock, RT_NO_DEADLINE);
}

static int give(void)
{
	return pathfinder.mutex ? rt_mtx_unlock(pathfinder.lock) : rt_sem_post(pathfinder.lock);
}

static void *is_low(void *unused)
{
	enter_at(pathfinder.start, 30);
	pathfinder.errors += take() != 0;
	compute(100000);
	pathfinder.errors += give() != 0;
	rt_leave();
	pthread_barrier_wait(&barrier);
	return unused;
}

static void *is_middle(void *unused)
{
	enter_at(pathfinder.start + 150000, 20);
	compute(1000000);
	pathfinder.middle_ended = rt_now();
	rt_leave();
	pthread_barrier_wait(&barrier);
	return unused;
}

static void *is_high(void *unused)
{
	enter_at(pathfinder.start + 100000, 10);
	pathfinder.errors += take() != 0;
	pathfinder.got = rt_now();
	pathfinder.errors += give() != 0;
	rt_leave();
	pthread_barrier_wait(&barrier);
	return unused;
}

/* With a task of the kernel's as the most urgent, if @peer. */
static void run_pathfinder(bool mutex, bool peer)
{
	pthread_t thread[3];
	FILE *file;

	pathfinder.mutex = mutex;
	pathfinder.lock = mutex ? rt_mtx_open(peer ? "peer" : "") : rt_sem_open("", 1);
	pathfinder.start = rt_now() + soon_ns;
	CHECK(pathfinder.lock >= 0 && !pthread_barrier_init(&barrier, NULL, peer ? 3 : 4));
	thread[0] = run_beside(is_low, NULL);
	thread[1] = run_beside(is_middle, NULL);
	if (peer) {
		file = fopen("/sys/module/user_peer/parameters/at", "w");
		CHECK(file);
		fprintf(file, "%lld", (long long)pathfinder.start + 100000);
		CHECK(!fclose(file));
	} else {
		thread[2] = run_beside(is_high, NULL);
	}
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < (peer ? 2 : 3); i++)
		pthread_join(thread[i], NULL);
	if (peer) {
		file = fopen("/sys/module/user_peer/parameters/got", "r");
		CHECK(file && fscanf(file, "%ld", &pathfinder.got) == 1 && !fclose(file));
	}
	CHECK(!pathfinder.errors && pathfinder.got > pathfinder.start + 100000);
	CHECK(pathfinder.middle_ended > pathfinder.start + 150000);
}

static void case_inheritance(void)
{
	run_pathfinder(true, false);
	CHECK(pathfinder.got < pathfinder.middle_ended - 500000);
}

static void case_inheritance_from_the_kernel(void)
{
	run_pathfinder(true, true);
	CHECK(pathfinder.got < pathfinder.middle_ended - 500000);
}

/* The control: a semaphore knows no owner. */
static void case_no_inheritance(void)
{
	run_pathfinder(false, false);
	CHECK(pathfinder.got > pathfinder.middle_ended);
}

static void *owns_and_strays(void *unused)
{
	enter_at(pathfinder.start, 30);
	pathfinder.errors += take() != 0;
	compute(100000);
	pathfinder.middle_ended = rt_now();
	getppid();
	pathfinder.errors += give() != -ENOSYS;
	pthread_barrier_wait(&barrier);
	return unused;
}

static void *comes_after(void *result)
{
	enter_at(pathfinder.start + 10000, 10);
	*(int *)result = take();
	pathfinder.got = rt_now();
	pathfinder.errors += give() != 0;
	rt_leave();
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* A demotion gives mutexes up at once: nobody waits for Linux. */
static void case_owner_demoted(void)
{
	pthread_t thread[2];
	int result = 0;

	pathfinder.mutex = true;
	pathfinder.lock = rt_mtx_open(NULL);
	pathfinder.start = rt_now() + soon_ns;
	CHECK(!pthread_barrier_init(&barrier, NULL, 3));
	thread[0] = run_beside(owns_and_strays, NULL);
	thread[1] = run_beside(comes_after, &result);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	CHECK(!pathfinder.errors && result == -EOWNERDEAD);
	CHECK(pathfinder.got > pathfinder.middle_ended);
	CHECK(pathfinder.got < pathfinder.middle_ended + 3000 + most_late_ns);
}

static int echo_errors;

static void *echoes(void *boxes)
{
	int *box = boxes;
	char text[40];

	enter_at(rt_now() + soon_ns, 10);
	echo_errors += rt_mbx_receive_until(box[0], (void *)0x10, 0) != -EFAULT;
	for (int k = 0; k < 5; k++) {
		echo_errors += rt_mbx_receive_until(box[0], text, RT_NO_DEADLINE) != 0;
		text[0]++;
		echo_errors += rt_mbx_send_until(box[1], text, RT_NO_DEADLINE) != 0;
	}
	echo_errors += rt_mbx_receive_until(box[0], text, rt_now() + 1000) != -ETIMEDOUT;
	rt_leave();
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void case_mailbox(void)
{
	int box[2] = { rt_mbx_open("there", 40, 2), rt_mbx_open("back", 40, 2) };
	char text[40] = "hello";
	pthread_t thread;

	CHECK(box[0] >= 0 && box[1] > box[0] && rt_mbx_open("there", 40, 2) == box[0]);
	CHECK(!rt_mbx_send_until(box[0], text, 0) && !rt_mbx_send_until(box[0], text, 0));
	CHECK(rt_mbx_send_until(box[0], text, 0) == -ETIMEDOUT);
	CHECK(rt_mbx_send_until(box[0], (void *)0x10, 0) == -EFAULT);
	CHECK(!pthread_barrier_init(&barrier, NULL, 2));
	thread = run_beside(echoes, box);
	usleep(soon_ns / 1000);
	for (int k = 0; k < 5; k++) {
		usleep(20000);
		CHECK(!rt_mbx_receive_until(box[1], text, 0) && !strcmp(text, "iello"));
		text[0] = 'h';
		CHECK(k > 2 || !rt_mbx_send_until(box[0], text, 0));
	}
	CHECK(rt_mbx_receive_until(box[1], text, 0) == -ETIMEDOUT);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	CHECK(!echo_errors);
}

/* One waits until the other has counted to it; the mutex is owned in between. */
static struct {
	int mtx, cnd, evt;
	volatile int count;
	int errors, late, got;
	unsigned int had[4];
	int64_t told, woke;
} shop;

static void *wants_three(void *unused)
{
	enter_at(pathfinder.start, 10);
	shop.errors += rt_mtx_lock_until(shop.mtx, RT_NO_DEADLINE) != 0;
	shop.late = rt_cnd_wait_until(shop.cnd, shop.mtx, rt_now() + 100000);
	shop.errors += rt_mtx_lock_until(shop.mtx, 0) != -EDEADLK;
	while (shop.count < 3 && !shop.errors)
		shop.errors += rt_cnd_wait_until(shop.cnd, shop.mtx, RT_NO_DEADLINE) != 0;
	shop.woke = rt_now();
	shop.got = shop.count;
	shop.errors += rt_mtx_unlock(shop.mtx) != 0;
	shop.errors += rt_cnd_wait_until(shop.cnd, shop.mtx, 0) != -EPERM;
	rt_leave();
	pthread_barrier_wait(&barrier);
	return unused;
}

static void *counts_up(void *unused)
{
	enter_at(pathfinder.start + 10000000, 20);
	for (int i = 0; i < 3; i++) {
		shop.errors += rt_mtx_lock_until(shop.mtx, RT_NO_DEADLINE) != 0;
		shop.count++;
		shop.errors += (i < 2 ? rt_cnd_signal(shop.cnd) : rt_cnd_broadcast(shop.cnd)) != 0;
		compute(1000);
		shop.told = rt_now();
		shop.errors += rt_mtx_unlock(shop.mtx) != 0;
	}
	rt_leave();
	pthread_barrier_wait(&barrier);
	return unused;
}

static void run_two(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t thread[2];

	pathfinder.start = rt_now() + soon_ns;
	CHECK(!pthread_barrier_init(&barrier, NULL, 3));
	thread[0] = run_beside(first, NULL);
	thread[1] = run_beside(second, NULL);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

static void case_condition(void)
{
	shop.mtx = rt_mtx_open(NULL);
	shop.cnd = rt_cnd_open("three");
	CHECK(shop.mtx >= 0 && shop.cnd >= 0 && rt_cnd_open("three") == shop.cnd);
	CHECK(rt_cnd_signal(shop.cnd) == -ENOSYS);
	run_two(wants_three, counts_up);
	CHECK(!shop.errors && shop.late == -ETIMEDOUT && shop.got == 3);
	CHECK(shop.woke > shop.told && shop.woke - shop.told < most_late_ns);
}

static void *wants_flags(void *unused)
{
	enter_at(pathfinder.start, 10);
	shop.errors += rt_evt_wait_until(shop.evt, 0x10, RT_EVT_ANY, &shop.had[0], 0) != 0;
	shop.errors += rt_evt_wait_until(shop.evt, 2, RT_EVT_ANY, NULL, 0) != -ETIMEDOUT;
	shop.errors += rt_evt_wait_until(shop.evt, 0, RT_EVT_ANY, NULL, 0) != -EINVAL;
	shop.errors += rt_evt_wait_until(shop.evt, 1, 4, NULL, 0) != -EINVAL;
	shop.errors += rt_evt_wait_until(shop.evt, 3, RT_EVT_ALL | RT_EVT_TAKE, &shop.had[1],
					 RT_NO_DEADLINE) != 0;
	shop.woke = rt_now();
	shop.errors += rt_evt_wait_until(shop.evt, 3, RT_EVT_ANY, NULL, 0) != -ETIMEDOUT;
	/* From Linux. */
	shop.errors += rt_evt_wait_until(shop.evt, 12, RT_EVT_ANY, &shop.had[2],
					 RT_NO_DEADLINE) != 0;
	rt_leave();
	pthread_barrier_wait(&barrier);
	return unused;
}

static void *sets_flags(void *unused)
{
	enter_at(pathfinder.start + 10000000, 20);
	shop.errors += rt_evt_set(shop.evt, 1) != 0;
	shop.told = rt_now();
	shop.errors += rt_evt_set(shop.evt, 2) != 0;
	shop.errors += rt_evt_clear(shop.evt, 0x10) != 0;
	rt_leave();
	shop.errors += rt_evt_set(shop.evt, 8) != 0;
	pthread_barrier_wait(&barrier);
	return unused;
}

static void case_event(void)
{
	shop.evt = rt_evt_open("flags", 0x10);
	CHECK(shop.evt >= 0 && rt_evt_set(99, 1) == -EBADF && rt_cnd_open("flags") == -EEXIST);
	run_two(wants_flags, sets_flags);
	CHECK(!shop.errors);
	CHECK(shop.had[0] == 0x10 && shop.had[1] == 3 && shop.had[2] == 8);
	CHECK(shop.woke > shop.told && shop.woke - shop.told < most_late_ns);
}

/* Of a program demoted in a wait for a condition: the mutex is nobody's, the signal another's. */
static void case_condition_cut_short(void)
{
	struct itimerval soon = { .it_value.tv_usec = 50000 };
	int cut, mine, again;

	shop.mtx = rt_mtx_open(NULL);
	shop.cnd = rt_cnd_open(NULL);
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &soon, NULL);
	enter(&usual);
	mine = rt_mtx_lock_until(shop.mtx, 0);
	cut = rt_cnd_wait_until(shop.cnd, shop.mtx, RT_NO_DEADLINE);
	CHECK(!mine && cut == -EINTR);
	enter(&usual);
	again = rt_mtx_lock_until(shop.mtx, 0);
	rt_leave();
	CHECK(again == 0);
}

/* Memory that is shared with the kernel's RT code, by its name. */
static void case_shared_memory(void)
{
	volatile int *mine = rt_shm_map("user_check", 4096, 0600);
	volatile int *other = rt_shm_map("user_check", 4096, 0);
	struct rt_stat stat;
	int err, got;

	CHECK(mine && other && mine != other);
	enter(&usual);
	mine[0] = 17;
	got = other[0];
	err = rt_sleep_until(0);
	rt_leave();
	stat = stat_now();
	CHECK(!err && got == 17 && demotions(&stat) == 1);
}

/* A signal ends the wait; what is posted afterwards is there for the next one. */
static void case_wait_cut_short(void)
{
	struct itimerval soon = { .it_value.tv_usec = 50000 };
	int sem = rt_sem_open(NULL, 0), cut, next, empty;

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &soon, NULL);
	enter(&usual);
	cut = rt_sem_wait_until(sem, RT_NO_DEADLINE);
	CHECK(!rt_sem_post(sem));
	enter(&usual);
	next = rt_sem_wait_until(sem, 0);
	empty = rt_sem_wait_until(sem, 0);
	rt_leave();
	CHECK(cut == -EINTR && next == 0 && empty == -ETIMEDOUT);
}

static void case_objects_refused(void)
{
	int sem = rt_sem_open("mine", 0), err, place = 0, status;
	pid_t pid;

	CHECK(sem >= 0 && rt_mtx_open("mine") == -EEXIST && rt_mbx_open("mine", 1, 1) == -EEXIST);
	CHECK(rt_sem_open("a name of more than thirty-one bytes", 0) == -EINVAL);
	CHECK(rt_sem_open("white space", 0) == -EINVAL && rt_sem_open("x", 1U << 31) == -EINVAL);
	CHECK(rt_mbx_open("x", 1025, 1) == -EINVAL && rt_mbx_open("x", 1024, 65) == -EINVAL);
	CHECK(rt_mbx_open("x", 0, 1) == -EINVAL && rt_mbx_open("x", 1, 0) == -EINVAL);
	CHECK(rt_sem_post(77) == -EBADF && rt_mbx_send_until(sem, "x", 0) == -EBADF);
	CHECK(rt_mtx_lock_until(sem, 0) == -ENOSYS);
	enter(&usual);
	err = rt_mtx_lock_until(sem, 0) == -EBADF && rt_sem_wait_until(-1, 0) == -EBADF;
	rt_leave();
	CHECK(err);
	pid = fork();
	if (!pid) {
		if (rt_init() || setresuid(65534, 65534, 65534))
			_exit(1);
		_exit(rt_sem_open("mine", 0) == -EACCES && rt_sem_open(NULL, 0) >= 0 ? 0 : 2);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	while (place >= 0 && place < RT_OBJECTS_MOST)
		place = rt_sem_open(NULL, 0);
	CHECK(place == -EMFILE);
}

/* ---- refusals ---- */

static void refused(const struct rt_attr *attr, int err, const char *word)
{
	int got = rt_enter(attr);

	if (got != err || !strstr(rt_why(), word))
		printf("%d: %s\n", got, rt_why());
	CHECK(got == err && strstr(rt_why(), word));
}

static void case_refused_afterwards(void)
{
	struct rt_attr attr = usual;

	enter(&usual);
	rt_leave();
	attr.cpu = 99;
	refused(&attr, -EINVAL, "CPU");
}

static void case_refusals(void)
{
	struct rlimit little = { 16384, 16384 };
	struct rt_attr attr = usual;

	attr.period_ns = 100;
	refused(&attr, -EINVAL, "period");
	attr = usual;
	attr.priority = 0;
	refused(&attr, -EINVAL, "priority");
	attr = usual;
	attr.cpu = 99;
	refused(&attr, -EINVAL, "CPU");
	attr = usual;
	attr.budget_ns = attr.period_ns + 1;
	refused(&attr, -EINVAL, "budget");
	attr = usual;
	attr.flags = 1 << 20;
	refused(&attr, -EINVAL, "flags");
	CHECK(!setrlimit(RLIMIT_MEMLOCK, &little) && !setresuid(65534, 65534, 65534));
	refused(&usual, -EAGAIN, "RLIMIT_MEMLOCK");
	attr = usual;
	attr.budget_ns = 0;
	refused(&attr, -EPERM, "CAP_SYS_ADMIN");
}

static pthread_barrier_t turn;
static volatile int second_try;

static void *holds_a_third(void *unused)
{
	struct rt_attr attr = usual;

	attr.cpu = 0;
	attr.budget_ns = PERIOD_NS / 3;
	enter(&attr);
	pthread_barrier_wait(&turn);	/* demoted, and given back */
	enter(&attr);
	while (!second_try)
		rt_wait(NULL);
	rt_leave();
	pthread_barrier_wait(&turn);
	return unused;
}

/* What a user who is not root may have of a CPU: user_budget, over all threads. */
static void of_a_user(void)
{
	struct rlimit much = { RLIM_INFINITY, RLIM_INFINITY };
	struct rt_attr attr = usual;
	pthread_t thread;

	CHECK(!rt_init() && !setrlimit(RLIMIT_MEMLOCK, &much));
	CHECK(!setresuid(65534, 65534, 65534));
	attr.cpu = 0;
	refused(&attr, -EDQUOT, "user_budget");
	attr.budget_ns = PERIOD_NS / 4;
	enter(&attr);
	rt_leave();
	CHECK(!pthread_barrier_init(&turn, NULL, 2));
	thread = run_beside(holds_a_third, NULL);
	pthread_barrier_wait(&turn);
	usleep(50000);
	second_try = rt_enter(&attr);
	CHECK(second_try == -EDQUOT);
	pthread_barrier_wait(&turn);
	pthread_join(thread, NULL);
	enter(&attr);
	rt_leave();
	_exit(0);
}

static void case_user_budget(void)
{
	static const char file[] = "/sys/module/tactus_user/parameters/user_budget";
	int status;

	set_file(file, "0", EINVAL);
	set_file(file, "101", EINVAL);
	set_file(file, "40", 0);
	enter(&usual);		/* root may */
	rt_leave();
	status = status_of(of_a_user);
	set_file(file, "95", 0);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* ---- who may ---- */

#define GROUP 4711	/* whatever number the group tactus has */

static const struct rt_attr no_budget = { .period_ns = PERIOD_NS, .priority = 10, .cpu = -1 };

static void become_nobody(bool in_group)
{
	const gid_t group = GROUP;

	CHECK(!setgroups(in_group, &group) && !setresgid(65534, 65534, 65534));
	CHECK(!setresuid(65534, 65534, 65534));
}

static void drop_capability(int number)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2];

	CHECK(!syscall(SYS_capget, &header, caps));
	caps[number / 32].effective &= ~(1U << number % 32);
	caps[number / 32].permitted &= ~(1U << number % 32);
	CHECK(!syscall(SYS_capset, &header, caps));
}

static int lines_of(const char *path, const char *word)
{
	FILE *file = fopen(path, "r");
	char line[400];
	int count = 0;

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		count += strstr(line, word) != NULL;
	fclose(file);
	return count;
}

/* As refused(), and no task is there, no page is pinned, and the thread was never in RT mode. */
static void refused_for_good(const struct rt_attr *attr, int err, const char *word)
{
	int tasks = lines_of("/sys/kernel/tactus/tasks", "");
	struct rt_stat stat;

	refused(attr, err, word);
	CHECK(lines_of("/sys/kernel/tactus/tasks", "") == tasks);
	CHECK(lines_of("/proc/self/status", "VmPin:\t       0 kB") == 1);
	CHECK(rt_stat(&stat) || (!stat.promotions && stat.reason == RT_END_NONE));
	CHECK(rt_wait(NULL) == -EPERM && rt_sleep_until(0) == -ENOSYS);
}

/* After its memory has been pinned. With admission=enforce alone; else it is admitted. */
static void case_not_admitted(void)
{
	bool enforced = lines_of("/sys/module/tactus/parameters/admission", "enforce");
	struct rt_attr attr = usual;

	attr.budget_ns = attr.period_ns;
	if (enforced)
		refused_for_good(&attr, -ENOSPC, "would not fit");
	enter(enforced ? &usual : &attr);
	rt_leave();
}

static void allowed(void)
{
	enter(&usual);
	rt_leave();
	_exit(0);
}

static void without_the_group(void)
{
	become_nobody(false);
	refused_for_good(&usual, -EACCES,
			 "/dev/rt cannot be opened: is the user in the group tactus?");
	_exit(0);
}

static void nobody_without_a_budget(void)
{
	become_nobody(true);
	refused_for_good(&no_budget, -EPERM, "CAP_SYS_ADMIN");
	allowed();
}

/* The other capabilities of root do not help. */
static void root_without_a_budget(void)
{
	drop_capability(CAP_SYS_ADMIN);
	refused_for_good(&no_budget, -EPERM, "CAP_SYS_ADMIN");
	allowed();
}

static void root_above_the_ceiling(void)
{
	drop_capability(CAP_SYS_ADMIN);
	refused_for_good(&usual, -EDQUOT, "user_budget");
	_exit(0);
}

static void limit_memory(void)
{
	struct rlimit little = { 16384, 16384 };

	CHECK(!setrlimit(RLIMIT_MEMLOCK, &little));
}

static void above_the_memory(void)
{
	limit_memory();
	become_nobody(true);
	refused_for_good(&usual, -EAGAIN, "RLIMIT_MEMLOCK");
	_exit(0);
}

/* Root's rlimit counts as soon as its right to pass it is gone. */
static void root_above_the_memory(void)
{
	limit_memory();
	drop_capability(CAP_IPC_LOCK);
	refused_for_good(&usual, -EAGAIN, "RLIMIT_MEMLOCK");
	_exit(0);
}

/* ---- the limit of pinned memory, while another thread still has the memory of before ---- */

static pthread_barrier_t all_there;
static volatile char *given_back;
static volatile int given, over, worst;

static void one_job(void)
{
	int err = rt_wait(NULL);

	if (err && err != -ETIMEDOUT)
		worst = err;
}

static void jobs_until(const volatile int *end)
{
	while (!*end && !worst)
		one_job();
}

static void *pins_beside(void *unused)
{
	struct rt_attr attr = usual;

	attr.budget_ns = PERIOD_NS / 3;
	pthread_barrier_wait(&all_there);
	drop_capability(CAP_IPC_LOCK);
	enter(&attr);
	jobs_until(&over);
	rt_leave();
	return unused;
}

static void *gives_back(void *unused)
{
	pthread_barrier_wait(&all_there);
	usleep(soon_ns / 1000);
	madvise((void *)given_back, 4096, MADV_DONTNEED);
	given = 1;
	return unused;
}

/* On one CPU the urgent thread is back before the other one has got out of RT mode. */
static void case_pinned_twice(void)
{
	struct sched_param urgent = { .sched_priority = 50 };
	struct rt_attr attr = usual;
	pthread_t beside, thread;
	struct rlimit limit;

	given_back = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	attr.budget_ns = PERIOD_NS / 3;
	pthread_barrier_init(&all_there, NULL, 3);
	pthread_create(&beside, NULL, pins_beside, NULL);
	pthread_create(&thread, NULL, gives_back, NULL);
	enter(&attr);
	rt_leave();
	limit.rlim_cur = limit.rlim_max = stat_now().pages * 4096 * 3 / 2;
	CHECK(!setrlimit(RLIMIT_MEMLOCK, &limit));
	drop_capability(CAP_IPC_LOCK);
	CHECK(!sched_setscheduler(0, SCHED_FIFO, &urgent));
	pthread_barrier_wait(&all_there);
	enter(&attr);
	jobs_until(&given);
	for (int k = 0; k < 20 && !worst; k++)
		one_job();
	rt_leave();
	over = 1;
	pthread_join(thread, NULL);
	pthread_join(beside, NULL);
	if (worst)
		printf("rt_wait(): %d\n", worst);
	CHECK(!worst);
	CHECK(stat_now().demotions[RT_END_MEMORY]);
}

/* A child of fork() has a /dev/rt of its own, but only if its parent had one. */
static int devices_open(void)
{
	char path[40], where[40];
	int count = 0;

	for (int fd = 0; fd < 64; fd++) {
		ssize_t bytes;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		bytes = readlink(path, where, sizeof(where) - 1);
		where[bytes > 0 ? bytes : 0] = '\0';
		count += !strcmp(where, "/dev/rt");
	}
	return count;
}

static void has_one(void)
{
	CHECK(devices_open() == 1);
	allowed();
}

static void case_one_device(void)
{
	CHECK(devices_open() == 0);
	CHECK(!rt_init() && devices_open() == 1);
	CHECK(!status_of(has_one));
}

/* ---- as systemd sets a service's limits: LimitMEMLOCK=, as root; then the groups and User= ---- */

static struct rlimit memlock;
static bool by_group;	/* Group=tactus, not SupplementaryGroups=tactus */
static int own_pages[2];

static void become_a_service(void)
{
	const gid_t group = GROUP, own = by_group ? GROUP : 65534;

	CHECK(!setrlimit(RLIMIT_MEMLOCK, &memlock));
	CHECK(!setgroups(!by_group, &group) && !setresgid(own, own, own));
	CHECK(!setresuid(65534, 65534, 65534));
}

static struct rlimit limit_of(unsigned long long soft, unsigned long long hard)
{
	return (struct rlimit) { soft * 4096, hard * 4096 };
}

static void served(void)
{
	char pinned[40];

	enter(&usual);
	rt_leave();
	snprintf(pinned, sizeof(pinned), "VmPin:\t%8llu kB", stat_now().pages * 4);
	CHECK(lines_of("/proc/self/status", pinned) == 1);
}

static void tell_pages(void)
{
	int pages;

	become_a_service();
	served();
	pages = stat_now().pages;
	_exit(write(own_pages[1], &pages, sizeof(pages)) != sizeof(pages));
}

static void within_the_limit(void)
{
	become_a_service();
	served();
	_exit(0);
}

static void a_page_short(void)
{
	become_a_service();
	refused_for_good(&usual, -EAGAIN, "more memory than RLIMIT_MEMLOCK");
	_exit(0);
}

/* The soft one counts, and a program may raise it. */
static void until_it_is_raised(void)
{
	become_a_service();
	refused_for_good(&usual, -EAGAIN, "more memory than RLIMIT_MEMLOCK");
	memlock.rlim_cur = memlock.rlim_max;
	CHECK(!setrlimit(RLIMIT_MEMLOCK, &memlock));
	served();
	_exit(0);
}

static int addresses(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	int pages = 0;

	CHECK(file && fscanf(file, "%d", &pages) == 1);
	fclose(file);
	return pages;
}

/* What is locked is not counted with what is pinned. */
static void locked_too(void)
{
	become_a_service();
	CHECK(!mlockall(MCL_CURRENT | MCL_FUTURE));
	served();
	_exit(0);
}

static void not_locked(void)
{
	become_a_service();
	CHECK(mlockall(MCL_CURRENT | MCL_FUTURE) && errno == ENOMEM);
	_exit(0);
}

/* Children have the same areas of memory, so that they need the same number of pages. */
static void case_service_limits(void)
{
	int all, pages = 0, status[8];

	/* Theirs has the heap that reading a file takes, too. */
	CHECK(!pipe(own_pages) && lines_of("/proc/self/status", "VmPin") == 1);
	all = addresses();
	CHECK(!chown("/dev/rt", 0, GROUP) && !chmod("/dev/rt", 0660));
	memlock = limit_of(1 << 20, 1 << 20);
	status[0] = status_of(tell_pages);
	if (!status[0] && read(own_pages[0], &pages, sizeof(pages)) != sizeof(pages))
		pages = 0;
	memlock = limit_of(pages, pages);
	status[1] = status_of(within_the_limit);
	memlock = limit_of(pages - 1, pages - 1);
	status[2] = status_of(a_page_short);
	memlock = limit_of(pages - 1, pages);
	status[3] = status_of(until_it_is_raised);
	by_group = true;
	memlock = limit_of(pages, pages);
	status[4] = status_of(within_the_limit);
	memlock = limit_of(pages - 1, pages - 1);
	status[5] = status_of(a_page_short);
	memlock = limit_of(all, all);
	status[6] = status_of(locked_too);
	memlock = limit_of(all - 1, all - 1);
	status[7] = status_of(not_locked);
	CHECK(!chown("/dev/rt", 0, 0) && !chmod("/dev/rt", 0600));
	CHECK(pages > 10);
	for (int i = 0; i < 8; i++)
		CHECK(WIFEXITED(status[i]) && !WEXITSTATUS(status[i]));
}

static void case_who_may(void)
{
	static const char ceiling[] = "/sys/module/tactus_user/parameters/user_budget";
	static void (*const who[])(void) = {
		without_the_group, nobody_without_a_budget, root_without_a_budget,
		above_the_memory, root_above_the_memory, root_above_the_ceiling,
	};
	const int count = sizeof(who) / sizeof(who[0]);
	int status[sizeof(who) / sizeof(who[0])];

	/* As udev's rule has it. */
	CHECK(!chown("/dev/rt", 0, GROUP) && !chmod("/dev/rt", 0660));
	for (int i = 0; i < count; i++) {
		if (i == count - 1)
			set_file(ceiling, "40", 0);
		status[i] = status_of(who[i]);
	}
	set_file(ceiling, "95", 0);
	CHECK(!chown("/dev/rt", 0, 0) && !chmod("/dev/rt", 0600));
	for (int i = 0; i < count; i++)
		CHECK(WIFEXITED(status[i]) && !WEXITSTATUS(status[i]));
}

/* ---- all of them ---- */

#define CASES(do)								\
	do(jobs) do(the_shadow_is_kept) do(sleep) do(null) do(kernel_memory)	\
	do(faults_beside) do(privileged) do(divide) do(invalid) do(breakpoint) do(single_step)	\
	do(port) do(port_beyond) do(ports) do(all_ports)			\
	do(syscall) do(int80) do(vdso) do(back_again) do(demote_signal)		\
	do(demote_abort) do(demotion_is_told) do(budget) do(signals) do(kill) do(exec) do(fork)	\
	do(entry_beside_forks) do(dontneed) do(mapped_over) do(thrown_away) do(new_memory)	\
	do(pinned_twice) do(threads) do(ptrace) do(fifo) do(fifo_pages) do(huge_pages)	\
	do(semaphore) do(inheritance) do(no_inheritance)			\
	do(inheritance_from_the_kernel) do(owner_demoted) do(mailbox)		\
	do(wait_cut_short) do(condition) do(event) do(condition_cut_short)	\
	do(shared_memory) do(objects_refused)					\
	do(refused_afterwards) do(not_admitted) do(refusals) do(user_budget)	\
	do(one_device) do(who_may) do(service_limits)

#define ENTRY(name) { #name, case_##name },
static const struct {
	const char *name;
	void (*run)(void);
} cases[] = { CASES(ENTRY) };

static bool passes(void (*run)(void), char *why, size_t bytes)
{
	int pipes[2], status;
	size_t had = 0;
	ssize_t got;
	pid_t pid;

	if (pipe(pipes))
		return false;
	pid = fork();
	if (!pid) {
		dup2(pipes[1], 1);
		close(pipes[0]);
		close(pipes[1]);
		alarm(20);
		run();
		fflush(stdout);
		_exit(0);
	}
	close(pipes[1]);
	while ((got = read(pipes[0], why + had, bytes - 1 - had)) > 0)
		had += got;
	close(pipes[0]);
	why[had] = '\0';
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		snprintf(why + had, bytes - had, "signal %d", WTERMSIG(status));
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	bool failed = false;
	char why[400];

	if (argc == 2 && !strcmp(argv[1], "executed"))
		return 0;
	slow = getenv("SLOW");
	soon_ns *= slow ? 10 : 1;
	most_late_ns = slow || get_nprocs() > 1 ? MOST_LATE_IN_TURNS_NS : MOST_LATE_NS;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool wanted = argc == 1;

		for (int a = 1; a < argc; a++)
			wanted |= !strcmp(argv[a], cases[i].name);
		if (!wanted)
			continue;
		if (passes(cases[i].run, why, sizeof(why))) {
			printf("ok %s\n", cases[i].name);
		} else {
			for (char *c = why; *c; c++)
				*c = *c == '\n' ? ' ' : *c;
			printf("not ok %s: %s\n", cases[i].name, why);
			failed = true;
		}
		fflush(stdout);
	}
	return failed;
}
