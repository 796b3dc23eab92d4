// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings of events: made, switched on and off, read. docs/tracing.md is for users.
 *
 * Who notes an event holds the lock of its CPU; so does whoever exchanges or reads a ring here.
 * A job that starts too late sets @stopped; each CPU then leaves its ring at its next event.
 */
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sysfs.h>
#include <linux/vmalloc.h>
#include <asm/tsc.h>

#include "exec/cpu.h"
#include "exec/ring3.h"
#include "exec/trace.h"

/* Upper bound, to catch typos. */
#define MOST_EVENTS (1U << 20)

static unsigned int events;
module_param(events, uint, 0444);
MODULE_PARM_DESC(events, "events that are kept for each CPU, for /sys/kernel/tactus/events (default 0: none)");

/* Under rt_exec_mutex. */
static bool on = true;
static u64 late_ns;

/*
 * Names of tasks that are gone, the oldest overwritten first: each return to RT mode is another
 * task of a thread. Under rt_exec_mutex.
 */
#define GONE 256
static struct {
	int cpu;
	u32 id;
	char name[RT_TASK_NAME_BYTES];
} gone[GONE];
static unsigned int gone_next;

static bool stopped;
static struct kobject *folder;

/* A line's RT handler, by pl_trace_lines(). Context: RT interrupt. */
static void note_line(unsigned int irq, bool over)
{
	struct rt_cpu *cpu = rt_cpu_here();
	const RT_TASK *curr = cpu->rq.curr;

	hardlock(&cpu->lock);
	events_note(&cpu->rq.events, over ? EVENT_IRQ_END : EVENT_IRQ,
		    curr ? curr->id : EVENT_LINUX, irq);
	hardunlock(&cpu->lock);
}

/* Lines are asked to tell of themselves while there are rings. Under rt_exec_mutex. */
static void trace_lines(void)
{
	pl_trace_lines(events && on ? note_line : NULL);
}

/* @slots: 0 for none. Return: 0, or -ENOMEM: @cpu has the ring that it had. */
static int give_ring(struct rt_cpu *cpu, unsigned int slots)
{
	struct events *ring = &cpu->rq.events, fresh = { .clock = pl_clock, .stopped = &stopped };
	struct event *old;
	unsigned long flags;

	if (slots) {
		fresh.mask = slots - 1;
		fresh.store = vzalloc(array_size(slots, sizeof(*fresh.store)));
		if (!fresh.store)
			return -ENOMEM;
		fresh.slot = on ? fresh.store : NULL;
		fresh.late_ns = late_ns;
	}
	flags = rt_cpu_lock(cpu);
	old = ring->store;
	*ring = fresh;
	rt_cpu_unlock(cpu, flags);
	vfree(old);
	return 0;
}

static unsigned int rounded(unsigned int slots)
{
	return slots ? roundup_pow_of_two(min(slots, MOST_EVENTS)) : 0;
}

int rt_trace_cpu_comes(struct rt_cpu *cpu)
{
	return give_ring(cpu, rounded(events));
}

void rt_trace_cpu_leaves(struct rt_cpu *cpu)
{
	give_ring(cpu, 0);
}

void rt_trace_pause(bool pause)
{
	unsigned long flags;
	int i;

	for_each_possible_cpu(i) {
		struct rt_cpu *cpu = rt_cpu_of(i);
		struct events *ring = &cpu->rq.events;

		flags = rt_cpu_lock(cpu);
		ring->slot = pause || !on ? NULL : ring->store;
		rt_cpu_unlock(cpu, flags);
	}
}

/* ---- reading ---- */

void rt_trace_task_leaves(const RT_TASK *task)
{
	unsigned int at = gone_next++ % GONE;

	lockdep_assert_held(&rt_exec_mutex);
	gone[at].cpu = task->cpu;
	gone[at].id = task->id;
	strscpy(gone[at].name, task->name, RT_TASK_NAME_BYTES);
}

/* One event, while its CPU is locked. Return: whether there is an @n-th. */
static bool look(struct rt_cpu *cpu, u64 n, struct event *event)
{
	unsigned long flags = rt_cpu_lock(cpu);
	bool there = n < events_count(&cpu->rq.events);

	if (there)
		*event = events_get(&cpu->rq.events, n);
	rt_cpu_unlock(cpu, flags);
	return there;
}

#define ARG_BYTES 48

static void name_of(const struct rt_cpu *cpu, u32 id, char *name)
{
	if (id == EVENT_LINUX) {
		strscpy(name, "-", RT_TASK_NAME_BYTES);
		return;
	}
	for (const RT_TASK *task = cpu->rq.tasks; task; task = task->next)
		if (task->id == id) {
			strscpy(name, task->name, RT_TASK_NAME_BYTES);
			return;
		}
	for (int i = 0; i < GONE; i++)
		if (*gone[i].name && gone[i].cpu == cpu->rq.cpu && gone[i].id == id) {
			strscpy(name, gone[i].name, RT_TASK_NAME_BYTES);
			return;
		}
	snprintf(name, RT_TASK_NAME_BYTES, "#%u", id);
}

static void describe(const struct rt_cpu *cpu, const struct event *event, char *name, char *arg)
{
	name_of(cpu, event->task, name);
	if (event->kind == EVENT_DEMOTE)
		snprintf(arg, ARG_BYTES, "%s:%u@%#llx", rt_ring3_reason(event->reason),
			 event->number, event->arg);
	else if (event->kind != EVENT_TIMER)
		snprintf(arg, ARG_BYTES, "%llu", event->arg);
	else if (event->arg)
		snprintf(arg, ARG_BYTES, "%ps", (void *)(unsigned long)event->arg);
	else
		strscpy(arg, event->task == EVENT_LINUX ? "user" : "task", ARG_BYTES);
}

/* A name of a task may hold blanks or worse, and a line has its length. */
static void one_word(char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			*text = '_';
}

ssize_t rt_events_read(char *buf, loff_t offset, size_t count)
{
	static const char *const kinds[] = {
		[EVENT_RELEASE] = "release", [EVENT_START] = "start", [EVENT_PREEMPT] = "preempt",
		[EVENT_BLOCK] = "block", [EVENT_RESUME] = "resume", [EVENT_COMPLETE] = "complete",
		[EVENT_TIMER] = "timer", [EVENT_LATE] = "late",
		[EVENT_DEMOTE] = "demote", [EVENT_IRQ] = "irq", [EVENT_IRQ_END] = "irq_end",
	};
	u32 skip;
	u64 line = div_u64_rem(offset, RT_EVENT_LINE, &skip);
	char text[RT_EVENT_LINE + 1], name[RT_TASK_NAME_BYTES], arg[ARG_BYTES];
	size_t done = 0, part;
	int i;

	mutex_lock(&rt_exec_mutex);
	for_each_possible_cpu(i) {
		struct rt_cpu *cpu = rt_cpu_of(i);
		u64 here = events_count(&cpu->rq.events);
		struct event event;

		for (; line < here && done < count && look(cpu, line, &event); line++) {
			describe(cpu, &event, name, arg);
			one_word(name);
			one_word(arg);
			snprintf(text, sizeof(text), "%4d %20llu %-8s %-15s %-48s\n", i, event.when,
				 kinds[event.kind], name, arg);
			/* A reader with less room than a line gets the rest by its next read. */
			part = min_t(size_t, RT_EVENT_LINE - skip, count - done);
			memcpy(buf + done, text + skip, part);
			done += part;
			skip = 0;
		}
		if (line < here)
			break;
		line -= here;
	}
	mutex_unlock(&rt_exec_mutex);
	return done;
}

/* ---- the folder trace ---- */

static ssize_t slots_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", rounded(READ_ONCE(events)));
}

/* Take all rings away, then make new ones, so that memory is wanted once. */
static ssize_t slots_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			   size_t count)
{
	unsigned int slots;
	int i, err;

	err = kstrtouint(buf, 0, &slots);
	if (err)
		return err;
	if (slots > MOST_EVENTS)
		return -EINVAL;
	mutex_lock(&rt_exec_mutex);
	for_each_possible_cpu(i)
		give_ring(rt_cpu_of(i), 0);
	for_each_possible_cpu(i)
		if (rt_cpu_of(i)->present)
			err = err ?: give_ring(rt_cpu_of(i), rounded(slots));
	if (err)
		for_each_possible_cpu(i)
			give_ring(rt_cpu_of(i), 0);
	WRITE_ONCE(events, err ? 0 : slots);
	trace_lines();
	mutex_unlock(&rt_exec_mutex);
	return err ?: count;
}

static ssize_t on_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(events) && READ_ONCE(on) && !READ_ONCE(stopped));
}

/* On: from an empty ring. Off: what was noted stays to be read. */
static ssize_t on_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			size_t count)
{
	bool wanted;
	int i, err = kstrtobool(buf, &wanted);

	if (err)
		return err;
	mutex_lock(&rt_exec_mutex);
	if (wanted && !events) {
		mutex_unlock(&rt_exec_mutex);
		return -ENODATA;
	}
	WRITE_ONCE(on, wanted);
	trace_lines();
	if (wanted)
		WRITE_ONCE(stopped, false);
	for_each_possible_cpu(i) {
		struct events *ring = &rt_cpu_of(i)->rq.events;
		unsigned long flags = rt_cpu_lock(rt_cpu_of(i));

		if (wanted)
			ring->written = 0;
		ring->slot = wanted ? ring->store : NULL;
		rt_cpu_unlock(rt_cpu_of(i), flags);
	}
	mutex_unlock(&rt_exec_mutex);
	return count;
}

static ssize_t late_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", READ_ONCE(late_ns));
}

static ssize_t late_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			  size_t count)
{
	u64 wanted;
	int i, err = kstrtou64(buf, 0, &wanted);

	if (err)
		return err;
	if (wanted > S64_MAX)
		return -EINVAL;
	mutex_lock(&rt_exec_mutex);
	WRITE_ONCE(late_ns, wanted);
	for_each_possible_cpu(i)
		WRITE_ONCE(rt_cpu_of(i)->rq.events.late_ns, wanted);
	mutex_unlock(&rt_exec_mutex);
	return count;
}

static ssize_t lost_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	u64 lost = 0;
	int i;

	mutex_lock(&rt_exec_mutex);
	for_each_possible_cpu(i) {
		unsigned long flags = rt_cpu_lock(rt_cpu_of(i));
		const struct events *ring = &rt_cpu_of(i)->rq.events;

		lost += ring->store ? ring->written - events_count(ring) : 0;
		rt_cpu_unlock(rt_cpu_of(i), flags);
	}
	mutex_unlock(&rt_exec_mutex);
	return sysfs_emit(buf, "%llu\n", lost);
}

/* One moment by two clocks, so that what Linux stamps with the TSC finds its place beside ours. */
static ssize_t clock_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	unsigned long flags = pl_hard_save();
	u64 tsc = rdtsc_ordered(), now = pl_clock();

	pl_hard_restore(flags);
	return sysfs_emit(buf, "%llu %llu\n", now, tsc);
}

static struct kobj_attribute files[] = {
	__ATTR(slots, 0600, slots_show, slots_store),
	__ATTR(on, 0600, on_show, on_store),
	__ATTR(late_ns, 0600, late_show, late_store),
	__ATTR(lost, 0400, lost_show, NULL),
	__ATTR(clock, 0400, clock_show, NULL),
};

int rt_trace_init(struct kobject *parent)
{
	int err = 0;

	folder = kobject_create_and_add("trace", parent);
	if (!folder)
		return -ENOMEM;
	for (int i = 0; i < ARRAY_SIZE(files); i++) {
		sysfs_attr_init(&files[i].attr);
		err = err ?: sysfs_create_file(folder, &files[i].attr);
	}
	if (err)
		rt_trace_exit();
	else
		trace_lines();
	return err;
}

void rt_trace_exit(void)
{
	pl_trace_lines(NULL);
	kobject_put(folder);
	folder = NULL;
}
