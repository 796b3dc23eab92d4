// SPDX-License-Identifier: GPL-2.0-only
/*
 * What libtactus-posix promises, in the guest: linked with it, or with it preloaded. Runs the
 * cases that it is given the names of, and prints "ok NAME" for each.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL
#define MS 1000000LL
#define LATE_NS 2500	/* in RT mode; Linux needs more than that, idle as it may be */

#define CHECK(holds)								\
	do {									\
		if (!(holds)) {							\
			fprintf(stderr, "line %d: %s\n", __LINE__, #holds);	\
			exit(1);						\
		}								\
	} while (0)

static int64_t now_of(clockid_t clock)
{
	struct timespec now;

	CHECK(!clock_gettime(clock, &now));
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int64_t now(void)
{
	return now_of(CLOCK_MONOTONIC);
}

static int sleep_until(int64_t when)
{
	struct timespec t = { when / NS_PER_S, when % NS_PER_S };

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* How many demotions of this reason there were, of all programs. Not from RT mode. */
static int demotions(const char *reason)
{
	FILE *file = fopen("/sys/kernel/tactus/demotions", "r");
	char line[256], why[32];
	int count = 0;

	/* Without the module there are none. */
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%*s %*s %*s %31s", why) == 1 && !strcmp(why, reason))
			count++;
	fclose(file);
	return count;
}

/* The latest of so many wake-ups, a period apart. */
static int64_t worst(int64_t period, int cycles)
{
	int64_t next = now() + period, worst = 0;

	for (int i = 0; i < cycles; i++, next += period) {
		int64_t late;

		CHECK(!sleep_until(next));
		late = now() - next;
		CHECK(late >= 0);
		worst = late > worst ? late : worst;
	}
	return worst;
}

static void *run_result;

/* Runs @run in a thread of the policy FIFO from its start. */
static void in_thread(void *(*run)(void *arg))
{
	struct sched_param param = { .sched_priority = 80 };
	pthread_attr_t attr;
	pthread_t thread;

	CHECK(!pthread_attr_init(&attr));
	CHECK(!pthread_attr_setschedpolicy(&attr, SCHED_FIFO));
	CHECK(!pthread_attr_setschedparam(&attr, &param));
	CHECK(!pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED));
	CHECK(!pthread_attr_setstacksize(&attr, 64 * 1024));
	CHECK(!pthread_create(&thread, &attr, run, NULL));
	CHECK(!pthread_join(thread, &run_result));
}

/* ---- the cases ---- */

static void *loops(void *unused)
{
	int64_t all = worst(MS, 50);

	/* Off the grid of the first one. */
	all = all > worst(MS / 3, 50) ? all : worst(MS / 3, 50);
	return (void *)all;
}

static void thread(void)
{
	int syscalls = demotions("syscall"), traps = demotions("trap");

	in_thread(loops);
	CHECK((int64_t)run_result < LATE_NS);
	CHECK(demotions("syscall") == syscalls && demotions("trap") == traps);
}

/* A system call demotes, is counted, and the next sleep goes back. */
static void *strays(void *unused)
{
	int64_t next = now() + 2 * MS;

	CHECK(!sleep_until(next));
	CHECK(getppid() > 0);
	CHECK(!sleep_until(next + 2 * MS));
	CHECK(now() - next - 2 * MS < LATE_NS);
	return (void *)worst(MS, 5);
}

static void demoted(void)
{
	int before = demotions("syscall");

	in_thread(strays);
	CHECK((int64_t)run_result < LATE_NS);
	CHECK(demotions("syscall") == before + 1);
}

/* The main thread, by either call; and back to Linux, which is no demotion. */
static void policy(void)
{
	struct sched_param param = { .sched_priority = 50 }, none = { 0 };
	int before = demotions("syscall");

	CHECK(!sched_setscheduler(0, SCHED_RR, &param));
	CHECK(worst(MS, 10) < LATE_NS);
	CHECK(!sched_setscheduler(0, SCHED_OTHER, &none));
	CHECK(!pthread_setschedparam(pthread_self(), SCHED_FIFO, &param));
	CHECK(worst(MS, 10) < LATE_NS);
	CHECK(!pthread_setschedparam(pthread_self(), SCHED_OTHER, &none));
	CHECK(demotions("syscall") == before);
	param.sched_priority = 1000;
	CHECK(sched_setscheduler(0, SCHED_FIFO, &param) == -1 && errno == EINVAL);
}

static void *looks_at_clocks(void *unused)
{
	struct timespec wish = { 0, 3 * MS };
	int64_t before = now(), wall = now_of(CLOCK_REALTIME);
	struct timeval t;

	CHECK(!gettimeofday(&t, NULL));
	CHECK(llabs(t.tv_sec * NS_PER_S + t.tv_usec * 1000 - wall) < MS);
	CHECK(!nanosleep(&wish, NULL) && !usleep(1000));
	CHECK(now() - before >= 4 * MS && now() - before < 4 * MS + 10 * LATE_NS);
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME,
			      &(struct timespec){ 0, NS_PER_S }, NULL) == EINVAL);
	return (void *)now();
}

/* RT mode's clock is Linux's. */
static void clocks(void)
{
	int64_t before = now();

	in_thread(looks_at_clocks);
	CHECK((int64_t)run_result > before + 4 * MS && (int64_t)run_result <= now() + 1000);
}

static volatile int signals;

static void on_signal(int number)
{
	(void)number;
	signals++;
}

static pthread_t sleeper;

static void *sleeps_long(void *unused)
{
	int64_t until;

	sleeper = pthread_self();
	until = now() + 10 * NS_PER_S;
	CHECK(sleep_until(until) == EINTR && signals == 1);
	return (void *)worst(MS, 5);
}

static void *sends_signal(void *unused)
{
	usleep(5000);
	pthread_kill(sleeper, SIGUSR1);
	return NULL;
}

static void interrupted(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t sender;

	CHECK(!sigaction(SIGUSR1, &action, NULL));
	CHECK(!pthread_create(&sender, NULL, sends_signal, NULL));
	in_thread(sleeps_long);
	CHECK((int64_t)run_result < LATE_NS);
	CHECK(!pthread_join(sender, NULL));
}

static sem_t orders, answers;
static int served;

static void *serves(void *unused)
{
	struct timespec soon = { 0 };
	int64_t end;

	for (int i = 0; i < 20; i++) {
		CHECK(!sem_wait(&orders));
		served++;
		/* The other one waits by then. */
		CHECK(!usleep(1000));
		CHECK(!sem_post(&answers));
	}
	end = now_of(CLOCK_REALTIME) + 2 * MS;
	soon.tv_sec = end / NS_PER_S;
	soon.tv_nsec = end % NS_PER_S;
	CHECK(sem_timedwait(&orders, &soon) == -1 && errno == ETIMEDOUT);
	CHECK(now_of(CLOCK_REALTIME) - end < LATE_NS);
	CHECK(sem_trywait(&orders) == -1 && errno == EAGAIN);
	return NULL;
}

static void *asks(void *unused)
{
	for (int i = 0; i < 20; i++) {
		CHECK(!sem_post(&orders));
		CHECK(!sem_wait(&answers));
		CHECK(served == i + 1);
	}
	return NULL;
}

/* Between a thread in RT mode and one of Linux's, which demotes nobody. */
static void semaphores(void)
{
	int before = demotions("syscall"), value;
	pthread_t other;

	CHECK(!sem_init(&orders, 0, 0) && !sem_init(&answers, 0, 0));
	CHECK(!pthread_create(&other, NULL, asks, NULL));
	in_thread(serves);
	CHECK(!pthread_join(other, NULL));
	CHECK(served == 20 && demotions("syscall") == before);
	CHECK(!sem_getvalue(&answers, &value) && !value);
	CHECK(!sem_destroy(&orders) && !sem_destroy(&answers));
}

/* ---- message queues, and semaphores with a name ---- */

#define BYTES 16

static const struct mq_attr small = { .mq_maxmsg = 4, .mq_msgsize = BYTES };

static mqd_t queue_new(const char *name)
{
	mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &small);

	CHECK(queue >= 0);
	return queue;
}

static struct timespec in_ms(int ms)
{
	int64_t when = now_of(CLOCK_REALTIME) + ms * MS;

	return (struct timespec){ when / NS_PER_S, when % NS_PER_S };
}

static mqd_t jobs, results;
static volatile bool emptied;

static void receives(mqd_t queue, const char *text, unsigned int priority)
{
	char got[BYTES];
	unsigned int of_it;

	CHECK(mq_receive(queue, got, sizeof(got), &of_it) == (ssize_t)strlen(text) + 1);
	CHECK(!strcmp(got, text) && of_it == priority);
}

static void *serves_queue(void *unused)
{
	struct timespec soon;
	char text[BYTES];

	/* The most urgent first, of these the oldest. */
	receives(jobs, "c", 32767);
	receives(jobs, "b", 5);
	receives(jobs, "d", 5);
	receives(jobs, "a", 0);
	soon = in_ms(2);
	CHECK(mq_timedreceive(jobs, text, BYTES, NULL, &soon) == -1 && errno == ETIMEDOUT);
	CHECK(now_of(CLOCK_REALTIME) - soon.tv_sec * NS_PER_S - soon.tv_nsec < LATE_NS);
	emptied = true;
	for (int i = 0; i < 20; i++) {
		CHECK(mq_receive(jobs, text, BYTES, NULL) == 3);
		text[0]++;
		/* The other one waits by then. */
		CHECK(!usleep(1000));
		CHECK(!mq_send(results, text, 3, i));
	}
	/* The last result is fetched by then. */
	CHECK(!usleep(20000));
	for (int i = 0; i < 4; i++)
		CHECK(!mq_send(results, "x", 2, 0));
	soon = in_ms(2);
	CHECK(mq_timedsend(results, "x", 2, 0, &soon) == -1 && errno == ETIMEDOUT);
	return NULL;
}

static void *asks_queue(void *unused)
{
	char text[BYTES] = "ab";

	while (!emptied)
		usleep(1000);
	for (int i = 0; i < 20; i++) {
		text[0] = 'A' + i;
		CHECK(!mq_send(jobs, text, 3, 0));
		text[0]++;
		receives(results, text, i);
	}
	return NULL;
}

/* Between a thread in RT mode and one of Linux's, which demotes nobody. */
static void queues(void)
{
	int before = demotions("syscall");
	struct mq_attr attr;
	pthread_t other;

	jobs = queue_new("/jobs");
	results = queue_new("/results");
	CHECK(!mq_send(jobs, "a", 2, 0) && !mq_send(jobs, "b", 2, 5));
	CHECK(!mq_send(jobs, "c", 2, 32767) && !mq_send(jobs, "d", 2, 5));
	CHECK(!mq_getattr(jobs, &attr) && attr.mq_curmsgs == 4 && attr.mq_maxmsg == 4);
	CHECK(attr.mq_msgsize == BYTES && !attr.mq_flags);
	CHECK(!pthread_create(&other, NULL, asks_queue, NULL));
	in_thread(serves_queue);
	CHECK(!pthread_join(other, NULL));
	CHECK(demotions("syscall") == before);
	CHECK(!mq_close(jobs) && !mq_close(results));
	CHECK(!mq_unlink("/jobs") && !mq_unlink("/results"));
}

static void queue_errors(void)
{
	struct timespec soon = in_ms(3), never = { 0, -1 };
	struct mq_attr attr = { .mq_flags = O_NONBLOCK }, old;
	mqd_t queue = queue_new("/q"), reader, other;
	char text[2 * BYTES] = "", most[251] = "/";

	memset(most + 1, 'x', sizeof(most) - 2);
	CHECK(mq_open("/q", O_RDWR | O_CREAT | O_EXCL, 0600, &small) == -1 && errno == EEXIST);
	CHECK(mq_open("/none", O_RDWR) == -1 && errno == ENOENT);
	CHECK(mq_open("q", O_RDWR) == -1 && errno == EINVAL);
	CHECK(mq_open("/a/q", O_RDWR) == -1 && errno == EACCES);
	CHECK(mq_open("/", O_RDWR) == -1 && errno == ENOENT);
	CHECK(mq_open(most, O_RDWR) == -1 && errno == ENAMETOOLONG);
	CHECK(mq_open("/bad", O_RDWR | O_CREAT, 0600, &attr) == -1 && errno == EINVAL);
	CHECK(mq_send(queue, text, BYTES + 1, 0) == -1 && errno == EMSGSIZE);
	CHECK(mq_send(queue, text, 1, 32768) == -1 && errno == EINVAL);
	CHECK(mq_receive(queue, text, BYTES - 1, NULL) == -1 && errno == EMSGSIZE);
	CHECK(mq_timedreceive(queue, text, BYTES, NULL, &never) == -1 && errno == EINVAL);
	CHECK(mq_timedreceive(queue, text, BYTES, NULL, &soon) == -1 && errno == ETIMEDOUT);
	/* The same queue by another descriptor, which only reads, and does not wait. */
	reader = mq_open("/q", O_RDONLY);
	CHECK(reader >= 0 && reader != queue && !mq_setattr(reader, &attr, &old) && !old.mq_flags);
	CHECK(mq_receive(reader, text, BYTES, NULL) == -1 && errno == EAGAIN);
	CHECK(mq_send(reader, text, 1, 0) == -1 && errno == EBADF);
	CHECK(!mq_send(queue, "mine", 5, 7));
	receives(reader, "mine", 7);
	CHECK(!mq_setattr(queue, &attr, NULL) && !mq_getattr(queue, &old));
	CHECK(old.mq_flags == O_NONBLOCK);
	for (int i = 0; i < 4; i++)
		CHECK(!mq_send(queue, text, 0, 0));
	CHECK(mq_send(queue, text, 0, 0) == -1 && errno == EAGAIN);
	CHECK(mq_notify(queue, NULL) == -1 && errno == ENOSYS);
	/* What has no name any more goes on, and the name is free. */
	CHECK(!mq_unlink("/q") && mq_unlink("/q") == -1 && errno == ENOENT);
	other = queue_new("/q");
	CHECK(mq_receive(reader, text, BYTES, NULL) == 0);
	CHECK(!mq_getattr(other, &old) && !old.mq_curmsgs && !mq_unlink("/q"));
	CHECK(!mq_close(reader) && !mq_close(queue) && !mq_close(other));
	CHECK(mq_close(queue) == -1 && errno == EBADF);
	CHECK(mq_receive(queue, text, BYTES, NULL) == -1 && errno == EBADF);
}

#define SENDERS 3
#define EACH 60

static void *sends_many(void *number)
{
	for (int i = 0; i < EACH; i++) {
		int message[2] = { (intptr_t)number, i };

		CHECK(!mq_send(jobs, (char *)message, sizeof(message), i % 3));
	}
	return NULL;
}

/* Of each sender, what has one priority comes in its order; and all of it. */
static void *receives_many(void *unused)
{
	int last[SENDERS][3], message[BYTES / sizeof(int)];
	unsigned int priority;

	memset(last, -1, sizeof(last));
	for (int i = 0; i < SENDERS * EACH; i++) {
		CHECK(mq_receive(jobs, (char *)message, BYTES, &priority) == 2 * sizeof(int));
		CHECK(priority == (unsigned int)message[1] % 3);
		CHECK(message[1] > last[message[0]][priority]);
		last[message[0]][priority] = message[1];
		/* There is more than one again. */
		if (i % 5 == 0)
			usleep(300);
	}
	for (int i = 0; i < SENDERS; i++)
		CHECK(last[i][(EACH - 1) % 3] == EACH - 1);
	return NULL;
}

static void queue_crowd(void)
{
	pthread_t sender[SENDERS];

	jobs = queue_new("/crowd");
	for (intptr_t i = 0; i < SENDERS; i++)
		CHECK(!pthread_create(&sender[i], NULL, sends_many, (void *)i));
	in_thread(receives_many);
	for (int i = 0; i < SENDERS; i++)
		CHECK(!pthread_join(sender[i], NULL));
	CHECK(!mq_close(jobs) && !mq_unlink("/crowd"));
}

static void named(void)
{
	sem_t *sem = sem_open("/named", O_CREAT | O_EXCL, 0600, 2), *fresh;
	char most[300] = "/";
	int value;

	memset(most + 1, 'x', sizeof(most) - 2);
	CHECK(sem != SEM_FAILED && sem_open("/named", 0) == sem);
	CHECK(sem_open("named", O_CREAT, 0600, 9) == sem && !sem_getvalue(sem, &value) && value == 2);
	CHECK(sem_open("/named", O_CREAT | O_EXCL, 0600, 2) == SEM_FAILED && errno == EEXIST);
	CHECK(sem_open("/none", 0) == SEM_FAILED && errno == ENOENT);
	CHECK(sem_open("/x", O_CREAT, 0600, 1U << 31) == SEM_FAILED && errno == EINVAL);
	CHECK(sem_open("/", O_CREAT, 0600, 1) == SEM_FAILED && errno == EINVAL);
	CHECK(sem_open(most, O_CREAT, 0600, 1) == SEM_FAILED && errno == ENAMETOOLONG);
	CHECK(!sem_wait(sem) && !sem_trywait(sem) && sem_trywait(sem) == -1 && errno == EAGAIN);
	CHECK(!sem_unlink("/named") && sem_unlink("/named") == -1 && errno == ENOENT);
	fresh = sem_open("/named", O_CREAT | O_EXCL, 0600, 1);
	CHECK(fresh != SEM_FAILED && fresh != sem && !sem_post(sem));
	CHECK(!sem_getvalue(fresh, &value) && value == 1 && !sem_unlink("/named"));
	for (int i = 0; i < 3; i++)
		CHECK(!sem_close(sem));
	CHECK(!sem_close(fresh) && sem_close(fresh) == -1 && errno == EINVAL);
}

static sem_t *reply;
static int64_t slowest;

static void *child_serves(void *unused)
{
	char text[BYTES];

	for (int i = 0; i < 20; i++) {
		CHECK(mq_receive(jobs, text, BYTES, NULL) == 1 && text[0] == i);
		CHECK(!sem_post(reply));
	}
	return NULL;
}

static void *parent_asks(void *unused)
{
	int64_t next = now() + 100 * MS;

	for (int i = 0; i < 20; i++, next += MS) {
		char text = i;
		int64_t took;

		CHECK(!sleep_until(next));
		took = now();
		CHECK(!mq_send(jobs, &text, 1, 0));
		CHECK(!sem_wait(reply));
		took = now() - took;
		slowest = took > slowest ? took : slowest;
	}
	return NULL;
}

/* Two processes in RT mode: a queue that the child has by fork(), a semaphore that it opens. */
static void between(void)
{
	int before = demotions("syscall"), status;
	pid_t child;

	jobs = queue_new("/between");
	reply = sem_open("/reply", O_CREAT | O_EXCL, 0600, 0);
	CHECK(reply != SEM_FAILED);
	child = fork();
	if (!child) {
		CHECK(!sem_close(reply));
		reply = sem_open("/reply", 0);
		CHECK(reply != SEM_FAILED);
		in_thread(child_serves);
		_exit(0);
	}
	in_thread(parent_asks);
	CHECK(waitpid(child, &status, 0) == child && !status);
	CHECK(slowest < 5 * LATE_NS && demotions("syscall") == before);
	CHECK(!mq_close(jobs) && !mq_unlink("/between"));
	CHECK(!sem_close(reply) && !sem_unlink("/reply"));
}

/* What does not concern RT mode is the C library's. */
static void ordinary(void)
{
	struct timespec wish = { 0, MS }, never = { 0, -1 };
	int64_t before = now();
	sem_t shared, *named;
	mqd_t queue;

	CHECK(!nanosleep(&wish, NULL) && now() - before >= MS);
	CHECK(nanosleep(&never, NULL) == -1 && errno == EINVAL);
	CHECK(!sem_init(&shared, 1, 1) && !sem_wait(&shared));
	CHECK(sem_trywait(&shared) == -1 && errno == EAGAIN && !sem_destroy(&shared));
	CHECK(now_of(CLOCK_PROCESS_CPUTIME_ID) > 0);
	named = sem_open("/ordinary", O_CREAT, 0600, 1);
	CHECK(named != SEM_FAILED && !sem_wait(named) && !sem_close(named));
	CHECK(!sem_unlink("/ordinary"));
	queue = queue_new("/ordinary");
	CHECK(!mq_send(queue, "hello", 6, 1));
	receives(queue, "hello", 1);
	CHECK(!mq_close(queue) && !mq_unlink("/ordinary"));
}

/* Made by the C library itself: so they are its own here, too. */
static void of_others(void)
{
	struct mq_attr attr;
	mqd_t queue;
	sem_t *sem;

	if (!fork()) {
		unsetenv("LD_PRELOAD");
		execl("./check", "./check", "makes", NULL);
	}
	CHECK(wait(NULL) > 0);
	sem = sem_open("/others", O_CREAT, 0600, 1);
	queue = mq_open("/others", O_RDWR | O_CREAT, 0600, NULL);
	CHECK(sem != SEM_FAILED && queue >= 0 && !mq_getattr(queue, &attr));
	CHECK(attr.mq_maxmsg == 4 && !sem_trywait(sem) && !sem_trywait(sem));
	CHECK(sem_trywait(sem) == -1 && errno == EAGAIN);
	CHECK(sem_open("/others", O_CREAT | O_EXCL, 0600, 1) == SEM_FAILED && errno == EEXIST);
	CHECK(mq_open("/others", O_RDWR | O_CREAT | O_EXCL, 0600, NULL) == -1 && errno == EEXIST);
	CHECK(!mq_send(queue, "theirs", 7, 3));
	receives(queue, "theirs", 3);
	CHECK(!sem_close(sem) && !mq_close(queue));
	CHECK(!sem_unlink("/others") && !mq_unlink("/others"));
}

static void makes(void)
{
	CHECK(sem_open("/others", O_CREAT | O_EXCL, 0600, 2) != SEM_FAILED);
	CHECK(queue_new("/others") >= 0);
	_exit(0);
}

/* More than RT mode has: the others are the C library's, and there are none with a name. */
static void many(void)
{
	sem_t sem[80];

	for (int i = 0; i < 80; i++)
		CHECK(!sem_init(&sem[i], 0, 1) && !sem_wait(&sem[i]));
	CHECK(sem_open("/many", O_CREAT, 0600, 1) == SEM_FAILED && errno == EMFILE);
	CHECK(mq_open("/many", O_RDWR | O_CREAT, 0600, NULL) == -1 && errno == EMFILE);
	CHECK(sem_unlink("/many") == -1 && errno == ENOENT);
	CHECK(mq_unlink("/many") == -1 && errno == ENOENT);
	for (int i = 0; i < 80; i++)
		CHECK(!sem_destroy(&sem[i]));
}

/* Who may not run without a budget has half of each millisecond, and no more. */
static void *hogs(void *unused)
{
	int64_t worst_of_all = worst(MS, 20), end;

	signals = 0;
	end = now() + 3 * MS;
	while (!signals && now() < end)
		;
	return (void *)(intptr_t)(signals == 1 && worst_of_all < LATE_NS);
}

static void little(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2];
	struct sigaction action = { .sa_handler = on_signal };
	int before = demotions("stopped");

	CHECK(!syscall(SYS_capget, &header, caps));
	caps[0].effective &= ~(1U << CAP_SYS_ADMIN);
	CHECK(!syscall(SYS_capset, &header, caps));
	CHECK(!sigaction(SIGXCPU, &action, NULL));
	in_thread(hogs);
	CHECK(run_result && demotions("stopped") == before + 1);
	caps[0].effective |= 1U << CAP_SYS_ADMIN;
	CHECK(!syscall(SYS_capset, &header, caps));
}

#define CASES(do)								\
	do(thread) do(demoted) do(policy) do(clocks) do(interrupted) do(semaphores)	\
	do(queues) do(queue_errors) do(queue_crowd) do(named) do(between) do(ordinary) do(of_others) do(many)

#define TABLE(name) { #name, name },
static const struct {
	const char *name;
	void (*run)(void);
} cases[] = { CASES(TABLE) TABLE(little) TABLE(makes) };

int main(int argc, char **argv)
{
	CHECK(!mlockall(MCL_CURRENT | MCL_FUTURE));
	for (int i = 1; i < argc; i++)
		for (size_t n = 0; n < sizeof(cases) / sizeof(*cases); n++)
			if (!strcmp(argv[i], cases[n].name)) {
				cases[n].run();
				printf("ok %s\n", argv[i]);
				fflush(stdout);
			}
	return 0;
}
