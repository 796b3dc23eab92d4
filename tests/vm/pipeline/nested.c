// SPDX-License-Identifier: GPL-2.0-only
/*
 * nested SECONDS: a machine inside the machine, by KVM. Its one CPU counts by port output, which
 * leaves it each time, and then spins for ever: only a signal gets it out. The
 * machine is entered a little later each time, from well before the signal to after it, so that some
 * come in between KVM's last look for signals and the entry.
 * Prints: outs (in order, all of them), kicks (signals that got it out), max_late_ms (of those).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define OUTS_A_TURN 16
#define KICK_US 20
#define PHASES 600
#define PHASE_TURNS 7

/* Real mode at 0: out %al,$16; inc %al; loop; then spin. */
static const unsigned char code[] = {
	0xb9, OUTS_A_TURN, 0x00,	/* mov $OUTS_A_TURN, %cx */
	0xe6, 0x10,			/* 3: out %al, $16 */
	0xfe, 0xc0,			/* inc %al */
	0xe2, 0xfa,			/* loop 3 */
	0xeb, 0xfe,			/* 9: jmp 9 */
};

static struct kvm_run *run;

/* Before the machine is entered: do not enter it. Inside: KVM leaves it for the signal. */
static void on_alarm(int number)
{
	(void)number;
	run->immediate_exit = 1;
}

static int fail(const char *what)
{
	perror(what);
	exit(1);
}

static int ask(int fd, unsigned long request, void *argument, const char *what)
{
	int result = ioctl(fd, request, argument);

	return result < 0 ? fail(what) : result;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	double end = now_ms() + 1e3 * (argc > 1 ? atof(argv[1]) : 1), due, late, max_late = 0;
	struct itimerval once = { .it_value = { .tv_usec = KICK_US } };
	struct sigaction action = { .sa_handler = on_alarm };
	struct kvm_userspace_memory_region region = { .memory_size = 4096 };
	struct kvm_sregs sregs;
	struct kvm_regs regs;
	unsigned long outs = 0, wrong = 0, kicks = 0;
	unsigned char *memory, expected = 0;
	unsigned int phase = 0;
	int kvm, vm, cpu;

	kvm = open("/dev/kvm", O_RDWR);
	if (kvm < 0)
		fail("/dev/kvm");
	vm = ask(kvm, KVM_CREATE_VM, NULL, "KVM_CREATE_VM");
	memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memcpy(memory, code, sizeof(code));
	region.userspace_addr = (unsigned long)memory;
	ask(vm, KVM_SET_USER_MEMORY_REGION, &region, "KVM_SET_USER_MEMORY_REGION");
	cpu = ask(vm, KVM_CREATE_VCPU, NULL, "KVM_CREATE_VCPU");
	run = mmap(NULL, ask(kvm, KVM_GET_VCPU_MMAP_SIZE, NULL, "KVM_GET_VCPU_MMAP_SIZE"),
		   PROT_READ | PROT_WRITE, MAP_SHARED, cpu, 0);
	if (memory == MAP_FAILED || run == MAP_FAILED)
		fail("mmap");
	ask(cpu, KVM_GET_SREGS, &sregs, "KVM_GET_SREGS");
	sregs.cs.base = sregs.cs.selector = 0;
	ask(cpu, KVM_SET_SREGS, &sregs, "KVM_SET_SREGS");
	sigaction(SIGALRM, &action, NULL);

	while (now_ms() < end) {
		memset(&regs, 0, sizeof(regs));
		regs.rax = expected;
		regs.rflags = 2;
		ask(cpu, KVM_SET_REGS, &regs, "KVM_SET_REGS");
		for (unsigned int i = 0; i < OUTS_A_TURN;) {
			if (ioctl(cpu, KVM_RUN, NULL) < 0)
				fail("KVM_RUN");
			if (run->exit_reason != KVM_EXIT_IO ||
			    ((unsigned char *)run)[run->io.data_offset] != expected)
				wrong++;
			expected++;
			outs++;
			i++;
		}
		/* Now it spins. */
		run->immediate_exit = 0;
		due = now_ms() + KICK_US / 1e3;
		setitimer(ITIMER_REAL, &once, NULL);
		phase = (phase + 1) % PHASES;
		for (volatile unsigned int turn = 0; turn < PHASE_TURNS * phase; turn++)
			;
		if (ioctl(cpu, KVM_RUN, NULL) >= 0 || errno != EINTR)
			wrong++;
		late = now_ms() - due;
		if (late > max_late)
			max_late = late;
		kicks++;
		run->immediate_exit = 0;
	}
	printf("nested: outs=%lu kicks=%lu wrong=%lu max_late_ms=%.1f\n", outs, kicks, wrong, max_late);
	return wrong != 0;
}
