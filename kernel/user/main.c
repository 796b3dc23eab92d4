// SPDX-License-Identifier: GPL-2.0-only
/* tactus_user: the device, and who may enter RT mode. See user.h and <uapi/tactus/rt.h>. */
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include "user.h"

/* ---- who may enter ---- */

static int refuse(const char **why, int err, const char *sentence)
{
	*why = sentence;
	return err;
}

static int check_attr(const struct rt_attr *attr, const char **why)
{
	if (attr->reserved || attr->flags & ~(RT_DEMOTE_SIGNAL | RT_DEMOTE_ABORT | RT_START_NOW))
		return refuse(why, -EINVAL, "the attributes have flags that are not known");
	if (attr->period_ns < RT_PERIOD_MIN_NS || attr->period_ns > RT_PERIOD_MAX_NS)
		return refuse(why, -EINVAL, "the period is not 5 us to 1 h");
	if (attr->start_ns < 0 || attr->start_ns > S64_MAX / 2)
		return refuse(why, -EINVAL, "the start is negative, or too far away");
	if (attr->deadline_ns < 0 || attr->budget_ns < 0 || attr->budget_ns > attr->period_ns)
		return refuse(why, -EINVAL, "the deadline or budget is out of range");
	if (!attr->budget_ns && !capable(CAP_SYS_ADMIN))
		return refuse(why, -EPERM, "a task without a budget takes CAP_SYS_ADMIN");
	return 0;
}

static bool has_ldt(void)
{
#ifdef CONFIG_MODIFY_LDT_SYSCALL
	return READ_ONCE(current->mm->context.ldt);
#else
	return false;
#endif
}

/* A debugger's, for this thread. RT mode has none: what they wait for would pass unseen. */
static bool has_breakpoints(void)
{
	return READ_ONCE(current->thread.ptrace_dr7) & 0xff;
}

static int check_thread(const struct process *p, const char **why)
{
	const struct pt_regs *regs = task_pt_regs(current);

	if (p->mm != current->mm)
		return refuse(why, -EPERM, "this /dev/rt was opened by another process");
	if (regs->cs != __USER_CS || regs->ss != __USER_DS || regs->ip >= TASK_SIZE_MAX)
		return refuse(why, -EOPNOTSUPP, "only 64-bit code can run in RT mode");
	if (has_ldt())
		return refuse(why, -EOPNOTSUPP, "the process has a local descriptor table");
	if (has_breakpoints())
		return refuse(why, -EBUSY, "a debugger's hardware breakpoints do not reach RT mode");
	return 0;
}

/* ---- the device ---- */

static ssize_t user_read(struct file *file, char __user *buffer, size_t bytes, loff_t *pos)
{
	struct rt_enter __user *at = (struct rt_enter __user *)buffer;
	struct process *p = file->private_data;
	const char *why = NULL;
	struct rt_attr attr;
	struct thread *t;
	long ret;

	if (bytes != sizeof(*at))
		return -EINVAL;
	if (copy_from_user(&attr, &at->attr, sizeof(attr)))
		return -EFAULT;
	ret = check_thread(p, &why);
	ret = ret ?: check_attr(&attr, &why);
	if (!ret) {
		t = thread_find(p);
		if (!t)
			return -ENOMEM;
		t->attr = attr;
		ret = thread_run(t, at, &why);
	}
	/* If it was in RT mode the result is whatever its rax is to be. */
	if (why && copy_to_user(at->why, why, min(strlen(why) + 1, sizeof(at->why) - 1)))
		return -EFAULT;
	return ret;
}

static long get_stat(struct process *p, void __user *to)
{
	struct thread *t;

	if (p->mm != current->mm)
		return -EPERM;
	t = thread_find(p);
	if (!t)
		return -ENOMEM;
	return copy_to_user(to, &t->stat, sizeof(t->stat)) ? -EFAULT : 0;
}

/* RT code has both ends of a FIFO in hand: so must whoever lets it. */
static long allow_fifo(struct process *p, int fd)
{
	struct file *file = fget(fd);
	int fifo;

	if (!file)
		return -EBADF;
	fifo = rtf_of_file(file);
	if (fifo >= 0 && (file->f_mode & (FMODE_READ | FMODE_WRITE)) != (FMODE_READ | FMODE_WRITE))
		fifo = -EACCES;
	if (fifo >= 0)
		set_bit(fifo, p->fifos);
	fput(file);
	return fifo;
}

static long user_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	struct process *p = file->private_data;
	struct rt_clock clock = { .factor = pl_clock_factor() };

	switch (command) {
	case RT_IOC_CLOCK:
		return copy_to_user((void __user *)arg, &clock, sizeof(clock)) ? -EFAULT : 0;
	case RT_IOC_STAT:
		return get_stat(p, (void __user *)arg);
	case RT_IOC_FIFO:
		return allow_fifo(p, arg);
	case RT_IOC_OBJECT:
		return object_open(p, (void __user *)arg);
	case RT_IOC_SEM_POST:
		return object_post(p, arg);
	case RT_IOC_MBX_SEND:
	case RT_IOC_MBX_RECEIVE:
		return object_message(p, (void __user *)arg, command == RT_IOC_MBX_SEND);
	case RT_IOC_EVT_SET:
	case RT_IOC_EVT_CLEAR:
		return object_flags(p, (void __user *)arg, command == RT_IOC_EVT_SET);
	}
	return -ENOTTY;
}

static int user_open(struct inode *inode, struct file *file)
{
	struct process *p = process_new();

	if (IS_ERR(p))
		return PTR_ERR(p);
	process_show(p);
	file->private_data = p;
	return stream_open(inode, file);
}

static int user_release(struct inode *inode, struct file *file)
{
	struct process *p = file->private_data;

	process_hide(p);
	process_free(p);
	return 0;
}

static const struct file_operations user_fops = {
	.owner = THIS_MODULE,
	.open = user_open,
	.release = user_release,
	.read = user_read,
	.unlocked_ioctl = user_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR, .name = "rt", .fops = &user_fops, .mode = 0600,
};

/* ---- module ---- */

static int __init user_init(void)
{
	const char *why = pl_ring3_refusal();
	int err;

	if (why) {
		pr_err("tactus_user: refused: %s; nothing was changed\n", why);
		return -EOPNOTSUPP;
	}
	err = status_init();
	if (err)
		return err;
	err = process_init();
	if (err)
		goto err_status;
	err = misc_register(&device);
	if (err)
		goto err_process;
	return 0;
err_process:
	process_exit();
err_status:
	status_exit();
	return err;
}

/* No file is open, so no thread is in RT mode: each would hold us. */
static void __exit user_exit(void)
{
	misc_deregister(&device);
	process_exit();
	status_exit();
}

module_init(user_init);
module_exit(user_exit);
MODULE_LICENSE("GPL");
MODULE_VERSION(TACTUS_VERSION);
MODULE_DESCRIPTION("Tactus: RT tasks in ring 3");
