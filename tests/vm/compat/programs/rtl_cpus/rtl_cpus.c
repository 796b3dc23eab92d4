// SPDX-License-Identifier: GPL-2.0-only
/*
 * RTLinux's calls between two CPUs: two threads, one on each, do each part together and say how often
 * it went wrong. Between the parts they meet at a barrier.
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_mutex.h>
#include <time.h>
#include <pthread.h>
#include <semaphore.h>
#include <mqueue.h>
#include <signal.h>
#include <errno.h>

MODULE_LICENSE("GPL");

#define ROUNDS 200

static pthread_t threads[2];
static pthread_barrier_t meet;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_key_t key;
static sem_t ping, pong;
static mqd_t queue;
static volatile int counter, sums[2], handled;

static int semaphores(int role)
{
	int i, wrong = 0;

	for (i = 0; i < ROUNDS; i++) {
		if (!role) {
			counter = i;
			sem_post(&ping);
			sem_wait(&pong);
			wrong += counter != -i;
		} else {
			sem_wait(&ping);
			wrong += counter != i;
			counter = -i;
			sem_post(&pong);
		}
	}
	return wrong;
}

/* A lost update shows. */
static int mutex(int role)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		int seen;

		pthread_mutex_lock(&lock);
		seen = sums[0];
		rtl_delay(1000);
		sums[0] = seen + 1;
		pthread_mutex_unlock(&lock);
	}
	pthread_barrier_wait(&meet);
	return sums[0] != 2 * ROUNDS;
}

static int spinning(int role)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		int seen;

		pthread_spin_lock(&spin);
		seen = sums[1];
		rtl_delay(1000);
		sums[1] = seen + 1;
		pthread_spin_unlock(&spin);
	}
	pthread_barrier_wait(&meet);
	return sums[1] != 2 * ROUNDS;
}

static int conditions(int role)
{
	int i, wrong = 0;

	for (i = 1; i <= ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		while ((counter != 0) == !role)
			pthread_cond_wait(&cond, &lock);
		if (role)
			wrong += counter != i;
		counter = role ? 0 : i;
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&lock);
	}
	return wrong;
}

static int queues(int role)
{
	int i, value, wrong = 0;

	for (i = 0; i < ROUNDS; i++) {
		value = i;
		if (!role) {
			wrong += mq_send(queue, (char *)&value, sizeof(value), 0) != 0;
		} else {
			wrong += mq_receive(queue, (char *)&value, sizeof(value), NULL) != sizeof(value);
			wrong += value != i;
		}
	}
	return wrong;
}

static void on_signal(int sig)
{
	handled += pthread_self() == threads[1];
}

/* Each signal is answered before the next one. */
static int signals(int role)
{
	rtl_sigset_t none = 0;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		if (!role) {
			pthread_kill(threads[1], RTL_SIGRTMIN);
			sem_wait(&pong);
		} else {
			sigsuspend(&none);
			sem_post(&pong);
		}
	}
	pthread_barrier_wait(&meet);
	return handled != ROUNDS;
}

static int own(int role)
{
	int i, wrong = 0;

	for (i = 0; i < ROUNDS; i++) {
		pthread_setspecific(key, &sums[role]);
		errno = role;
		pthread_barrier_wait(&meet);
		wrong += pthread_getspecific(key) != (void *)&sums[role] || errno != role;
		pthread_barrier_wait(&meet);
	}
	return wrong;
}

static const struct {
	const char *name;
	int (*fn)(int role);
} parts[] = {
	{ "semaphores", semaphores }, { "mutex", mutex }, { "spinning", spinning },
	{ "conditions", conditions }, { "queues", queues }, { "signals", signals }, { "own", own },
};

static void *run(void *role)
{
	rtl_sigset_t all;
	int i;

	/* A signal is kept until its part waits for it. */
	rtl_sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		int wrong;

		pthread_barrier_wait(&meet);
		counter = 0;
		pthread_barrier_wait(&meet);
		wrong = parts[i].fn((long)role);
		rtl_printf("cpus: %s on %d wrong %d\n", parts[i].name, rtl_getcpuid(), wrong);
	}
	return NULL;
}

int init_module(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct mq_attr size = { .mq_maxmsg = 4, .mq_msgsize = sizeof(int) };
	pthread_attr_t attr;
	long i;

	sigaction(RTL_SIGRTMIN, &act, NULL);
	queue = mq_open("/cpus", O_CREAT | O_RDWR, 0, &size);
	pthread_barrier_init(&meet, NULL, 2);
	pthread_spin_init(&spin, 0);
	pthread_key_create(&key, NULL);
	sem_init(&ping, 0, 0);
	sem_init(&pong, 0, 0);
	pthread_attr_init(&attr);
	for (i = 0; i < 2; i++) {
		pthread_attr_setcpu_np(&attr, i);
		pthread_create(&threads[i], &attr, run, (void *)i);
	}
	return 0;
}

void cleanup_module(void)
{
	pthread_delete_np(threads[0]);
	pthread_delete_np(threads[1]);
	sem_destroy(&pong);
	sem_destroy(&ping);
	pthread_key_delete(key);
	pthread_barrier_destroy(&meet);
	mq_close(queue);
	mq_unlink("/cpus");
}
