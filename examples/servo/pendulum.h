/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An inverted pendulum with a motor at its pivot, and the controller that holds it: the physics of
 * all servos here. Floating point: in the kernel for files compiled with <rt/fp.mk> only.
 *
 * The plant moves on by the time that has really passed, under the torque that was set last. So a
 * late controller has the pendulum of a late controller. The controller takes its period
 * for exact, as they do: it finds the speed from two angles.
 */
#ifndef _PENDULUM_H
#define _PENDULUM_H

#include "servo.h"

#define PENDULUM_G_OVER_L 196.0		/* 1/s^2: a light rod of 5 cm */
#define PENDULUM_STOP 1.0		/* rad from upright, on either side */
#define PENDULUM_TORQUE_MOST 2000.0	/* rad/s^2 */
#define PENDULUM_STEP_S 0.00005		/* of the integration, at most */

#define SERVO_HALF_WAVE_NS 100000000LL	/* of the wanted angle, a square wave */
#define SERVO_WANTED 0.1		/* rad */
#define SERVO_STIFFNESS 22700.0		/* 1/s^2: 150 rad/s, critically damped, and gravity */
#define SERVO_DAMPING 300.0		/* 1/s */

struct pendulum {
	double angle;	/* rad from upright */
	double speed;	/* rad/s */
	double torque;	/* rad/s^2 */
};

struct servo {
	struct pendulum plant;
	double last_angle;
	long long last_ns;	/* since the first release */
};

/* To 0.000003 up to PENDULUM_STOP; neither kernel nor static programs want libm for this. */
static inline double pendulum_sin(double x)
{
	double square = x * x;

	return x * (1 - square / 6 * (1 - square / 20 * (1 - square / 42)));
}

/* Let time pass. */
static inline void pendulum_pass(struct pendulum *p, double seconds)
{
	while (seconds > 0) {
		double step = seconds < PENDULUM_STEP_S ? seconds : PENDULUM_STEP_S;

		p->speed += step * (PENDULUM_G_OVER_L * pendulum_sin(p->angle) + p->torque);
		p->angle += step * p->speed;
		if (p->angle > PENDULUM_STOP || p->angle < -PENDULUM_STOP) {
			p->angle = p->angle > 0 ? PENDULUM_STOP : -PENDULUM_STOP;
			p->speed = 0;
		}
		seconds -= step;
	}
}

static inline double servo_torque(double angle, double speed, double wanted)
{
	double torque = SERVO_STIFFNESS * (wanted - angle) - SERVO_DAMPING * speed -
			PENDULUM_G_OVER_L * pendulum_sin(wanted);

	if (torque > PENDULUM_TORQUE_MOST)
		return PENDULUM_TORQUE_MOST;
	return torque < -PENDULUM_TORQUE_MOST ? -PENDULUM_TORQUE_MOST : torque;
}

/*
 * One job, at @now_ns, of the release at @release_ns, both since the first release: read the angle,
 * set the torque, say what was done.
 */
static inline void servo_job(struct servo *s, long long now_ns, long long release_ns,
			     struct servo_record *record)
{
	double wanted = now_ns / SERVO_HALF_WAVE_NS % 2 ? -SERVO_WANTED : SERVO_WANTED, speed;
	long long late_ns = now_ns - release_ns;

	pendulum_pass(&s->plant, (now_ns - s->last_ns) / 1e9);
	s->last_ns = now_ns;
	speed = (s->plant.angle - s->last_angle) / (SERVO_PERIOD_NS / 1e9);
	s->last_angle = s->plant.angle;
	s->plant.torque = servo_torque(s->plant.angle, speed, wanted);

	record->time_ns = now_ns;
	record->late_ns = late_ns < 0xffffffffLL ? late_ns : 0xffffffffU;
	record->angle = s->plant.angle * 1e6;
	record->wanted = wanted * 1e6;
	record->torque = s->plant.torque * 1e3;
}

#endif
