// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the manner of RTLinux 3: a process commands two periodic threads, by a FIFO whose handler
 * hands each command on by a FIFO from RT code to RT code. A third has floating point.
 */
#define MODULE
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/errno.h>
#include <rtl.h>
#include <rtl_fifo.h>
#include <rtl_sched.h>
#include <rtl_time.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
#include <fcntl.h>

MODULE_LICENSE("GPL");
MODULE_PARM(answer, "i");
static int answer = 41;

struct command { int thread, on; long long period; };
static pthread_t threads[2], fp_thread, low;
static sem_t done;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int said;

static void *run(void *arg)
{
	int which = (long)arg;
	struct command command;
	int fd = open(which ? "/dev/rtf2" : "/dev/rtf1", O_NONBLOCK);

	while (1) {
		int err = rtf_get(which + 4, &command, sizeof(command));

		if (err == sizeof(command)) {
			if (command.on)
				pthread_make_periodic_np(pthread_self(), gethrtime(),
							 command.period);
			else
				pthread_suspend_np(pthread_self());
		} else if (err) {
			rtl_printf("pair: rtf_get: %d\n", err);
		}
		write(fd, which ? "b" : "a", 1);
		pthread_wait_np();
	}
	return 0;
}

static double factor = 1.5;

static void *run_fp(void *arg)
{
	struct sched_param p = { .sched_priority = 20 };
	double x = *(double *)arg;
	struct timespec t;
	int i;

	clock_gettime(CLOCK_MONOTONIC, &t);
	for (i = 0; i < 10; i++) {
		x *= factor;
		timespec_add_ns(&t, 1000000);
		if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
			return 0;
	}
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &p);
	pthread_mutex_lock(&mutex);
	said = (int)x;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	sem_wait(&done);
	rtl_printf("pair: fp %d answer %d\n", (int)x, answer);
	return (void *)7;
}

static void *run_low(void *arg)
{
	struct timespec until;
	int error;

	pthread_mutex_lock(&mutex);
	clock_gettime(CLOCK_REALTIME, &until);
	timespec_add_ns(&until, 2000000);
	error = pthread_cond_timedwait(&cond, &mutex, &until);
	while (!said)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	rtl_printf("pair: said %d after %d\n", said, error);
	sem_post(&done);
	return 0;
}

static int handler(unsigned int fifo)
{
	struct command command;
	int err;

	while ((err = rtf_get(3, &command, sizeof(command))) == sizeof(command)) {
		rtf_put(command.thread + 4, &command, sizeof(command));
		pthread_wakeup_np(threads[command.thread]);
	}
	return err ? -EINVAL : 0;
}

static double first = 4.0;

int init_module(void)
{
	pthread_attr_t attr;
	struct sched_param p = { .sched_priority = 4 };
	int i;

	for (i = 1; i <= 5; i++)
		if (rtf_create(i, 4000))
			return -EBUSY;
	sem_init(&done, 0, 0);
	pthread_attr_init(&attr);
	pthread_attr_setschedparam(&attr, &p);
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], &attr, run, (void *)(long)i);
	rtf_create_handler(3, &handler);
	pthread_create(&low, &attr, run_low, 0);
	pthread_attr_setfp_np(&attr, 1);
	pthread_create(&fp_thread, &attr, run_fp, &first);
	return 0;
}

void cleanup_module(void)
{
	void *value = 0;
	int i;

	pthread_join(fp_thread, &value);
	rtl_printf("pair: joined %d\n", (int)(long)value);
	for (i = 0; i < 2; i++) {
		pthread_cancel(threads[i]);
		pthread_join(threads[i], NULL);
	}
	pthread_delete_np(low);
	for (i = 1; i <= 5; i++)
		rtf_destroy(i);
}
