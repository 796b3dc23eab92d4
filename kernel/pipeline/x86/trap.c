// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults of RT code, contained: where does the CPU go on after an exception that Linux could
 * only die of?
 *
 * Not behind the instruction. A task never comes back: it goes on in the executive's code,
 * which ends it, at the top of its own stack, nothing of which is needed any more. That
 * works for a stack that has overflowed, too, and the exception's own stack is left in the
 * ordinary way. An interrupt handler or timer function is left through the guard that it was
 * called with (guard.S).
 *
 * What Linux can mend is left to Linux: accesses with an entry in its exception tables, warnings,
 * breakpoints of those who patch code. So is what the executive itself does wrong.
 */
#include <linux/bug.h>
#include <linux/extable.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <asm/trapnr.h>
#include "pipeline/x86/resident/tactus_core.h"
#include "pipeline/pipeline.h"
#include "pipeline/x86/trap.h"
#include "pipeline/x86/client.h"
#include "pipeline/x86/patch/kcall.h"
#include "pipeline/x86/patch/symbols.h"

DEFINE_PER_CPU(void *, pl_guard_sp);

extern char pl_guard_landing[];

/* Both walk tables without a lock, as Linux does in NMI handlers. */
static const struct exception_table_entry *(*search_tables)(unsigned long ip);
static struct bug_entry *(*search_bugs)(unsigned long ip);
static void (*rcu_nmi_enter)(void), (*rcu_nmi_exit)(void);

/*
 * RCU keeps the tables of modules from going, and must watch this CPU for that: it may have been
 * idle when RT code interrupted it. So RCU gets to see an NMI.
 */
static void watch_begin(void)
{
	__preempt_count_add(NMI_OFFSET + HARDIRQ_OFFSET);
	rcu_nmi_enter();
}

static void watch_end(void)
{
	rcu_nmi_exit();
	__preempt_count_sub(NMI_OFFSET + HARDIRQ_OFFSET);
}

static bool is_mended(unsigned long ip)
{
	bool found;

	watch_begin();
	found = search_tables(ip);
	watch_end();
	return found;
}

static bool is_warning(unsigned long ip)
{
	const struct bug_entry *bug;
	bool warning;

	watch_begin();
	bug = search_bugs(ip);
	warning = bug && bug->flags & BUGFLAG_WARNING;
	watch_end();
	return warning;
}

/* Is it the end of the code that caused it? */
static bool is_final(unsigned long ip, unsigned int vector)
{
	switch (vector) {
	case X86_TRAP_DE:
	case X86_TRAP_OF:
	case X86_TRAP_BR:
	case X86_TRAP_NM:
	case X86_TRAP_TS:
	case X86_TRAP_NP:
	case X86_TRAP_SS:
	case X86_TRAP_GP:
	case X86_TRAP_PF:
	case X86_TRAP_MF:
	case X86_TRAP_AC:
	case X86_TRAP_XF:
	case X86_TRAP_CP:
		return !is_mended(ip);
	case X86_TRAP_UD:
		return !is_warning(ip);
	case X86_TRAP_DF:
	case X86_TRAP_NMI:	/* the code did nothing wrong, but it never ends: rouse.c */
		return true;
	}
	return false;
}

static unsigned long fault_address(unsigned int vector)
{
	unsigned long address = 0;

	if (vector == X86_TRAP_PF || vector == X86_TRAP_DF)
		asm volatile("mov %%cr2, %0" : "=r" (address));
	return address;
}

bool pl_fault(struct pt_regs *regs, unsigned long error_code, unsigned int vector)
{
	struct pl_fault fault = {
		.regs = regs, .error_code = error_code, .vector = vector,
		.address = fault_address(vector),
	};
	bool in_irq = pl_in_irq();
	void *sp = __this_cpu_read(pl_guard_sp);

	if (!is_final(regs->ip, vector) || (in_irq && !sp) || !pl_client->fault(&fault))
		return false;
	if (in_irq) {
		fault.go_on = pl_guard_landing;
		fault.sp = sp;
	}
	regs->ip = (unsigned long)fault.go_on;
	regs->sp = (unsigned long)fault.sp;
	regs->ax = 1;
	regs->flags = X86_EFLAGS_FIXED;
	return true;
}

int pl_fault_find(void)
{
	int err;

	err = pl_kcall_bind(PL_KCALL_EXTABLES, pl_symbol("search_exception_tables"));
	err = err ?: pl_kcall_bind(PL_KCALL_BUGS, pl_symbol("find_bug"));
	err = err ?: pl_kcall_bind(PL_KCALL_NMI_ENTER, pl_symbol("ct_nmi_enter"));
	err = err ?: pl_kcall_bind(PL_KCALL_NMI_EXIT, pl_symbol("ct_nmi_exit"));
	search_tables = pl_kcall(PL_KCALL_EXTABLES);
	search_bugs = pl_kcall(PL_KCALL_BUGS);
	rcu_nmi_enter = pl_kcall(PL_KCALL_NMI_ENTER);
	rcu_nmi_exit = pl_kcall(PL_KCALL_NMI_EXIT);
	return err;
}
