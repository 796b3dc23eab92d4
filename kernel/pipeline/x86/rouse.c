// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that do not answer Linux, and so would keep the pipeline from being switched off: RT code
 * runs there with hardware interrupts off, or an interrupt was not acknowledged and keeps all
 * others waiting, or Linux is stalled for good.
 *
 * Only an NMI gets through to such a CPU. It ends RT code as a fault of that code would, see
 * trap.c; it acknowledges what is in service; and a CPU that has not answered for long is
 * unstalled, since Linux is lost there either way. After that the ordinary way out is open.
 *
 * Each CPU has a timer of Linux's and looks whether those of the others come: in an interrupt, for
 * processes may already be waiting for the CPU in question. If no CPU is left to look, an NMI from
 * elsewhere does the same, such as those of Linux's own lock-up detector.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/smp.h>
#include <asm/apic.h>
#include <asm/trapnr.h>
#include "compat/hrtimer.h"
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/control.h"
#include "pipeline/pipeline.h"
#include "pipeline/x86/irq/lines.h"
#include "pipeline/x86/patch/nmigate.h"
#include "pipeline/x86/rouse.h"
#include "pipeline/x86/switchover.h"
#include "pipeline/x86/trap.h"

#define ANSWER_NS 1000000000ULL
#define LOOK_NS 500000000ULL
#define LONG_NMIS 4		/* one each ANSWER_NS or so: after these, Linux counts as lost */
#define LATE_NS 10000000000ULL

/* What the CPU restores on the way out of an NMI. */
struct iret_frame {
	unsigned long ip, cs, flags, sp, ss;
};

/**
 * struct watch - one CPU, as the others see it
 * @timer: one of Linux's, on that CPU
 * @seen: when it came, or a CPU last did something about it, ns of pl_clock(); 0: not watched
 * @sent: NMIs since it came
 */
struct watch {
	struct hrtimer timer;
	u64 seen;
	atomic_t sent;
};

static DEFINE_PER_CPU(struct watch, watches);
static DEFINE_PER_CPU(u64, helped);	/* when an NMI from elsewhere did, ns of pl_clock() */
static u64 late_at = U64_MAX;

/* ---- on the CPU that does not answer. Context: NMI. ---- */

/*
 * RT code does not go on. For an NMI that hits the kernel, Linux's entry code keeps two copies of
 * where to return to: above @regs lies the one that the CPU reads.
 */
static void end_rt_code(struct pt_regs *regs)
{
	struct iret_frame *frame = (struct iret_frame *)(regs + 1);

	if (frame->ip != regs->ip || frame->cs != regs->cs || frame->sp != regs->sp)
		return;
	if (!pl_fault(regs, 0, X86_TRAP_NMI))
		return;
	frame->ip = regs->ip;
	frame->sp = regs->sp;
	frame->flags = regs->flags;
}

static bool in_service(void)
{
	u32 found = 0;

	for (int word = 0; word < PL_VECTORS / 32; word++)
		found |= pl_core.apic_read(APIC_ISR + word * 0x10);
	return found;
}

static void help(struct pt_regs *regs, bool long_ago)
{
	struct pl_cpu *cpu = this_cpu_ptr(&pl_cpu);

	/* Not what interrupted something as delicate as itself. */
	if (!pl_core.active || cpu->nmi_depth > 1)
		return;
	if (cpu->oob) {
		/* Ring 3 cannot turn interrupts off: there the executive's watchdog acts. */
		if (!user_mode(regs))
			end_rt_code(regs);
	} else if (!(regs->flags & X86_EFLAGS_IF)) {
		return;		/* inside the dispatcher, or Linux's own: try again later */
	}
	for (int i = 0; i < PL_VECTORS && in_service(); i++)
		pl_ack();
	if (long_ago && !cpu->oob)
		pl_line_unstall();
	else
		pl_core.ipi_self(pl_core.oob_vector);
}

static void help_now(struct pt_regs *regs)
{
	help(regs, false);
}

static void help_by_force(struct pt_regs *regs)
{
	help(regs, true);
}

void pl_rouse_late(struct pt_regs *regs)
{
	u64 now;

	if (likely(READ_ONCE(late_at) == U64_MAX))
		return;
	now = pl_clock();
	if (now < late_at || now - this_cpu_read(helped) < ANSWER_NS)
		return;
	this_cpu_write(helped, now);
	help(regs, true);
}

/* ---- who looks. Context: Linux's hard irq, but where said. ---- */

struct nmi {
	int cpu;
	pl_nmi_fn fn;
};

static void send(void *arg)
{
	struct nmi *nmi = arg;

	pl_nmi_send(nmi->cpu, nmi->fn);
}

static void rouse(int cpu)
{
	struct watch *watch = per_cpu_ptr(&watches, cpu);
	int sent = atomic_inc_return(&watch->sent);
	struct nmi nmi = { .cpu = cpu, .fn = sent > LONG_NMIS ? help_by_force : help_now };

	if (sent == 1)
		pr_warn("CPU %d does not answer Linux: it gets an NMI\n", cpu);
	else if (sent == 2 * LONG_NMIS)
		pr_err("CPU %d does not answer Linux, NMIs or not: switching off waits for it\n",
		       cpu);
	pl_stalled(send, &nmi);
}

/* This CPU is well. Are the others? */
static enum hrtimer_restart look(struct hrtimer *timer)
{
	struct watch *mine = container_of(timer, struct watch, timer);
	u64 now = pl_clock();
	int cpu;

	if (!pl_active())
		return HRTIMER_NORESTART;
	WRITE_ONCE(mine->seen, now);
	atomic_set(&mine->sent, 0);
	for_each_online_cpu(cpu) {
		struct watch *watch = per_cpu_ptr(&watches, cpu);
		u64 seen = READ_ONCE(watch->seen);

		/* Whoever gets there first; the CPU is given time to say so again. */
		if (seen && (s64)(now - seen) > (s64)ANSWER_NS &&
		    cmpxchg(&watch->seen, seen, now) == seen)
			rouse(cpu);
	}
	hrtimer_forward_now(timer, ns_to_ktime(LOOK_NS));
	return HRTIMER_RESTART;
}

/* On each CPU. */
static void begin(void *wait_ns)
{
	struct watch *watch = this_cpu_ptr(&watches);

	atomic_set(&watch->sent, 0);
	WRITE_ONCE(watch->seen, pl_clock() + *(u64 *)wait_ns);
	compat_hrtimer_setup(&watch->timer, look, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&watch->timer, ns_to_ktime(*(u64 *)wait_ns), HRTIMER_MODE_REL_PINNED_HARD);
}

/* Context: Linux process; may sleep. */
void pl_rouse_start(u64 wait_ns)
{
	WRITE_ONCE(late_at, pl_clock() + wait_ns + LATE_NS);
	on_each_cpu(begin, &wait_ns, 1);
}

/* Context: as above. */
void pl_rouse_stop(void)
{
	int cpu;

	WRITE_ONCE(late_at, U64_MAX);
	for_each_possible_cpu(cpu) {
		struct watch *watch = per_cpu_ptr(&watches, cpu);

		if (watch->seen)
			hrtimer_cancel(&watch->timer);
		WRITE_ONCE(watch->seen, 0);
	}
}
