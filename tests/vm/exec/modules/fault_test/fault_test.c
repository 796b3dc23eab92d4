// SPDX-License-Identifier: GPL-2.0-only
/*
 * RT code that does what the CPU refuses.
 *
 * Writing the name of a fault to the parameter run makes a task, timer function or interrupt
 * handler that causes it, and waits until it must have happened. A task named after the fault
 * stays until the next one. A witness, 1 ms, runs all the time; its jobs are counted.
 */
#include <linux/delay.h>
#include <linux/mc146818rtc.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/sched/task_stack.h>
#include <linux/spinlock.h>
#include <asm/nmi.h>

#include <rt/irq.h>
#include <rt/sched.h>
#include <rt/sync.h>
#include <rt/task.h>
#include <rt/timer.h>

#define RTC_IRQ 8
#define WAIT_MS 20
#define X87_DIVIDE_UNMASKED 0x37b
#define SSE_DIVIDE_UNMASKED 0x1d80

static unsigned int witnessed;
module_param(witnessed, uint, 0444);

/* Reached only behind a fault. */
static unsigned int survived;
module_param(survived, uint, 0444);

/* What the mutex said to the witness that a faulting task owned. */
static int inherited;
module_param(inherited, int, 0444);

static unsigned int irqs;
module_param(irqs, uint, 0444);

static void *null;	/* which the compiler need not know */

static RT_TASK witness, victim, heir;
static struct rt_timer timer;
static struct rt_mtx mutex;

static noinline void null_read(void)
{
	*(volatile int *)READ_ONCE(null) = 1;
}

static noinline void divide(void)
{
	asm volatile("xor %%edx, %%edx; mov $1, %%eax; div %%edx" : : : "eax", "edx");
}

static noinline void invalid(void)
{
	asm volatile("lock; nop");	/* not ud2, behind which objtool looks for no code */
}

static noinline void protection(void)
{
	*(volatile int *)0x8000000000000000UL = 1;
}

static noinline void jump(void)
{
	((void (*)(void))READ_ONCE(null))();
}

static noinline void floating(void)
{
	asm volatile("fld1; fstp %st(0)");
}

static noinline void x87(void)
{
	unsigned short control = X87_DIVIDE_UNMASKED;

	rt_use_fp(1);
	asm volatile("fldcw %0; fld1; fldz; fdivrp; fwait; fstp %%st(0)" : : "m" (control));
}

/* QEMU's TCG does not raise it; there the instruction that enters its gate stands in. */
static noinline void sse(void)
{
	unsigned int control = SSE_DIVIDE_UNMASKED, one = 0x3f800000;

	rt_use_fp(1);
	asm volatile("ldmxcsr %0; xorps %%xmm0, %%xmm0; movss %1, %%xmm1; divss %%xmm0, %%xmm1;"
		     "int $19" : : "m" (control), "m" (one));
}

static noinline int overflow(int depth)
{
	volatile char frame[512];

	frame[0] = depth;
	return depth ? overflow(depth - 1) + frame[0] : 0;
}

static noinline void owner(void)
{
	rt_mtx_lock(&mutex);
	rt_task_sleep_until(rt_get_time() + 5000000);	/* until the heir waits for it */
	null_read();
}

static void inherit(int unused)
{
	inherited = rt_mtx_lock(&mutex);
}

static bool nmi_armed;

/* What it interrupted has done nothing wrong. */
static int fail_in_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!READ_ONCE(nmi_armed))
		return NMI_DONE;
	null_read();
	return NMI_HANDLED;
}

static noinline void nmi(void)
{
	WRITE_ONCE(nmi_armed, true);
	asm volatile("int $2");
}

static const struct {
	const char *name;
	void (*fn)(void);
} faults[] = {
	{ "null", null_read }, { "divide", divide }, { "invalid", invalid },
	{ "protection", protection }, { "jump", jump }, { "floating", floating },
	{ "x87", x87 }, { "sse", sse }, { "owner", owner },
	{ "nmi", nmi },
};

static void suffer(int i)
{
	if (i < ARRAY_SIZE(faults))
		faults[i].fn();
	else
		overflow(1000);
	survived++;
}

static void watch(int unused)
{
	do
		witnessed++;
	while (rt_task_wait() != -EPERM);
}

static void fail_in_timer(struct rt_timer *timer)
{
	null_read();
	survived++;
}

static void fail_in_irq(void)
{
	if (++irqs < 3) {
		CMOS_READ(RTC_REG_C);
		return;
	}
	null_read();
	survived++;
}

/* ---- stacks ---- */

#define ALMOST_FULL 3072	/* what is left of Linux's stack: enough for Linux's own interrupts */

static unsigned int dug;
module_param(dug, uint, 0444);

static void spend_stack(struct rt_timer *timer)
{
	overflow(16);		/* 8 KiB and more */
	dug++;
}

static void overflow_in_timer(struct rt_timer *timer)
{
	overflow(1000);
	survived++;
}

/* With little left of this process's stack, wait for the timer. */
static noinline int dig(void)
{
	volatile char frame[128];

	frame[0] = 1;
	if (current_stack_pointer - (unsigned long)task_stack_page(current) > ALMOST_FULL)
		return dig() + frame[0];
	mdelay(5);
	return 0;
}

static int start_timer(void (*fn)(struct rt_timer *timer))
{
	timer.fn = fn;
	return rt_timer_start(&timer, rt_get_time() + 1000000);
}

/* ---- a level-triggered line: QEMU's "edu" device, which nobody tells to lower it ---- */

#define EDU_RAISE 0x60
#define EDU_ACK 0x64

static struct pci_dev *edu;
static void __iomem *edu_regs;
static unsigned int levels;
module_param(levels, uint, 0444);

static void fail_at_level(void)
{
	levels++;
	null_read();
	survived++;
}

static int raise_level(void)
{
	int error;

	edu = pci_get_device(0x1234, 0x11e8, NULL);
	if (!edu)
		return -ENODEV;
	error = pci_enable_device(edu);
	edu_regs = error ? NULL : pci_iomap(edu, 0, 0);
	if (!edu_regs)
		return error ?: -ENOMEM;
	error = request_RTirq(edu->irq, fail_at_level);
	if (!error)
		iowrite32(1, edu_regs + EDU_RAISE);
	return error;
}

static void lower_level(void)
{
	if (edu_regs) {
		iowrite32(1, edu_regs + EDU_ACK);
		pci_iounmap(edu, edu_regs);
		pci_disable_device(edu);
	}
	pci_dev_put(edu);
}

static void set_periodic(bool on)
{
	unsigned long flags;
	u8 old;

	spin_lock_irqsave(&rtc_lock, flags);
	old = CMOS_READ(RTC_CONTROL);
	CMOS_WRITE(on ? old | RTC_PIE : old & ~RTC_PIE, RTC_CONTROL);
	CMOS_READ(RTC_REG_C);
	spin_unlock_irqrestore(&rtc_lock, flags);
}

static void bad_enqueue(struct rt_rq *rq, RT_TASK *task)
{
	null_read();
}

/* In the executive's own hands, with its locks held: not contained. */
static const struct rt_sched_ops bad = {
	.owner = THIS_MODULE, .name = "bad", .enqueue = bad_enqueue,
};

static int run_task(const char *name)
{
	int i = 0, error;

	while (i < ARRAY_SIZE(faults) && strcmp(name, faults[i].name))
		i++;
	if (i == ARRAY_SIZE(faults) && strcmp(name, "overflow"))
		return -EINVAL;
	rt_task_delete(&victim);
	error = rt_task_init(&victim, suffer, i, 4096, 2) ?: rt_task_set_name(&victim, name) ?:
		rt_task_set_cpu(&victim, 0) ?:
		rt_task_make_periodic(&victim, rt_get_time(), 500000);
	if (!error && !strcmp(name, "owner"))
		error = rt_task_wakeup(&heir);
	return error;
}

static int run(const char *text, const struct kernel_param *param)
{
	char name[32];
	int error = 0;

	strscpy(name, text, sizeof(name));
	strim(name);
	if (!strcmp(name, "timer")) {
		error = start_timer(fail_in_timer);
	} else if (!strcmp(name, "deep")) {
		preempt_disable();
		error = start_timer(spend_stack);
		dig();
		preempt_enable();
	} else if (!strcmp(name, "timer_overflow")) {
		error = start_timer(overflow_in_timer);
	} else if (!strcmp(name, "irq")) {
		error = request_RTirq(RTC_IRQ, fail_in_irq);
		set_periodic(!error);
	} else if (!strcmp(name, "level")) {
		error = raise_level();
	} else if (!strcmp(name, "policy")) {
		error = rt_sched_register(&bad);
	} else {
		error = run_task(name);
	}
	msleep(WAIT_MS);
	if (!strcmp(name, "irq"))
		set_periodic(false);
	return error;
}

static const struct kernel_param_ops run_ops = { .set = run };
module_param_cb(run, &run_ops, NULL, 0200);

static int __init fault_test_init(void)
{
	rt_mtx_init(&mutex);
	return register_nmi_handler(NMI_LOCAL, fail_in_nmi, 0, "fault_test") ?:
	       rt_task_init(&witness, watch, 0, 4096, 3) ?: rt_task_set_cpu(&witness, 0) ?:
	       rt_task_init(&heir, inherit, 0, 4096, 4) ?: rt_task_set_cpu(&heir, 0) ?:
	       rt_task_make_periodic(&witness, rt_get_time(), 1000000);
}

static void __exit fault_test_exit(void)
{
	rt_timer_cancel(&timer);
	lower_level();
	rt_task_delete(&victim);
	rt_task_delete(&heir);
	rt_task_delete(&witness);
	unregister_nmi_handler(NMI_LOCAL, "fault_test");
}

module_init(fault_test_init);
module_exit(fault_test_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Faults of RT code");
