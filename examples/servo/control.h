/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _CONTROL_H
#define _CONTROL_H

#include "servo.h"

/* As servo_job(). Context: an RT task that uses floating point. */
void control_job(long long now_ns, long long release_ns, struct servo_record *record);

#endif
