/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What fewer programs for RTLinux 3 use; included by rtl_compat.h only. The functions are in
 * skins/rtl/more.c, queues in skins/rtl/mqueue.c.
 */
#ifndef _RTL_MORE_H
#define _RTL_MORE_H

#ifndef _RTL_COMPAT_H
#error "include rtl_compat.h"
#endif

#ifndef EXPORT_NO_SYMBOLS
#define EXPORT_NO_SYMBOLS
#endif
#define smp_num_cpus num_online_cpus()
#define RTL_PTHREAD_STACK_MIN 8192
#define useconds_t unsigned int

#define RTL_PRIO(thread) (rtl_priority(thread))
#define pthread_linux() ((pthread_t)NULL)
#define pthread_attr_setfp(attr, flag) pthread_attr_setfp_np(attr, flag)
#define pthread_attr_getfp(attr, flag) pthread_attr_getfp_np(attr, flag)
#define pthread_attr_setcpu(attr, n) pthread_attr_setcpu_np(attr, n)
#define pthread_attr_getcpu(attr, n) pthread_attr_getcpu_np(attr, n)
#define pthread_attr_setreserve_np(attr, flag) ((void)(attr), 0)

static inline int pthread_attr_getfp_np(const pthread_attr_t *attr, int *flag)
{
	*flag = attr->fp;
	return 0;
}

static inline int pthread_attr_getdetachstate(const pthread_attr_t *attr, int *state)
{
	*state = attr->detached;
	return 0;
}

/**
 * rtl_schedule - let whoever is more urgent run
 *
 * Whoever becomes ready does so by itself. A thread that has marked itself suspended is so from
 * here on; pending signals are delivered. Nothing happens in what is no thread.
 *
 * Context: any but an NMI.
 * Return: 0, a positive errno of the suspension.
 */
int rtl_schedule(void);
void rtl_mark(pthread_t thread, int suspended);
#define RTL_MARK_SUSPENDED(thread) rtl_mark(thread, 1)	/* oneself: at the next rtl_schedule() */
#define RTL_MARK_READY(thread) rtl_mark(thread, 0)

static inline int rtl_cpu_exists(int cpu)
{
	return cpu >= 0 && cpu < nr_cpu_ids && cpu_online(cpu);
}

/* An RT interrupt stays where it is. */
static inline int rtl_irq_set_affinity(unsigned int irq, const unsigned long *mask,
				       unsigned long *old)
{
	return -1;
}

/* Tactus's time never comes from the speaker's channel. */
#define I8253_channel2_free() 1

#ifndef rdtscl
#define rdtscl(low) ((low) = (u32)__builtin_ia32_rdtsc())
#define rdtscll(value) ((value) = __builtin_ia32_rdtsc())
#endif

static inline int rtl_priority(pthread_t thread)
{
	struct sched_param param = { 0 };
	int policy;

	pthread_getschedparam(thread, &policy, &param);
	return param.sched_priority;
}

/* What pthread_exit() and a cancellation that the thread notices run, the last first. */

struct rtl_cleanup {
	void (*routine)(void *arg);
	void *arg;
	struct rtl_cleanup *next;
};

struct rtl_cleanup **rtl_cleanups(void);

#define pthread_cleanup_push(fn, data)						\
	{									\
		struct rtl_cleanup _cleanup = { (fn), (data), *rtl_cleanups() };	\
		*rtl_cleanups() = &_cleanup;
#define pthread_cleanup_pop(execute)						\
		*rtl_cleanups() = _cleanup.next;				\
		if (execute)							\
			_cleanup.routine(_cleanup.arg);				\
	}

/* Data of a thread's own. Destructors are not called. Any context; only threads have some. */

typedef int pthread_key_t;

#define RTL_PTHREAD_KEYS_MAX 32

/* Programs look at the magic. The rest is the skin's own. */

#define RTL_THREAD_MAGIC 0x72746c5f74687264ULL

struct rtl_thread {
	RT_TASK task;			/* first: a task that is no thread has no magic behind it */
	unsigned long long magic;
	struct list_head all;
	void *(*fn)(void *arg);
	void *arg;
	void *value;			/* of its return */
	bool fp, cancelled, uncancellable, ended;
	bool woken;			/* by pthread_wakeup_np(), not by a signal */
	bool marked;			/* to be suspended by rtl_schedule() */
	struct rtl_thread_signals {
		atomic_t pending;	/* a bit each */
		unsigned int blocked;	/* only the thread itself changes it */
		bool listening;		/* a signal wakes it up */
	} signals;
	struct {
		int error;
		struct rtl_cleanup *cleanups;
		void *data[RTL_PTHREAD_KEYS_MAX];
	} own;
};

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *data));
int pthread_key_delete(pthread_key_t key);
int pthread_setspecific(pthread_key_t key, const void *data);
void *pthread_getspecific(pthread_key_t key);

/* Spin locks hold interrupts off. */

typedef struct {
	unsigned int taken;
	unsigned long flags;
} pthread_spinlock_t;

static inline int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
	*lock = (pthread_spinlock_t){ 0 };
	return 0;
}

#define pthread_spin_destroy(lock) ((void)(lock), 0)

static inline int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	unsigned long flags = rtl_hard_save();
	int taken = xchg(&lock->taken, 1);

	if (taken)
		rtl_hard_restore(flags);
	else
		lock->flags = flags;
	return taken ? EBUSY : 0;
}

static inline int pthread_spin_lock(pthread_spinlock_t *lock)
{
	while (pthread_spin_trylock(lock))
		cpu_relax();
	return 0;
}

static inline int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	unsigned long flags = lock->flags;

	smp_store_release(&lock->taken, 0);
	rtl_hard_restore(flags);
	return 0;
}

/* Barriers. A Linux process may be one of those that come together; it waits in steps of 1 ms. */

typedef struct {
	struct rt_mtx guard;
	struct rt_cnd changed;
	int parties;
	atomic_t arrived;
	unsigned int generation;
} pthread_barrier_t;

typedef struct {
	int shared;
} pthread_barrierattr_t;

#define PTHREAD_BARRIER_SERIAL_THREAD (-1)
#define pthread_barrierattr_init(attr) ((attr)->shared = 0)
#define pthread_barrierattr_destroy(attr) ((void)(attr), 0)
#define pthread_barrierattr_setpshared(attr, flag) ((attr)->shared = (flag), 0)
#define pthread_barrierattr_getpshared(attr, flag) (*(flag) = (attr)->shared, 0)

int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr,
			 unsigned int parties);
int pthread_barrier_destroy(pthread_barrier_t *barrier);
int pthread_barrier_wait(pthread_barrier_t *barrier);

/*
 * Message queues between RT threads, by name. They are made by Linux processes; to send and to
 * receive is for RT threads. -1, and errno, for every failure.
 */

typedef int mqd_t;

struct mq_attr {
	long mq_flags;		/* O_NONBLOCK or 0, of the descriptor */
	long mq_maxmsg;
	long mq_msgsize;
	long mq_curmsgs;
};

#define RTL_QUEUES 32
#define MQ_PRIO_MAX 32
#define MQ_OPEN_MAX RTL_QUEUES

mqd_t rtl_mq_open(struct module *owner, const char *name, int flags, ...);
#define mq_open(...) rtl_mq_open(THIS_MODULE, __VA_ARGS__)
int mq_close(mqd_t queue);
int mq_unlink(const char *name);
int mq_timedsend(mqd_t queue, const char *text, size_t bytes, unsigned int priority,
		 const struct timespec *until);
ssize_t mq_timedreceive(mqd_t queue, char *text, size_t bytes, unsigned int *priority,
			const struct timespec *until);
#define mq_send(queue, text, bytes, priority) mq_timedsend(queue, text, bytes, priority, NULL)
#define mq_receive(queue, text, bytes, priority) \
	mq_timedreceive(queue, text, bytes, priority, NULL)
int mq_getattr(mqd_t queue, struct mq_attr *attr);
int mq_setattr(mqd_t queue, const struct mq_attr *attr, struct mq_attr *old);

#endif
