// SPDX-License-Identifier: GPL-2.0
/*
 * The PC speaker as a simple /dev/audio (thesis, 4.2 and Appendix B).
 *
 *	cat linux.au > /dev/rtf0
 *
 * The CMOS clock interrupts at 8192 Hz. Each interrupt takes one mu-law byte from the
 * FIFO and sets the speaker's one bit to whether the sound wave rises. All of it is done
 * in the interrupt; there is no task.
 *
 * Invariants: the handler alone touches the filter and the counters (Linux only reads them);
 * a bit is written if and only if a byte was taken; every register is as before after
 * unload, as far as it can be read (README.md).
 *
 * Locks: rtc_lock and i8253_lock around the set-up and the give-back, never both, as Linux's
 * drivers of these chips take them. The handler takes none: it cannot wait for Linux.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/i8253.h>
#include <linux/io.h>
#include <linux/mc146818rtc.h>
#include <linux/module.h>
#include <linux/sysfs.h>

#include <rt/fifo.h>
#include <rt/irq.h>
#include <rt/time.h>

#define CMOS_IRQ 8
#define RATE_HZ 8192
/* 32768 Hz time base, divided to RATE_HZ */
#define CMOS_RATE (RTC_REF_CLCK_32KHZ | 3)
#define CMOS_IRQ_ENABLES (RTC_PIE | RTC_AIE | RTC_UIE)

#define PORT_SPEAKER 0x61
#define SPEAKER_GATE 0x01	/* lets PIT channel 2 count */
#define SPEAKER_DATA 0x02	/* ANDed with the channel's output */

#define PORT_PIT_CH2 0x42
#define PORT_PIT_MODE 0x43
#define PIT_READ_BACK_CH2 0xc8
#define PIT_SELECT_CH2 0x80
#define PIT_STATUS_OUT 0x80
#define PIT_STATUS_NULL_COUNT 0x40
#define PIT_STATUS_ACCESS 0x30
#define PIT_ACCESS_LOW 0x10
#define PIT_ACCESS_HIGH 0x20
#define PIT_ACCESS_BOTH 0x30
#define PIT_STATUS_MODE 0x0e
#define PIT_STATUS_CONTROL 0x3f	/* access, mode, BCD: the bits of the mode word */

/* Silence of less than this between two samples was a writer that came too late. */
#define UNDERRUN_TICKS RATE_HZ
/* How long the clock may take for its first interrupt, 122 us when all is well. */
#define FIRST_TICK_MS 50

static unsigned int fifo;
module_param(fifo, uint, 0444);
MODULE_PARM_DESC(fifo, "RT-FIFO that takes the sound (default 0: /dev/rtf0)");

static int size = 4000;
module_param(size, int, 0444);
MODULE_PARM_DESC(size, "bytes of sound the FIFO holds (default 4000: half a second)");

static int stamps = -1;
module_param(stamps, int, 0444);
MODULE_PARM_DESC(stamps, "RT-FIFO for a record of each port write, see README.md (default -1: none)");

static int stamps_size = 65536;
module_param(stamps_size, int, 0444);
MODULE_PARM_DESC(stamps_size, "bytes the stamps FIFO holds (default 65536: 4096 records)");

/* What the stamps FIFO carries, little-endian; one record for each write to the port. */
struct stamp {
	u32 seq;	/* 0, 1, ... since loading; counts on over records that found no room */
	u8 port_value;	/* as written to port 0x61 */
	u8 sample;	/* the byte that was played */
	u16 reserved;
	s64 time_ns;	/* rt_get_time() just after the write */
};

static struct {
	u64 ticks;
	u64 samples;
	u64 underruns;
	u64 stamps_lost;
	u64 interval_min_ns;	/* between the writes of two samples in a row */
	u64 interval_max_ns;
} stats = { .interval_min_ns = U64_MAX };

static int slope_before;
static RTIME written_at;
static u64 silent_ticks = UNDERRUN_TICKS;

/* The thesis's filter: 1 if the mu-law sample is above the one before. */
static int slope(int x)
{
	int rises;

	/* Codes 0x80 to 0xff fall from the highest level to zero, the others rise to zero. */
	if (x & 0x80)
		x = 382 - x;
	rises = x > slope_before;
	slope_before = x;
	return rises;
}

static void count_write(u8 port_value, u8 sample, RTIME now)
{
	struct stamp stamp = {
		.seq = stats.samples,
		.port_value = port_value,
		.sample = sample,
		.time_ns = now,
	};
	u64 interval = now - written_at;

	if (!silent_ticks) {
		if (interval < stats.interval_min_ns)
			WRITE_ONCE(stats.interval_min_ns, interval);
		if (interval > stats.interval_max_ns)
			WRITE_ONCE(stats.interval_max_ns, interval);
	} else if (silent_ticks < UNDERRUN_TICKS) {
		WRITE_ONCE(stats.underruns, stats.underruns + 1);
	}
	written_at = now;
	WRITE_ONCE(stats.samples, stats.samples + 1);
	if (stamps >= 0 && rtf_put(stamps, &stamp, sizeof(stamp)) != sizeof(stamp))
		WRITE_ONCE(stats.stamps_lost, stats.stamps_lost + 1);
}

/* The CMOS clock's interrupt. Context: RT interrupt. */
static void cmos_tick(void)
{
	u8 sample, port_value;

	(void)CMOS_READ(RTC_REG_C);	/* or there is no further interrupt */
	WRITE_ONCE(stats.ticks, stats.ticks + 1);
	if (rtf_get(fifo, &sample, 1) <= 0) {
		silent_ticks++;
		return;
	}
	port_value = inb(PORT_SPEAKER) & ~SPEAKER_DATA;
	if (slope(sample))
		port_value |= SPEAKER_DATA;
	outb(port_value, PORT_SPEAKER);
	count_write(port_value, sample, rt_get_time());
	silent_ticks = 0;
}

static struct {
	u8 port;
	u8 pit_status;
	u16 pit_count;
	u8 cmos_a;
	u8 cmos_b;
} saved;

/* The speaker then follows the data bit: the channel's output is 1 and stays so. */
static void speaker_take(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&i8253_lock, flags);
	saved.port = inb_p(PORT_SPEAKER);
	outb_p(PIT_READ_BACK_CH2, PORT_PIT_MODE);
	saved.pit_status = inb_p(PORT_PIT_CH2);
	switch (saved.pit_status & PIT_STATUS_ACCESS) {
	case PIT_ACCESS_LOW:
		saved.pit_count = inb_p(PORT_PIT_CH2);
		break;
	case PIT_ACCESS_HIGH:
		saved.pit_count = inb_p(PORT_PIT_CH2) << 8;
		break;
	default:
		saved.pit_count = inb_p(PORT_PIT_CH2);
		saved.pit_count |= inb_p(PORT_PIT_CH2) << 8;
	}

	outb_p(saved.port | SPEAKER_GATE | SPEAKER_DATA, PORT_SPEAKER);
	outb_p(0xb0, PORT_PIT_MODE);	/* channel 2, both bytes, mode 0: 1 when it has counted down */
	outb_p(3, PORT_PIT_CH2);
	outb_p(0, PORT_PIT_CH2);
	raw_spin_unlock_irqrestore(&i8253_lock, flags);
}

static void pit_load_count(u16 count)
{
	if (saved.pit_status & PIT_ACCESS_LOW)
		outb_p(count & 0xff, PORT_PIT_CH2);
	if (saved.pit_status & PIT_ACCESS_HIGH)
		outb_p(count >> 8, PORT_PIT_CH2);
}

static void speaker_give_back(void)
{
	u8 port, mode = saved.pit_status & PIT_STATUS_MODE;
	unsigned long flags;

	raw_spin_lock_irqsave(&i8253_lock, flags);
	port = inb_p(PORT_SPEAKER) & ~(SPEAKER_GATE | SPEAKER_DATA);
	outb_p(port, PORT_SPEAKER);
	/* Access 0 would be another command, and no chip reports it. */
	if (saved.pit_status & PIT_STATUS_ACCESS) {
		outb_p(PIT_SELECT_CH2 | (saved.pit_status & PIT_STATUS_CONTROL), PORT_PIT_MODE);
		if (mode == 0 && saved.pit_status & PIT_STATUS_OUT) {
			/* Had counted down: let it do so again, or its output would be 0. */
			outb_p(port | SPEAKER_GATE, PORT_SPEAKER);
			pit_load_count(saved.pit_status & PIT_ACCESS_LOW ? 1 : 0x100);
			udelay(saved.pit_status & PIT_ACCESS_LOW ? 5 : 250);
		} else if (!(saved.pit_status & PIT_STATUS_NULL_COUNT)) {
			pit_load_count(saved.pit_count);
		}
	}
	outb_p(port | (saved.port & (SPEAKER_GATE | SPEAKER_DATA)), PORT_SPEAKER);
	raw_spin_unlock_irqrestore(&i8253_lock, flags);
}

static void cmos_take(void)
{
	unsigned long flags;

	spin_lock_irqsave(&rtc_lock, flags);
	saved.cmos_a = CMOS_READ(RTC_REG_A) & ~RTC_UIP;
	saved.cmos_b = CMOS_READ(RTC_REG_B);
	CMOS_WRITE(CMOS_RATE, RTC_REG_A);
	CMOS_WRITE((saved.cmos_b & ~CMOS_IRQ_ENABLES) | RTC_PIE, RTC_REG_B);
	(void)CMOS_READ(RTC_REG_C);
	spin_unlock_irqrestore(&rtc_lock, flags);
}

static void cmos_stop(void)
{
	unsigned long flags;

	spin_lock_irqsave(&rtc_lock, flags);
	CMOS_WRITE(CMOS_READ(RTC_REG_B) & ~CMOS_IRQ_ENABLES, RTC_REG_B);
	(void)CMOS_READ(RTC_REG_C);
	spin_unlock_irqrestore(&rtc_lock, flags);
}

/* Register B's other bits are the clock's format, which Linux may have set meanwhile. */
static void cmos_give_back(void)
{
	unsigned long flags;

	spin_lock_irqsave(&rtc_lock, flags);
	CMOS_WRITE(saved.cmos_a, RTC_REG_A);
	(void)CMOS_READ(RTC_REG_C);
	CMOS_WRITE((CMOS_READ(RTC_REG_B) & ~CMOS_IRQ_ENABLES) | (saved.cmos_b & CMOS_IRQ_ENABLES),
		   RTC_REG_B);
	spin_unlock_irqrestore(&rtc_lock, flags);
}

/*
 * The clock stops first, then nobody handles its interrupt; only then are its registers
 * given back, as Linux may have had interrupts of its own enabled in them.
 */
static void hardware_give_back(void)
{
	cmos_stop();
	free_RTirq(CMOS_IRQ);
	cmos_give_back();
	speaker_give_back();
}

static int hardware_take(void)
{
	int err;

	err = request_RTirq(CMOS_IRQ, cmos_tick);
	if (err) {
		pr_err("cannot have interrupt %d: %d\n", CMOS_IRQ, err);
		return err;
	}
	speaker_take();
	cmos_take();
	msleep(FIRST_TICK_MS);
	if (READ_ONCE(stats.ticks))
		return 0;
	pr_err("the CMOS clock does not interrupt; if the HPET has its line, boot with hpet=disable\n");
	hardware_give_back();
	return -EIO;
}

static u64 interval_max_dev_ns(void)
{
	const u64 nominal = (NSEC_PER_SEC + RATE_HZ / 2) / RATE_HZ;
	u64 min = READ_ONCE(stats.interval_min_ns), max = READ_ONCE(stats.interval_max_ns);
	u64 early = min < nominal ? nominal - min : 0;
	u64 late = max > nominal ? max - nominal : 0;

	return max(early, late);
}

static u64 interval_min_ns(void)
{
	u64 min = READ_ONCE(stats.interval_min_ns);

	return min == U64_MAX ? 0 : min;
}

#define STAT_ATTRIBUTE(_name, _value)							\
static ssize_t _name##_show(struct kobject *kobj, struct kobj_attribute *attr,		\
			    char *buf)							\
{											\
	return sysfs_emit(buf, "%llu\n", (unsigned long long)(_value));			\
}											\
static struct kobj_attribute stat_##_name = __ATTR(_name, 0444, _name##_show, NULL)

STAT_ATTRIBUTE(ticks, READ_ONCE(stats.ticks));
STAT_ATTRIBUTE(samples, READ_ONCE(stats.samples));
STAT_ATTRIBUTE(underruns, READ_ONCE(stats.underruns));
STAT_ATTRIBUTE(stamps_lost, READ_ONCE(stats.stamps_lost));
STAT_ATTRIBUTE(interval_min_ns, interval_min_ns());
STAT_ATTRIBUTE(interval_max_ns, READ_ONCE(stats.interval_max_ns));
STAT_ATTRIBUTE(interval_max_dev_ns, stats.interval_max_ns ? interval_max_dev_ns() : 0);

static const struct attribute *stat_attributes[] = {
	&stat_ticks.attr,
	&stat_samples.attr,
	&stat_underruns.attr,
	&stat_stamps_lost.attr,
	&stat_interval_min_ns.attr,
	&stat_interval_max_ns.attr,
	&stat_interval_max_dev_ns.attr,
	NULL,
};

static struct kobject *stat_kobj;	/* /sys/module/rt_speaker/stats */

static int stats_add(void)
{
	int err;

	stat_kobj = kobject_create_and_add("stats", &THIS_MODULE->mkobj.kobj);
	if (!stat_kobj)
		return -ENOMEM;
	err = sysfs_create_files(stat_kobj, stat_attributes);
	if (err)
		kobject_put(stat_kobj);
	return err;
}

static int __init rt_speaker_init(void)
{
	int err;

	if (stamps >= 0 && stamps == fifo) {
		pr_err("stamps=%d: that FIFO takes the sound\n", stamps);
		return -EINVAL;
	}
	err = rtf_create(fifo, size);
	if (err) {
		pr_err("cannot create RT-FIFO %u of %d bytes: %d\n", fifo, size, err);
		return err;
	}
	if (stamps >= 0) {
		err = rtf_create(stamps, stamps_size);
		if (err) {
			pr_err("cannot create RT-FIFO %d of %d bytes: %d\n", stamps, stamps_size, err);
			goto destroy_fifo;
		}
	}
	err = stats_add();
	if (err)
		goto destroy_stamps;
	err = hardware_take();
	if (err)
		goto remove_stats;
	return 0;

remove_stats:
	kobject_put(stat_kobj);
destroy_stamps:
	if (stamps >= 0)
		rtf_destroy(stamps);
destroy_fifo:
	rtf_destroy(fifo);
	return err;
}

static void __exit rt_speaker_exit(void)
{
	hardware_give_back();
	kobject_put(stat_kobj);
	if (stamps >= 0)
		rtf_destroy(stamps);
	rtf_destroy(fifo);
}

module_init(rt_speaker_init);
module_exit(rt_speaker_exit);

MODULE_DESCRIPTION("PC speaker driver of the Real-Time Linux thesis");
MODULE_LICENSE("GPL");
