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
#include <linux/ioctl.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/splice.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <asm/ioctls.h>
#include "compat/chardev.h"
#include "rtfifo.h"

static dev_t rtf_dev;
static struct cdev rtf_cdev;

static int rtf_open(struct inode *inode, struct file *file)
{
	struct rtf *f = rtf_find(iminor(inode) - MINOR(rtf_dev));

	if (!f)
		return -ENODEV;
	atomic_inc(&f->openers);
	file->private_data = f;
	return stream_open(inode, file);
}

static int rtf_fasync(int fd, struct file *file, int on)
{
	struct rtf *f = file->private_data;
	int ret = fasync_helper(fd, file, on, &f->fasync);

	if (ret > 0 && on) {
		rtf_want(&f->out, f->out.lowat);
		rtf_want(&f->in, f->in.lowat);
	}
	return ret < 0 ? ret : 0;
}

static int rtf_close(struct inode *inode, struct file *file)
{
	struct rtf *f = file->private_data;

	atomic_dec(&f->openers);
	rtf_release(f);
	return 0;
}

/* Move what there is, up to what @to takes, without page faults. Sets *@stuck at one. */
static size_t rtf_take(struct rtf *f, struct iov_iter *to, bool *stuck)
{
	size_t done = 0, n, part;
	u8 *at;

	*stuck = false;
	mutex_lock(&f->out.lock);
	pagefault_disable();
	while (iov_iter_count(to)) {
		n = ring_span_used(&f->out.ring, 0, &at);
		n = min(n, iov_iter_count(to));
		if (!n)
			break;
		part = copy_to_iter(at, n, to);
		ring_consume(&f->out.ring, part);
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

/* For wait_event: is there something to read, or never again? */
static bool rtf_readable(struct rtf *f, size_t count)
{
	u32 need = min_t(size_t, count, READ_ONCE(f->out.lowat));

	rtf_want(&f->out, need);
	return ring_used(&f->out.ring) >= need || READ_ONCE(f->dead);
}

static ssize_t rtf_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	struct file *file = iocb->ki_filp;
	struct rtf *f = file->private_data;
	bool nonblock = file->f_flags & O_NONBLOCK || iocb->ki_flags & IOCB_NOWAIT;
	size_t done = 0;
	ssize_t ret = 0;
	bool stuck, dead;

	while (iov_iter_count(to)) {
		/* Before the ring: what was put before the end must be read before it. */
		dead = READ_ONCE(f->dead);
		smp_rmb();	/* with destroy's rtf_sync(), after the last put */
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
		ret = wait_event_interruptible(f->out.wait, rtf_readable(f, iov_iter_count(to)));
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
	return min_t(size_t, count, READ_ONCE(f->in.lowat));
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
out:
	mutex_unlock(&f->in.lock);
	return done;
}

static ssize_t rtf_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct file *file = iocb->ki_filp;
	struct rtf *f = file->private_data;
	bool nonblock = file->f_flags & O_NONBLOCK || iocb->ki_flags & IOCB_NOWAIT;
	/* Decided once: the rest of a large write is not a small one. */
	bool whole = iov_iter_count(from) <= READ_ONCE(f->in.lowat);
	size_t done = 0, more;
	ssize_t ret = 0;
	bool stuck;

	while ((more = iov_iter_count(from))) {
		ret = -EPIPE;
		if (READ_ONCE(f->dead))
			break;
		/* A resize may have made the FIFO too small for it in one piece. */
		whole = whole && more <= READ_ONCE(f->in.lowat);
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
		rtf_want(&f->in, f->in.lowat);
	ret = rtf_run_handler(f);
	return ret < 0 ? ret : done;
}

static __poll_t rtf_poll(struct file *file, poll_table *wait)
{
	struct rtf *f = file->private_data;
	bool dead = READ_ONCE(f->dead);
	__poll_t events = 0;

	if (file->f_mode & FMODE_READ) {
		poll_wait(file, &f->out.wait, wait);
		rtf_want(&f->out, f->out.lowat);
		if (ring_used(&f->out.ring) >= f->out.lowat || dead)
			events |= EPOLLIN | EPOLLRDNORM;
		if (dead)
			events |= EPOLLHUP;
	}
	if (file->f_mode & FMODE_WRITE) {
		poll_wait(file, &f->in.wait, wait);
		rtf_want(&f->in, f->in.lowat);
		if (ring_free(&f->in.ring) >= f->in.lowat || dead)
			events |= EPOLLOUT | EPOLLWRNORM;
		if (dead)
			events |= EPOLLERR;
	}
	return events;
}

static long rtf_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct rtf *f = file->private_data;

	switch (cmd) {
	case FIONREAD:
		return put_user(ring_used(&f->out.ring), (int __user *)arg);
	default:
		return -ENOTTY;
	}
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
