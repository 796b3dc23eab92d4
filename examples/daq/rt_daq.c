// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data acquisition: an RT task samples eight channels at a fixed rate and hands each
 * sample, with its time, to Linux.
 *
 * /dev/rtf/daq gets every sample and drops none that fits: for a recorder. /dev/rtf/daq_scope gets
 * every tenth and overwrites the oldest: for who only wants to look.
 *
 * The converter is simulated; adc_read() is where a real one would be read. What it
 * makes can be calculated again from a sample's number, so that loss and damage show.
 */
#include <linux/module.h>
#include <rt/fifo.h>
#include <rt/task.h>
#include <rt/time.h>

#define CHANNELS 8
#define SCOPE_EVERY 10

/* As tactus record and scope are told: time_ns:u8,number:u4,late_ns:u4,mv:8i2 */
struct daq_sample {
	u64 time_ns;		/* when the job began */
	u32 number;		/* of the release it belongs to; gaps are releases without a job */
	u32 late_ns;		/* after its release */
	s16 mv[CHANNELS];
};

static unsigned int period_us = 1000;
module_param(period_us, uint, 0444);
MODULE_PARM_DESC(period_us, "time between samples, 50 to 1000000 us (default 1000)");

static unsigned int seconds = 4;
module_param(seconds, uint, 0444);
MODULE_PARM_DESC(seconds, "how much /dev/rtf/daq holds, 1 to 60 s (default 4)");

static RT_TASK daq_task;
static RTIME start, period;
static int record_fifo, scope_fifo;

/* Parabolas in place of sines, -5000 to 5000 mV; channel c has c + 1 periods in 500 samples. */
static s16 adc_read(unsigned int channel, u32 number)
{
	s32 phase = (number % 500) * (channel + 1) % 500 - 250;		/* -250 to 249 */
	s32 x = phase < 0 ? -phase : phase;				/* 0 to 250 */
	s32 wave = x * (250 - x) * 8 / 25;				/* 0 to 5000 */

	return phase < 0 ? -wave : wave;
}

/* One job a release, until the task is deleted. */
static void acquire(int unused)
{
	struct daq_sample sample;
	RTIME now, after;
	unsigned int c;

	do {
		now = rt_get_time();
		after = now - start;
		sample.time_ns = now;
		sample.number = div64_u64(after, period);
		sample.late_ns = after - sample.number * period;
		for (c = 0; c < CHANNELS; c++)
			sample.mv[c] = adc_read(c, sample.number);
		rtf_put(record_fifo, &sample, sizeof(sample));
		if (sample.number % SCOPE_EVERY == 0)
			rtf_put_overwrite(scope_fifo, &sample, sizeof(sample));
	} while (rt_task_wait() != -EPERM);
}

static int make_fifo(const char *name, int samples)
{
	int fifo = rtf_create_named(THIS_MODULE, name, samples * sizeof(struct daq_sample)), err;

	if (fifo < 0)
		return fifo;
	err = rtf_set_record(fifo, sizeof(struct daq_sample));
	if (err)
		rtf_destroy(fifo);
	return err ?: fifo;
}

static int __init daq_init(void)
{
	int err;

	if (period_us < 50 || period_us > 1000000 || seconds < 1 || seconds > 60)
		return -EINVAL;
	period = period_us * 1000LL;
	record_fifo = make_fifo("daq", max(seconds * (1000000 / period_us), 1U));
	if (record_fifo < 0)
		return record_fifo;
	scope_fifo = make_fifo("daq_scope", 200);
	if (scope_fifo < 0) {
		err = scope_fifo;
		goto err_destroy_record;
	}
	err = rt_task_init(&daq_task, acquire, 0, 8192, 1);
	if (err)
		goto err_destroy_scope;
	rt_task_set_name(&daq_task, "daq");
	start = rt_get_time() + period;
	err = rt_task_make_periodic(&daq_task, start, period);
	if (err)
		goto err_delete_task;
	return 0;

err_delete_task:
	rt_task_delete(&daq_task);
err_destroy_scope:
	rtf_destroy(scope_fifo);
err_destroy_record:
	rtf_destroy(record_fifo);
	return err;
}

static void __exit daq_exit(void)
{
	rt_task_delete(&daq_task);
	rtf_destroy(scope_fifo);
	rtf_destroy(record_fifo);
}

module_init(daq_init);
module_exit(daq_exit);
MODULE_DESCRIPTION("Samples eight channels at a fixed rate");
MODULE_LICENSE("GPL");
