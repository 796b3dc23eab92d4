// SPDX-License-Identifier: LGPL-2.1-or-later WITH Linux-syscall-note
/*
 * See rt.h. Nothing between rt_enter() and rt_leave() makes a system call of Linux, and no
 * function touches errno there: its place may not have been allocated yet.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <x86intrin.h>
#include <tactus/rt.h>

static int device = -1;
static int device_error;
static uint64_t factor;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* This thread's. */
static __thread struct {
	struct rt_enter enter;
	int64_t start;		/* of its releases; 0: it has not entered, or it left */
} self;

static long call3(long number, long a, long b, long c, int64_t *release)
{
	register long rdx __asm__("rdx") = c;
	long ret;

	__asm__ volatile("syscall" : "=a" (ret), "+r" (rdx) : "0" (number), "D" (a), "S" (b)
			 : "rcx", "r11", "memory");
	if (release)
		*release = rdx;
	return ret;
}

/* ---- the device ---- */

static void open_device(void)
{
	struct rt_clock clock;

	device = open("/dev/rt", O_RDWR | O_CLOEXEC);
	if (device < 0 || ioctl(device, RT_IOC_CLOCK, &clock))
		device_error = -errno;
	else
		factor = clock.factor;
}

int rt_init(void)
{
	pthread_once(&once, open_device);
	return device_error;
}

/* A child of fork() has memory of its own, and so needs a descriptor of its own. */
static void after_fork(void)
{
	self.start = 0;
	if (device < 0)
		return;
	close(device);
	device = -1;
	device_error = 0;
	open_device();
}

__attribute__((constructor)) static void prepare(void)
{
	pthread_atfork(NULL, NULL, after_fork);
}

int64_t rt_now(void)
{
	return (unsigned __int128)__rdtsc() * factor >> 32;
}

/* ---- RT mode ---- */

static unsigned int flags_wanted(void)
{
	const char *wish = getenv("TACTUS_DEMOTE");

	if (!wish)
		return 0;
	if (!strcmp(wish, "signal"))
		return RT_DEMOTE_SIGNAL;
	return strcmp(wish, "abort") ? 0 : RT_DEMOTE_ABORT;
}

/* By read(), whose result is this thread's rax when it comes back from RT mode, too. */
static int enter(void)
{
	long ret;

	do	/* its memory changed before the first release */
		ret = call3(0, device, (long)&self.enter, sizeof(self.enter), NULL);
	while (ret == -ENOSYS);
	return ret < 0 ? ret : 0;
}

int rt_enter(const struct rt_attr *attr)
{
	int err = rt_init();

	memset(&self.enter, 0, sizeof(self.enter));
	self.start = 0;
	if (err) {
		strcpy(self.enter.why, err == -EACCES ?
		       "/dev/rt cannot be opened: is the user in the group tactus?" :
		       "/dev/rt cannot be opened: is tactus_user loaded?");
		return err;
	}
	if (!attr) {
		strcpy(self.enter.why, "there are no attributes");
		return -EINVAL;
	}
	self.enter.attr = *attr;
	if (!(attr->flags & (RT_DEMOTE_SIGNAL | RT_DEMOTE_ABORT)))
		self.enter.attr.flags |= flags_wanted();
	err = enter();
	if (!err)
		self.start = self.enter.attr.start_ns;
	return err;
}

const char *rt_why(void)
{
	return self.enter.why;
}

static void tell(struct rt_job *job, int64_t release)
{
	if (!job)
		return;
	job->release_ns = release;
	job->number = (release - self.start) / self.enter.attr.period_ns;
}

int rt_wait(struct rt_job *job)
{
	int64_t release;
	int ret;

	if (!self.start)
		return -EPERM;
	ret = call3(RT_CALL_WAIT, 0, 0, 0, &release);
	if (ret == -ENOSYS) {
		self.enter.attr.start_ns = self.start;
		ret = enter();
		release = self.enter.attr.start_ns;
	}
	if (!ret || ret == -ETIMEDOUT)
		tell(job, release);
	return ret;
}

int rt_sleep_until(int64_t when)
{
	return call3(RT_CALL_SLEEP, when, 0, 0, NULL);
}

int rt_leave(void)
{
	self.start = 0;
	return call3(RT_CALL_LEAVE, 0, 0, 0, NULL);
}

int rt_in_rt(void)
{
	return call3(RT_CALL_PUT, -1, 0, 0, NULL) == -EBADF;
}

int rt_stat(struct rt_stat *stat)
{
	int err = rt_init();

	return err ? err : ioctl(device, RT_IOC_STAT, stat) ? -errno : 0;
}

/* ---- semaphores, mutexes, mailboxes, condition variables, events ---- */

static int open_object(const char *name, struct rt_object *wish)
{
	int err = rt_init(), place;

	if (err)
		return err;
	if (strlen(name ? name : "") >= sizeof(wish->name))
		return -EINVAL;
	strcpy(wish->name, name ? name : "");
	place = ioctl(device, RT_IOC_OBJECT, wish);
	return place < 0 ? -errno : place;
}

/* Of a thread that is in Linux. */
static int by_ioctl(unsigned long command, void *arg)
{
	return ioctl(device, command, arg) ? -errno : 0;
}

int rt_sem_open(const char *name, unsigned int count)
{
	struct rt_object wish = { .kind = RT_OBJECT_SEM, .count = count };

	return open_object(name, &wish);
}

int rt_sem_wait_until(int sem, int64_t until)
{
	return call3(RT_CALL_SEM_WAIT, sem, until, 0, NULL);
}

int rt_sem_post(int sem)
{
	int ret = call3(RT_CALL_SEM_POST, sem, 0, 0, NULL);

	return ret == -ENOSYS ? by_ioctl(RT_IOC_SEM_POST, (void *)(long)sem) : ret;
}

int rt_mtx_open(const char *name)
{
	struct rt_object wish = { .kind = RT_OBJECT_MTX };

	return open_object(name, &wish);
}

int rt_mtx_lock_until(int mtx, int64_t until)
{
	return call3(RT_CALL_MTX_LOCK, mtx, until, 0, NULL);
}

int rt_mtx_unlock(int mtx)
{
	return call3(RT_CALL_MTX_UNLOCK, mtx, 0, 0, NULL);
}

int rt_mbx_open(const char *name, size_t bytes, unsigned int room)
{
	struct rt_object wish = { .kind = RT_OBJECT_MBX, .count = room, .bytes = bytes };

	return bytes > RT_MBX_MOST ? -EINVAL : open_object(name, &wish);
}

int rt_mbx_send_until(int mbx, const void *message, int64_t until)
{
	struct rt_message m = { .object = mbx, .at = (uintptr_t)message };
	int ret = call3(RT_CALL_MBX_SEND, mbx, until, (long)message, NULL);

	return ret == -ENOSYS ? by_ioctl(RT_IOC_MBX_SEND, &m) : ret;
}

int rt_mbx_receive_until(int mbx, void *message, int64_t until)
{
	struct rt_message m = { .object = mbx, .at = (uintptr_t)message };
	int ret = call3(RT_CALL_MBX_RECEIVE, mbx, until, (long)message, NULL);

	return ret == -ENOSYS ? by_ioctl(RT_IOC_MBX_RECEIVE, &m) : ret;
}

int rt_cnd_open(const char *name)
{
	struct rt_object wish = { .kind = RT_OBJECT_CND };

	return open_object(name, &wish);
}

int rt_cnd_wait_until(int cnd, int mtx, int64_t until)
{
	return call3(RT_CALL_CND_WAIT, cnd, until, mtx, NULL);
}

int rt_cnd_signal(int cnd)
{
	return call3(RT_CALL_CND_SIGNAL, cnd, 0, 0, NULL);
}

int rt_cnd_broadcast(int cnd)
{
	return call3(RT_CALL_CND_BROADCAST, cnd, 0, 0, NULL);
}

int rt_evt_open(const char *name, unsigned int flags)
{
	struct rt_object wish = { .kind = RT_OBJECT_EVT, .count = flags };

	return open_object(name, &wish);
}

int rt_evt_wait_until(int evt, unsigned int flags, unsigned int how, unsigned int *got,
		      int64_t until)
{
	int64_t had = 0;
	int ret = call3(RT_CALL_EVT_WAIT, evt, until, flags | (uint64_t)how << 32, &had);

	if (!ret && got)
		*got = had;
	return ret;
}

static int change_flags(long number, unsigned long command, int evt, unsigned int flags)
{
	struct rt_flags f = { .object = evt, .flags = flags };
	int ret = call3(number, evt, flags, 0, NULL);

	return ret == -ENOSYS ? by_ioctl(command, &f) : ret;
}

int rt_evt_set(int evt, unsigned int flags)
{
	return change_flags(RT_CALL_EVT_SET, RT_IOC_EVT_SET, evt, flags);
}

int rt_evt_clear(int evt, unsigned int flags)
{
	return change_flags(RT_CALL_EVT_CLEAR, RT_IOC_EVT_CLEAR, evt, flags);
}

/* ---- FIFOs ---- */

int rt_fifo(int fd)
{
	int err = rt_init(), fifo;

	if (err)
		return err;
	fifo = ioctl(device, RT_IOC_FIFO, fd);
	return fifo < 0 ? -errno : fifo;
}

ssize_t rt_fifo_put(int fifo, const void *bytes, size_t count)
{
	return call3(RT_CALL_PUT, fifo, (long)bytes, count, NULL);
}

ssize_t rt_fifo_get(int fifo, void *bytes, size_t count)
{
	return call3(RT_CALL_GET, fifo, (long)bytes, count, NULL);
}
