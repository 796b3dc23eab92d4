// SPDX-License-Identifier: GPL-2.0-only
/*
 * RT code that shares the segment "shm_test" with processes: each millisecond a task counts, and adds
 * what it finds in @in to @sum. A process calls <rt/shm.h> by writing "create NAME BYTES MODE",
 * "attach NAME BYTES", "detach" (what was attached or created last) or "rt" (the calls from RT code)
 * to /proc/shm_test; what the call returns is what write() returns.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/uaccess.h>
#include <rt/shm.h>
#include <rt/task.h>

struct shared {
	u64 ticks, in, sum;
};

static struct shared *shared;
static void *last;
static RT_TASK task, caller;
static int rt_results[3];

static void run(int unused)
{
	while (!rt_task_wait()) {
		shared->ticks++;
		shared->sum += READ_ONCE(shared->in);
	}
}

static void call(int unused)
{
	rt_results[0] = PTR_ERR_OR_ZERO(rt_shm_create("rt", 1, 0600));
	rt_results[1] = PTR_ERR_OR_ZERO(rt_shm_attach("shm_test", 1));
	rt_results[2] = rt_shm_detach(shared);
}

static int call_in_rt(void)
{
	int err = rt_task_init(&caller, call, 0, 8192, 2);

	if (err)
		return err;
	err = rt_task_wakeup(&caller);
	rt_task_delete(&caller);
	for (int i = 0; i < 3; i++)
		if (rt_results[i] != -EPERM)
			err = -EIO;
	return err;
}

static ssize_t take(void *memory)
{
	if (IS_ERR(memory))
		return PTR_ERR(memory);
	last = memory;
	return 0;
}

static ssize_t on_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	char text[100] = "", name[64] = "";
	unsigned int mode;
	size_t bytes;
	ssize_t err;

	if (count >= sizeof(text) || copy_from_user(text, from, count))
		return -EFAULT;
	if (sscanf(text, "create %63s %zu %o", name, &bytes, &mode) == 3)
		err = take(rt_shm_create(name, bytes, mode));
	else if (sscanf(text, "attach %63s %zu", name, &bytes) == 2)
		err = take(rt_shm_attach(name, bytes));
	else
		err = text[0] == 'r' ? call_in_rt() : rt_shm_detach(last);
	return err ?: count;
}

static const struct proc_ops ops = { .proc_write = on_write };

static int __init shm_test_init(void)
{
	int err;

	shared = rt_shm_create("shm_test", sizeof(*shared), 0644);
	if (IS_ERR(shared))
		return PTR_ERR(shared);
	proc_create("shm_test", 0600, NULL, &ops);
	err = rt_task_init(&task, run, 0, 8192, 1) ?:
	      rt_task_make_periodic(&task, rt_get_time() + 1000000, 1000000);
	if (err)
		remove_proc_entry("shm_test", NULL);
	return err;
}

/* Leaves its segments and its task behind: both end with the module. */
static void __exit shm_test_exit(void)
{
	remove_proc_entry("shm_test", NULL);
}

module_init(shm_test_init);
module_exit(shm_test_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tactus: test of shared memory");
