// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/tactus/fifos: a header, then one tab-separated line per FIFO:
 *
 *   fifo      number
 *   size      bytes it holds in each direction
 *   used_in   bytes that Linux wrote and the RT side has not yet got
 *   used_out  bytes that the RT side put and Linux has not yet read
 *   openers   open files
 *   drops     puts of the RT side that did not fit
 *   record    bytes of a record; 0: none
 *   name      of /dev/rtf/NAME; -: none
 *
 * A binary attribute: with a thousand FIFOs it is longer than the page that
 * sysfs gives to text.
 */
#include <linux/kobject.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <rt/status.h>
#include "compat/compat.h"
#include "rtfifo.h"

#define RTF_STATUS_LINE_BYTES 128

static ssize_t fifos_read(struct file *file, struct kobject *kobj, compat_bin_attribute *attr,
			  char *buf, loff_t off, size_t count)
{
	size_t room = (rtf_count + 1) * RTF_STATUS_LINE_BYTES, len;
	char *text = kvmalloc(room, GFP_KERNEL);
	unsigned int i;
	ssize_t ret;

	if (!text)
		return -ENOMEM;
	len = scnprintf(text, room, "fifo\tsize\tused_in\tused_out\topeners\tdrops\trecord\tname\n");
	for (i = 0; i < rtf_count; i++) {
		struct rtf *f = rtf_find(i);

		if (!f)
			continue;
		len += scnprintf(text + len, room - len, "%u\t%u\t%u\t%u\t%d\t%llu\t%u\t%s\n", i,
				 ring_size(&f->out.ring), ring_used(&f->in.ring),
				 ring_used(&f->out.ring), atomic_read(&f->openers),
				 READ_ONCE(f->out.ring.refused), READ_ONCE(f->out.ring.record),
				 f->name[0] ? f->name : "-");
		rtf_release(f);
	}
	ret = memory_read_from_buffer(buf, count, &off, text, len);
	kvfree(text);
	return ret;
}

static struct bin_attribute fifos_attr = {
	.attr = { .name = "fifos", .mode = 0444 },
	.read = fifos_read,
};

int rtf_status_init(void)
{
	return sysfs_create_bin_file(rt_kobj, &fifos_attr);
}

void rtf_status_exit(void)
{
	sysfs_remove_bin_file(rt_kobj, &fifos_attr);
}
