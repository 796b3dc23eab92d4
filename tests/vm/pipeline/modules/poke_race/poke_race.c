// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hosted mode, two CPUs: RT code comes between two instructions of Linux's
 * smp_call_function_single_async(), the one that looks whether the call_single_data is free and
 * the one that takes it, and wants to interrupt the same CPU. A kprobe on the second of them is
 * that RT code. Writing to the parameter go does it once; hits says how often the kprobe was met,
 * ran which of the two tasks on CPU 1 has run.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>

#include <rt/task.h>

#define TASKS 2
#define STACK_BYTES 4096
#define FUNCTION_BYTES 160
/* movl $1, 8(%reg): the flag CSD_FLAG_LOCK */
#define MOVL_BYTES 7

static RT_TASK tasks[TASKS];
static unsigned int ran[TASKS];
static unsigned int hits;
static bool armed;
module_param_array(ran, uint, NULL, 0444);
module_param(hits, uint, 0444);

static int meet(struct kprobe *probe, struct pt_regs *regs)
{
	/* Linux calls the function, too. */
	if (!armed || raw_smp_processor_id())
		return 0;
	armed = false;
	hits++;
	rt_task_wakeup(&tasks[1]);
	return 0;
}

static struct kprobe probe;

/* Where the flag is taken in the function at @from. */
static u8 *find_lock(u8 *from)
{
	for (u8 *at = from; at < from + FUNCTION_BYTES; at++)
		if (at[0] == 0xc7 && (at[1] & 0xf8) == 0x40 && at[2] == 8 && at[3] == 1 &&
		    !at[4] && !at[5] && !at[6])
			return at;
	return NULL;
}

static int set_probe(void)
{
	/* Looked for once: afterwards a breakpoint of an earlier probe may stand there for a while. */
	static u8 *lock;
	struct kprobe finder = { .symbol_name = "smp_call_function_single_async" };
	int err = lock ? 0 : register_kprobe(&finder);

	if (err)
		return err;
	if (!lock) {
		lock = find_lock((u8 *)finder.addr);
		unregister_kprobe(&finder);
	}
	/* Anew: one that was registered before stays disabled. */
	probe = (struct kprobe) { .pre_handler = meet };
	probe.addr = (kprobe_opcode_t *)lock;
	return probe.addr ? register_kprobe(&probe) : -ENOENT;
}

static void count(int number)
{
	for (;;) {
		WRITE_ONCE(ran[number], ran[number] + 1);
		rt_task_suspend(rt_task_self());
	}
}

/* On CPU 0. */
static int go(const char *text, const struct kernel_param *param)
{
	unsigned long flags;
	int err;

	err = set_probe();
	if (err)
		return err;
	local_irq_save(flags);
	armed = true;
	rt_task_wakeup(&tasks[0]);
	armed = false;
	local_irq_restore(flags);
	msleep(50);
	unregister_kprobe(&probe);
	return 0;
}

static const struct kernel_param_ops go_ops = { .set = go };
module_param_cb(go, &go_ops, NULL, 0200);

static void delete_all(void)
{
	for (int i = 0; i < TASKS; i++)
		rt_task_delete(&tasks[i]);
}

static int __init poke_race_init(void)
{
	int err = 0;

	for (int i = 0; i < TASKS && !err; i++)
		err = rt_task_init(&tasks[i], count, i, STACK_BYTES, 1) ?:
			rt_task_set_cpu(&tasks[i], 1);
	if (err)
		delete_all();
	return err;
}

static void __exit poke_race_exit(void)
{
	delete_all();
}

module_init(poke_race_init);
module_exit(poke_race_exit);
MODULE_DESCRIPTION("Two that interrupt the same CPU at once, in hosted mode");
MODULE_LICENSE("GPL");
