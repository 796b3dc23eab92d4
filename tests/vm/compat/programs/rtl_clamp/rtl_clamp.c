// SPDX-License-Identifier: GPL-2.0-only
/*
 * A dynamic clamp in the manner of RTLinux's: each 100 us a thread reads a cell's voltage, computes
 * the current through a conductance that is not there, and injects it. Processes change the
 * conductance by FIFO 1 and read samples from FIFO 0. The cell is a model: a membrane with a leak.
 */
#include <linux/module.h>
#include <rtl.h>
#include <rtl_fifo.h>
#include <rtl_sched.h>
#include <time.h>
#include <rt/decimal.h>

MODULE_LICENSE("GPL");

#define PERIOD_NS 100000

struct conductance { double g, e; };		/* uS, mV */
struct sample { double v, i; };			/* mV, nA */

static const double leak = 0.01, rest = -70, capacity = 0.1;	/* uS, mV, nF */
static double voltage = -60;
static pthread_t thread;

/* Where a program for a real cell reads its converter. */
static double measure(void)
{
	return voltage;
}

/* Where that writes to its converter. */
static void inject(double amount)
{
	voltage += PERIOD_NS * 1e-6 * (leak * (rest - voltage) + amount) / capacity;
}

static void *hold(void *unused)
{
	struct conductance now = { 0, 0 }, next;
	struct sample sample;

	pthread_make_periodic_np(pthread_self(), gethrtime(), PERIOD_NS);
	for (;;) {
		pthread_wait_np();
		if (rtf_get(1, &next, sizeof(next)) == sizeof(next))
			now = next;
		sample.v = measure();
		sample.i = now.g * (now.e - sample.v);
		inject(sample.i);
		rtf_put(0, &sample, sizeof(sample));
	}
	return 0;
}

int init_module(void)
{
	rtf_create(0, 65536);
	rtf_create(1, 4096);
	return pthread_create(&thread, NULL, hold, NULL);
}

void cleanup_module(void)
{
	char text[RT_DECIMAL_BYTES];

	pthread_delete_np(thread);
	printk("clamp: left at %s mV\n", rt_decimal(text, &voltage, 2));
	rtf_destroy(0);
	rtf_destroy(1);
}
