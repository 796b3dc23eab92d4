// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hosted mode: RT code runs in hard-irq context of an untouched Linux. The one-shot event is a
 * pinned hard hrtimer, an RT interrupt is a Linux interrupt, an IPI is a cross-CPU
 * function call.
 *
 * So RT code comes when Linux lets its interrupts come: lateness is bounded by Linux's
 * longest section with interrupts off, by nothing else. The rules for RT code are the same.
 *
 * Interrupts stay off while RT code runs, tasks included. That is what makes switching stacks legal
 * inside of a Linux interrupt: the switch away from Linux's stack and the one back to it
 * happen in the same interrupt, with nothing of Linux in between but NMIs, which have a stack of
 * their own. `current' and the preempt count stay those of the interrupt, and rt_switch()
 * keeps the stack protector's canary. An unwinder that meets an RT stack stops there. And
 * it is why a job runs to its end: no interrupt can bring another task forward.
 *
 * "Out-of-band" is pl_cpu.oob here as well, "in an RT interrupt" pl_cpu.irq_depth; the rest of the
 * pipeline's per-CPU state is not used, and pl_core.active stays false.
 *
 * Locking: a CPU's hardlock may be held around the calls of hrtimers and cross-CPU calls. Theirs
 * are taken inside of it, with interrupts off, and never around RT code.
 */
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/jump_label.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include "compat/hrtimer.h"
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/hosted.h"
#include "pipeline/control.h"
#include "pipeline/pipeline.h"
#include "pipeline/x86/machine.h"

#define HIGH_RESOLUTION_NS 1
#define RESOLUTION_WAIT_MS 5000
#define RESOLUTION_POLL_MS 50

/* @sent: an IPI is on its way, and @ipi is its sender's alone */
struct hosted {
	struct hrtimer timer;
	call_single_data_t ipi;
	int sent;
};

DEFINE_STATIC_KEY_FALSE(pl_hosted_key);

static DEFINE_PER_CPU(struct hosted, hosted);
static const struct pl_client *client;
static bool active;
static u64 since_ns;
static int hotplug_state;

/* ---- the stage ---- */

/* To Linux, RT code is a hard interrupt: nothing in it may sleep or schedule. */
static void enter(struct pl_cpu *cpu)
{
	__preempt_count_add(HARDIRQ_OFFSET);
	cpu->oob = true;
}

static void leave(struct pl_cpu *cpu)
{
	cpu->oob = false;
	__preempt_count_sub(HARDIRQ_OFFSET);
}

/* An RT interrupt: @fn, then whatever task it made ready. Context: Linux's hard irq. */
static void interrupt(void (*fn)(void))
{
	struct pl_cpu *cpu;
	unsigned long flags;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&pl_cpu);
	if (READ_ONCE(active)) {
		enter(cpu);
		cpu->stats.oob++;
		cpu->irq_depth++;
		fn();
		cpu->irq_depth--;
		client->resched();
		leave(cpu);
	}
	local_irq_restore(flags);
}

void pl_hosted_interrupt(void (*handler)(void))
{
	interrupt(handler);
}

/* Context: any but NMI. */
void pl_hosted_run(void (*fn)(void *arg), void *arg)
{
	struct pl_cpu *cpu;
	unsigned long flags;
	bool outside;

	local_irq_save(flags);
	cpu = this_cpu_ptr(&pl_cpu);
	outside = READ_ONCE(active) && !cpu->oob;
	if (outside)
		enter(cpu);
	if (fn)
		fn(arg);
	if (outside) {
		client->resched();
		leave(cpu);
	}
	local_irq_restore(flags);
}

/* ---- clock, timer, IPI ---- */

/* The clock of hrtimers. Context: any. */
u64 pl_hosted_clock(void)
{
	return ktime_get_mono_fast_ns();
}

/* Context: any, interrupts off; also the timer's own function. */
void pl_hosted_arm(u64 when)
{
	struct hrtimer *timer = this_cpu_ptr(&hosted.timer);

	if (when > KTIME_MAX)
		hrtimer_try_to_cancel(timer);
	else if (READ_ONCE(active))
		hrtimer_start(timer, ns_to_ktime(when), HRTIMER_MODE_ABS_PINNED_HARD);
}

static void timer_due(void)
{
	client->timer(pl_hosted_clock());
}

static enum hrtimer_restart expired(struct hrtimer *timer)
{
	interrupt(timer_due);
	return HRTIMER_NORESTART;	/* it may have been started anew */
}

/*
 * One that is on its way already will do. Linux wants the callers with one call_single_data
 * strictly one after the other: two that find it free would queue it twice, and the target would go
 * round in its queue for ever. Ours are many, on all CPUs, and RT code may come between any two of
 * their instructions: so who sends is decided by an exchange.
 *
 * Context: any but NMI.
 */
void pl_hosted_ipi(int cpu)
{
	struct hosted *target = per_cpu_ptr(&hosted, cpu);

	if (xchg(&target->sent, 1))
		return;
	/* A CPU that is off line has nothing to do. */
	if (smp_call_function_single_async(cpu, &target->ipi))
		smp_store_release(&target->sent, 0);
}

static void ipi(void *unused)
{
	/* Linux has unlocked the call_single_data. What is sent from here on comes again. */
	xchg(this_cpu_ptr(&hosted.sent), 0);
	interrupt(client->ipi);
}

/* A job has ended: is somebody else's turn by now? */
void pl_poll(void)
{
	struct pl_cpu *cpu = this_cpu_ptr(&pl_cpu);

	if (!pl_hosted())
		return;
	cpu->irq_depth++;
	timer_due();
	cpu->irq_depth--;
}

/* ---- CPUs. Context: the CPU's own hotplug thread. ---- */

static int come(unsigned int cpu)
{
	return READ_ONCE(active) ? client->cpu_comes(cpu) : 0;
}

static int go(unsigned int cpu)
{
	int err = READ_ONCE(active) ? client->cpu_leaves(cpu) : 0;

	if (err)
		pr_warn("CPU %u stays online: it has RT tasks or timers\n", cpu);
	else
		hrtimer_cancel(per_cpu_ptr(&hosted.timer, cpu));
	return err;
}

/* ---- start, stop ---- */

int pl_hosted_check(void)
{
	if (pl_core_abi != PL_CORE_ABI) {
		pr_err("refused: the resident tactus_core is of another version; reboot to replace it\n");
		return -EOPNOTSUPP;
	}
	/* In the first seconds after boot they are not yet; see pl_tick_wait(). */
	for (int waited = 0; hrtimer_resolution > HIGH_RESOLUTION_NS;
	     waited += RESOLUTION_POLL_MS) {
		if (waited >= RESOLUTION_WAIT_MS) {
			pr_err("refused: mode=hosted needs high-resolution timers, and Linux's have %u ns; nothing was changed\n",
			       hrtimer_resolution);
			return -EOPNOTSUPP;
		}
		msleep(RESOLUTION_POLL_MS);
	}
	return pl_machine_check_calls();
}

int pl_hosted_start(const struct pl_client *the_client)
{
	int err, cpu;

	err = pl_hosted_check();
	if (err)
		return err;
	client = the_client;
	for_each_possible_cpu(cpu) {
		struct hosted *h = per_cpu_ptr(&hosted, cpu);

		compat_hrtimer_setup(&h->timer, expired, CLOCK_MONOTONIC,
				     HRTIMER_MODE_ABS_PINNED_HARD);
		INIT_CSD(&h->ipi, ipi, NULL);
		h->sent = 0;
	}
	static_branch_enable(&pl_hosted_key);
	err = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "tactus:hosted", come, go);
	if (err < 0) {
		static_branch_disable(&pl_hosted_key);
		return err;
	}
	hotplug_state = err;
	since_ns = ktime_get_boottime_ns();
	WRITE_ONCE(active, true);
	return 0;
}

static void nothing(void *unused)
{
}

void pl_hosted_stop(void)
{
	int cpu;

	if (!active)
		return;
	WRITE_ONCE(active, false);
	since_ns = 0;
	cpuhp_remove_state_nocalls(hotplug_state);
	for_each_possible_cpu(cpu)
		hrtimer_cancel(per_cpu_ptr(&hosted.timer, cpu));
	/* IPIs that are on their way come before this one. */
	on_each_cpu(nothing, NULL, 1);
}

bool pl_hosted_active(void)
{
	return READ_ONCE(active);
}

u64 pl_hosted_since_ns(void)
{
	return since_ns;
}
