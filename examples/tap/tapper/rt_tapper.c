// SPDX-License-Identifier: GPL-2.0-only
/*
 * rt_tapper: a participant for rt_tap's experiments when there is no person at hand.
 *
 *	modprobe rt_tap port=wire
 *	modprobe rt_tapper seed=7 timekeeper_sd_us=12000 motor_sd_us=6000
 *
 * An RT task at the far end of the wire: it hears the tones and taps a key, as tapper.h says. It is
 * one participant from loading to unloading, and waits for the first tones; load it anew for
 * another trial.
 *
 * Invariants: ear and the ring's head are the interrupt's (heard()), the rest is the task's.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/module.h>

#include <rt/sync.h>
#include <rt/task.h>
#include <rt/time.h>

#include "../kernel/far.h"
#include "tapper.h"

#define NOTE_OFF 0x80
#define NOTE_ON 0x90
#define TONES 64		/* that may wait for the task */
#define STACK_BYTES 8192
#define NS_PER_US 1000LL
#define LONGEST_US 10000000	/* of all times in parameters */

static ulong seed = 1;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "of what is random (default 1)");

static uint interval_us;
module_param(interval_us, uint, 0444);
MODULE_PARM_DESC(interval_us, "the timekeeper's mean; 0: from the first two tones (default)");

static uint timekeeper_sd_us = 10000;
module_param(timekeeper_sd_us, uint, 0444);
MODULE_PARM_DESC(timekeeper_sd_us, "standard deviation of the timekeeper (default 10000)");

static uint motor_us = 30000;
module_param(motor_us, uint, 0444);
MODULE_PARM_DESC(motor_us, "mean delay from the timekeeper's tick to the tap (default 30000)");

static uint motor_sd_us = 5000;
module_param(motor_sd_us, uint, 0444);
MODULE_PARM_DESC(motor_sd_us, "standard deviation of that (default 5000)");

static uint correction_permille = 250;
module_param(correction_permille, uint, 0444);
MODULE_PARM_DESC(correction_permille, "share of an asynchrony taken back, 0 to 1000 (default 250)");

static uint listen = 4;
module_param(listen, uint, 0444);
MODULE_PARM_DESC(listen, "tones before the first tap; 0: begin at once (default 4)");

static uint taps;
module_param(taps, uint, 0444);
MODULE_PARM_DESC(taps, "how many in all; 0: no end (default)");

static uint held_us = 80000;
module_param(held_us, uint, 0444);
MODULE_PARM_DESC(held_us, "how long the key is down, or until the next tap (default 80000)");

static uint key = 60;
module_param(key, uint, 0444);
MODULE_PARM_DESC(key, "the note that is tapped (default 60)");

static uint channel = 10;
module_param(channel, uint, 0444);
MODULE_PARM_DESC(channel, "of the tones, 1 to 16 (default 10, the metronome's)");

static int tone = -1;
module_param(tone, int, 0444);
MODULE_PARM_DESC(tone, "note of the tones; -1: any (default)");

static struct tapper tapper;
static RT_TASK task;
static struct rt_sem heard_one;

static struct {
	u8 status;		/* running; 0: none that has two data bytes */
	u8 data;
	bool half;		/* data is the first of two */
} ear;

static struct {
	u32 head, tail;
	RTIME at[TONES];
} tones;

/* Does @byte end the note-on of a tone? */
static bool ends_tone(u8 byte)
{
	bool second = ear.half;

	if (byte >= 0xf8)	/* a real-time byte, anywhere */
		return false;
	if (byte & 0x80) {
		ear.status = byte < 0xc0 || (byte >= 0xe0 && byte < 0xf0) ? byte : 0;
		ear.half = false;
		return false;
	}
	if (!ear.status)
		return false;
	ear.half = !second;
	if (!second) {
		ear.data = byte;
		return false;
	}
	return ear.status == (NOTE_ON | (channel - 1)) && byte &&
	       (tone < 0 || ear.data == tone);
}

/* Context: RT interrupt. */
static void heard(u8 byte, RTIME at)
{
	u32 head = tones.head;

	if (!ends_tone(byte))
		return;
	/* Pairs with the release in hear(): the slot has been read before it is reused. */
	if (head - smp_load_acquire(&tones.tail) == TONES)
		return;		/* no participant hears so many at once */
	tones.at[head % TONES] = at;
	/* Publishes the slot; pairs with the acquire in hear(). */
	smp_store_release(&tones.head, head + 1);
	rt_sem_post(&heard_one);
}

static void hear(void)
{
	/* Pairs with the release in heard(). */
	while (tones.tail != smp_load_acquire(&tones.head)) {
		tapper_heard(&tapper, tones.at[tones.tail % TONES]);
		/* Frees the slot; pairs with the acquire in heard(). */
		smp_store_release(&tones.tail, tones.tail + 1);
	}
}

static void say(u8 status, u8 velocity)
{
	const u8 message[] = { status, key, velocity };

	tap_wire_say(message, sizeof(message));
}

static void tap(int unused)
{
	RTIME lift = RT_NO_DEADLINE, next, now;
	int err;

	do {
		hear();
		now = rt_get_time();
		next = taps && tapper.taps == taps ? TAPPER_NEVER : tapper_next(&tapper);
		if (lift <= now || (lift != RT_NO_DEADLINE && next <= now)) {
			say(NOTE_OFF, 0);
			lift = RT_NO_DEADLINE;
		}
		if (next <= now) {
			say(NOTE_ON, 100);
			lift = next + held_us * NS_PER_US;
			tapper_tapped(&tapper);
			next = taps && tapper.taps == taps ? TAPPER_NEVER : tapper_next(&tapper);
		}
		err = rt_sem_wait_until(&heard_one, min3(next, lift, RT_NO_DEADLINE));
	} while (!err || err == -ETIMEDOUT);
}

static bool parameters_fit(void)
{
	const uint times[] = { interval_us, timekeeper_sd_us, motor_us, motor_sd_us, held_us };
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(times); n++)
		if (times[n] > LONGEST_US)
			return false;
	return correction_permille <= TAPPER_PERMILLE && key < 128 && channel >= 1 &&
	       channel <= 16 && tone >= -1 && tone < 128 && (interval_us || listen >= 2);
}

static int __init rt_tapper_init(void)
{
	struct tapper_params p = {
		.seed = seed,
		.interval_ns = interval_us * NS_PER_US,
		.timekeeper_sd_ns = timekeeper_sd_us * NS_PER_US,
		.motor_ns = motor_us * NS_PER_US,
		.motor_sd_ns = motor_sd_us * NS_PER_US,
		.correction_permille = correction_permille,
		.listen = listen,
	};
	int err;

	if (!parameters_fit()) {
		pr_err("refused: a parameter is out of range; nothing was changed\n");
		return -EINVAL;
	}
	p.start_ns = rt_get_time() + p.interval_ns;
	tapper_init(&tapper, &p);
	rt_sem_init(&heard_one, 0);
	err = rt_task_init(&task, tap, 0, STACK_BYTES, 2);
	if (err)
		return err;
	rt_task_set_name(&task, "tapper");
	err = tap_wire_cut(heard);
	if (err) {
		pr_err("refused: rt_tap's port is not the wire, or somebody is at its end; nothing was changed\n");
		rt_task_delete(&task);
		return err;
	}
	rt_task_wakeup(&task);
	return 0;
}

static void __exit rt_tapper_exit(void)
{
	rt_task_delete(&task);
	tap_wire_join();
}

module_init(rt_tapper_init);
module_exit(rt_tapper_exit);
MODULE_DESCRIPTION("A simulated tapper at the far end of rt_tap's wire");
MODULE_LICENSE("GPL");
