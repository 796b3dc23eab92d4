/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring of texts from RT code to Linux: one producer, one consumer, neither waits.
 *
 * Pure logic. The producer is RT code or Linux of one CPU with hardware interrupts off,
 * the consumer is Linux; they need not be on the same CPU.
 *
 *	producer				consumer
 *	reads tail (acquire)			reads head (acquire)
 *	writes the record			reads the record
 *	writes head (release)			writes tail (release)
 *
 * Each release pairs with the other's acquire: a record is whole before the consumer sees it,
 * and read before the producer writes over it.
 */
#ifndef _TACTUS_TEXTRING_H
#define _TACTUS_TEXTRING_H

#include <rt/pure.h>

#define TEXTRING_BYTES 16384	/* a power of two */

/**
 * struct textring - head and tail run freely; their difference is what is in it
 * @head: where the producer writes next
 * @lost: texts that did not fit; the producer's
 * @tail: where the consumer reads next
 * @data: records: a length in two bytes, then the text without a zero
 */
struct textring {
	u32 head;
	u32 lost;
	u32 tail;
	u8 data[TEXTRING_BYTES];
};

/** textring_put - 0, or -ENOSPC, counted as lost; @length is at most 65535 */
int textring_put(struct textring *ring, const char *text, unsigned int length);

/**
 * textring_get - take the oldest text
 * @ring: the ring
 * @text: gets it, cut to @size - 1 bytes, with a zero
 * @size: above 0
 *
 * Return: whether there was one.
 */
bool textring_get(struct textring *ring, char *text, unsigned int size);

#endif
