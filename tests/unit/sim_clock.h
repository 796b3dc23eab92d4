/* SPDX-License-Identifier: GPL-2.0-only */
/* The clock of what supervises policies, in tests: before sched/policy.c. */
static u64 sim_ticks;
#define CORE_TICKS() sim_ticks
