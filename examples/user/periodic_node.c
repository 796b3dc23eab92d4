// SPDX-License-Identifier: GPL-2.0-only
/*
 * The skeleton of a periodic node, as robots have them: a thread in RT mode does the control, the
 * program's first thread talks to the world. They exchange messages by two mailboxes: commands in,
 * states out. The RT side never waits for the other: a full mailbox is a state less, and counted.
 *
 * A middleware's subscriber calls set_command(), its publisher gets what publish() is called with.
 *
 *	periodic_node [--seconds=S]
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <tactus/rt.h>

#define PERIOD_NS 1000000
#define STATES_PER_S 50
#define ROOM 16

struct command {
	double wanted;			/* m/s */
};

struct state {
	int64_t when;			/* ns of rt_now() */
	double wanted, speed;
	int64_t jobs, lost;
};

static int commands, states;
static volatile sig_atomic_t stop;

/* ---- in RT mode: no system call of Linux, no malloc(), no printf() ---- */

static void on_job(struct state *state)
{
	struct command command;

	while (!rt_mbx_receive_until(commands, &command, 0))
		state->wanted = command.wanted;
	/* Here is your control law. */
	state->speed += (state->wanted - state->speed) * 0.01;
}

static void *control(void *unused)
{
	struct rt_attr attr = {
		.period_ns = PERIOD_NS, .budget_ns = PERIOD_NS / 4, .priority = 10, .cpu = -1,
	};
	struct state state = {};
	struct rt_job job;

	if (rt_enter(&attr))
		errx(1, "%s", rt_why());
	while (!stop) {
		if (rt_wait(&job) == -EPERM)
			break;
		state.when = job.release_ns;
		state.jobs++;
		on_job(&state);
		if (state.jobs % (1000 / STATES_PER_S) == 0)
			state.lost += rt_mbx_send_until(states, &state, 0) != 0;
	}
	rt_leave();
	return unused;
}

/* ---- in Linux: anything ---- */

static void set_command(double wanted)
{
	struct command command = { .wanted = wanted };
	int error = rt_mbx_send_until(commands, &command, 0);

	if (error)
		warnx("a command was lost: %s", strerror(-error));
}

static void publish(const struct state *state)
{
	printf("%lld.%03lld s: wanted %.2f m/s, has %.3f m/s, %lld jobs, %lld states lost\n",
	       (long long)state->when / 1000000000, (long long)state->when / 1000000 % 1000,
	       state->wanted, state->speed, (long long)state->jobs, (long long)state->lost);
}

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

int main(int argc, char **argv)
{
	double seconds = argc == 2 && !strncmp(argv[1], "--seconds=", 10) ? atof(argv[1] + 10) : 5;
	struct state state;
	pthread_t thread;

	if (argc > 2 || !(seconds > 0 && seconds < 1e6))
		errx(2, "usage: periodic_node [--seconds=S]");
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		err(1, "mlockall");
	commands = rt_mbx_open(NULL, sizeof(struct command), ROOM);
	states = rt_mbx_open(NULL, sizeof(struct state), ROOM);
	if (commands < 0 || states < 0)
		errx(1, "%s: is tactus_user loaded, and the user in the group tactus?",
		     strerror(commands < 0 ? -commands : -states));
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	if (pthread_create(&thread, NULL, control, NULL))
		errx(1, "no thread");
	set_command(1);
	for (int tenth = 0; tenth < seconds * 10 && !stop; tenth++) {
		usleep(100000);
		if (tenth % 10 == 5)
			set_command(tenth % 20 == 5 ? -1 : 1);
		while (!rt_mbx_receive_until(states, &state, 0))
			publish(&state);
	}
	stop = 1;
	pthread_join(thread, NULL);
	return 0;
}
