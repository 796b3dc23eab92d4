// SPDX-License-Identifier: GPL-2.0-only
/* What uses floating point, and nothing else. */
#include "control.h"
#include "pendulum.h"

static struct servo servo;

void control_job(long long now_ns, long long release_ns, struct servo_record *record)
{
	servo_job(&servo, now_ns, release_ns, record);
}
