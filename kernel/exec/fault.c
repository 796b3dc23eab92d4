// SPDX-License-Identifier: GPL-2.0-only
/*
 * What becomes of RT code that caused a fault, and what Linux's log says of it. See also
 * pipeline/x86/trap.c.
 *
 * A task is dead from then on, except that it stays listed, as "faulted", until somebody deletes
 * it. What it owned is passed on as if it had been deleted.
 */
#include <linux/kernel.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <asm/trapnr.h>

#include <rt/post.h>
#include "exec/cpu.h"
#include "exec/fault.h"
#include "exec/life.h"

/* A fault as Linux is to print it: claimed out-of-band, freed when printed. */
#define RECORDS 8
enum record_state { RECORD_FREE, RECORD_CLAIMED, RECORD_FULL };

static struct record {
	int state;
	int cpu;
	char task[RT_TASK_NAME_BYTES];	/* empty: a handler or timer function */
	void *timer_fn;
	struct pt_regs regs;
	unsigned long address, error_code;
	u8 vector;
} records[RECORDS];

static atomic_t lost;
static struct rt_post report_post;

/* In the words of the manuals, but not in those of the kernel's own oopses. */
static const char *name_of(u8 vector)
{
	static const char *const names[] = {
		[X86_TRAP_DE] = "#DE, divide error",
		[X86_TRAP_NMI] = "NMI, kept its CPU from answering Linux",
		[X86_TRAP_OF] = "#OF, overflow",
		[X86_TRAP_BR] = "#BR, bounds",
		[X86_TRAP_UD] = "#UD, invalid instruction",
		[X86_TRAP_NM] = "#NM, floating point without rt_use_fp()",
		[X86_TRAP_DF] = "#DF, stack overflow",
		[X86_TRAP_TS] = "#TS, invalid TSS",
		[X86_TRAP_NP] = "#NP, segment not present",
		[X86_TRAP_SS] = "#SS, stack segment",
		[X86_TRAP_GP] = "#GP, protection",
		[X86_TRAP_PF] = "#PF, page fault",
		[X86_TRAP_MF] = "#MF, x87 floating point exception",
		[X86_TRAP_AC] = "#AC, alignment",
		[X86_TRAP_XF] = "#XM, SSE floating point exception",
		[X86_TRAP_CP] = "#CP, control protection",
	};

	return vector < ARRAY_SIZE(names) && names[vector] ? names[vector] : "unknown exception";
}

static void print(const struct record *r)
{
	const struct pt_regs *regs = &r->regs;

	if (r->task[0])
		pr_err("CPU %d: task %s stopped: %s, at %pS\n", r->cpu, r->task,
		       name_of(r->vector), (void *)regs->ip);
	else if (r->timer_fn)
		pr_err("CPU %d: RT timer function %pS left: %s, at %pS\n", r->cpu,
		       r->timer_fn, name_of(r->vector), (void *)regs->ip);
	else
		pr_err("CPU %d: RT handler removed: %s, at %pS\n", r->cpu,
		       name_of(r->vector), (void *)regs->ip);
	pr_err("  address %#lx error code %#lx\n", r->address, r->error_code);
	pr_err("  ip %016lx sp %016lx flags %08lx\n", regs->ip, regs->sp, regs->flags);
	pr_err("  ax %016lx bx %016lx cx %016lx dx %016lx\n", regs->ax, regs->bx, regs->cx,
	       regs->dx);
	pr_err("  si %016lx di %016lx bp %016lx r8 %016lx\n", regs->si, regs->di, regs->bp,
	       regs->r8);
	pr_err("  r9 %016lx r10 %016lx r11 %016lx r12 %016lx\n", regs->r9, regs->r10,
	       regs->r11, regs->r12);
	pr_err("  r13 %016lx r14 %016lx r15 %016lx\n", regs->r13, regs->r14, regs->r15);
}

static void report(struct rt_post *post)
{
	int missed;

	for (int i = 0; i < RECORDS; i++) {
		/* Pairs with the release in record(): it is whole. */
		if (smp_load_acquire(&records[i].state) != RECORD_FULL)
			continue;
		print(&records[i]);
		smp_store_release(&records[i].state, RECORD_FREE);
	}
	missed = atomic_xchg(&lost, 0);
	if (missed)
		pr_err("%d more faults of RT code\n", missed);
}

static void record(const struct pl_fault *fault, const RT_TASK *task, void *timer_fn)
{
	for (int i = 0; i < RECORDS; i++) {
		struct record *r = &records[i];

		if (cmpxchg(&r->state, RECORD_FREE, RECORD_CLAIMED) != RECORD_FREE)
			continue;
		r->cpu = raw_smp_processor_id();
		strscpy(r->task, task ? task->name : "", sizeof(r->task));
		r->timer_fn = timer_fn;
		r->regs = *fault->regs;
		r->address = fault->address;
		r->error_code = fault->error_code;
		r->vector = fault->vector;
		/* Pairs with the acquire in report(). */
		smp_store_release(&r->state, RECORD_FULL);
		rt_post(&report_post);
		return;
	}
	atomic_inc(&lost);
	rt_post(&report_post);
}

/* Where a task that caused a fault goes on, if one can say so. */
static void __noreturn end_task(void)
{
	rt_task_end(rt_cpu_task());
	for (;;)
		cpu_relax();
}

bool rt_exec_fault(struct pl_fault *fault)
{
	struct rt_cpu *cpu = rt_cpu_here();
	RT_TASK *task = cpu->rq.curr;

	/* With a lock held it was the executive, or a policy: beyond help. */
	if (__this_cpu_read(pl_cpu.locks))
		return false;
	if (pl_in_irq()) {
		record(fault, NULL, cpu->firing ? cpu->firing->fn : NULL);
		return true;
	}
	if (!task)
		return false;
	record(fault, task, NULL);
	task->faulted = 1;
	if (task->over)
		rt_post(task->over);
	fault->go_on = end_task;
	/* As if it had been called at the top of the stack. */
	fault->sp = task->fp_area - sizeof(long);
	return true;
}

void rt_fault_init(void)
{
	rt_post_init(&report_post, report);
}

void rt_fault_exit(void)
{
	rt_post_sync(&report_post);
}
