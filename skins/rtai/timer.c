// SPDX-License-Identifier: GPL-2.0-only
/* RTAI's bare timer, for programs without its scheduler: an RT timer. */
#include "native.h"

struct rt_times rt_smp_times[NR_RT_CPUS];
EXPORT_SYMBOL_GPL(rt_smp_times);

static struct {
	struct rt_timer timer;
	int (*handler)(unsigned int irq, unsigned long data);
	unsigned long data;
	unsigned long hz;		/* parts of a second that the program counts in */
	unsigned int tick;		/* of those; 0: each call asks for the next */
	RTIME start;
	u64 ticks;			/* since then; the next call's */
	bool moved;			/* the handler has said when it is to be called next */
} bare;

static DEFINE_MUTEX(bare_lock);

/* From the start, so that nothing is lost by rounding. */
static RTIME at(u64 ticks)
{
	return bare.start + mul_u64_u64_div_u64(ticks * bare.tick, NSEC_PER_SEC, bare.hz);
}

static void fire(struct rt_timer *timer)
{
	int (*handler)(unsigned int, unsigned long) = READ_ONCE(bare.handler);

	bare.moved = false;
	handler(TIMER_8254_IRQ, READ_ONCE(bare.data));
	if (bare.moved || !bare.tick)
		return;
	do
		bare.ticks++;
	while (at(bare.ticks) <= timer->expires);
	if (at(bare.ticks + 1) <= rt_get_time())
		bare.ticks = mul_u64_u64_div_u64(rt_get_time() - bare.start, bare.hz,
						 (u64)bare.tick * NSEC_PER_SEC) + 1;
	rt_timer_start(timer, at(bare.ticks));
}

int rt_request_timer(void (*handler)(void), unsigned int tick, int apic)
{
	unsigned long hz = apic ? FREQ_APIC : FREQ_8254;
	unsigned long unit = tick ? hz : CPU_FREQ;
	struct rt_times times;
	int error;

	if (!handler || (int)tick < 0)
		return -EINVAL;
	mutex_lock(&bare_lock);
	if (bare.handler) {
		mutex_unlock(&bare_lock);
		return -EBUSY;
	}
	times.linux_tick = unit / HZ;
	times.periodic_tick = tick ?: times.linux_tick;
	bare.start = rt_get_time();
	times.tick_time = mul_u64_u64_div_u64(bare.start, unit, NSEC_PER_SEC);
	times.intr_time = times.tick_time + times.periodic_tick;
	times.linux_time = times.tick_time + times.linux_tick;
	rt_smp_times[0] = times;
	bare.hz = hz;
	bare.tick = tick;
	bare.ticks = 1;
	bare.data = 0;
	bare.timer.fn = fire;
	WRITE_ONCE(bare.handler, (void *)handler);
	error = rt_timer_start(&bare.timer, tick ? at(1) : bare.start + NSEC_PER_SEC / HZ);
	if (error)
		WRITE_ONCE(bare.handler, NULL);
	mutex_unlock(&bare_lock);
	return error;
}
EXPORT_SYMBOL_GPL(rt_request_timer);

void rt_free_timer(void)
{
	mutex_lock(&bare_lock);
	if (bare.handler) {
		rt_timer_cancel(&bare.timer);
		WRITE_ONCE(bare.handler, NULL);
	}
	mutex_unlock(&bare_lock);
}
EXPORT_SYMBOL_GPL(rt_free_timer);

void rt_set_timer_delay(int delay)
{
	if (delay <= 0 || !READ_ONCE(bare.handler))
		return;
	bare.moved = true;
	rt_timer_start(&bare.timer, rt_get_time() +
		       mul_u64_u64_div_u64(delay, NSEC_PER_SEC, bare.hz));
}
EXPORT_SYMBOL_GPL(rt_set_timer_delay);

void rt_set_global_irq_ext(unsigned int irq, int ext, unsigned long data)
{
	if (irq == TIMER_8254_IRQ && READ_ONCE(bare.handler))
		WRITE_ONCE(bare.data, data);
	else
		line_set_data(irq, (void *)data);
}
EXPORT_SYMBOL_GPL(rt_set_global_irq_ext);

void timer_forget(const struct module *mod)
{
	void *handler = READ_ONCE(bare.handler);

	if (handler && (!mod || within_module((unsigned long)handler, mod)))
		rt_free_timer();
}
