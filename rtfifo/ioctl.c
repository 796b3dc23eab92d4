// SPDX-License-Identifier: GPL-2.0-only
/* What can be asked of an open /dev/rtfN: see <uapi/tactus/fifo.h>. */
#include <linux/capability.h>
#include <linux/uaccess.h>
#include <asm/ioctls.h>
#include "rtfifo.h"

static long ioctl_stats(struct rtf *f, struct rtf_stats __user *to)
{
	struct rtf_stats stats = {
		.size = ring_size(&f->out.ring),
		.used_in = ring_used(&f->in.ring),
		.used_out = ring_used(&f->out.ring),
		.high_in = READ_ONCE(f->in.ring.high),
		.high_out = max(READ_ONCE(f->out.ring.high), ring_used(&f->out.ring)),
		.openers = atomic_read(&f->openers),
		.number = f->number,
		.record = READ_ONCE(f->out.ring.record),
		.drops = READ_ONCE(f->out.ring.refused),
		.lost_bytes = READ_ONCE(f->out.ring.lost),
	};

	return copy_to_user(to, &stats, sizeof(stats)) ? -EFAULT : 0;
}

static long ioctl_resize(struct rtf *f, const u32 __user *from)
{
	u32 size;

	if (!capable(CAP_SYS_RESOURCE))
		return -EPERM;
	if (get_user(size, from))
		return -EFAULT;
	return rtf_resize_this(f, size);
}

static long ioctl_record(struct rtf *f, const u32 __user *from)
{
	u32 record;

	if (!capable(CAP_SYS_RESOURCE))
		return -EPERM;
	if (get_user(record, from))
		return -EFAULT;
	return rtf_record_this(f, record);
}

static long ioctl_flush(struct rtf_file *open)
{
	struct rtf *f = open->f;
	long n = -EBUSY;

	mutex_lock(&f->out.lock);
	if (rtf_may_read(open))
		n = ring_flush(&f->out.ring);
	mutex_unlock(&f->out.lock);
	if (n > 0)
		rtf_tell_rt(f, RTF_SPACE);
	return n;
}

static long ioctl_lowat(struct rtf_file *open, const u32 __user *from)
{
	u32 lowat;

	if (get_user(lowat, from))
		return -EFAULT;
	if (lowat < 1 || lowat > ring_size(&open->f->out.ring))
		return -EINVAL;
	WRITE_ONCE(open->lowat, lowat);
	/* It may have been lowered below what is there. */
	rtf_wake_end(&open->f->out, 0);
	return 0;
}

long rtf_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct rtf_file *open = file->private_data;
	struct rtf *f = open->f;
	void __user *user = (void __user *)arg;

	switch (cmd) {
	case FIONREAD:
		return put_user(ring_used(&f->out.ring), (int __user *)user);
	case RTF_IOC_STATS:
		return ioctl_stats(f, user);
	case RTF_IOC_RESIZE:
		return ioctl_resize(f, user);
	case RTF_IOC_FLUSH:
		return file->f_mode & FMODE_READ ? ioctl_flush(open) : -EBADF;
	case RTF_IOC_RECORD:
		return ioctl_record(f, user);
	case RTF_IOC_CLAIM:
		return file->f_mode & FMODE_READ ? rtf_claim(open, user) : -EBADF;
	case RTF_IOC_RELEASE:
		return rtf_unclaim(open);
	case RTF_IOC_CONSUME:
		return rtf_consume(open, user);
	case RTF_IOC_LOWAT:
		return ioctl_lowat(open, user);
	default:
		return -ENOTTY;
	}
}
