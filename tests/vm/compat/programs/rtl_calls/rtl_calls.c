// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the manner of RTLinux 3's examples: queues, barriers, data of threads, cleanup handlers, spin
 * locks, errno, signals with information. Each part says a line, and the test compares them.
 */
#include <linux/module.h>
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_barrier.h>
#include <rtl_spinlock.h>
#include <posix/unistd.h>
#include <time.h>
#include <pthread.h>
#include <semaphore.h>
#include <mqueue.h>
#include <signal.h>
#include <errno.h>

MODULE_LICENSE("GPL");
EXPORT_NO_SYMBOLS;

#define MS 1000000LL
#define SAY(...) rtl_printf("calls: " __VA_ARGS__)

static pthread_t sender, receiver, waiters[2];
static pthread_barrier_t barrier;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_key_t key;
static sem_t empty;
static mqd_t queue;
static timer_t timer;
static int met, turn, got[2], cleaned, value_seen;

static void pause_ms(int ms)
{
	struct timespec time = { 0, ms * MS };

	nanosleep(&time, NULL);
}

static void on_signal(int sig, siginfo_t *info, void *unused)
{
	value_seen = info->si_signo == sig && info->si_code == SI_TIMER ? info->si_value.sival_int
									: -1;
}

static void clean(void *what)
{
	cleaned = cleaned * 10 + (long)what;
}

static void *send(void *unused)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	struct itimerspec soon = { { 0, 0 }, { 0, MS } };
	struct timespec until;
	struct mq_attr attr;
	int error;

	pthread_setspecific(key, "of the sender");
	mq_send(queue, "low", 4, 1);
	mq_send(queue, "high", 5, 9);
	mq_send(queue, "later", 6, 1);
	mq_getattr(queue, &attr);
	SAY("sent, %ld of %ld\n", attr.mq_curmsgs, attr.mq_maxmsg);
	clock_gettime(CLOCK_REALTIME, &until);
	timespec_add_ns(&until, 2 * MS);
	error = mq_timedsend(queue, "none", 5, 1, &until);
	SAY("full %d %d\n", error, errno == ETIMEDOUT);
	error = mq_send(queue, "much too long for it", 21, 1);
	SAY("long %d %d\n", error, errno == EMSGSIZE);
	pthread_wakeup_np(receiver);
	pause_ms(5);
	error = sem_trywait(&empty);
	SAY("semaphore %d %d\n", error, errno == EAGAIN);
	SAY("data %s\n", (char *)pthread_getspecific(key));
	SAY("barrier %d\n", pthread_barrier_wait(&barrier));
	sigaction(RTL_SIGRTMIN, &action, NULL);
	timer_settime(timer, 0, &soon, NULL);
	pause_ms(3);
	SAY("value %d\n", value_seen);
	pthread_spin_lock(&spin);
	SAY("taken %d\n", pthread_spin_trylock(&spin));
	pthread_spin_unlock(&spin);
	/* One signal, one waiter, although a second one comes meanwhile. */
	pthread_mutex_lock(&mutex);
	turn++;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	pause_ms(2);
	SAY("woken %d\n", got[0] + got[1]);
	pthread_mutex_lock(&mutex);
	turn++;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
	pause_ms(2);
	SAY("woken %d\n", got[0] + got[1]);
	pthread_cleanup_push(clean, (void *)1);
	pthread_cleanup_push(clean, (void *)2);
	pthread_cleanup_push(clean, (void *)3);
	pthread_cleanup_pop(1);
	pthread_exit(NULL);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *receive(void *unused)
{
	char text[16];
	unsigned int priority;
	struct timespec until;
	ssize_t bytes;
	int i;

	pthread_suspend_np(pthread_self());
	for (i = 0; i < 3; i++) {
		bytes = mq_receive(queue, text, sizeof(text), &priority);
		SAY("got %s of %ld, priority %u\n", text, (long)bytes, priority);
	}
	clock_gettime(CLOCK_REALTIME, &until);
	timespec_add_ns(&until, MS);
	bytes = mq_timedreceive(queue, text, sizeof(text), NULL, &until);
	SAY("none %ld %d\n", (long)bytes, errno == ETIMEDOUT);
	SAY("data %d\n", pthread_getspecific(key) == NULL);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void *wait_for_turn(void *which)
{
	long me = (long)which;

	pthread_mutex_lock(&mutex);
	while (turn <= me)
		pthread_cond_wait(&cond, &mutex);
	got[me]++;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

int init_module(void)
{
	struct sigevent event = { SIGEV_SIGNAL, RTL_SIGRTMIN, { .sival_int = 4711 } };
	struct mq_attr attr = { .mq_maxmsg = 3, .mq_msgsize = 16 };
	pthread_attr_t thread;
	struct sched_param param;
	long i;

	if (mq_open("/none", O_RDONLY) != -1 || errno != ENOENT)
		return -EINVAL;
	queue = mq_open("/calls", O_CREAT | O_RDWR, 0600, &attr);
	if (queue < 0 || mq_open("/calls", O_RDONLY) != queue)
		return -errno;
	pthread_key_create(&key, NULL);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	pthread_barrier_init(&barrier, NULL, 3);
	sem_init(&empty, 0, 0);
	timer_create(CLOCK_REALTIME, &event, &timer);
	pthread_attr_init(&thread);
	for (i = 0; i < 2; i++) {
		param.sched_priority = 5 + i;
		pthread_attr_setschedparam(&thread, &param);
		pthread_create(&waiters[i], &thread, wait_for_turn, (void *)i);
	}
	pthread_create(&receiver, &thread, receive, NULL);
	param.sched_priority = 3;
	pthread_attr_setschedparam(&thread, &param);
	pthread_create(&sender, &thread, send, NULL);
	met = pthread_barrier_wait(&barrier);
	return 0;
}

void cleanup_module(void)
{
	int i;

	pthread_join(sender, NULL);
	pthread_join(receiver, NULL);
	for (i = 0; i < 2; i++)
		pthread_join(waiters[i], NULL);
	printk("calls: cleaned %d, met %d\n", cleaned, met);
	pthread_barrier_destroy(&barrier);
	pthread_key_delete(key);
	printk("calls: closed %d %d", mq_unlink("/calls"), mq_close(queue));
	printk(KERN_CONT " %d", mq_close(queue));
	printk(KERN_CONT " %d\n", mq_close(queue));
}
