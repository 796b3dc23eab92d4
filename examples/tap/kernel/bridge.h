/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Linux end of the port "bridge", for one Linux driver at a time.
 */
#ifndef _TAP_BRIDGE_H
#define _TAP_BRIDGE_H

#include <linux/types.h>

/**
 * tap_bridge_attach - be the driver at the other end
 * @kick: called in Linux hard-irq context when there are bytes to read
 *
 * Context: Linux process; may sleep.
 * Return: 0, or -ENODEV (rt_tap was loaded with another port), -EBUSY (there is a driver).
 */
int tap_bridge_attach(void (*kick)(void));

/**
 * tap_bridge_detach - no more; on return @kick is not running any more
 *
 * Context: Linux process; may sleep.
 */
void tap_bridge_detach(void);

/**
 * tap_bridge_read - take bytes that the loop has sent
 * @bytes: where they go
 * @room: how many at most
 *
 * Context: Linux, any but NMI; one caller at a time.
 * Return: how many.
 */
size_t tap_bridge_read(u8 *bytes, size_t room);

/**
 * tap_bridge_write - let bytes arrive at the loop, now
 * @bytes: the bytes
 * @count: how many
 *
 * What finds no room is counted as lost.
 *
 * Context: Linux, any but NMI; one caller at a time.
 */
void tap_bridge_write(const u8 *bytes, size_t count);

#endif
