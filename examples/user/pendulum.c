// SPDX-License-Identifier: GPL-2.0-only
/*
 * A servo of 1 kHz that keeps a simulated pendulum upright, in RT mode or as Linux runs it: see
 * --help. The pendulum falls in real time: until a job comes it goes on with the torque of the
 * one before. So a late job is a pendulum that has fallen further.
 */
#define _GNU_SOURCE
#include <err.h>
#include <getopt.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <tactus/rt.h>

#include "../servo/pendulum.h"

#define PERIOD_NS SERVO_PERIOD_NS
#define NS_PER_S 1000000000LL
#define JOBS_PER_S (NS_PER_S / PERIOD_NS)
#define KNOCK 3.0		/* rad/s */
#define PLOT_ROWS 40
#define PLOT_COLUMNS 61

static struct {
	struct pendulum plant;
	double worst;			/* rad */
	int64_t jobs, missed, latest_ns;
	bool fallen;
	double *angles;			/* of each job */
} servo;

static double size(double x)
{
	return x < 0 ? -x : x;
}

/* Somebody knocks on it four times a second. */
static void control(int64_t job)
{
	struct pendulum *plant = &servo.plant;

	plant->torque = servo_torque(plant->angle, plant->speed, 0);
	if (job % 250 == 100)
		plant->speed += job % 500 == 100 ? KNOCK : -KNOCK;
}

static void do_job(int64_t job, int64_t release, int64_t now)
{
	static int64_t before;

	if (before && !servo.fallen)
		pendulum_pass(&servo.plant, (double)(now - before) / NS_PER_S);
	before = now;
	servo.fallen |= size(servo.plant.angle) >= PENDULUM_STOP;
	control(job);
	servo.angles[servo.jobs++] = servo.plant.angle;
	if (size(servo.plant.angle) > servo.worst)
		servo.worst = size(servo.plant.angle);
	if (now - release > servo.latest_ns)
		servo.latest_ns = now - release;
}

/* No system call of Linux from rt_enter() to rt_leave(): printf() comes afterwards. */
static void run_rt(int64_t jobs)
{
	struct rt_attr attr = {
		.period_ns = PERIOD_NS, .budget_ns = PERIOD_NS / 4, .priority = 10, .cpu = -1,
	};
	struct rt_job job;

	if (rt_enter(&attr))
		errx(1, "%s", rt_why());
	for (int64_t k = 0; k < jobs; k++) {
		servo.missed += rt_wait(&job) != 0;
		do_job(k, job.release_ns, rt_now());
	}
	rt_leave();
}

static int64_t linux_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void run_linux(int64_t jobs)
{
	struct sched_param highest = { .sched_priority = 99 };
	int64_t next = linux_now();

	if (sched_setscheduler(0, SCHED_FIFO, &highest))
		err(1, "SCHED_FIFO");
	for (int64_t k = 0; k < jobs; k++) {
		struct timespec until;

		next += PERIOD_NS;
		until = (struct timespec){ next / NS_PER_S, next % NS_PER_S };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		servo.missed += linux_now() - next >= PERIOD_NS;
		do_job(k, next, linux_now());
	}
}

/* A line for each part of the time: from the least angle in it to the greatest. */
static void plot(void)
{
	double scale = servo.worst > 0.01 ? servo.worst : 0.01;

	printf("%10s %*s\n", "s", PLOT_COLUMNS, "angle; full width:");
	printf("%10s %*.4f rad\n", "", PLOT_COLUMNS, scale);
	for (int row = 0; row < PLOT_ROWS; row++) {
		int64_t from = servo.jobs * row / PLOT_ROWS;
		int64_t to = servo.jobs * (row + 1) / PLOT_ROWS;
		char line[PLOT_COLUMNS + 1];

		memset(line, ' ', PLOT_COLUMNS);
		line[PLOT_COLUMNS] = '\0';
		line[PLOT_COLUMNS / 2] = '|';
		for (int64_t k = from; k < to; k++) {
			int at = (servo.angles[k] / scale + 1) / 2 * (PLOT_COLUMNS - 1);

			line[at < 0 ? 0 : at >= PLOT_COLUMNS ? PLOT_COLUMNS - 1 : at] = '*';
		}
		printf("%10.3f %s\n", from * 1.0 / JOBS_PER_S, line);
	}
}

static void help(void)
{
	puts("usage: pendulum [--linux] [--json] [--seconds=S]\n"
	     "Keep a simulated pendulum of 5 cm upright, 1000 times a second.\n\n"
	     "  --linux      not in RT mode: SCHED_FIFO 99 and clock_nanosleep()\n"
	     "  --json       one line for programs, no plot\n"
	     "  --seconds=S  how long, up to 60 (default: 5)");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "linux", no_argument, NULL, 'l' }, { "json", no_argument, NULL, 'j' },
		{ "seconds", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' }, { 0 },
	};
	static const char *const for_people[] = { "", ": IT FELL" };
	static const char *const for_programs[] = { "false", "true" };
	bool in_linux = false, json = false;
	double seconds = 5;
	const char *const *end = for_people;
	int64_t jobs;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'l')
			in_linux = true;
		else if (option == 'j')
			json = true;
		else if (option == 's')
			seconds = atof(optarg);
		else if (option == 'h')
			return help(), 0;
		else
			return 2;
	}
	if (optind != argc || !(seconds >= 0.01 && seconds <= 60))
		errx(2, "the time must be 0.01 to 60 s; see --help");
	jobs = seconds * NS_PER_S / PERIOD_NS;
	servo.angles = calloc(jobs, sizeof(*servo.angles));
	if (!servo.angles || mlockall(MCL_CURRENT | MCL_FUTURE))
		err(1, "memory");
	(in_linux ? run_linux : run_rt)(jobs);
	if (json)
		end = for_programs;
	else
		plot();
	printf(json ? "{\"jobs\": %lld, \"missed\": %lld, \"latest_ns\": %lld, "
		      "\"worst_rad\": %.6f, \"fallen\": %s}\n" :
		      "%lld jobs, %lld missed, the latest %lld ns; worst angle %.6f rad%s\n",
	       (long long)servo.jobs, (long long)servo.missed, (long long)servo.latest_ns,
	       servo.worst, end[servo.fallen]);
	return servo.fallen;
}
