// SPDX-License-Identifier: GPL-2.0-only
/*
 * An RT task of the kernel that shares the mutex "peer" with programs: at the moment that is written
 * to the parameter at, ns, it wants it. Then got is the moment when it had it, or -errno.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <rt/named.h>
#include <rt/task.h>

static const struct rt_object wish = { .name = "peer", .kind = RT_OBJECT_MTX };
static struct rt_mtx *mtx;
static RT_TASK task;

static long got;
module_param(got, long, 0444);

static void want(int unused)
{
	int err = rt_mtx_lock(mtx);

	WRITE_ONCE(got, err ?: rt_get_time());
	if (!err)
		rt_mtx_unlock(mtx);
}

static int set_at(const char *text, const struct kernel_param *param)
{
	long long at;
	int err = kstrtoll(text, 0, &at);

	if (err)
		return err;
	got = 0;
	rt_task_delete(&task);
	/* The programs' CPU: a virtual CPU that has to come first is late. */
	err = rt_task_init(&task, want, 0, 4096, 10) ?: rt_task_set_cpu(&task, 0);
	return err ?: rt_task_make_periodic(&task, at, RT_TICKS_PER_SEC);
}

static const struct kernel_param_ops at_ops = { .set = set_at };
module_param_cb(at, &at_ops, NULL, 0200);

static int __init peer_init(void)
{
	mtx = rt_named_get(&wish);
	return PTR_ERR_OR_ZERO(mtx);
}

static void __exit peer_exit(void)
{
	rt_task_delete(&task);
	rt_named_put(mtx);
}

module_init(peer_init);
module_exit(peer_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Shares a mutex with programs");
