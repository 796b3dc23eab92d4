// SPDX-License-Identifier: GPL-2.0-only
/*
 * A 32-bit process with a C library: user_libc ROUNDS. Threads with variables of their own, which a
 * segment in gs finds, work while signals interrupt them: they allocate, calculate in floating point, and
 * wait for one another. The process forks in between. Prints what came of it, the same at each run.
 */
#define _GNU_SOURCE
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 3
#define BLOCKS 16
#define TICK_US 1000

static __thread unsigned int own;		/* the thread's number, in its own storage */
static __thread volatile sig_atomic_t ticks;
static volatile sig_atomic_t all_ticks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t together;
static unsigned long rounds, shared;

static void on_tick(int number)
{
	(void)number;
	ticks++;
	all_ticks++;
}

static unsigned int mixed(unsigned int x)
{
	x ^= x << 13;
	x ^= x >> 17;
	return x ^ x << 5;
}

/* Memory that comes and goes, of sizes that differ; what was written has to be there. */
static unsigned int allocate(unsigned int seed)
{
	unsigned char *blocks[BLOCKS];
	unsigned int sum = 0;

	for (int i = 0; i < BLOCKS; i++) {
		size_t size = 1 + (seed = mixed(seed)) % 5000;

		blocks[i] = malloc(size);
		if (!blocks[i])
			errx(1, "no memory");
		memset(blocks[i], (int)(seed >> 8), size);
		sum += (unsigned int)size + blocks[i][size / 2];
	}
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	return sum;
}

static void *work(void *number)
{
	unsigned int sum = 0;
	double x = 1;

	own = (unsigned int)(uintptr_t)number;
	for (unsigned long k = 0; k < rounds; k++) {
		sum += allocate(own * 1000 + k + 1);
		x = x / 3 + own;
		pthread_mutex_lock(&lock);
		shared++;
		pthread_mutex_unlock(&lock);
		if (own != (unsigned int)(uintptr_t)number)
			errx(1, "thread %u has the storage of %u", (unsigned int)(uintptr_t)number, own);
		pthread_barrier_wait(&together);
	}
	sum += (unsigned int)(x * 1e6);
	return (void *)(uintptr_t)sum;
}

/* A child has the parent's memory and storage, and the parent hears how it ended. */
static int a_child(unsigned int number)
{
	int status;
	pid_t pid;

	own = 100 + number;
	pid = fork();
	if (!pid)
		_exit(own == 100 + number && allocate(number) ? (int)number : 99);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		err(1, "fork");
	return WIFEXITED(status) && WEXITSTATUS(status) == (int)number;
}

int main(int argc, char **argv)
{
	struct itimerval every = { { 0, TICK_US }, { 0, TICK_US } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
	pthread_t threads[THREADS];
	unsigned int children = 0, heard = 0;
	void *sum;

	rounds = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	if (!rounds || sizeof(void *) != 4)
		errx(2, "usage: user_libc ROUNDS");
	pthread_barrier_init(&together, NULL, THREADS);
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(i + 1)))
			errx(1, "no thread");
	for (unsigned long k = 0; k < rounds; k += 10)
		children += a_child(k % 90 + 1);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &sum);
		printf("%u ", (unsigned int)(uintptr_t)sum);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	/* One signal more, which is this thread's for sure. */
	ticks = 0;
	raise(SIGUSR1);
	heard = (unsigned int)ticks;
	printf("shared %lu children %u heard %u timer %s\n", shared, children, heard,
	       all_ticks > 1 ? "right" : "silent");
	return 0;
}
