// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions of <math.h> in an RT thread: for each pair of doubles that a process writes to FIFO 1, what
 * each function makes of them goes to FIFO 2, in the order below.
 */
#include <linux/module.h>
#include <rtl.h>
#include <rtl_fifo.h>
#include <pthread.h>
#include <math.h>

MODULE_LICENSE("GPL");

static pthread_t thread;

static double (*const one[])(double x) = {
	acos, acosh, asin, asinh, atan, atanh, cbrt, ceil, cos, cosh, erf, erfc,
	exp, exp2, expm1, fabs, floor, log, log10, log1p, log2, logb, rint, round,
	sin, sinh, sqrt, tan, tanh, tgamma, trunc
};
static double (*const two[])(double x, double y) = {
	atan2, copysign, fdim, fmax, fmin, fmod, hypot, nextafter, pow, remainder
};
static float (*const single[])(float x) = {
	acosf, acoshf, asinf, asinhf, atanf, atanhf, cbrtf, ceilf, cosf, coshf,
	erff, erfcf, expf, exp2f, expm1f, fabsf, floorf, logf, log10f, log1pf,
	log2f, logbf, rintf, roundf, sinf, sinhf, sqrtf, tanf, tanhf, tgammaf,
	truncf
};

static void *run(void *unused)
{
	static double in[2], out[100];

	for (;;) {
		int i, n = 0;

		while (rtf_get(1, in, sizeof(in)) != sizeof(in))
			usleep(1000);
		for (i = 0; i < ARRAY_SIZE(one); i++)
			out[n++] = one[i](in[0]);
		for (i = 0; i < ARRAY_SIZE(two); i++)
			out[n++] = two[i](in[0], in[1]);
		for (i = 0; i < ARRAY_SIZE(single); i++)
			out[n++] = single[i](in[0]);
		rtf_put(2, out, n * sizeof(double));
	}
	return 0;
}

int init_module(void)
{
	pthread_attr_t attr;

	rtf_create(1, 16384);
	rtf_create(2, 262144);
	pthread_attr_init(&attr);
	pthread_attr_setfp_np(&attr, 1);
	return pthread_create(&thread, &attr, run, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(thread);
	rtf_destroy(1);
	rtf_destroy(2);
}
