/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of <math.h> for RT tasks that use floating point (rt_use_fp()): the module rt_libm,
 * which tools/libm makes of musl's library. They set no errno and wait for nothing.
 *
 * Context: an RT task with floating point, in a file that is compiled with it.
 */
#ifndef _RT_MATH_H
#define _RT_MATH_H

#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

#define HUGE_VAL __builtin_huge_val()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)

double acos(double x);
double acosh(double x);
double asin(double x);
double asinh(double x);
double atan(double x);
double atanh(double x);
double cbrt(double x);
double ceil(double x);
double cos(double x);
double cosh(double x);
double erf(double x);
double erfc(double x);
double exp(double x);
double exp2(double x);
double expm1(double x);
double fabs(double x);
double floor(double x);
double log(double x);
double log10(double x);
double log1p(double x);
double log2(double x);
double logb(double x);
double rint(double x);
double round(double x);
double sin(double x);
double sinh(double x);
double sqrt(double x);
double tan(double x);
double tanh(double x);
double tgamma(double x);
double trunc(double x);

float acosf(float x);
float acoshf(float x);
float asinf(float x);
float asinhf(float x);
float atanf(float x);
float atanhf(float x);
float cbrtf(float x);
float ceilf(float x);
float cosf(float x);
float coshf(float x);
float erff(float x);
float erfcf(float x);
float expf(float x);
float exp2f(float x);
float expm1f(float x);
float fabsf(float x);
float floorf(float x);
float logf(float x);
float log10f(float x);
float log1pf(float x);
float log2f(float x);
float logbf(float x);
float rintf(float x);
float roundf(float x);
float sinf(float x);
float sinhf(float x);
float sqrtf(float x);
float tanf(float x);
float tanhf(float x);
float tgammaf(float x);
float truncf(float x);

double atan2(double x, double y);
double copysign(double x, double y);
double fdim(double x, double y);
double fmax(double x, double y);
double fmin(double x, double y);
double fmod(double x, double y);
double hypot(double x, double y);
double nextafter(double x, double y);
double pow(double x, double y);
double remainder(double x, double y);

float atan2f(float x, float y);
float copysignf(float x, float y);
float fdimf(float x, float y);
float fmaxf(float x, float y);
float fminf(float x, float y);
float fmodf(float x, float y);
float hypotf(float x, float y);
float nextafterf(float x, float y);
float powf(float x, float y);
float remainderf(float x, float y);

double fma(double x, double y, double z);
double frexp(double x, int *exponent);
double ldexp(double x, int exponent);
double lgamma(double x);
double modf(double x, double *whole);
double scalbn(double x, int exponent);
float frexpf(float x, int *exponent);
float ldexpf(float x, int exponent);
float modff(float x, float *whole);
float scalbnf(float x, int exponent);
int ilogb(double x);
int ilogbf(float x);
long lrint(double x);
long lrintf(float x);
long lround(double x);
long lroundf(float x);
void sincos(double x, double *sine, double *cosine);
void sincosf(float x, float *sine, float *cosine);

#endif
