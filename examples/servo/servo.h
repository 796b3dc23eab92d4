/* SPDX-License-Identifier: GPL-2.0-only */
/* What both servos, the RT task and the thread of Linux, say about each of their jobs. */
#ifndef _SERVO_H
#define _SERVO_H

#define SERVO_PERIOD_NS 1000000LL

/* As tactus record and scope are told: time_ns:u8,late_ns:u4,angle:i4,wanted:i4,torque:i4 */
struct servo_record {
	unsigned long long time_ns;	/* since the first release */
	unsigned int late_ns;		/* after its release; the greatest number: that or more */
	int angle;			/* urad from upright */
	int wanted;			/* urad */
	int torque;			/* from now on: mrad/s^2 of angular acceleration */
};

#endif
