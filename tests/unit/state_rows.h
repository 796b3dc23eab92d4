/* SPDX-License-Identifier: GPL-2.0-only */
/* Made by state_rows.py from the tables of docs/pipeline.md. */
static const struct state_interrupt state_interrupts[] = {
	{ IN_USER, ANY, 1 },
	{ IN_KERNEL, 0, 1 },
	{ IN_KERNEL, 1, 0 },
	{ IN_RT, 1, 0 },
	{ IN_RT_RING3, 1, 0 },
};
static const struct state_exception state_exceptions[] = {
	{ IN_USER, 1, ANY, 1, 1, 1, 0 },
	{ IN_KERNEL, 1, 0, 1, 1, 1, 0 },
	{ IN_KERNEL, 1, 1, 0, 1, 0, 0 },
	{ IN_KERNEL, 0, ANY, 0, 0, 0, 0 },
	{ IN_RT, ANY, 1, 0, 0, 0, 0 },
	{ IN_RT_RING3, 1, 1, 0, 0, 0, 1 },
};
