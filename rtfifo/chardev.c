// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/rtfN: the Linux end of the FIFOs.
 *
 * The semantics are a pipe's where a pipe has any: a read returns what there is, a
 * blocking one waits for the first byte; a blocking write returns when all is
 * written, and small writes are never split (see rtf_write_need()).
 *
 * Any number of processes may share an end. They are serialised by the end's lock,
 * which is held for copying only, never for sleeping: user memory is touched with
 * page faults disabled and, if that fails, brought in after the lock is given
 * back. So no process, however it is stopped, can hold up another one, and an index
 * moves only after its bytes have.
 */
#include <linux/cdev.h>
#include <linux/device.h>
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

static dev_t rtf_dev;
static struct cdev rtf_cdev;

static struct rtf *rtf_of(struct file *file)
{
	struct rtf_file *open = file->private_data;

	return open->f;
}

static int rtf_open(struct inode *inode, struct file *file)
{
	struct rtf_file *open = kzalloc(sizeof(*open), GFP_KERNEL);

	if (!open)
		return -ENOMEM;
	open->f = rtf_find(iminor(inode) - MINOR(rtf_dev));
	if (!open->f) {
		kfree(open);
		return -ENODEV;
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

	atomic_dec(&open->f->openers);
	rtf_release(open->f);
	kfree(open);
	return 0;
}

/*
 * Move what there is, up to what @to takes, without page faults. Sets *@stuck at one.
 * If the RT side overwrites what is being copied, that is done again with what is
 * now the oldest, in pieces that shrink until they get through between two puts.
 */
static size_t rtf_take(struct rtf *f, struct iov_iter *to, bool *stuck)
{
	size_t done = 0, most = SIZE_MAX, n, part;
	u32 tail;
	u8 *at;

	*stuck = false;
	mutex_lock(&f->out.lock);
	pagefault_disable();
	while (iov_iter_count(to)) {
		tail = READ_ONCE(f->out.ring.ix->tail);
		n = ring_span_used(&f->out.ring, tail, &at);
		n = min3(n, iov_iter_count(to), most);
		if (!n)
			break;
		part = copy_to_iter(at, n, to);
		if (!ring_try_consume(&f->out.ring, tail, part)) {
			iov_iter_revert(to, part);
			most = max(part / 2, RTF_LEAST_PIECE);
			continue;
		}
		done += part;
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
 * Is there enough to read for this file, or never again? If not, and the caller is
 * queued on out.wait, the RT side will wake it up.
 */
static bool rtf_readable(struct rtf_file *open, size_t count)
{
	struct rtf *f = open->f;
	u32 need = min3(count, (size_t)READ_ONCE(open->lowat), (size_t)ring_size(&f->out.ring));

	rtf_want(&f->out, need);
	return ring_used(&f->out.ring) >= need || READ_ONCE(f->dead);
}

static ssize_t rtf_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct file *file = iocb->ki_filp;
	struct rtf_file *open = file->private_data;
	struct rtf *f = open->f;
	bool nonblock = file->f_flags & O_NONBLOCK || iocb->ki_flags & IOCB_NOWAIT;
	size_t done = 0;
	ssize_t ret = 0;
	bool stuck, dead;

	while (iov_iter_count(to)) {
		/* Before the ring: what was put before the end must be read before it. */
		dead = READ_ONCE(f->dead);
		smp_rmb();	/* with destroy's rtf_sync(), after the last put */
		if (!done && !nonblock && !dead && open->lowat > 1 &&
		    !rtf_readable(open, iov_iter_count(to)))
			goto sleep;
		done += rtf_take(f, to, &stuck);
		if (stuck) {
			size_t more = min_t(size_t, iov_iter_count(to),
					    max(ring_used(&f->out.ring), 1U));

			/* What cannot be faulted in, or not at all (a full pipe), ends it. */
			if (user_backed_iter(to) && fault_in_iov_iter_writeable(to, more) < more)
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
	ret = rtf_run_handler(f);
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

/*
 * Move what fits, without page faults. A write that is not to be split moves
 * entirely or not at all; what a fault cuts short is handed back to the iterator.
 */
static size_t rtf_give(struct rtf *f, struct iov_iter *from, bool whole, bool *stuck)
{
	size_t done = 0, n, part;
	u8 *at;

	*stuck = false;
	mutex_lock(&f->in.lock);
	if (whole && ring_free(&f->in.ring) < iov_iter_count(from))
		goto out;
	pagefault_disable();
	while (iov_iter_count(from)) {
		n = ring_span_free(&f->in.ring, done, &at);
		n = min(n, iov_iter_count(from));
		if (!n)
			break;
		part = copy_from_iter(at, n, from);
		done += part;
		if (part < n) {
			*stuck = true;
			break;
		}
	}
	pagefault_enable();
	if (*stuck && whole) {
		iov_iter_revert(from, done);
		done = 0;
	}
	if (done)
		ring_commit(&f->in.ring, done);
	/* Who is in fsync() waits for less free room now. */
	if (done && atomic_read(&f->syncers))
		wake_up_interruptible(&f->in.wait);
out:
	mutex_unlock(&f->in.lock);
	return done;
}

static ssize_t rtf_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct file *file = iocb->ki_filp;
	struct rtf *f = rtf_of(file);
	bool nonblock = file->f_flags & O_NONBLOCK || iocb->ki_flags & IOCB_NOWAIT;
	/* Decided once: the rest of a large write is not a small one. */
	bool whole = iov_iter_count(from) <= READ_ONCE(f->piece);
	size_t done = 0, more;
	ssize_t ret = 0;
	bool stuck;

	while ((more = iov_iter_count(from))) {
		ret = -EPIPE;
		if (READ_ONCE(f->dead))
			break;
		/* A resize may have made the FIFO too small for it in one piece. */
		whole = whole && more <= READ_ONCE(f->piece);
		done += rtf_give(f, from, whole, &stuck);
		more = iov_iter_count(from);
		if (!more)
			break;
		if (stuck) {
			size_t left = fault_in_iov_iter_readable(from, more);

			/* Bad memory: a small write fails entirely, a large one stops there. */
			if (user_backed_iter(from) && (whole ? !left : left < more))
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
	if (!done)
		return ret;
	if (READ_ONCE(f->fasync))
		rtf_want(&f->in, READ_ONCE(f->piece));
	ret = rtf_run_handler(f);
	return ret < 0 ? ret : done;
}

static __poll_t rtf_poll(struct file *file, poll_table *wait)
{
	struct rtf_file *open = file->private_data;
	struct rtf *f = open->f;
	__poll_t events = 0;

	if (file->f_mode & FMODE_READ) {
		poll_wait(file, &f->out.wait, wait);
		if (rtf_readable(open, SIZE_MAX))
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

static const struct file_operations rtf_fops = {
	.owner = THIS_MODULE,
	.open = rtf_open,
	.release = rtf_close,
	.read_iter = rtf_read_iter,
	.write_iter = rtf_write_iter,
	.splice_read = compat_splice_read,
	.splice_write = iter_file_splice_write,
	.poll = rtf_poll,
	.fasync = rtf_fasync,
	.fsync = rtf_fsync,
	.unlocked_ioctl = rtf_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static char *rtf_devnode(compat_devnode_device *dev, umode_t *mode)
{
	if (mode)
		*mode = 0660;
	return NULL;
}

static struct class rtf_class = {
	.name = "rtf",
	.devnode = rtf_devnode,
};

static void rtf_nodes_remove(unsigned int count)
{
	while (count--)
		device_destroy(&rtf_class, rtf_dev + count);
}

int rtf_chardev_init(void)
{
	unsigned int i;
	int ret;

	ret = alloc_chrdev_region(&rtf_dev, 0, rtf_count, "rtf");
	if (ret)
		return ret;
	ret = class_register(&rtf_class);
	if (ret)
		goto err_region;
	cdev_init(&rtf_cdev, &rtf_fops);
	rtf_cdev.owner = THIS_MODULE;
	ret = cdev_add(&rtf_cdev, rtf_dev, rtf_count);
	if (ret)
		goto err_class;
	for (i = 0; i < rtf_count; i++) {
		struct device *dev = device_create(&rtf_class, NULL, rtf_dev + i, NULL,
						   "rtf%u", i);

		if (IS_ERR(dev)) {
			ret = PTR_ERR(dev);
			goto err_nodes;
		}
	}
	return 0;

err_nodes:
	rtf_nodes_remove(i);
	cdev_del(&rtf_cdev);
err_class:
	class_unregister(&rtf_class);
err_region:
	unregister_chrdev_region(rtf_dev, rtf_count);
	return ret;
}

void rtf_chardev_exit(void)
{
	rtf_nodes_remove(rtf_count);
	cdev_del(&rtf_cdev);
	class_unregister(&rtf_class);
	unregister_chrdev_region(rtf_dev, rtf_count);
}
