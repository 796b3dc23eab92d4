// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PC speaker as a sound card (thesis, 4.2 and Appendix B, and beyond): parameters, the FIFO
 * and its writers, loading and unloading. See README.md; speaker.h has the parts and the locks.
 *
 * Linux's end of the stream is in the FIFO's watch and filter. They do not overlap: there is one
 * writer, which cannot open or close while it writes.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <rt/fifo.h>
#include <rt/printk.h>
#include "rt_speaker.h"
#include "speaker.h"

static unsigned int fifo;
module_param(fifo, uint, 0444);
MODULE_PARM_DESC(fifo, "RT-FIFO that takes the sound (default 0: /dev/rtf0)");

static int size = 16384;
module_param(size, int, 0444);
MODULE_PARM_DESC(size, "bytes of sound the FIFO holds (default 16384)");

static int stamps = -1;
module_param(stamps, int, 0444);
MODULE_PARM_DESC(stamps, "RT-FIFO for a record of each port write, see README.md (default -1: none)");

static int stamps_size = 65536;
module_param(stamps_size, int, 0444);
MODULE_PARM_DESC(stamps_size, "bytes the stamps FIFO holds (default 65536: 4096 records)");

static char *mode = "auto";
module_param(mode, charp, 0444);
MODULE_PARM_DESC(mode, "slope, sigma, pwm or auto (default)");

static char *clock = "auto";
module_param(clock, charp, 0444);
MODULE_PARM_DESC(clock, "rtc, task or auto (default)");

static unsigned int order = 2;
module_param(order, uint, 0444);
MODULE_PARM_DESC(order, "of sigma: 1 or 2 (default)");

static unsigned int rate_hz;
module_param(rate_hz, uint, 0444);
MODULE_PARM_DESC(rate_hz, "ticks a second, 8000 to 64000 (default 0: the mode's own)");

static unsigned int volume = 100;
module_param(volume, uint, 0444);
MODULE_PARM_DESC(volume, "percent, 0 to 400 (default 100)");

static bool raw;
module_param(raw, bool, 0444);
MODULE_PARM_DESC(raw, "every byte is a mu-law sample of 1/8192 s, as in the thesis (default 0: files)");

const char *const speaker_modes[MODES] = {
	[MODE_SLOPE] = "slope", [MODE_SIGMA] = "sigma", [MODE_PWM] = "pwm", [MODE_AUTO] = "auto",
};

const char *const speaker_clocks[CLOCKS] = {
	[CLOCK_RTC] = "rtc", [CLOCK_TASK] = "task", [CLOCK_AUTO] = "auto",
};

DEFINE_MUTEX(speaker_lock);	/* see speaker.h */
struct speaker_setup speaker_setup;
int speaker_volume;
bool speaker_raw;

static struct intake intake = { .sounds = &player_sounds };
static bool writing;		/* somebody has the FIFO open for writing */

/* Is this something that can be tried? Under speaker_lock. */
static int check(const struct speaker_setup *setup)
{
	if (setup->order < 1 || setup->order > 2)
		return -EINVAL;
	if (setup->rate_hz && (setup->rate_hz < RATE_MIN_HZ || setup->rate_hz > RATE_MAX_HZ))
		return -EINVAL;
	if (setup->clock == CLOCK_RTC && setup->rate_hz && setup->rate_hz != RAW_RATE_HZ)
		return -EINVAL;
	return 0;
}

int speaker_change(const struct speaker_setup *wanted)
{
	return check(wanted) ?: player_change(wanted);
}

/* Once a second at most. Context: any, one at a time. */
static void complain(const char *why)
{
	static RTIME last;
	RTIME now = rt_get_time();

	if (last && now - last < RT_TICKS_PER_SEC)
		return;
	last = now;
	rt_printk(KERN_WARNING "rt_speaker: refused: %s\n", why);
}

/* What a process wants to write. Context: as RT code, in that process. */
static int filter(unsigned int number, const struct rtf_written *written)
{
	const u8 *const bytes[2] = { written->bytes[0], written->bytes[1] };
	u64 files = player_stats.files;
	int ret = intake_write(&intake, bytes, written->counts, &files);

	WRITE_ONCE(player_stats.files, files);
	if (!ret)
		return 0;
	WRITE_ONCE(player_stats.refused, player_stats.refused + 1);
	if (ret == INTAKE_FULL) {
		complain("too many short sounds are waiting");
		return -ENOBUFS;
	}
	complain(au_reason(ret));
	return -EINVAL;
}

/* One writer at a time. Context: the process that opens or closes. */
static int watch(unsigned int number, unsigned int event)
{
	if (event == RTF_OPENED) {
		if (writing)
			return -EBUSY;
		writing = true;
		intake_open(&intake, READ_ONCE(speaker_raw));
		return 0;
	}
	if (!intake_close(&intake))
		pr_info_ratelimited("a file ended before its header said\n");
	writing = false;
	return 0;
}

/* Forget what is queued, and what the present writer is going to write. Under speaker_lock. */
int speaker_stop(void)
{
	int err;

	WRITE_ONCE(intake.discard, true);
	/* On return a filter that did not see that is over. */
	err = rtf_set_filter(fifo, filter);
	return err ?: player_forget();
}

unsigned int rt_speaker_fifo(void)
{
	return fifo;
}
EXPORT_SYMBOL_GPL(rt_speaker_fifo);

void rt_speaker_reads_file(void)
{
	intake_open(&intake, false);
}
EXPORT_SYMBOL_GPL(rt_speaker_reads_file);

int rt_speaker_stop(void)
{
	int err;

	mutex_lock(&speaker_lock);
	err = speaker_stop();
	mutex_unlock(&speaker_lock);
	return err;
}
EXPORT_SYMBOL_GPL(rt_speaker_stop);

static int read_parameters(void)
{
	speaker_setup = (struct speaker_setup){
		.mode = match_string(speaker_modes, MODES, mode),
		.clock = match_string(speaker_clocks, CLOCKS, clock),
		.order = order,
		.rate_hz = rate_hz,
	};
	speaker_volume = min(volume, VOLUME_MAX + 1u);
	speaker_raw = raw;
	player_fifo = fifo;
	player_stamps_fifo = stamps;
	if (speaker_setup.mode >= 0 && speaker_setup.clock >= 0 && !check(&speaker_setup) &&
	    volume <= VOLUME_MAX && (stamps < 0 || stamps != fifo))
		return 0;
	pr_err("refused: a parameter is out of range, or stamps is fifo (see README.md)\n");
	return -EINVAL;
}

static int fifo_create(void)
{
	int err = rtf_create(fifo, size);

	if (err) {
		pr_err("cannot create RT-FIFO %u of %d bytes: %d\n", fifo, size, err);
		return err;
	}
	err = rtf_watch_writers(fifo, watch) ?: rtf_set_filter(fifo, filter);
	if (err)
		rtf_destroy(fifo);
	return err;
}

static int stamps_create(void)
{
	int err = stamps >= 0 ? rtf_create(stamps, stamps_size) : 0;

	if (err)
		pr_err("cannot create RT-FIFO %d of %d bytes: %d\n", stamps, stamps_size, err);
	return err;
}

static int __init rt_speaker_init(void)
{
	int err = read_parameters() ?: ticker_try(speaker_setup.clock);

	if (err)
		return err;
	err = fifo_create();
	if (err)
		return err;
	err = stamps_create();
	if (err)
		goto err_destroy_fifo;
	err = port_take();
	if (err)
		goto err_destroy_stamps;
	mutex_lock(&speaker_lock);
	err = player_start();
	mutex_unlock(&speaker_lock);
	if (err)
		goto err_give_back;
	err = control_add();
	if (err)
		goto err_stop;
	return 0;

err_stop:
	player_stop();
err_give_back:
	port_give_back();
err_destroy_stamps:
	if (stamps >= 0)
		rtf_destroy(stamps);
err_destroy_fifo:
	rtf_destroy(fifo);
	return err;
}

static void __exit rt_speaker_exit(void)
{
	control_remove();
	player_stop();
	port_give_back();
	if (stamps >= 0)
		rtf_destroy(stamps);
	rtf_destroy(fifo);
}

module_init(rt_speaker_init);
module_exit(rt_speaker_exit);

MODULE_DESCRIPTION("The PC speaker as a sound card: one bit, or pulse width, by a hard real-time clock");
MODULE_LICENSE("GPL");
