// SPDX-License-Identifier: GPL-2.0-only
/*
 * The zero-copy reader: an open file claims a FIFO, maps its out ring, and gives
 * back the room of what it has read. The mapping is read-only: a process can spoil
 * nothing but what it reads itself. See <uapi/tactus/fifo.h> for the layout.
 *
 * While it is claimed the ring keeps its buffer: a resize says EBUSY. A mapping
 * holds the file, the file the FIFO, and so both outlive rtf_destroy().
 */
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include "compat/chardev.h"
#include "rtfifo.h"

long rtf_claim(struct rtf_file *open, struct rtf_layout __user *to)
{
	struct rtf *f = open->f;
	struct rtf_layout layout = { .index_bytes = PAGE_SIZE };

	BUILD_BUG_ON(offsetof(struct rtf_page, out.head) != offsetof(struct rtf_map, head));
	BUILD_BUG_ON(offsetof(struct rtf_page, out.tail) != offsetof(struct rtf_map, tail));
	mutex_lock(&f->out.lock);
	if (!rtf_may_read(open)) {
		mutex_unlock(&f->out.lock);
		return -EBUSY;
	}
	WRITE_ONCE(f->claimant, open);
	layout.data_bytes = f->out.ring.buf->cap;
	layout.size = ring_size(&f->out.ring);
	layout.record = f->out.ring.record;
	mutex_unlock(&f->out.lock);
	/* Wake readers, so that they notice. */
	rtf_wake_end(&f->out, 0);
	/* Claimed all the same: the caller, told so, can release it. */
	return copy_to_user(to, &layout, sizeof(layout)) ? -EFAULT : 0;
}

long rtf_unclaim(struct rtf_file *open)
{
	struct rtf *f = open->f;
	long ret = 0;

	mutex_lock(&f->out.lock);
	if (f->claimant != open)
		ret = -EPERM;
	else if (atomic_read(&f->maps))
		ret = -EBUSY;
	else
		WRITE_ONCE(f->claimant, NULL);
	mutex_unlock(&f->out.lock);
	return ret;
}

long rtf_consume(struct rtf_file *open, const struct rtf_consume __user *from)
{
	struct rtf *f = open->f;
	struct rtf_consume part;
	long ret = 0;

	if (copy_from_user(&part, from, sizeof(part)))
		return -EFAULT;
	mutex_lock(&f->out.lock);
	if (f->claimant != open)
		ret = -EPERM;
	else if (part.from != READ_ONCE(f->out.ring.ix->tail))
		ret = -ESTALE;
	else if (part.bytes > ring_used(&f->out.ring) || !ring_whole(&f->out.ring, part.bytes))
		ret = -EINVAL;
	else if (!ring_try_consume(&f->out.ring, part.from, part.bytes))
		ret = -ESTALE;
	mutex_unlock(&f->out.lock);
	if (ret || !part.bytes)
		return ret;
	rtf_tell_rt(f, RTF_SPACE);
	return min(rtf_run_handler(f, 'r'), 0);
}

static void rtf_map_open(struct vm_area_struct *vma)
{
	struct rtf_file *open = vma->vm_private_data;

	atomic_inc(&open->f->maps);
}

static void rtf_map_close(struct vm_area_struct *vma)
{
	struct rtf_file *open = vma->vm_private_data;

	atomic_dec(&open->f->maps);
}

static const struct vm_operations_struct rtf_map_ops = {
	.open = rtf_map_open,
	.close = rtf_map_close,
};

/* The page with the indices, then the buffer, and the buffer once more. */
static int rtf_insert_pages(struct vm_area_struct *vma, struct rtf *f)
{
	struct ring_buf *b = f->out.ring.buf;
	unsigned long at = vma->vm_start;
	u32 off;
	int ret, turn;

	ret = vm_insert_page(vma, at, virt_to_page(f->page));
	for (turn = 0; turn < 2; turn++)
		for (off = 0; !ret && off < b->cap; off += PAGE_SIZE)
			ret = vm_insert_page(vma, at += PAGE_SIZE, vmalloc_to_page(b->data + off));
	return ret;
}

int rtf_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct rtf_file *open = file->private_data;
	struct rtf *f = open->f;
	int ret;

	if (vma->vm_flags & VM_WRITE)
		return -EACCES;
	/* VM_SHARED is taken away from a file that is open for reading only. */
	if (!(vma->vm_flags & VM_MAYSHARE) || vma->vm_pgoff)
		return -EINVAL;
	mutex_lock(&f->out.lock);
	if (f->claimant != open)
		ret = f->claimant ? -EBUSY : -EPERM;
	else if (vma->vm_end - vma->vm_start != PAGE_SIZE + 2UL * f->out.ring.buf->cap)
		ret = -EINVAL;
	else
		ret = rtf_insert_pages(vma, f);
	if (!ret) {
		compat_vm_flags(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE);
		vma->vm_private_data = open;
		vma->vm_ops = &rtf_map_ops;
		atomic_inc(&f->maps);
	}
	mutex_unlock(&f->out.lock);
	return ret;
}
