/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A MIDI port: where bytes come in, each with the moment it had arrived, and where they go out.
 *
 * A port does not wait and has no queue for output: who sends keeps the pace of the wire, one
 * byte a byte_ns, and offers a byte again that a port had no room for.
 */
#ifndef _TAP_PORT_H
#define _TAP_PORT_H

#include <linux/types.h>

#include <rt/time.h>

/* A start bit, eight of data, a stop bit. */
#define TAP_BITS_PER_BYTE 10
#define MIDI_BAUD 31250
#define MIDI_BYTE_NS (TAP_BITS_PER_BYTE * RT_TICKS_PER_SEC / MIDI_BAUD)

/**
 * struct tap_port_stats - what a port has seen since its trial began
 * @rx_bytes: arrived and kept
 * @tx_bytes: taken to be sent
 * @lost_bytes: arrived, and neither the device nor its ring had room
 * @bad_bytes: arrived broken (framing, parity, break)
 * @stamp_late_max_ns: worst time stamp, after the moment of arrival; 0 where the port cannot know
 * @idle_max_ns: longest time that the line was idle between two bytes; 0 where it cannot know
 * @idle_sum_ns: all such times together
 */
struct tap_port_stats {
	u64 rx_bytes;
	u64 tx_bytes;
	u64 lost_bytes;
	u64 bad_bytes;
	u64 stamp_late_max_ns;
	u64 idle_max_ns;
	u64 idle_sum_ns;
};

/**
 * struct tap_port - one kind of port
 * @name: as in the module's parameter port
 * @open: take the hardware; @wake is called in RT interrupt context when bytes have arrived.
 *	Context: Linux process; may sleep. Return: ns that a byte takes, or an errno, with a
 *	sentence in the log; nothing has changed then.
 * @close: give everything back. Context: Linux process; may sleep.
 * @start: a trial begins: forget bytes and counts. Context: RT task only.
 * @rx: the next byte and when it had arrived. Context: RT task only. Return: false if none.
 * @tx: send a byte. Context: RT task only. Return: false if there is no room yet.
 * @stats: Context: any; the numbers of a trial that goes on may be of different moments.
 */
struct tap_port {
	const char *name;
	long (*open)(void (*wake)(void));
	void (*close)(void);
	void (*start)(void);
	bool (*rx)(u8 *byte, RTIME *at);
	bool (*tx)(u8 byte);
	void (*stats)(struct tap_port_stats *stats);
};

extern const struct tap_port tap_port_wire;
extern const struct tap_port tap_port_uart;
extern const struct tap_port tap_port_bridge;

/* What an interrupt leaves for the task: one producer, one consumer. */
#define TAP_RX_BYTES 1024

struct tap_rx_ring {
	u32 head;	/* the producer's */
	u32 tail;	/* the consumer's */
	struct {
		RTIME at;
		u8 byte;
	} slots[TAP_RX_BYTES];
};

/* Context: the producer, RT interrupt. Return: false if there was no room. */
static inline bool tap_rx_put(struct tap_rx_ring *ring, u8 byte, RTIME at)
{
	u32 head = ring->head;

	/* Pairs with the release in tap_rx_get(): the slot has been read before it is reused. */
	if (head - smp_load_acquire(&ring->tail) == TAP_RX_BYTES)
		return false;
	ring->slots[head % TAP_RX_BYTES].byte = byte;
	ring->slots[head % TAP_RX_BYTES].at = at;
	/* Publishes the slot; pairs with the acquire in tap_rx_get(). */
	smp_store_release(&ring->head, head + 1);
	return true;
}

/* Context: the consumer, RT task. Return: false if there is none. */
static inline bool tap_rx_get(struct tap_rx_ring *ring, u8 *byte, RTIME *at)
{
	u32 tail = ring->tail;

	/* Pairs with the release in tap_rx_put(). */
	if (smp_load_acquire(&ring->head) == tail)
		return false;
	*byte = ring->slots[tail % TAP_RX_BYTES].byte;
	*at = ring->slots[tail % TAP_RX_BYTES].at;
	/* Frees the slot; pairs with the acquire in tap_rx_put(). */
	smp_store_release(&ring->tail, tail + 1);
	return true;
}

/* Forget what has arrived. Context: the consumer. */
static inline void tap_rx_forget(struct tap_rx_ring *ring)
{
	smp_store_release(&ring->tail, smp_load_acquire(&ring->head));
}

#endif
