// SPDX-License-Identifier: LGPL-2.1-or-later WITH Linux-syscall-note
/*
 * Semaphores of POSIX: a counter, on which threads in RT mode wait by a semaphore of RT mode (its
 * channel), and threads of Linux's by a futex. One with a name is memory that processes share.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "posix.h"

#define LOOK_NS 2000000		/* how often a thread of Linux's looks at a semaphore */

/* ---- channels ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Semaphores of RT mode that wake waiters, in the order in which they were made. None ever goes: so
 * those without a name are used again.
 * @place: its number; negative: this process could not have it
 */
static struct {
	int place;
	char name[CHANNEL_BYTES];
} channels[RT_OBJECTS_MOST];
static int channels_count, spare[RT_OBJECTS_MOST], spares;

static int place_of(int channel)
{
	return channels[channel].place;
}

/* lock held. */
static int find_channel(const char *name)
{
	int place;

	if (!*name && spares)
		return spare[--spares];
	for (int i = 0; *name && i < channels_count; i++)
		if (!strcmp(channels[i].name, name))
			return i;
	if (channels_count == RT_OBJECTS_MOST)
		return -EMFILE;
	place = rt_sem_open(name, 0);
	if (place < 0)
		return place;
	channels[channels_count].place = place;
	strcpy(channels[channels_count].name, name);
	return channels_count++;
}

/* The channel of that name, or one of this process's own. Its number, or -errno. */
static int channel_take(const char *name)
{
	int channel;

	pthread_mutex_lock(&lock);
	channel = find_channel(name);
	pthread_mutex_unlock(&lock);
	return channel;
}

static void channel_give(int channel)
{
	pthread_mutex_lock(&lock);
	if (!*channels[channel].name)
		spare[spares++] = channel;
	pthread_mutex_unlock(&lock);
}

void channels_renew(void)
{
	/* The thread that had it is not in the child. */
	pthread_mutex_init(&lock, NULL);
	for (int i = 0; i < channels_count; i++)
		channels[i].place = rt_sem_open(channels[i].name, 0);
}

/* ---- semaphores ---- */

static uint64_t magic_of(const void *sem)
{
	return 0x7461637475737365 ^ (uintptr_t)sem;
}

int fast_init(struct fast_sem *f, struct count *count, const char *name)
{
	int channel = channel_take(name);

	if (channel < 0)
		return channel;
	memset(f, 0, sizeof(*f));
	f->count = count;
	f->channel = channel;
	f->magic = magic_of(f);
	return 0;
}

static struct fast_sem *fast(sem_t *sem)
{
	struct fast_sem *f = (struct fast_sem *)sem;

	return f->magic == magic_of(f) ? f : NULL;
}

EXPORT int sem_init(sem_t *sem, int shared, unsigned int value)
{
	struct fast_sem *f = (struct fast_sem *)sem;

	/* The C library's is right, too, but waiting for it demotes. */
	if (shared || value > SEM_VALUE_MAX || fast_init(f, &f->own, "")) {
		f->magic = 0;
		return LINUX(sem_init)(sem, shared, value);
	}
	f->own = (struct count){ .value = value };
	return 0;
}

EXPORT int sem_destroy(sem_t *sem)
{
	struct fast_sem *f = fast(sem);

	if (!f)
		return LINUX(sem_destroy)(sem);
	/* By a name: sem_close() does that. */
	if (f->count != &f->own)
		return fail(EINVAL);
	channel_give(f->channel);
	f->magic = 0;
	return 0;
}

EXPORT int sem_getvalue(sem_t *sem, int *value)
{
	struct fast_sem *f = fast(sem);

	if (!f)
		return LINUX(sem_getvalue)(sem, value);
	*value = f->count->value;
	return 0;
}

bool fast_take(struct fast_sem *f)
{
	uint32_t value = f->count->value;

	while (value)
		if (atomic_compare_exchange_weak(&f->count->value, &value, value - 1))
			return true;
	return false;
}

EXPORT int sem_trywait(sem_t *sem)
{
	struct fast_sem *f = fast(sem);

	if (!f)
		return LINUX(sem_trywait)(sem);
	return fast_take(f) ? 0 : fail(EAGAIN);
}

static int futex(struct fast_sem *f, int what, uint32_t value, const struct timespec *most)
{
	if (f->count == &f->own)
		what |= FUTEX_PRIVATE_FLAG;
	return syscall(SYS_futex, &f->count->value, what, value, most);
}

int fast_post(struct fast_sem *f)
{
	struct count *c = f->count;
	uint32_t value = c->value;

	do {
		if (value >= SEM_VALUE_MAX)
			return -EOVERFLOW;
	} while (!atomic_compare_exchange_weak(&c->value, &value, value + 1));
	if (c->in_rt)
		rt_sem_post(place_of(f->channel));
	/* From RT mode that would be a demotion: the thread of Linux's looks for itself. */
	else if (c->in_linux && !is_wanted())
		futex(f, FUTEX_WAKE, 1, NULL);
	return 0;
}

EXPORT int sem_post(sem_t *sem)
{
	struct fast_sem *f = fast(sem);
	int err = f ? fast_post(f) : 0;

	return !f ? LINUX(sem_post)(sem) : err ? fail(-err) : 0;
}

/* In Linux, until @when of rt_now(). 0 or -errno. */
static int wait_in_linux(struct fast_sem *f, int64_t when)
{
	int err = 0;

	f->count->in_linux++;
	while (!fast_take(f) && !err) {
		int64_t left = when - rt_now();
		struct timespec look = timespec_of(left < LOOK_NS ? left : LOOK_NS);

		pthread_testcancel();
		if (left <= 0)
			err = -ETIMEDOUT;
		else if (futex(f, FUTEX_WAIT, 0, &look) && errno == EINTR)
			err = -EINTR;
	}
	f->count->in_linux--;
	return err;
}

static int wait_in_rt(struct fast_sem *f, int64_t when)
{
	int err = is_wanted() ? 0 : enter(rt_now());

	f->count->in_rt++;
	while (!err && !fast_take(f)) {
		err = rt_sem_wait_until(place_of(f->channel), when);
		if (err == -ENOSYS)
			err = enter(rt_now());
	}
	f->count->in_rt--;
	/* It may have come with the end. */
	return err == -ETIMEDOUT && fast_take(f) ? 0 : err;
}

int fast_wait(struct fast_sem *f, int64_t when)
{
	int err = 0;

	pthread_testcancel();
	if (fast_take(f))
		return 0;
	err = adopt_late() ? wait_in_rt(f, when) : -EAGAIN;
	if (err && err != -ETIMEDOUT && err != -EINTR)
		err = wait_in_linux(f, when);
	return err;
}

static int wait_until(struct fast_sem *f, int64_t when)
{
	int err = fast_wait(f, when);

	return err ? fail(-err) : 0;
}

EXPORT int sem_wait(sem_t *sem)
{
	struct fast_sem *f = fast(sem);

	return f ? wait_until(f, RT_NO_DEADLINE) : LINUX(sem_wait)(sem);
}

EXPORT int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *until)
{
	struct fast_sem *f = fast(sem);

	if (!f)
		return LINUX(sem_clockwait)(sem, clock, until);
	if (fast_take(f))
		return 0;
	if (!is_time(until) || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME))
		return fail(EINVAL);
	return wait_until(f, moment_of(clock, until));
}

EXPORT int sem_timedwait(sem_t *sem, const struct timespec *until)
{
	struct fast_sem *f = fast(sem);

	return f ? sem_clockwait(sem, CLOCK_REALTIME, until) : LINUX(sem_timedwait)(sem, until);
}

/* ---- semaphores with a name ---- */

#define SHARED_MAGIC 0x31746e756f637874ULL

struct shared {
	uint64_t magic;
	struct count count;
};

/* One for each that this process has; the same for all who open it here. */
struct named {
	sem_t sem;
	struct named *next;
	struct shared *shared;
	dev_t dev;
	ino_t ino;
	unsigned int users;
};

static struct named *all_named;
static pthread_mutex_t named_lock = PTHREAD_MUTEX_INITIALIZER;

/* Of the memory behind @fd. named_lock held. 0 or -errno. */
static int adopt_named(int fd, struct named **found)
{
	char channel[CHANNEL_BYTES];
	struct shared *shared;
	struct named *n;
	struct stat stat;
	int err;

	shared = named_map(fd, sizeof(*shared), &stat);
	if (!shared)
		return -EINVAL;
	for (n = all_named; n; n = n->next)
		if (n->dev == stat.st_dev && n->ino == stat.st_ino)
			break;
	if (n) {
		munmap(shared, sizeof(*shared));
		n->users++;
		*found = n;
		return 0;
	}
	n = calloc(1, sizeof(*n));
	named_channel(channel, &stat, 's');
	err = !n ? -ENOMEM : shared->magic != SHARED_MAGIC ? -EINVAL :
	      fast_init((struct fast_sem *)&n->sem, &shared->count, channel);
	if (err) {
		munmap(shared, sizeof(*shared));
		free(n);
		return err;
	}
	n->shared = shared;
	n->dev = stat.st_dev;
	n->ino = stat.st_ino;
	n->users = 1;
	n->next = all_named;
	all_named = n;
	*found = n;
	return 0;
}

/* The arguments of sem_open(), and the C library's semaphore with that name, or SEM_FAILED. */
struct opening {
	const char *name, *bare;
	int how;
	mode_t mode;
	unsigned int value;
	sem_t *theirs;
};

static bool is_theirs(void *arg)
{
	struct opening *o = arg;

	o->theirs = LINUX(sem_open)(o->name, 0);
	return o->theirs != SEM_FAILED;
}

static int make_named(void *arg)
{
	const struct opening *o = arg;
	struct shared start = { .magic = SHARED_MAGIC, .count.value = o->value };

	return named_make("sem", o->bare, o->mode, &start, sizeof(start), sizeof(start));
}

static sem_t *open_named(struct opening *o)
{
	static const struct named_way way = { "sem", is_theirs, make_named };
	struct named *n = NULL;
	bool made = false;
	int fd, err;

	fd = named_open(&way, o->bare, o->how, o, &made);
	if (o->theirs != SEM_FAILED && !is_anew(o->how))
		return o->theirs;
	if (o->theirs != SEM_FAILED)
		LINUX(sem_close)(o->theirs);
	err = fd < 0 ? fd : adopt_named(fd, &n);
	if (fd >= 0)
		close(fd);
	if (!err)
		return &n->sem;
	if (made)
		named_unlink("sem", o->bare);
	errno = -err;
	return SEM_FAILED;
}

EXPORT sem_t *sem_open(const char *name, int how, ...)
{
	struct opening o = { .name = name, .how = how, .theirs = SEM_FAILED };
	sem_t *sem;
	va_list rest;

	va_start(rest, how);
	if (how & O_CREAT) {
		o.mode = va_arg(rest, mode_t);
		o.value = va_arg(rest, unsigned int);
	}
	va_end(rest);
	if (rt_init())
		return LINUX(sem_open)(name, how, o.mode, o.value);
	o.bare = named_check(name, false);
	if (!o.bare)
		return SEM_FAILED;
	if (o.value > SEM_VALUE_MAX) {
		errno = EINVAL;
		return SEM_FAILED;
	}
	pthread_mutex_lock(&named_lock);
	sem = open_named(&o);
	pthread_mutex_unlock(&named_lock);
	return sem;
}

EXPORT int sem_close(sem_t *sem)
{
	struct named *n = NULL;

	pthread_mutex_lock(&named_lock);
	for (struct named **at = &all_named; *at; at = &(*at)->next) {
		if (&(*at)->sem != sem)
			continue;
		n = *at;
		if (!--n->users) {
			*at = n->next;
			munmap(n->shared, sizeof(*n->shared));
			free(n);
		}
		break;
	}
	pthread_mutex_unlock(&named_lock);
	return n ? 0 : LINUX(sem_close)(sem);
}

EXPORT int sem_unlink(const char *name)
{
	const char *bare = named_check(name, false);
	int err = bare ? named_unlink("sem", bare) : -errno;

	if (err == -ENOENT)
		return LINUX(sem_unlink)(name);
	return err ? fail(-err) : 0;
}
