// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the manner of RTAI 2's examples without a scheduler: a function at the timer, one of Linux's
 * behind it, and names of those days. Each part says a line, and the test compares them.
 */
#include <linux/config.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <rtai.h>
#include <rtai_sched.h>
#include <rtai_fifos.h>

MODULE_LICENSE("GPL");
EXPORT_NO_SYMBOLS;

#ifndef CONFIG_RTAI
#error "no RTAI"
#endif

#define TICK_NS 100000
#define TICKS 1000
#define COMMAND 2
#define ANSWER 3
#define SAY(...) rt_printk("bare: " __VA_ARGS__)

static int limit = 5;
RTAI_MODULE_PARM(limit, int);

static RT_TASK task;
static int cpu_used[NR_RT_CPUS], ticks, handed_on, shots, line_handed_on, got_irq;
static RTIME first, last;
static unsigned long got_data;

static void tick(void)
{
	if (!ticks++)
		first = rt_get_time();
	last = rt_get_time();
	rt_times.tick_time = rt_times.intr_time;
	rt_times.intr_time = rt_times.tick_time + rt_times.periodic_tick;
	rt_set_timer_delay(0);
	if (rt_times.tick_time >= rt_times.linux_time) {
		rt_times.linux_time += rt_times.linux_tick;
		rt_pend_linux_irq(TIMER_8254_IRQ);
	}
	if (ticks == TICKS)
		rt_set_timer_delay(FREQ_8254);
}

static void echo(int irq, void *dev, struct pt_regs *regs)
{
	if (irq == TIMER_8254_IRQ && dev == echo)
		handed_on++;
}

static int shot(int irq, unsigned long data)
{
	got_irq = irq;
	got_data = data;
	if (++shots < limit)
		rt_set_timer_delay(FREQ_APIC / 1000);
	rt_pend_linux_irq(7);
	return 0;
}

static int of_line(int irq, void *dev, struct pt_regs *regs)
{
	line_handed_on++;
	return 1;
}

static int command(unsigned int fifo, int how)
{
	char letter;

	if (how == 'r') {
		SAY("read\n");
		return -EINVAL;
	}
	SAY("written %c %d\n", how, rtf_get(fifo, &letter, 1));
	return 0;
}

/* A resumption of a task that waits for its period is kept, as RTAI keeps it. */
static void periodic(long unused)
{
	cpu_used[hard_cpu_id()]++;
	rt_task_wait_period();
	rt_task_suspend(rt_whoami());
	SAY("not suspended\n");
	rt_task_suspend(rt_whoami());
	SAY("suspended in vain\n");
}

static void of_timer(void)
{
	int hz = imuldiv(TICK_NS, FREQ_8254, 1000000000), again;
	RTIME mean;

	rt_request_linux_irq(TIMER_8254_IRQ, echo, "echo", echo);
	rt_request_timer(tick, hz, 0);
	again = rt_request_timer(tick, hz, 0);
	msleep(300);
	rt_free_timer();
	mean = (last - first) / (TICKS - 1);
	printk("bare: %d ticks of %d, %lld ns, again %d\n", ticks, rt_times.periodic_tick, mean, again);
	/* As many of Linux's ticks as 100 ms have. */
	printk("bare: handed on %d\n", handed_on >= HZ / 10 - 2 && handed_on <= HZ / 10);
	again = rt_free_linux_irq(TIMER_8254_IRQ, echo);
	printk("bare: freed %d, again %d\n", again, rt_free_linux_irq(TIMER_8254_IRQ, echo));
}

static void of_shots(void)
{
	rt_request_linux_irq(7, of_line, "line", of_line);
	rt_request_timer((void *)shot, 0, 1);
	rt_set_global_irq_ext(TIMER_8254_IRQ, 1, 99);
	msleep(100);
	printk("bare: %d shots, irq %d data %lu, handed on %d\n", shots, got_irq, got_data,
	       line_handed_on);
}

int init_module(void)
{
	unsigned long flags, masked;

	rt_mount_rtai();
	rt_global_save_flags(&flags);
	rt_global_cli();
	rt_global_save_flags(&masked);
	rt_global_restore_flags(flags);
	printk("bare: flags %d, CPUs %d, fast %lld %d\n", flags != masked, NR_RT_CPUS <= 32,
	       llimd(6000000000LL, 1, 3000000000U), imuldiv(1000, 3000000000U, 4000000000U));
	printk("bare: free %d, taken %d\n", check_region(0x2f0, 4), check_region(0x40, 1));
	rtf_create_using_bh_and_usr_buf(0, no_such_buffer, 1000, 0);
	rtf_create(COMMAND, 100);
	rtf_create_handler(COMMAND, X_FIFO_HANDLER(command));
	rtf_create(ANSWER, 100);
	rtf_create_handler(ANSWER, X_FIFO_HANDLER(command));
	rtf_put(ANSWER, "y", 1);
	of_timer();
	of_shots();
	rt_task_init(&task, periodic, 0, 4000, 1, 0, 0);
	rt_task_make_periodic(&task, rt_get_time() + 10000000, 10000000);
	msleep(15);
	rt_task_resume(&task);
	return 0;
}

/* The timer and the line are left, for whoever cleans up behind a program. */
void cleanup_module(void)
{
	rt_task_delete(&task);
	rtf_destroy(0);
	rtf_destroy(COMMAND);
	rtf_destroy(ANSWER);
	rt_umount_rtai();
}
