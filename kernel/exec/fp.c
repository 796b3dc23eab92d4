// SPDX-License-Identifier: GPL-2.0-only
/*
 * Floating point of RT tasks (thesis, A.1): x87, SSE, AVX, MXCSR.
 *
 * Linux uses these registers in user mode, in kernel_fpu_begin() sections, and lets them lag
 * behind its own task switches. An RT task may come between any two of its instructions, so
 * nothing of its bookkeeping can be asked or told: the registers are saved as they are found,
 * and are the same again when Linux goes on. Its bookkeeping stays true.
 *
 * Lazily: a switch to a task that does not use floating point leaves the registers alone. So
 * per CPU the state in the registers is
 *
 *	fp_away	fp_owner	in the registers
 *	0	NULL		Linux's
 *	1	a task		that task's; Linux's is in fp_linux
 *	1	NULL		nobody's (its task is dead); Linux's is in fp_linux
 *
 * Under the CPU's lock. While a task runs that has not said rt_use_fp(), CR0.TS is set, so
 * that floating point in it is a fault and not somebody else's wrong number. Linux does not
 * use that bit any more.
 *
 * Not of tasks: the protection keys, and AMX's tiles, which are large, may be switched off (XFD),
 * and are not touched by anything but AMX instructions.
 */
#include <linux/export.h>
#include <linux/minmax.h>
#include <asm/cpufeature.h>
#include <asm/fpu/types.h>
#include <asm/fpu/xcr.h>

#include <rt/context.h>
#include "compat/cpuid.h"
#include "exec/assert.h"
#include "exec/cpu.h"
#include "exec/fp.h"

#define NOT_OURS (XFEATURE_MASK_PKRU | XFEATURE_MASK_XTILE)
#define XSAVE_LEAF 0xd
#define FXSAVE_BYTES sizeof(struct fxregs_state)
#define INITIAL_CWD 0x37f	/* x87: all exceptions masked, 64-bit precision */

bool rt_fp_trap = true;
module_param_named(fp_trap, rt_fp_trap, bool, 0444);
MODULE_PARM_DESC(fp_trap, "stop an RT task that uses floating point without rt_use_fp() (default 1)");

static u64 mask;			/* the components that are saved; 0: by fxsave */
unsigned int rt_fp_bytes;

void rt_fp_put(void *area)
{
	if (mask)
		asm volatile("xsave64 (%0)" : : "r" (area), "a" ((u32)mask), "d" (mask >> 32)
			     : "memory");
	else
		asm volatile("fxsave64 (%0)" : : "r" (area) : "memory");
}

void rt_fp_get(const void *area)
{
	if (mask)
		asm volatile("xrstor64 (%0)" : : "r" (area), "a" ((u32)mask), "d" (mask >> 32)
			     : "memory");
	else
		asm volatile("fxrstor64 (%0)" : : "r" (area) : "memory");
}

/* Every component in its initial state. */
static void make_initial(struct fxregs_state *area)
{
	memset(area, 0, rt_fp_bytes);
	area->cwd = INITIAL_CWD;
	area->mxcsr = MXCSR_DEFAULT;
}

void rt_fp_exchange(struct rt_cpu *cpu, RT_TASK *next)
{
	rt_assert(pl_hard_disabled() && hardlock_held(&cpu->lock));
	if (cpu->fp_owner)
		rt_fp_put(cpu->fp_owner->fp_area);
	else if (!cpu->fp_away)
		rt_fp_put(cpu->fp_linux);
	rt_fp_get(next ? next->fp_area : cpu->fp_linux);
	cpu->fp_owner = next;
	cpu->fp_away = next;
}

void rt_fp_forget(struct rt_cpu *cpu, const RT_TASK *task)
{
	if (cpu->fp_owner == task)
		cpu->fp_owner = NULL;
}

void rt_use_fp(int flag)
{
	struct rt_cpu *cpu;
	unsigned long flags;
	RT_TASK *task;

	if (rt_context() != RT_CONTEXT_TASK)
		return;
	flags = pl_hard_save();
	cpu = rt_cpu_here();
	task = cpu->rq.curr;
	hardlock(&cpu->lock);
	if (task->state != CORE_DEAD && task->uses_fp != !!flag) {
		task->uses_fp = !!flag;
		if (flag)
			make_initial(task->fp_area);
		else
			rt_fp_forget(cpu, task);
		rt_fp_switch(cpu, task);
	}
	hardunlock(&cpu->lock);
	pl_hard_restore(flags);
}
EXPORT_SYMBOL_GPL(rt_use_fp);

void rt_fp_measure(void)
{
	u32 size, offset, unused;

	mask = 0;
	rt_fp_bytes = FXSAVE_BYTES;
	if (!boot_cpu_has(X86_FEATURE_XSAVE))
		return;
	mask = xgetbv(XCR_XFEATURE_ENABLED_MASK) & ~NOT_OURS;
	rt_fp_bytes += sizeof(struct xstate_header);
	for (int i = FIRST_EXTENDED_XFEATURE; i < 63; i++) {
		if (!(mask & BIT_ULL(i)))
			continue;
		cpuid_count(XSAVE_LEAF, i, &size, &offset, &unused, &unused);
		rt_fp_bytes = max(rt_fp_bytes, size + offset);
	}
	rt_fp_bytes = ALIGN(rt_fp_bytes, RT_FP_ALIGN_BYTES);
}
