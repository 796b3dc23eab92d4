// SPDX-License-Identifier: GPL-2.0-only
/* /sys/module/rt_speaker/control and stats: see README.md. */
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include "speaker.h"

static struct kobject *control_kobj, *stats_kobj;

/* Replace the settings by @wanted; with speaker_lock held, which is given back. */
static ssize_t change(const struct speaker_setup *wanted, size_t count)
{
	int err = memcmp(wanted, &speaker_setup, sizeof(*wanted)) ? speaker_change(wanted) : 0;

	mutex_unlock(&speaker_lock);
	return err ?: count;
}

static ssize_t word_store(const char *buf, size_t count, const char *const *words, int n,
			  size_t where)
{
	int index = __sysfs_match_string(words, n, buf);
	struct speaker_setup wanted;

	if (index < 0)
		return -EINVAL;
	mutex_lock(&speaker_lock);
	wanted = speaker_setup;
	*(int *)((char *)&wanted + where) = index;
	return change(&wanted, count);
}

static ssize_t number_store(const char *buf, size_t count, size_t where)
{
	struct speaker_setup wanted;
	unsigned int value;

	if (kstrtouint(buf, 0, &value))
		return -EINVAL;
	mutex_lock(&speaker_lock);
	wanted = speaker_setup;
	*(unsigned int *)((char *)&wanted + where) = value;
	return change(&wanted, count);
}

#define SHOW(_name, _format, _value)							\
static ssize_t _name##_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf) \
{											\
	return sysfs_emit(buf, _format "\n", _value);					\
}

#define STORE(_name, _expression)							\
static ssize_t _name##_store(struct kobject *kobj, struct kobj_attribute *attr,	\
			     const char *buf, size_t count)				\
{											\
	return _expression;								\
}

SHOW(mode, "%s", speaker_modes[READ_ONCE(speaker_setup.mode)])
STORE(mode, word_store(buf, count, speaker_modes, MODES, offsetof(struct speaker_setup, mode)))
SHOW(clock, "%s", speaker_clocks[READ_ONCE(speaker_setup.clock)])
STORE(clock, word_store(buf, count, speaker_clocks, CLOCKS, offsetof(struct speaker_setup, clock)))
SHOW(order, "%u", READ_ONCE(speaker_setup.order))
STORE(order, number_store(buf, count, offsetof(struct speaker_setup, order)))
SHOW(rate_hz, "%u", READ_ONCE(speaker_setup.rate_hz))
STORE(rate_hz, number_store(buf, count, offsetof(struct speaker_setup, rate_hz)))

static ssize_t bool_store(const char *buf, size_t count, bool *to)
{
	bool value;

	if (kstrtobool(buf, &value))
		return -EINVAL;
	WRITE_ONCE(*to, value);
	return count;
}

SHOW(raw, "%d", READ_ONCE(speaker_raw))
STORE(raw, bool_store(buf, count, &speaker_raw))
SHOW(pause, "%d", READ_ONCE(player_paused))
STORE(pause, bool_store(buf, count, &player_paused))
SHOW(volume, "%d", READ_ONCE(speaker_volume))

static ssize_t volume_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			    size_t count)
{
	unsigned int value;

	if (kstrtouint(buf, 0, &value) || value > VOLUME_MAX)
		return -EINVAL;
	WRITE_ONCE(speaker_volume, value);
	return count;
}

/* A 1 asks for it; a 0 for nothing. */
static ssize_t ask_store(const char *buf, size_t count, int (*what)(void))
{
	bool value;
	int err;

	if (kstrtobool(buf, &value))
		return -EINVAL;
	if (!value)
		return count;
	mutex_lock(&speaker_lock);
	err = what();
	mutex_unlock(&speaker_lock);
	return err ?: count;
}

STORE(stop, ask_store(buf, count, speaker_stop))
STORE(clear, ask_store(buf, count, player_clear))

static ssize_t now_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	ssize_t ret;

	mutex_lock(&speaker_lock);
	ret = player_now(buf);
	mutex_unlock(&speaker_lock);
	return ret;
}

#define CONTROL_RW(_name) \
	static struct kobj_attribute control_##_name = \
		__ATTR(_name, 0644, _name##_show, _name##_store)

CONTROL_RW(mode);
CONTROL_RW(clock);
CONTROL_RW(order);
CONTROL_RW(rate_hz);
CONTROL_RW(raw);
CONTROL_RW(pause);
CONTROL_RW(volume);
static struct kobj_attribute control_stop = __ATTR(stop, 0200, NULL, stop_store);
static struct kobj_attribute control_clear = __ATTR(clear, 0200, NULL, clear_store);
static struct kobj_attribute control_now = __ATTR(now, 0444, now_show, NULL);

static const struct attribute *control_attributes[] = {
	&control_mode.attr, &control_clock.attr, &control_order.attr, &control_rate_hz.attr,
	&control_raw.attr, &control_pause.attr, &control_volume.attr, &control_stop.attr,
	&control_clear.attr, &control_now.attr, NULL,
};

static u64 interval_min_ns(void)
{
	u64 lowest = READ_ONCE(player_stats.interval_min_ns);

	return lowest == U64_MAX ? 0 : lowest;
}

#define STAT(_name, _value)								\
SHOW(_name, "%llu", (unsigned long long)(_value))					\
static struct kobj_attribute stat_##_name = __ATTR(_name, 0444, _name##_show, NULL)

STAT(ticks, READ_ONCE(player_stats.ticks));
STAT(samples, READ_ONCE(player_stats.samples));
STAT(frames, READ_ONCE(player_stats.frames));
STAT(files, READ_ONCE(player_stats.files));
STAT(refused, READ_ONCE(player_stats.refused));
STAT(underruns, READ_ONCE(player_stats.underruns));
STAT(missed, READ_ONCE(player_stats.missed));
STAT(stamps_lost, READ_ONCE(player_stats.stamps_lost));
STAT(late_max_ns, READ_ONCE(player_stats.late_max_ns));
STAT(interval_min_ns, interval_min_ns());
STAT(interval_max_ns, READ_ONCE(player_stats.interval_max_ns));
STAT(interval_max_dev_ns, player_interval_max_dev_ns());

static const struct attribute *stat_attributes[] = {
	&stat_ticks.attr, &stat_samples.attr, &stat_frames.attr, &stat_files.attr,
	&stat_refused.attr, &stat_underruns.attr, &stat_missed.attr, &stat_stamps_lost.attr,
	&stat_late_max_ns.attr, &stat_interval_min_ns.attr, &stat_interval_max_ns.attr,
	&stat_interval_max_dev_ns.attr, NULL,
};

static struct kobject *folder(const char *name, const struct attribute *const *attributes)
{
	struct kobject *kobj = kobject_create_and_add(name, &THIS_MODULE->mkobj.kobj);

	if (kobj && sysfs_create_files(kobj, attributes)) {
		kobject_put(kobj);
		kobj = NULL;
	}
	return kobj;
}

int control_add(void)
{
	stats_kobj = folder("stats", stat_attributes);
	if (!stats_kobj)
		return -ENOMEM;
	control_kobj = folder("control", control_attributes);
	if (control_kobj)
		return 0;
	kobject_put(stats_kobj);
	return -ENOMEM;
}

/* On return nobody is in any of them. */
void control_remove(void)
{
	kobject_put(control_kobj);
	kobject_put(stats_kobj);
}
