// SPDX-License-Identifier: GPL-2.0-only
/*
 * A HAL component that measures the thread that calls it: pins interval.N.count, .min and .max say
 * how many intervals there were between its calls and how long, in nanoseconds. Tests use it in place
 * of LinuxCNC's timedelta, which needs halcompile.
 */
#include "rtapi.h"
#include "rtapi_app.h"
#include "hal.h"

MODULE_LICENSE("GPL");

static int num_chan = 1;
RTAPI_MP_INT(num_chan, "number of threads to measure");

struct interval {
	hal_u32_t *count;
	hal_u32_t *min;
	hal_u32_t *max;
	long long last;
};

static int id;

/* Context: a thread of HAL. */
static void measure(void *arg, long period)
{
	struct interval *this = arg;
	long long now = rtapi_get_time();
	hal_u32_t interval = now - this->last;

	if (this->last) {
		if (!*this->count || interval < *this->min)
			*this->min = interval;
		if (interval > *this->max)
			*this->max = interval;
		(*this->count)++;
	}
	this->last = now;
}

static int export(int n, struct interval *this)
{
	char name[HAL_NAME_LEN + 1];
	int err;

	err = hal_pin_u32_newf(HAL_OUT, &this->count, id, "interval.%d.count", n) ?:
		hal_pin_u32_newf(HAL_OUT, &this->min, id, "interval.%d.min", n) ?:
		hal_pin_u32_newf(HAL_OUT, &this->max, id, "interval.%d.max", n);
	if (err)
		return err;
	rtapi_snprintf(name, sizeof(name), "interval.%d", n);
	return hal_export_funct(name, measure, this, 0, 0, id);
}

int rtapi_app_main(void)
{
	struct interval *all;
	int err = 0;
	int n;

	if (num_chan < 1 || num_chan > 16)
		return -EINVAL;
	id = hal_init("interval");
	if (id < 0)
		return id;
	all = hal_malloc(num_chan * sizeof(*all));
	if (!all) {
		err = -ENOMEM;
		goto err_exit;
	}
	for (n = 0; n < num_chan; n++) {
		all[n].last = 0;
		err = export(n, &all[n]);
		if (err)
			goto err_exit;
	}
	hal_ready(id);
	return 0;

err_exit:
	hal_exit(id);
	return err;
}

void rtapi_app_exit(void)
{
	hal_exit(id);
}
