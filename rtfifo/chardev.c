// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/rtfN: the Linux end of the FIFOs.
 *
 * The semantics are a pipe's where a pipe has any: a read returns the bytes there, a
 * blocking one waits for the first byte; a blocking write returns when all is
 * written, and small writes are never split (see rtf_write_need()).
 *
 * Any number of processes may share an end. They are serialised by the end's lock,
 * which is held for copying only, never for sleeping: user memory is touched with
 * page faults disabled and, if that fails, brought in after the lock is given
 * back. So no process, however it is stopped, can hold up another one, and an index
 * moves only after its bytes have.
 */
#include <linux/instrumented.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/splice.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include "compat/chardev.h"
#include "rtfifo.h"

/* A copy of this many bytes is over before RT code, on whatever CPU, can do much. */
#define RTF_LEAST_PIECE ((size_t)64)

static struct rtf *rtf_of(struct file *file)
{
	struct rtf_file *open = file->private_data;

	return open->f;
}

static int rtf_open(struct inode *inode, struct file *file)
{
	struct rtf_file *open = kzalloc(sizeof(*open), GFP_KERNEL);
	int ret;

	if (!open)
		return -ENOMEM;
	open->f = rtf_find(rtf_number_of_minor(iminor(inode)));
	if (!open->f) {
		kfree(open);
		return -ENODEV;
	}
	ret = file->f_mode & FMODE_WRITE ? rtf_tell_opened(open) : 0;
	if (ret) {
		rtf_release(open->f);
		kfree(open);
		return ret;
	}
	open->lowat = 1;
	atomic_inc(&open->f->openers);
	file->private_data = open;
	return stream_open(inode, file);
}

static int rtf_fasync(int fd, struct file *file, int on)
{
	struct rtf *f = rtf_of(file);
	int ret = fasync_helper(fd, file, on, &f->fasync);

	if (ret > 0 && on) {
		rtf_want(&f->out, 1);
		rtf_want(&f->in, f->piece);
	}
	return ret < 0 ? ret : 0;
}

static int rtf_close(struct inode *inode, struct file *file)
{
	struct rtf_file *open = file->private_data;

	rtf_unclaim(open);	/* no mapping is left: it would hold the file */
	rtf_tell_closed(open);
	atomic_dec(&open->f->openers);
	rtf_release(open->f);
	kfree(open);
	return 0;
}

/* Copy @n bytes from byte number @tail on, without page faults. Returns the count. */
static size_t rtf_copy_out(const struct ring *ring, u32 tail, size_t n, struct iov_iter *to)
{
	size_t done = 0, part, span;
	u8 *at;

	do {
		span = min_t(size_t, ring_span_used(ring, tail + done, &at), n - done);
		part = copy_to_iter(at, span, to);
		done += part;
	} while (span && part == span && done < n);
	return done;
}

/*
 * Move the bytes there, up to what @to takes, without page faults; of records, whole ones.
 * Sets *@stuck at one. If the RT side overwrites what is being copied, that is done again
 * with what is now the oldest, in pieces that shrink until they get through between two puts.
 */
static ssize_t rtf_take(struct rtf_file *open, struct iov_iter *to, bool *stuck)
{
	struct rtf *f = open->f;
	struct ring *ring = &f->out.ring;
	size_t done = 0, most = SIZE_MAX, n, part, rest;
	u32 tail, unit;

	*stuck = false;
	mutex_lock(&f->out.lock);
	if (!rtf_may_read(open)) {
		mutex_unlock(&f->out.lock);
		return -EBUSY;
	}
	unit = ring->record ?: 1;
	if (iov_iter_count(to) && iov_iter_count(to) < unit) {
		mutex_unlock(&f->out.lock);
		return -EINVAL;
	}
	pagefault_disable();
	while (iov_iter_count(to)) {
		tail = READ_ONCE(ring->ix->tail);
		n = min3((size_t)(smp_load_acquire(&ring->ix->head) - tail), iov_iter_count(to),
			 most);
		n -= unit > 1 ? n % unit : 0;
		if (!n)
			break;
		part = rtf_copy_out(ring, tail, n, to);
		rest = unit > 1 ? part % unit : 0;
		if (!ring_try_consume(ring, tail, part - rest)) {
			iov_iter_revert(to, part);
			most = max3(part / 2, RTF_LEAST_PIECE, (size_t)unit);
			continue;
		}
		if (rest)
			iov_iter_revert(to, rest);
		done += part - rest;
		if (part < n) {
			*stuck = true;
			break;
		}
	}
	pagefault_enable();
	mutex_unlock(&f->out.lock);
	return done;
}

/*
 * Is there enough to read for this file, or never again, or not by it? If not, and the caller is
 * queued on out.wait, the RT side will wake it up.
 */
static bool rtf_readable(struct rtf_file *open, size_t count)
{
	struct rtf *f = open->f;
	u32 need = min3(count, (size_t)READ_ONCE(open->lowat), (size_t)ring_size(&f->out.ring));

	rtf_want(&f->out, need);
	return ring_used(&f->out.ring) >= need || READ_ONCE(f->dead) || !rtf_may_read(open);
}

/*
 * What could not be copied has to be brought in: at least one record of it. What cannot
 * be, or not at all (a full pipe), ends the read.
 */
static bool rtf_fault_in_read(struct rtf *f, struct iov_iter *to)
{
	u32 unit = READ_ONCE(f->out.ring.record) ?: 1;
	size_t more = min_t(size_t, iov_iter_count(to), max(ring_used(&f->out.ring), unit));

	return user_backed_iter(to) && more - fault_in_iov_iter_writeable(to, more) >= unit;
}

static ssize_t rtf_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct file *file = iocb->ki_filp;
	struct rtf_file *open = file->private_data;
	struct rtf *f = open->f;
	bool nonblock = file->f_flags & O_NONBLOCK || iocb->ki_flags & IOCB_NOWAIT;
	size_t done = 0;
	ssize_t ret = 0, part;
	bool stuck, dead;

	while (iov_iter_count(to)) {
		/* Before the ring: what was put before the end must be read before it. */
		dead = READ_ONCE(f->dead);
		smp_rmb();	/* with destroy's rtf_sync(), after the last put */
		if (!done && !nonblock && !dead && open->lowat > 1 &&
		    !rtf_readable(open, iov_iter_count(to)))
			goto sleep;
		part = rtf_take(open, to, &stuck);
		if (part < 0) {
			ret = part;
			break;
		}
		done += part;
		if (stuck) {
			if (rtf_fault_in_read(f, to))
				continue;
			ret = -EFAULT;
			break;
		}
		if (done || dead)
			break;
		ret = -EAGAIN;
		if (nonblock)
			break;
sleep:
		ret = wait_event_interruptible(f->out.wait,
					       rtf_readable(open, iov_iter_count(to)));
		if (ret)
			break;
	}
	if (!done)
		return ret;
	rtf_tell_rt(f, RTF_SPACE);
	ret = rtf_run_handler(f, 'r');
	return ret < 0 ? ret : done;
}

/*
 * The usual read: of bytes that are there, in one piece, into memory that is there. Returns
 * the count, or 0: the fast path does not apply, and nothing has changed.
 */
static size_t rtf_read_short(struct rtf_file *open, char __user *to, size_t count)
{
	struct rtf *f = open->f;
	struct ring *ring = &f->out.ring;
	const struct ring_buf *buf;
	size_t n = 0, off;
	u32 tail, used;

	mutex_lock(&f->out.lock);
	if (unlikely(ring->record || !rtf_may_read(open) || READ_ONCE(open->lowat) > 1))
		goto out;
	tail = READ_ONCE(ring->ix->tail);
	used = smp_load_acquire(&ring->ix->head) - tail;		/* (A) */
	buf = ring->buf;
	off = tail & buf->mask;
	n = min_t(size_t, used, count);
	if (unlikely(!n || off + n > buf->cap || !access_ok(to, n))) {
		n = 0;
		goto out;
	}
	/* What __copy_to_user_inatomic() does but for its search for the object: it is the ring. */
	instrument_copy_to_user(to, buf->data + off, n);
	pagefault_disable();
	if (unlikely(raw_copy_to_user(to, buf->data + off, n) || !ring_try_consume(ring, tail, n)))
		n = 0;
	pagefault_enable();
out:
	mutex_unlock(&f->out.lock);
	return n;
}

/*
 * Sleep once, until there is something for a read of @count bytes or a signal, unless somebody else
 * does: the queue is for more than one.
 */
static void rtf_sleep(struct rtf_file *open, size_t count)
{
	struct rtf_end *end = &open->f->out;

	if (READ_ONCE(end->sleeper) || cmpxchg(&end->sleeper, NULL, current))
		return;
	set_current_state(TASK_INTERRUPTIBLE);
	if (!rtf_readable(open, count) && !signal_pending(current))
		schedule();
	__set_current_state(TASK_RUNNING);
	WRITE_ONCE(end->sleeper, NULL);
}

/* read(2); readv(), splice() and the like come by rtf_read_iter() at once. */
static ssize_t rtf_read(struct file *file, char __user *to, size_t count, loff_t *off)
{
	struct rtf_file *open = file->private_data;
	size_t done = rtf_read_short(open, to, count);
	struct iov_iter iter;
	struct kiocb kiocb;
	int ret;

	if (unlikely(!done)) {
		if (!access_ok(to, count))
			return -EFAULT;
		if (count && !(file->f_flags & O_NONBLOCK)) {
			rtf_sleep(open, count);
			done = rtf_read_short(open, to, count);
		}
	}
	if (unlikely(!done)) {
		init_sync_kiocb(&kiocb, file);
		iov_iter_ubuf(&iter, READ, to, count);
		return rtf_read_iter(&kiocb, &iter);
	}
	if (unlikely(READ_ONCE(open->f->rt_handler)))
		rtf_tell_rt(open->f, RTF_SPACE);
	if (likely(!READ_ONCE(open->f->handler)))
		return done;
	ret = rtf_run_handler(open->f, 'r');
	return ret < 0 ? ret : done;
}

/*
 * How much room a write of @count bytes waits for. Small ones are not split, so
 * wait for all of it: two writers' messages never mix. Large ones go on as soon
 * as a fair piece fits: waking up for each byte that the RT side takes would cost
 * more than the copy.
 */
static u32 rtf_write_need(const struct rtf *f, size_t count)
{
	return min_t(size_t, count, READ_ONCE(f->piece));
}

static bool rtf_writable(struct rtf *f, size_t count)
{
	u32 need = rtf_write_need(f, count);

	rtf_want(&f->in, need);
	return ring_free(&f->in.ring) >= need || READ_ONCE(f->dead);
}

/* How far a call of write() has come. */
struct rtf_progress {
	bool whole;	/* it is not to be split */
	bool stuck;	/* at a page fault */
	size_t done;	/* bytes in the ring */
	size_t total;	/* of the call */
};

/* Copy up to @room bytes behind those in the ring, without page faults. */
static size_t rtf_copy_in(struct ring *ring, size_t room, struct iov_iter *from)
{
	size_t done = 0, part, span;
	u8 *at;

	do {
		span = min_t(size_t, ring_span_free(ring, done, &at), room - done);
		part = copy_from_iter(at, span, from);
		done += part;
	} while (span && part == span && done < room);
	return done;
}

/*
 * Move what fits, without page faults. A write that is not to be split moves entirely or
 * not at all, and of records only whole ones; what a fault cuts short, or the filter refuses,
 * is handed back to the iterator. Returns 0 or what the filter said.
 */
static int rtf_give(struct rtf *f, struct iov_iter *from, struct rtf_progress *p)
{
	struct ring *ring = &f->in.ring;
	size_t room, part = 0, keep;
	int ret = 0;
	u32 unit;

	p->stuck = false;
	mutex_lock(&f->in.lock);
	unit = ring->record ?: 1;
	/* It has been checked, but the records may be new. */
	if (unit > 1 && iov_iter_count(from) % unit) {
		ret = -EINVAL;
		goto out;
	}
	room = min_t(size_t, ring_free(ring), iov_iter_count(from));
	room -= unit > 1 ? room % unit : 0;
	if (!room || (p->whole && room < iov_iter_count(from)))
		goto out;
	pagefault_disable();
	part = rtf_copy_in(ring, room, from);
	pagefault_enable();
	p->stuck = part < room;
	keep = part - (unit > 1 ? part % unit : 0);
	if (p->stuck && p->whole)
		keep = 0;
	if (keep)
		ret = rtf_run_filter(f, keep, p->done, p->total);
	if (ret)
		keep = 0;
	iov_iter_revert(from, part - keep);
	if (!keep)
		goto out;
	ring_commit(ring, keep);
	p->done += keep;
	/* A caller of fsync() waits for less free room now. */
	if (atomic_read(&f->syncers))
		wake_up_interruptible(&f->in.wait);
out:
	mutex_unlock(&f->in.lock);
	return ret;
}

/* Bad memory: a small write fails entirely, a large one stops there, after whole records. */
static bool rtf_fault_in_write(struct rtf *f, struct iov_iter *from, bool whole)
{
	u32 unit = READ_ONCE(f->in.ring.record) ?: 1;
	size_t more = iov_iter_count(from);

	return user_backed_iter(from) &&
	       more - fault_in_iov_iter_readable(from, more) >= (whole ? more : unit);
}

static ssize_t rtf_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct file *file = iocb->ki_filp;
	struct rtf *f = rtf_of(file);
	bool nonblock = file->f_flags & O_NONBLOCK || iocb->ki_flags & IOCB_NOWAIT;
	struct rtf_progress p = { .total = iov_iter_count(from) };
	size_t more, before;
	ssize_t ret = 0;

	/* Decided once: the rest of a large write is not a small one. */
	p.whole = p.total <= READ_ONCE(f->piece);
	while ((more = iov_iter_count(from))) {
		ret = -EPIPE;
		if (READ_ONCE(f->dead))
			break;
		/* A resize may have made the FIFO too small for it in one piece. */
		p.whole = p.whole && more <= READ_ONCE(f->piece);
		before = p.done;
		ret = rtf_give(f, from, &p);
		if (p.done > before)
			rtf_tell_rt(f, RTF_DATA);
		more = iov_iter_count(from);
		if (ret || !more)
			break;
		if (p.stuck) {
			if (rtf_fault_in_write(f, from, p.whole))
				continue;
			ret = -EFAULT;
			break;
		}
		ret = -EAGAIN;
		if (nonblock)
			break;
		ret = wait_event_interruptible(f->in.wait, rtf_writable(f, more));
		if (ret)
			break;
	}
	if (!p.done)
		return ret;
	if (READ_ONCE(f->fasync))
		rtf_want(&f->in, READ_ONCE(f->piece));
	ret = rtf_run_handler(f, 'w');
	return ret < 0 ? ret : p.done;
}

static __poll_t rtf_poll(struct file *file, poll_table *wait)
{
	struct rtf_file *open = file->private_data;
	struct rtf *f = open->f;
	__poll_t events = 0;

	if (file->f_mode & FMODE_READ) {
		poll_wait(file, &f->out.wait, wait);
		if (!rtf_may_read(open))
			events |= EPOLLERR;
		else if (rtf_readable(open, SIZE_MAX))
			events |= EPOLLIN | EPOLLRDNORM;
		if (READ_ONCE(f->dead))
			events |= EPOLLHUP;
	}
	if (file->f_mode & FMODE_WRITE) {
		poll_wait(file, &f->in.wait, wait);
		if (rtf_writable(f, SIZE_MAX))
			events |= EPOLLOUT | EPOLLWRNORM;
		if (READ_ONCE(f->dead))
			events |= EPOLLERR;
	}
	return events;
}

/* Has the RT side got everything up to byte number @head? */
static bool rtf_consumed(struct rtf *f, u32 head)
{
	u32 left = head - smp_load_acquire(&f->page->in.tail);

	/* That is when so much is free; writers after us wake us up to ask for less. */
	rtf_want(&f->in, min(ring_free(&f->in.ring) + left, ring_size(&f->in.ring)));
	left = head - smp_load_acquire(&f->page->in.tail);
	return !left || left > INT_MAX || READ_ONCE(f->dead);
}

/* Wait until the RT side has got all that was written before. */
static int rtf_fsync(struct file *file, loff_t start, loff_t end, int datasync)
{
	struct rtf *f = rtf_of(file);
	u32 head = smp_load_acquire(&f->page->in.head);
	u32 left;
	int ret;

	atomic_inc(&f->syncers);
	ret = wait_event_interruptible(f->in.wait, rtf_consumed(f, head));
	atomic_dec(&f->syncers);
	left = head - smp_load_acquire(&f->page->in.tail);
	if (!left || left > INT_MAX)
		return 0;
	return ret ?: -EPIPE;
}

const struct file_operations rtf_fops = {
	.owner = THIS_MODULE,
	.open = rtf_open,
	.release = rtf_close,
	.read = rtf_read,
	.read_iter = rtf_read_iter,
	.write_iter = rtf_write_iter,
	.splice_read = compat_splice_read,
	.splice_write = iter_file_splice_write,
	.poll = rtf_poll,
	.fasync = rtf_fasync,
	.fsync = rtf_fsync,
	.mmap = rtf_mmap,
	.unlocked_ioctl = rtf_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

int rtf_of_file(struct file *file)
{
	if (file->f_op != &rtf_fops)
		return -ENOTTY;
	return rtf_number_of_minor(iminor(file_inode(file)));
}
EXPORT_SYMBOL_GPL(rtf_of_file);
