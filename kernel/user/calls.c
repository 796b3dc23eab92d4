// SPDX-License-Identifier: GPL-2.0-only
/*
 * RT calls: what a task in ring 3 asks of the executive. Each runs with hardware interrupts off
 * from entry to return, so no budget, recall or deletion meets it half done. Where it waits it
 * holds nothing, and may be left for good.
 *
 * Memory of the process is reached by its shadow: pages that cannot go away, in the kernel's own
 * mapping, so that a bad address is an error and never a fault.
 */
#include <asm/trapnr.h>
#include "exec/objects.h"
#include "exec/ring3.h"
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

/* As shadow_at(). The page of the last call, for the next one. */
static noinline void *look_at(struct thread *t, unsigned long addr, bool write)
{
	void *at = shadow_at(t->shadow, addr, write);

	if (at)
		t->view = (struct view) {
			.addr = addr & PAGE_MASK, .at = at - offset_in_page(addr),
			.bytes = PAGE_SIZE, .write = write,
		};
	return at;
}

/* Where the kernel has the @bytes at @addr; NULL: not there, or not in one page. */
static __always_inline void *in_place(struct thread *t, unsigned long addr, unsigned long bytes,
				      bool write)
{
	unsigned long offset = addr - t->view.addr;

	if (likely(offset < t->view.bytes && bytes <= t->view.bytes - offset &&
		   t->view.write >= write))
		return t->view.at + offset;
	if (bytes > PAGE_SIZE - offset_in_page(addr))
		return NULL;
	return look_at(t, addr, write);
}

static __always_inline bool may_use(const struct thread *t, unsigned long fifo)
{
	return fifo < RTF_MAX_FIFOS && test_bit(fifo, t->process->fifos);
}

/* From more than one page, or from where there is none. */
static noinline long put_pieces(struct thread *t, const struct pt_regs *regs)
{
	char buffer[RT_COPY_MOST] __uninitialized;	/* not zeroed each time */

	if (!copy(t->shadow, regs->si, buffer, regs->dx, false))
		return -EFAULT;
	return rtf_put(regs->di, buffer, regs->dx);
}

static __always_inline long call_put(struct thread *t, const struct pt_regs *regs)
{
	const void *at;

	if (!may_use(t, regs->di))
		return -EBADF;
	if (regs->dx > RT_COPY_MOST)
		return -EMSGSIZE;
	at = in_place(t, regs->si, regs->dx, false);
	return likely(at) ? rtf_put(regs->di, at, regs->dx) : put_pieces(t, regs);
}

static noinline long get_pieces(struct thread *t, const struct pt_regs *regs)
{
	char buffer[RT_COPY_MOST] __uninitialized;	/* not zeroed each time */
	long got;

	/* What is taken cannot be put back. */
	for (unsigned long at = regs->si; at < regs->si + regs->dx; at = (at | ~PAGE_MASK) + 1)
		if (!shadow_at(t->shadow, at, true))
			return -EFAULT;
	got = rtf_get(regs->di, buffer, regs->dx);
	if (got > 0 && !copy(t->shadow, regs->si, buffer, got, true))
		return -EFAULT;
	return got;
}

static __always_inline long call_get(struct thread *t, const struct pt_regs *regs)
{
	void *at;

	if (!may_use(t, regs->di))
		return -EBADF;
	if (regs->dx > RT_COPY_MOST)
		return -EMSGSIZE;
	at = in_place(t, regs->si, regs->dx, true);
	return likely(at) ? rtf_get(regs->di, at, regs->dx) : get_pieces(t, regs);
}

/* Is the whole message of @o there, to be written? */
static bool is_writable(const struct thread *t, unsigned long addr, unsigned long bytes)
{
	for (unsigned long at = addr; at < addr + bytes; at = (at | ~PAGE_MASK) + 1)
		if (!shadow_at(t->shadow, at, true))
			return false;
	return addr + bytes >= addr;
}

static long call_send(struct thread *t, struct object *o, const struct pt_regs *regs)
{
	if (!copy(t->shadow, regs->dx, t->message, o->wish.bytes, false))
		return -EFAULT;
	return rt_mbx_send_until(&o->mbx, t->message, regs->si);
}

static long call_receive(struct thread *t, struct object *o, const struct pt_regs *regs)
{
	long err;

	if (!is_writable(t, regs->dx, o->wish.bytes))
		return -EFAULT;
	err = rt_mbx_receive_until(&o->mbx, t->message, regs->si);
	if (!err && !copy(t->shadow, regs->dx, t->message, o->wish.bytes, true))
		err = -EFAULT;
	return err;
}

static long call_cnd_wait(struct thread *t, struct object *o, const struct pt_regs *regs)
{
	struct object *mtx = object_at(t->process, regs->dx, RT_OBJECT_MTX);

	return mtx ? rt_cnd_wait_until(&o->cnd, &mtx->mtx, regs->si) : -EBADF;
}

static long call_evt_wait(struct thread *t, struct object *o, struct pt_regs *regs)
{
	long err;

	t->flags = 0;
	err = rt_evt_wait_until(&o->evt, regs->dx, regs->dx >> 32, &t->flags, regs->si);
	regs->dx = t->flags;
	return err;
}

static unsigned int kind_of(unsigned long nr)
{
	return nr >= RT_CALL_EVT_WAIT ? RT_OBJECT_EVT :
	       nr >= RT_CALL_CND_WAIT ? RT_OBJECT_CND :
	       nr >= RT_CALL_MBX_SEND ? RT_OBJECT_MBX :
	       nr >= RT_CALL_MTX_LOCK ? RT_OBJECT_MTX : RT_OBJECT_SEM;
}

static long call_object(struct thread *t, struct pt_regs *regs, unsigned long nr)
{
	struct object *o = object_at(t->process, regs->di, kind_of(nr));

	if (!o)
		return -EBADF;
	t->call = nr;
	WRITE_ONCE(t->where, AT_OBJECT);
	switch (nr) {
	case RT_CALL_SEM_WAIT:
		return rt_sem_wait_until(&o->sem, regs->si);
	case RT_CALL_SEM_POST:
		return rt_sem_post(&o->sem);
	case RT_CALL_MTX_LOCK:
		return rt_mtx_lock_until(&o->mtx, regs->si);
	case RT_CALL_MTX_UNLOCK:
		return rt_mtx_unlock(&o->mtx);
	case RT_CALL_MBX_SEND:
		return call_send(t, o, regs);
	case RT_CALL_MBX_RECEIVE:
		return call_receive(t, o, regs);
	case RT_CALL_CND_WAIT:
		return call_cnd_wait(t, o, regs);
	case RT_CALL_CND_SIGNAL:
		return rt_cnd_signal(&o->cnd);
	case RT_CALL_CND_BROADCAST:
		return rt_cnd_broadcast(&o->cnd);
	case RT_CALL_EVT_WAIT:
		return call_evt_wait(t, o, regs);
	case RT_CALL_EVT_SET:
		return rt_evt_set(&o->evt, regs->si);
	default:
		return rt_evt_clear(&o->evt, regs->si);
	}
}

long call_over(struct thread *t)
{
	long ret = rt_sync_cancel(&t->task, -EINTR);
	struct object *o;

	/* The mutex goes with the task. */
	if (t->call == RT_CALL_MTX_LOCK)
		return -EINTR;
	/* So does that one's, and a signal that it may have had is for another. */
	if (t->call == RT_CALL_CND_WAIT) {
		rt_cnd_signal(&object_at(t->process, t->regs.di, RT_OBJECT_CND)->cnd);
		return -EINTR;
	}
	if (t->call == RT_CALL_EVT_WAIT)
		t->regs.dx = t->flags;
	o = object_at(t->process, t->regs.di, RT_OBJECT_MBX);
	if (t->call == RT_CALL_MBX_RECEIVE && !ret &&
	    !copy(t->shadow, t->regs.dx, t->message, o->wish.bytes, true))
		ret = -EFAULT;
	return ret;
}

static bool user_call(struct pl_ring3 *ring3, struct pt_regs *regs, unsigned long nr)
{
	struct thread *t = thread_of(ring3);

	switch (nr) {
	case RT_CALL_WAIT:
		WRITE_ONCE(t->where, WAITING);
		regs->ax = rt_ring3_wait();
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
	case RT_CALL_SEM_WAIT ... RT_CALL_EVT_CLEAR:
		regs->ax = call_object(t, regs, nr);
		break;
	default:
		return false;
	}
	WRITE_ONCE(t->where, IN_RING3);
	return true;
}

static bool user_trap(struct pl_ring3 *ring3, struct pt_regs *regs, unsigned int vector)
{
	return vector == X86_TRAP_GP && ports_serve(thread_of(ring3), regs);
}

static void user_end(struct pl_ring3 *ring3, const struct pt_regs *regs,
		     const struct pl_ring3_end *end)
{
	struct thread *t = thread_of(ring3);

	t->end = *end;
	thread_end(t, regs);
}

const struct pl_ring3_ops user_ops = {
	.call = user_call, .trap = user_trap, .end = user_end,
};
