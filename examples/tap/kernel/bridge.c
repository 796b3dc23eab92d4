// SPDX-License-Identifier: GPL-2.0-only
/*
 * The port "bridge": to and from a driver of Linux, for devices that RT code cannot have.
 *
 * Two rings, each with one producer and one consumer, the RT task on one end of each. Bytes go out
 * at the pace of a MIDI cable, so that a loop through Linux cannot run away; how long they waited
 * for Linux is measured, and bounded by nothing.
 *
 * Locks: attached_lock around who the driver is. The RT task takes none.
 */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include <rt/post.h>

#include "bridge.h"
#include "port.h"
#include "rt_tap.h"

static DEFINE_MUTEX(attached_lock);

static struct {
	struct tap_rx_ring in, out;
	struct tap_port_stats stats;
	u64 in_lost;			/* Linux's side counts on its own */
	u64 waited_max_ns, waited_sum_ns, waited;
	struct rt_post post;
	void (*wake)(void);
	void (*kick)(void);
	bool open;
} bridge;

/* Context: Linux hard-irq. */
static void bridge_posted(struct rt_post *unused)
{
	void (*kick)(void) = READ_ONCE(bridge.kick);

	if (kick)
		kick();
}

int tap_bridge_attach(void (*kick)(void))
{
	int err = 0;

	mutex_lock(&attached_lock);
	if (!bridge.open)
		err = -ENODEV;
	else if (bridge.kick)
		err = -EBUSY;
	else
		WRITE_ONCE(bridge.kick, kick);
	mutex_unlock(&attached_lock);
	return err;
}
EXPORT_SYMBOL_GPL(tap_bridge_attach);

void tap_bridge_detach(void)
{
	mutex_lock(&attached_lock);
	WRITE_ONCE(bridge.kick, NULL);
	mutex_unlock(&attached_lock);
	rt_post_sync(&bridge.post);
}
EXPORT_SYMBOL_GPL(tap_bridge_detach);

size_t tap_bridge_read(u8 *bytes, size_t room)
{
	size_t count = 0;
	RTIME sent_at;

	while (count < room && tap_rx_get(&bridge.out, &bytes[count], &sent_at)) {
		u64 waited = rt_get_time() - sent_at;

		bridge.waited_max_ns = max(bridge.waited_max_ns, waited);
		bridge.waited_sum_ns += waited;
		bridge.waited++;
		count++;
	}
	return count;
}
EXPORT_SYMBOL_GPL(tap_bridge_read);

void tap_bridge_write(const u8 *bytes, size_t count)
{
	RTIME now = rt_get_time();

	while (count--)
		if (!tap_rx_put(&bridge.in, *bytes++, now))
			bridge.in_lost++;
	bridge.wake();
}
EXPORT_SYMBOL_GPL(tap_bridge_write);

static bool bridge_rx(u8 *byte, RTIME *at)
{
	if (!tap_rx_get(&bridge.in, byte, at))
		return false;
	bridge.stats.rx_bytes++;
	return true;
}

/* Without a driver nobody listens, as at the end of a cable. Context: RT task. */
static bool bridge_tx(u8 byte)
{
	bridge.stats.tx_bytes++;
	if (!READ_ONCE(bridge.kick))
		return true;
	if (!tap_rx_put(&bridge.out, byte, rt_get_time()))
		bridge.stats.lost_bytes++;
	rt_post(&bridge.post);
	return true;
}

static void bridge_start(void)
{
	tap_rx_forget(&bridge.in);
	memset(&bridge.stats, 0, sizeof(bridge.stats));
	WRITE_ONCE(bridge.in_lost, 0);
}

static void bridge_stats(struct tap_port_stats *stats)
{
	*stats = bridge.stats;
	stats->lost_bytes += READ_ONCE(bridge.in_lost);
}

/**
 * tap_bridge_waited - how long sent bytes waited for Linux, since loading
 * @max_ns: the longest
 * @mean_ns: on average
 *
 * Context: any.
 */
void tap_bridge_waited(u64 *max_ns, u64 *mean_ns)
{
	u64 waited = READ_ONCE(bridge.waited);

	*max_ns = READ_ONCE(bridge.waited_max_ns);
	*mean_ns = waited ? div64_u64(READ_ONCE(bridge.waited_sum_ns), waited) : 0;
}

static long bridge_open(void (*wake)(void))
{
	memset(&bridge, 0, sizeof(bridge));
	bridge.wake = wake;
	rt_post_init(&bridge.post, bridge_posted);
	bridge.open = true;
	return MIDI_BYTE_NS;
}

/* The driver is gone: it uses this module's functions. */
static void bridge_close(void)
{
	bridge.open = false;
	rt_post_sync(&bridge.post);
}

const struct tap_port tap_port_bridge = {
	.name = "bridge",
	.open = bridge_open,
	.close = bridge_close,
	.start = bridge_start,
	.rx = bridge_rx,
	.tx = bridge_tx,
	.stats = bridge_stats,
};
