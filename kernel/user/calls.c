// SPDX-License-Identifier: GPL-2.0-only
/*
 * RT calls: what a task in ring 3 asks of the executive. Each runs with hardware interrupts off
 * from entry to return, so no budget, recall or deletion meets it half done. Where it waits it
 * holds nothing, and may be left for good.
 *
 * Memory of the process is reached by its shadow: pages that cannot go away, in the kernel's own
 * mapping, so that a bad address is an error and never a fault.
 */
#include "user.h"

static struct thread *thread_of(struct pl_ring3 *ring3)
{
	return container_of(ring3, struct thread, ring3);
}

/* Between the process's memory and @buffer; false: it is not there, or not writable. */
static bool copy(const struct shadow *s, unsigned long addr, char *buffer, unsigned long bytes,
		 bool to_user)
{
	while (bytes) {
		unsigned long piece = min(bytes, PAGE_SIZE - offset_in_page(addr));
		void *at = shadow_at(s, addr, to_user);

		if (!at)
			return false;
		if (to_user)
			memcpy(at, buffer, piece);
		else
			memcpy(buffer, at, piece);
		addr += piece;
		buffer += piece;
		bytes -= piece;
	}
	return true;
}

static bool may_use(const struct thread *t, unsigned long fifo)
{
	return fifo < RTF_MAX_FIFOS && test_bit(fifo, t->process->fifos);
}

static long call_put(struct thread *t, const struct pt_regs *regs)
{
	char buffer[RT_COPY_MOST];

	if (!may_use(t, regs->di))
		return -EBADF;
	if (regs->dx > RT_COPY_MOST)
		return -EMSGSIZE;
	if (!copy(t->shadow, regs->si, buffer, regs->dx, false))
		return -EFAULT;
	return rtf_put(regs->di, buffer, regs->dx);
}

static long call_get(struct thread *t, const struct pt_regs *regs)
{
	char buffer[RT_COPY_MOST];
	long got;

	if (!may_use(t, regs->di))
		return -EBADF;
	if (regs->dx > RT_COPY_MOST)
		return -EMSGSIZE;
	/* What is taken cannot be put back. */
	for (unsigned long at = regs->si; at < regs->si + regs->dx; at = (at | ~PAGE_MASK) + 1)
		if (!shadow_at(t->shadow, at, true))
			return -EFAULT;
	got = rtf_get(regs->di, buffer, regs->dx);
	if (got > 0 && !copy(t->shadow, regs->si, buffer, got, true))
		return -EFAULT;
	return got;
}

static bool user_call(struct pl_ring3 *ring3, struct pt_regs *regs, unsigned long nr)
{
	struct thread *t = thread_of(ring3);

	switch (nr) {
	case RT_CALL_WAIT:
		WRITE_ONCE(t->where, WAITING);
		regs->ax = rt_task_wait();
		regs->dx = t->task.release;
		break;
	case RT_CALL_SLEEP:
		WRITE_ONCE(t->where, WAITING);
		regs->ax = rt_task_sleep_until(regs->di);
		break;
	case RT_CALL_LEAVE:
		regs->ax = 0;
		t->left = true;
		thread_end(t, regs);
		break;
	case RT_CALL_PUT:
		regs->ax = call_put(t, regs);
		break;
	case RT_CALL_GET:
		regs->ax = call_get(t, regs);
		break;
	default:
		return false;
	}
	WRITE_ONCE(t->where, IN_RING3);
	return true;
}

static void user_end(struct pl_ring3 *ring3, const struct pt_regs *regs,
		     const struct pl_ring3_end *end)
{
	struct thread *t = thread_of(ring3);

	t->end = *end;
	thread_end(t, regs);
}

const struct pl_ring3_ops user_ops = { .call = user_call, .end = user_end };
