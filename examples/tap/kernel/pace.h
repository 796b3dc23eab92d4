/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes on their way to a port, at the pace of its wire. Pure: no kernel in it.
 *
 * The line is taken to be busy for byte_ns with each byte, from the moment it is handed over or, if
 * it is busy then, from the end of the byte before. A byte is handed over when the one before
 * begins, as a UART has a register to hold it in: so a loop that is late by less than a byte's time
 * leaves no gap on the wire, and lateness does not add up.
 */
#ifndef _TAP_PACE_H
#define _TAP_PACE_H

#include <rt/pure.h>

#define TAP_PACE_BYTES 64
#define TAP_PACE_NEVER (~0ULL)

struct tap_pace {
	/* private: */
	u64 byte_ns;
	u64 free_at;		/* the line's, with all that was handed over */
	u32 head, tail;
	u8 bytes[TAP_PACE_BYTES];
};

/** tap_pace_init - empty, the line free; @byte_ns: what a byte takes. Context: any. */
static inline void tap_pace_init(struct tap_pace *pace, u64 byte_ns)
{
	memset(pace, 0, sizeof(*pace));
	pace->byte_ns = byte_ns;
}

/** tap_pace_waiting - bytes not handed over yet. Context: any. */
static inline u32 tap_pace_waiting(const struct tap_pace *pace)
{
	return pace->head - pace->tail;
}

/** tap_pace_room - is there room for @count bytes more? Context: any. */
static inline bool tap_pace_room(const struct tap_pace *pace, u32 count)
{
	return TAP_PACE_BYTES - tap_pace_waiting(pace) >= count;
}

/**
 * tap_pace_put - add a message that there is room for
 * @pace: the line
 * @bytes: of the message
 * @count: how many
 * @now_ns: the time
 *
 * Context: any.
 * Return: when its first byte will begin, as long as the port takes what it is offered.
 */
static inline u64 tap_pace_put(struct tap_pace *pace, const u8 *bytes, u32 count, u64 now_ns)
{
	u64 begins = pace->free_at > now_ns ? pace->free_at : now_ns;

	begins += tap_pace_waiting(pace) * pace->byte_ns;
	while (count--)
		pace->bytes[pace->head++ % TAP_PACE_BYTES] = *bytes++;
	return begins;
}

/** tap_pace_next - when a byte may be handed over; TAP_PACE_NEVER if none waits. Context: any. */
static inline u64 tap_pace_next(const struct tap_pace *pace)
{
	if (!tap_pace_waiting(pace))
		return TAP_PACE_NEVER;
	return pace->free_at > pace->byte_ns ? pace->free_at - pace->byte_ns : 0;
}

/** tap_pace_first - the byte that leaves first, of those that wait. Context: any. */
static inline u8 tap_pace_first(const struct tap_pace *pace)
{
	return pace->bytes[pace->tail % TAP_PACE_BYTES];
}

/** tap_pace_sent - the port took it at @now_ns. Context: any. */
static inline void tap_pace_sent(struct tap_pace *pace, u64 now_ns)
{
	pace->tail++;
	pace->free_at = (pace->free_at > now_ns ? pace->free_at : now_ns) + pace->byte_ns;
}

/**
 * tap_pace_refused - the port had no room: its line is slower than we think
 * @pace: the line
 * @now_ns: the time
 *
 * It is asked again a sixteenth of a byte later. Context: any.
 */
static inline void tap_pace_refused(struct tap_pace *pace, u64 now_ns)
{
	pace->free_at = now_ns + pace->byte_ns + pace->byte_ns / 16;
}

/** tap_pace_idle - has the last byte left the line? Context: any. */
static inline bool tap_pace_idle(const struct tap_pace *pace, u64 now_ns)
{
	return !tap_pace_waiting(pace) && pace->free_at <= now_ns;
}

#endif
