// SPDX-License-Identifier: GPL-2.0-only
/*
 * The port "wire": a MIDI cable from the output to the input, in memory, with a wire's timing.
 *
 * It is a UART's transmitter and receiver, one byte in the shift register and one in the
 * holding register behind it: a byte starts when it is handed over, or when the one before has
 * ended, and arrives 320 us later, with an interrupt (an RT timer's). The wire knows when bytes
 * truly start and end, so it tells what the loop added: how long the line was idle between
 * two bytes, and how late arrivals were stamped.
 *
 * A module may cut it (far.h): then what goes out arrives at that module, and what arrives here
 * comes from there, on a line of its own.
 *
 * Invariants: of a line, who sends and the timer's function are on one CPU, and arrived is the
 * latter's. One line at a time leads to rx: out as long as far is null, back while it is not.
 */
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include <rt/timer.h>

#include "far.h"
#include "port.h"

#define WIRE_BYTES 2
/* The far end has no queue of its own. */
#define FAR_BYTES 16

struct wire_line {
	u32 sent;		/* bytes that got on the line */
	u32 arrived;		/* of these, bytes that are off it */
	struct {
		RTIME ends;
		u8 byte;
	} on_it[FAR_BYTES];
	RTIME free_at;		/* end of the last byte handed over; 0: none in this trial */
	struct rt_timer timer;
};

static struct {
	struct wire_line out, back;
	struct tap_rx_ring rx;
	struct tap_port_stats stats;
	void (*wake)(void);	/* null: the port is not open */
	void (*far)(u8 byte, RTIME at);
	bool arriving;		/* out's timer function runs, and may have read far */
} wire;

/* Serialises those who come and go at the far end. */
static DEFINE_MUTEX(far_lock);

/* Whether @line had a byte that is off it by @now, and which. Context: its timer's function. */
static bool line_take(struct wire_line *line, RTIME now, u8 *byte, RTIME *ends)
{
	u32 arrived = line->arrived;

	/* Pairs with the release in line_put(). */
	if (arrived == smp_load_acquire(&line->sent))
		return false;
	*byte = line->on_it[arrived % FAR_BYTES].byte;
	*ends = line->on_it[arrived % FAR_BYTES].ends;
	if (*ends > now) {
		rt_timer_start(&line->timer, *ends);
		return false;
	}
	/* Frees the place; pairs with the acquire in line_room(). */
	smp_store_release(&line->arrived, arrived + 1);
	return true;
}

/* Context: whoever sends. */
static u32 line_room(struct wire_line *line, u32 most)
{
	/* Pairs with the release in line_take(). */
	return most - (line->sent - smp_load_acquire(&line->arrived));
}

/* There is room. Context: whoever sends. */
static void line_put(struct wire_line *line, u8 byte, RTIME now)
{
	u32 sent = line->sent;

	line->free_at = max(now, line->free_at) + MIDI_BYTE_NS;
	line->on_it[sent % FAR_BYTES].byte = byte;
	line->on_it[sent % FAR_BYTES].ends = line->free_at;
	/* Publishes the byte; pairs with the acquire in line_take(). */
	smp_store_release(&line->sent, sent + 1);
	/* With another one before it the timer runs, and its function will find this one. */
	if (sent == READ_ONCE(line->arrived))
		rt_timer_start(&line->timer, line->free_at);
}

static void wire_input(u8 byte, RTIME ends, RTIME now)
{
	wire.stats.stamp_late_max_ns = max_t(u64, wire.stats.stamp_late_max_ns, now - ends);
	if (tap_rx_put(&wire.rx, byte, now))
		wire.stats.rx_bytes++;
	else
		wire.stats.lost_bytes++;
}

/* A byte of the loop's has ended. Context: RT interrupt. */
static void out_arrival(struct rt_timer *timer)
{
	RTIME now = rt_get_time(), ends;
	void (*far)(u8 byte, RTIME at);
	u8 byte;

	WRITE_ONCE(wire.arriving, true);
	/* Far is read after arriving is seen; pairs with the barrier in far_change(). */
	smp_mb();
	far = READ_ONCE(wire.far);
	while (line_take(&wire.out, now, &byte, &ends))
		if (far)
			far(byte, now);
		else
			wire_input(byte, ends, now);
	/* Done with far; pairs with the acquire in far_change(). */
	smp_store_release(&wire.arriving, false);
	if (!far)
		wire.wake();
}

/* A byte from the far end. Context: RT interrupt. */
static void back_arrival(struct rt_timer *timer)
{
	RTIME now = rt_get_time(), ends;
	u8 byte;

	while (line_take(&wire.back, now, &byte, &ends))
		wire_input(byte, ends, now);
	wire.wake();
}

/* On return no one uses what far was. Context: Linux process. */
static void far_change(void (*far)(u8 byte, RTIME at))
{
	WRITE_ONCE(wire.far, far);
	/* Pairs with the barrier in out_arrival(): that sees the new far, or is seen here. */
	smp_mb();
	/* Pairs with the release there. */
	while (smp_load_acquire(&wire.arriving))
		msleep(1);
}

int tap_wire_cut(void (*heard)(u8 byte, RTIME at))
{
	int err = 0;

	if (!heard)
		return -EINVAL;
	mutex_lock(&far_lock);
	if (!wire.wake)
		err = -ENODEV;
	else if (wire.far)
		err = -EBUSY;
	else
		far_change(heard);
	mutex_unlock(&far_lock);
	return err;
}
EXPORT_SYMBOL_GPL(tap_wire_cut);

void tap_wire_join(void)
{
	mutex_lock(&far_lock);
	rt_timer_cancel(&wire.back.timer);
	wire.back.arrived = wire.back.sent;
	far_change(NULL);
	mutex_unlock(&far_lock);
}
EXPORT_SYMBOL_GPL(tap_wire_join);

bool tap_wire_say(const u8 *bytes, unsigned int count)
{
	RTIME now = rt_get_time();

	if (line_room(&wire.back, FAR_BYTES) < count)
		return false;
	while (count--)
		line_put(&wire.back, *bytes++, now);
	return true;
}
EXPORT_SYMBOL_GPL(tap_wire_say);

/* Context: RT task. */
static bool wire_tx(u8 byte)
{
	RTIME now = rt_get_time(), free_at = wire.out.free_at;

	if (!line_room(&wire.out, WIRE_BYTES))
		return false;
	if (free_at && now > free_at) {
		u64 idle = now - free_at;

		wire.stats.idle_max_ns = max(wire.stats.idle_max_ns, idle);
		wire.stats.idle_sum_ns += idle;
	}
	line_put(&wire.out, byte, now);
	wire.stats.tx_bytes++;
	return true;
}

static bool wire_rx(u8 *byte, RTIME *at)
{
	return tap_rx_get(&wire.rx, byte, at);
}

/* Bytes on the wire arrive in the new trial, as they would from a cable. Context: RT task. */
static void wire_start(void)
{
	tap_rx_forget(&wire.rx);
	wire.out.free_at = 0;
	memset(&wire.stats, 0, sizeof(wire.stats));
}

static void wire_stats(struct tap_port_stats *stats)
{
	*stats = wire.stats;
}

static long wire_open(void (*wake)(void))
{
	memset(&wire, 0, sizeof(wire));
	wire.out.timer.fn = out_arrival;
	wire.back.timer.fn = back_arrival;
	wire.wake = wake;
	return MIDI_BYTE_NS;
}

static void wire_close(void)
{
	rt_timer_cancel(&wire.out.timer);
	wire.wake = NULL;
}

const struct tap_port tap_port_wire = {
	.name = "wire",
	.open = wire_open,
	.close = wire_close,
	.start = wire_start,
	.rx = wire_rx,
	.tx = wire_tx,
	.stats = wire_stats,
};
