// SPDX-License-Identifier: GPL-2.0-only
/* rtshm: /dev/rtshm/NAME, /dev/rtshmctl, /sys/kernel/tactus/shm. */
#include <linux/cdev.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <rt/status.h>
#include "compat/chardev.h"
#include "compat/compat.h"
#include "shm.h"

unsigned long shm_max_bytes = 64 << 20;
module_param_named(max_bytes, shm_max_bytes, ulong, 0644);
MODULE_PARM_DESC(max_bytes, "bytes of all segments together (default 64 MiB)");

static dev_t shm_dev;
static struct cdev shm_cdev;

/* ---- the nodes ---- */

static char *shm_devnode(compat_type_devnode_device *device, umode_t *mode, kuid_t *uid,
			 kgid_t *gid)
{
	const struct shm *s = dev_get_drvdata(device);

	/* Whoever removes the node wants its name alone. */
	if (mode)
		*mode = s->mode;
	if (uid)
		*uid = s->uid;
	if (gid)
		*gid = s->gid;
	return kasprintf(GFP_KERNEL, "rtshm/%s", s->name);
}

static const struct device_type shm_type = { .name = "rtshm", .devnode = shm_devnode };
static struct class shm_class = { .name = "rtshm" };

static void device_release(struct device *device)
{
	kfree(device);
}

int shm_node_add(struct shm *s)
{
	struct device *device = kzalloc(sizeof(*device), GFP_KERNEL);
	int err;

	if (!device)
		return -ENOMEM;
	device_initialize(device);
	device->class = &shm_class;
	device->type = &shm_type;
	device->devt = shm_dev + s->minor;
	device->release = device_release;
	dev_set_drvdata(device, s);
	err = dev_set_name(device, "%s", s->name) ?: device_add(device);
	if (err)
		put_device(device);
	else
		s->device = device;
	return err;
}

void shm_node_remove(struct shm *s)
{
	device_del(s->device);
	put_device(s->device);
}

/* ---- open segments ---- */

static int segment_open(struct inode *inode, struct file *file)
{
	struct shm *s;

	mutex_lock(&shm_mutex);
	s = shm_of_minor(iminor(inode) - MINOR(shm_dev));
	if (s)
		s->files++;
	mutex_unlock(&shm_mutex);
	file->private_data = s;
	return s ? nonseekable_open(inode, file) : -ENXIO;
}

/* Of both kinds of files; that of /dev/rtshmctl may have no segment. */
static int segment_release(struct inode *inode, struct file *file)
{
	struct shm *s = file->private_data;

	mutex_lock(&shm_mutex);
	if (s) {
		s->files--;
		shm_settle(s);
	}
	mutex_unlock(&shm_mutex);
	return 0;
}

/* The file holds the segment, and the mapping the file: so nothing is to be counted here. */
static int segment_mmap(struct file *file, struct vm_area_struct *vma)
{
	const struct shm *s = READ_ONCE(file->private_data);
	unsigned long bytes = vma->vm_end - vma->vm_start, offset, at;
	int err = 0;

	if (!s)
		return -ENODEV;
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (vma->vm_pgoff > PAGE_ALIGN(s->bytes) >> PAGE_SHIFT)
		return -EINVAL;
	offset = vma->vm_pgoff << PAGE_SHIFT;
	if (bytes > PAGE_ALIGN(s->bytes) - offset)
		return -EINVAL;
	compat_vm_flags(vma, VM_DONTEXPAND | VM_DONTDUMP, 0);
	for (at = 0; !err && at < bytes; at += PAGE_SIZE)
		err = vm_insert_page(vma, vma->vm_start + at,
				     vmalloc_to_page(s->memory + offset + at));
	return err;
}

static long segment_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	const struct shm *s = READ_ONCE(file->private_data);

	if (command != RTSHM_IOC_BYTES)
		return -ENOTTY;
	if (!s)
		return -ENODEV;
	return put_user((u64)s->bytes, (u64 __user *)arg);
}

static const struct file_operations segment_fops = {
	.owner = THIS_MODULE,
	.open = segment_open,
	.release = segment_release,
	.mmap = segment_mmap,
	.unlocked_ioctl = segment_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/* ---- /dev/rtshmctl ---- */

static long create(struct file *file, const struct rtshm_new __user *from)
{
	struct rtshm_new want;
	struct shm *s;
	long ret = 0;

	if ((file->f_mode & (FMODE_READ | FMODE_WRITE)) != (FMODE_READ | FMODE_WRITE))
		return -EACCES;
	if (copy_from_user(&want, from, sizeof(want)))
		return -EFAULT;
	mutex_lock(&shm_mutex);
	s = file->private_data ? ERR_PTR(-EBUSY) :
		shm_new(&want, current_fsuid(), current_fsgid(), true);
	if (IS_ERR(s)) {
		ret = PTR_ERR(s);
	} else {
		s->files++;
		WRITE_ONCE(file->private_data, s);
	}
	mutex_unlock(&shm_mutex);
	return ret;
}

static long control_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	if (command == RTSHM_IOC_CREATE)
		return create(file, (const struct rtshm_new __user *)arg);
	return segment_ioctl(file, command, arg);
}

static int control_open(struct inode *inode, struct file *file)
{
	file->private_data = NULL;
	return nonseekable_open(inode, file);
}

static const struct file_operations control_fops = {
	.owner = THIS_MODULE,
	.open = control_open,
	.release = segment_release,
	.mmap = segment_mmap,
	.unlocked_ioctl = control_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice control = {
	.minor = MISC_DYNAMIC_MINOR, .name = "rtshmctl", .fops = &control_fops, .mode = 0600,
};

/* ---- /sys/kernel/tactus/shm: a header, then one tab-separated line per segment ---- */

#define LINE_BYTES 128

static ssize_t shm_read(struct file *file, struct kobject *kobj, compat_bin_attribute *attr,
			char *buf, loff_t off, size_t bytes)
{
	size_t room = (RTSHM_MOST + 1) * LINE_BYTES, used;
	char *text = kvmalloc(room, GFP_KERNEL);
	struct list_head *hold;
	struct shm *s;
	ssize_t ret;

	if (!text)
		return -ENOMEM;
	used = scnprintf(text, room, "name\tbytes\tmode\tuid\tgid\tmodules\tfiles\n");
	mutex_lock(&shm_mutex);
	list_for_each_entry(s, &shm_all, node) {
		unsigned int holds = 0;

		list_for_each(hold, &s->holds)
			holds++;
		used += scnprintf(text + used, room - used, "%s\t%zu\t%03o\t%u\t%u\t%u\t%u\n",
				  s->name, s->bytes, s->mode,
				  from_kuid_munged(&init_user_ns, s->uid),
				  from_kgid_munged(&init_user_ns, s->gid), holds, s->files);
	}
	mutex_unlock(&shm_mutex);
	ret = memory_read_from_buffer(buf, bytes, &off, text, used);
	kvfree(text);
	return ret;
}

static struct bin_attribute shm_file = {
	.attr = { .name = "shm", .mode = 0444 },
	.read = shm_read,
};

/* ---- module ---- */

int shm_nodes_init(void)
{
	int err = alloc_chrdev_region(&shm_dev, 0, 1 << MINORBITS, "rtshm");

	if (err)
		return err;
	err = class_register(&shm_class);
	if (err)
		goto err_region;
	cdev_init(&shm_cdev, &segment_fops);
	shm_cdev.owner = THIS_MODULE;
	err = cdev_add(&shm_cdev, shm_dev, 1 << MINORBITS);
	if (err)
		goto err_class;
	err = sysfs_create_bin_file(rt_kobj, &shm_file);
	if (err)
		goto err_cdev;
	err = misc_register(&control);
	if (err)
		goto err_file;
	return 0;

err_file:
	sysfs_remove_bin_file(rt_kobj, &shm_file);
err_cdev:
	cdev_del(&shm_cdev);
err_class:
	class_unregister(&shm_class);
err_region:
	unregister_chrdev_region(shm_dev, 1 << MINORBITS);
	return err;
}

void shm_nodes_exit(void)
{
	misc_deregister(&control);
	sysfs_remove_bin_file(rt_kobj, &shm_file);
	cdev_del(&shm_cdev);
	class_unregister(&shm_class);
	unregister_chrdev_region(shm_dev, 1 << MINORBITS);
}

static int __init rtshm_init(void)
{
	int err = shm_segments_init();

	if (err)
		return err;
	/* Last: from here on a process may open one. */
	err = shm_nodes_init();
	if (err)
		shm_segments_exit();
	return err;
}

/* No file is open and no module holds a segment: each would hold us. So there is none. */
static void __exit rtshm_exit(void)
{
	shm_nodes_exit();
	shm_segments_exit();
}

module_init(rtshm_init);
module_exit(rtshm_exit);
MODULE_LICENSE("GPL");
MODULE_VERSION(TACTUS_VERSION);
MODULE_DESCRIPTION("Tactus: memory that RT code and processes share");
