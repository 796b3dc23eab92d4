/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The far end of the port "wire", for one RT module in the place of the cable: what rt_tap sends
 * comes to it, and what it sends comes to rt_tap, each byte 320 us after it began.
 */
#ifndef _TAP_FAR_H
#define _TAP_FAR_H

#include <linux/types.h>

#include <rt/time.h>

/**
 * tap_wire_cut - be at the far end; nothing comes back any more but what tap_wire_say() sends
 * @heard: called with each byte that rt_tap has sent and when it arrived, in RT interrupt context
 *
 * Context: Linux process; may sleep.
 * Return: 0, -EINVAL (null), -ENODEV (rt_tap has another port), -EBUSY (there is somebody).
 */
int tap_wire_cut(void (*heard)(u8 byte, RTIME at));

/**
 * tap_wire_join - have the cable back; on return what was @heard is not running any more
 *
 * Nobody sends any more: a task of the caller's that may is deleted first.
 *
 * Context: Linux process; may sleep.
 */
void tap_wire_join(void);

/**
 * tap_wire_say - send bytes to rt_tap, one after the other
 * @bytes: the bytes
 * @count: how many
 *
 * Context: RT task or RT interrupt, one caller at a time.
 * Return: false, and nothing is sent, if there is no room for all of them.
 */
bool tap_wire_say(const u8 *bytes, unsigned int count);

#endif
