// SPDX-License-Identifier: GPL-2.0-only
/*
 * The nodes below /dev: rtfN for each number, created or not; rtf/NAME for each FIFO that
 * has a name, as long as it has it; and rtfctl, by which programs create FIFOs.
 *
 * devtmpfs makes them all, so that nothing depends on udev. A name's node has a minor
 * number of its own, N beyond those of the numbers.
 */
#include <linux/capability.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include "compat/chardev.h"
#include "rtfifo.h"

static dev_t rtf_dev;
static struct cdev rtf_cdev, rtf_ctl_cdev;

static char *rtf_devnode(compat_devnode_device *dev, umode_t *mode)
{
	if (mode)
		*mode = MINOR(dev->devt) - MINOR(rtf_dev) == 2 * rtf_count ? 0600 : 0660;
	return NULL;
}

static struct class rtf_class = {
	.name = "rtf",
	.devnode = rtf_devnode,
};

/* Which FIFO a node is of. */
int rtf_number_of_minor(unsigned int minor)
{
	return (minor - MINOR(rtf_dev)) % rtf_count;
}

static dev_t rtf_name_dev(const struct rtf *f)
{
	return rtf_dev + rtf_count + f->number;
}

int rtf_name_node_add(const struct rtf *f)
{
	/* The '!' becomes a '/' in /dev. */
	return PTR_ERR_OR_ZERO(device_create(&rtf_class, NULL, rtf_name_dev(f), NULL, "rtf!%s",
					     f->name));
}

void rtf_name_node_remove(const struct rtf *f)
{
	device_destroy(&rtf_class, rtf_name_dev(f));
}

static long ctl_create(struct rtf_new __user *user)
{
	struct rtf_new new;
	int ret;

	if (copy_from_user(&new, user, sizeof(new)))
		return -EFAULT;
	ret = rtf_create_like(NULL, true, &new);
	if (ret)
		return ret;
	if (put_user(new.fifo, &user->fifo)) {
		rtf_destroy_users(new.fifo);
		return -EFAULT;
	}
	return 0;
}

static long rtf_ctl_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	u32 fifo;

	if (cmd != RTF_IOC_CREATE && cmd != RTF_IOC_DESTROY)
		return -ENOTTY;
	if (!capable(CAP_SYS_RESOURCE))
		return -EPERM;
	if (cmd == RTF_IOC_CREATE)
		return ctl_create(user);
	if (get_user(fifo, (u32 __user *)user))
		return -EFAULT;
	return rtf_destroy_users(fifo);
}

static const struct file_operations rtf_ctl_fops = {
	.owner = THIS_MODULE,
	.open = stream_open,
	.unlocked_ioctl = rtf_ctl_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static void rtf_nodes_remove(unsigned int count)
{
	while (count--)
		device_destroy(&rtf_class, rtf_dev + count);
}

static int rtf_cdevs_add(void)
{
	int ret;

	cdev_init(&rtf_cdev, &rtf_fops);
	rtf_cdev.owner = THIS_MODULE;
	ret = cdev_add(&rtf_cdev, rtf_dev, 2 * rtf_count);
	if (ret)
		return ret;
	cdev_init(&rtf_ctl_cdev, &rtf_ctl_fops);
	rtf_ctl_cdev.owner = THIS_MODULE;
	ret = cdev_add(&rtf_ctl_cdev, rtf_dev + 2 * rtf_count, 1);
	if (ret)
		cdev_del(&rtf_cdev);
	return ret;
}

int rtf_nodes_init(void)
{
	struct device *dev;
	unsigned int i;
	int ret;

	ret = alloc_chrdev_region(&rtf_dev, 0, 2 * rtf_count + 1, "rtf");
	if (ret)
		return ret;
	ret = class_register(&rtf_class);
	if (ret)
		goto err_region;
	ret = rtf_cdevs_add();
	if (ret)
		goto err_class;
	for (i = 0; i < rtf_count; i++) {
		dev = device_create(&rtf_class, NULL, rtf_dev + i, NULL, "rtf%u", i);
		if (IS_ERR(dev))
			goto err_nodes;
	}
	dev = device_create(&rtf_class, NULL, rtf_dev + 2 * rtf_count, NULL, "rtfctl");
	if (IS_ERR(dev))
		goto err_nodes;
	return 0;

err_nodes:
	ret = PTR_ERR(dev);
	rtf_nodes_remove(i);
	cdev_del(&rtf_ctl_cdev);
	cdev_del(&rtf_cdev);
err_class:
	class_unregister(&rtf_class);
err_region:
	unregister_chrdev_region(rtf_dev, 2 * rtf_count + 1);
	return ret;
}

/* The table is empty: no FIFO has a name any more. */
void rtf_nodes_exit(void)
{
	device_destroy(&rtf_class, rtf_dev + 2 * rtf_count);
	rtf_nodes_remove(rtf_count);
	cdev_del(&rtf_ctl_cdev);
	cdev_del(&rtf_cdev);
	class_unregister(&rtf_class);
	unregister_chrdev_region(rtf_dev, 2 * rtf_count + 1);
}
