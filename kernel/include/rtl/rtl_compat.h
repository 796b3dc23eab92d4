/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The API of RTLinux 1 and 3 on Tactus; all the old header names lead here. docs/porting.md
 * says what each call means, and what is missing. The functions are in skins/rtl.
 *
 * Unless a comment says otherwise, functions that create or destroy are for Linux processes, those
 * that wait for RT threads, and the rest is for any context but an NMI. pthread_*() return
 * 0 or a positive errno; sem_*() and mq_*() -1 and errno if they fail; file calls a number
 * or a negative errno.
 */
#ifndef _RTL_COMPAT_H
#define _RTL_COMPAT_H

#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/interrupt.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>	/* has arguments called errno */
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time.h>
#include <linux/types.h>
#include <uapi/linux/sched/types.h>
#include <asm/io.h>
#include <rt/context.h>
#include <rt/fifo.h>
#include <rt/irq.h>
#include <rt/printk.h>
#include <rt/sync.h>
#include <rt/task.h>
#include <rt/time.h>
#include <rt/timer.h>

/* Time. An hrtime_t is ns since the CPU's reset. */

typedef long long hrtime_t;

#define HRTIME_INFINITY RT_NO_DEADLINE
#define HRTICKS_PER_SEC RT_TICKS_PER_SEC
#define NSECS_PER_SEC 1000000000LL
#define RTL_CLOCK_MODE_UNINITIALIZED 1
#define RTL_CLOCK_MODE_ONESHOT 2
#define RTL_CLOCK_MODE_PERIODIC 3

struct timespec {
	long tv_sec;
	long tv_nsec;
};

struct itimerspec {
	struct timespec it_interval;
	struct timespec it_value;
};

struct rtl_clock {
	hrtime_t offset;	/* to rt_get_time() */
};

extern struct rtl_clock rtl_clock_mono, rtl_clock_real;

#define clockid_t struct rtl_clock *
#undef CLOCK_REALTIME
#undef CLOCK_MONOTONIC
#undef TIMER_ABSTIME
#define CLOCK_REALTIME (&rtl_clock_real)
#define CLOCK_MONOTONIC (&rtl_clock_mono)
#define CLOCK_GPOS CLOCK_MONOTONIC
#define CLOCK_RTL_SCHED CLOCK_MONOTONIC
#define CLOCK_UST CLOCK_MONOTONIC
#define CLOCK_APIC CLOCK_MONOTONIC
#define CLOCK_8254 CLOCK_MONOTONIC
#define TIMER_ABSTIME 1

static inline hrtime_t gethrtime(void)
{
	return rt_get_time();
}

static inline hrtime_t gethrtimeres(void)
{
	return 1;
}

static inline hrtime_t clock_gethrtime(clockid_t clock)
{
	return rt_get_time() + clock->offset;
}

static inline struct timespec timespec_from_ns(hrtime_t ns)
{
	struct timespec ts = { ns / NSECS_PER_SEC, ns % NSECS_PER_SEC };

	return ts;
}

static inline hrtime_t timespec_to_ns(const struct timespec *ts)
{
	return ts->tv_sec * NSECS_PER_SEC + ts->tv_nsec;
}

#define hrt2ts(hrt) ((const struct timespec *)&(struct timespec){ \
	(hrt) / NSECS_PER_SEC, (hrt) % NSECS_PER_SEC })
#define timespec_normalize(ts) (*(ts) = timespec_from_ns(timespec_to_ns(ts)))
#define timespec_add_ns(ts, ns) (*(ts) = timespec_from_ns(timespec_to_ns(ts) + (ns)))
#define timespec_add(a, b) (*(a) = timespec_from_ns(timespec_to_ns(a) + timespec_to_ns(b)))
#define timespec_sub(a, b) (*(a) = timespec_from_ns(timespec_to_ns(a) - timespec_to_ns(b)))
#define timespec_nz(ts) ((ts)->tv_sec || (ts)->tv_nsec)
#define timespec_lt(a, b) (timespec_to_ns(a) < timespec_to_ns(b))
#define timespec_gt(a, b) (timespec_to_ns(a) > timespec_to_ns(b))
#define timespec_le(a, b) (timespec_to_ns(a) <= timespec_to_ns(b))
#define timespec_ge(a, b) (timespec_to_ns(a) >= timespec_to_ns(b))
#define timespec_eq(a, b) (timespec_to_ns(a) == timespec_to_ns(b))

static inline int clock_gettime(clockid_t clock, struct timespec *now)
{
	*now = timespec_from_ns(clock_gethrtime(clock));
	return 0;
}

static inline int clock_getres(clockid_t clock, struct timespec *res)
{
	*res = timespec_from_ns(1);
	return 0;
}

int rtl_nanosleep(clockid_t clock, int flags, const struct timespec *when, struct timespec *left);
#define clock_nanosleep rtl_nanosleep

static inline int nanosleep(const struct timespec *time, struct timespec *left)
{
	return rtl_nanosleep(CLOCK_MONOTONIC, 0, time, left);
}

static inline int usleep(unsigned long us)
{
	struct timespec time = timespec_from_ns(us * 1000LL);

	return nanosleep(&time, NULL);
}

#define rtl_usleep usleep

/* Spins, as it did there. */
static inline void rtl_delay(long ns)
{
	hrtime_t end = rt_get_time() + ns;

	while (rt_get_time() < end)
		cpu_relax();
}

static inline clockid_t rtl_getschedclock(void)
{
	return CLOCK_MONOTONIC;
}

#define rtl_getbestclock(cpu) CLOCK_MONOTONIC

/* The clock is always one-shot. */
static inline int rtl_setclockmode(clockid_t clock, int mode, hrtime_t period)
{
	return 0;
}

/* Threads. */

struct sched_param_rtl {
	int sched_priority;	/* the higher, the more urgent */
	hrtime_t sched_period;
};

#define sched_param sched_param_rtl
#ifndef SCHED_FIFO
#define SCHED_FIFO 1
#endif
#define sched_get_priority_max(policy) 999999
#define sched_get_priority_min(policy) 0

typedef struct rtl_thread *pthread_t;

typedef struct {
	struct sched_param param;
	int stack_size, cpu, fp, detached;
	void *stack_addr;	/* a thread's stack is always the skin's */
} pthread_attr_t;

#define PTHREAD_CREATE_JOINABLE 0
#define PTHREAD_CREATE_DETACHED 1
#define PTHREAD_CANCELED ((void *)-1)
#define PTHREAD_CANCEL_ENABLE 0
#define PTHREAD_CANCEL_DISABLE 1
#define PTHREAD_CANCEL_DEFERRED 0
#define PTHREAD_CANCEL_ASYNCHRONOUS 1

/* What pthread_kill() knows. */
#define RTL_SIGNAL_NULL 0
#define RTL_SIGNAL_CANCEL 33
#define RTL_SIGNAL_WAKEUP 34
#define RTL_SIGNAL_SUSPEND 35
#define RTL_SIGNAL_DELETE 36

int pthread_attr_init(pthread_attr_t *attr);

static inline int pthread_attr_destroy(pthread_attr_t *attr)
{
	return 0;
}

static inline int pthread_attr_setschedparam(pthread_attr_t *attr, const struct sched_param *p)
{
	attr->param = *p;
	return 0;
}

static inline int pthread_attr_getschedparam(const pthread_attr_t *attr, struct sched_param *p)
{
	*p = attr->param;
	return 0;
}

#define pthread_attr_setschedpolicy(attr, policy) ((void)(attr), 0)
#define pthread_attr_setinheritsched(attr, inherit) ((void)(attr), 0)
#define pthread_attr_setscope(attr, scope) ((void)(attr), 0)
#define pthread_attr_setstackaddr(attr, addr) ((void)(attr), 0)

static inline int pthread_attr_setstacksize(pthread_attr_t *attr, size_t bytes)
{
	attr->stack_size = bytes;
	return 0;
}

static inline int pthread_attr_getstacksize(const pthread_attr_t *attr, size_t *bytes)
{
	*bytes = attr->stack_size;
	return 0;
}

static inline int pthread_attr_setcpu_np(pthread_attr_t *attr, int cpu)
{
	attr->cpu = cpu;
	return 0;
}

static inline int pthread_attr_getcpu_np(const pthread_attr_t *attr, int *cpu)
{
	*cpu = attr->cpu;
	return 0;
}

static inline int pthread_attr_setfp_np(pthread_attr_t *attr, int flag)
{
	attr->fp = flag;
	return 0;
}

static inline int pthread_attr_setdetachstate(pthread_attr_t *attr, int state)
{
	attr->detached = state;
	return 0;
}

/* The thread is woken up at once: on this CPU it runs before the call returns. */
int rtl_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg,
	       int fp);
/* In a file that is compiled with floating point each thread may use it. */
#ifdef __SSE2__
#define pthread_create(thread, attr, fn, arg) rtl_create(thread, attr, fn, arg, 1)
#else
#define pthread_create(thread, attr, fn, arg) rtl_create(thread, attr, fn, arg, 0)
#endif
pthread_t pthread_self(void);
#define pthread_equal(a, b) ((a) == (b))
void pthread_exit(void *value) __noreturn;
int pthread_join(pthread_t thread, void **value);
#define pthread_detach(thread) ((void)(thread), 0)
/* Deferred: the thread ends at its next call that waits; from Linux that is waited for in join. */
int pthread_cancel(pthread_t thread);
int pthread_delete_np(pthread_t thread);
void pthread_testcancel(void);
int pthread_setcancelstate(int state, int *old);
#define pthread_setcanceltype(type, old) ((void)(old), 0)
int pthread_make_periodic_np(pthread_t thread, hrtime_t start, hrtime_t period);
int pthread_setperiod_np(pthread_t thread, const struct itimerspec *period);
int pthread_wait_np(void);
int pthread_suspend_np(pthread_t thread);
int pthread_wakeup_np(pthread_t thread);
int pthread_kill(pthread_t thread, int sig);
int pthread_setfp_np(pthread_t thread, int flag);
int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param);
int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *param);
#define pthread_yield() sched_yield()

static inline int sched_yield(void)
{
	RT_TASK *self = rt_task_self();

	return self ? -rt_task_set_priority(self, self->priority) : EPERM;
}

static inline int rtl_getcpuid(void)
{
	return raw_smp_processor_id();
}

/* Mutexes; they inherit priority whatever the attributes say. */

typedef struct {
	struct rt_mtx mtx;
	int ready;
} pthread_mutex_t;

typedef struct {
	int type;
} pthread_mutexattr_t;

#define PTHREAD_MUTEX_INITIALIZER { .ready = 0 }
#define PTHREAD_MUTEX_NORMAL 0
#define PTHREAD_MUTEX_DEFAULT 0
#define PTHREAD_MUTEX_SPINLOCK_NP 1
#define PTHREAD_PRIO_NONE 0
#define PTHREAD_PRIO_INHERIT 1
#define PTHREAD_PRIO_PROTECT 2
#define PTHREAD_PROCESS_PRIVATE 0
#define PTHREAD_PROCESS_SHARED 1
#define pthread_mutexattr_init(attr) ((attr)->type = 0)
#define pthread_mutexattr_destroy(attr) ((void)(attr), 0)
#define pthread_mutexattr_settype(attr, kind) ((attr)->type = (kind), 0)
#define pthread_mutexattr_setpshared(attr, flag) ((void)(attr), 0)
#define pthread_mutexattr_setprotocol(attr, kind) ((void)(attr), 0)
#define pthread_mutexattr_setprioceiling(attr, prio) ((void)(attr), 0)

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int pthread_mutex_destroy(pthread_mutex_t *mutex);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_trylock(pthread_mutex_t *mutex);
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until);
int pthread_mutex_unlock(pthread_mutex_t *mutex);

/* Conditions. As everywhere, a wait may end without a signal. */

typedef struct {
	struct rt_cnd cnd;
	int ready;
} pthread_cond_t;

typedef int pthread_condattr_t;

#define PTHREAD_COND_INITIALIZER { .ready = 0 }
#define pthread_condattr_init(attr) (*(attr) = 0)
#define pthread_condattr_destroy(attr) ((void)(attr), 0)

int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr);
int pthread_cond_destroy(pthread_cond_t *cond);
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
			   const struct timespec *until);
int pthread_cond_signal(pthread_cond_t *cond);
int pthread_cond_broadcast(pthread_cond_t *cond);

/* Each thread has an errno; what is no thread shares one a CPU. */

int *rtl_errno(void);
#define errno (*rtl_errno())

/* 0 for 0, else -1 and errno. */
static inline int rtl_failed(int error)
{
	if (!error)
		return 0;
	errno = -error;
	return -1;
}

/* Semaphores. */

typedef struct rt_sem sem_t;

#define SEM_VALUE_MAX RT_SEM_MAX

static inline int sem_init(sem_t *sem, int shared, unsigned int value)
{
	return rtl_failed(value > RT_SEM_MAX ? -EINVAL : rt_sem_init(sem, value));
}

static inline int sem_destroy(sem_t *sem)
{
	return rtl_failed(rt_sem_destroy(sem));
}

static inline int sem_post(sem_t *sem)
{
	return rtl_failed(rt_sem_post(sem));
}

static inline int sem_getvalue(sem_t *sem, int *value)
{
	*value = READ_ONCE(sem->count);
	return 0;
}

int sem_wait(sem_t *sem);
int sem_timedwait(sem_t *sem, const struct timespec *until);

static inline int sem_trywait(sem_t *sem)
{
	int error = rt_sem_wait_until(sem, 0);

	return rtl_failed(error == -ETIMEDOUT ? -EAGAIN : error);
}

/* FIFOs. rtf_get() may get fewer bytes, or 0; RT code gets what RT code puts, too. */

int rtl_rtf_create(struct module *owner, unsigned int fifo, int size);
int rtl_rtf_destroy(unsigned int fifo);
int rtl_rtf_put(unsigned int fifo, const void *buf, int count);
int rtl_rtf_get(unsigned int fifo, void *buf, int count);
int rtl_rtf_create_rt_handler(unsigned int fifo, int (*handler)(unsigned int fifo));
int rtl_rtf_make_user_pair(unsigned int get, unsigned int put);

#undef rtf_create
#define rtf_create(fifo, size) rtl_rtf_create(THIS_MODULE, fifo, size)
#define rtf_destroy rtl_rtf_destroy
#define rtf_put rtl_rtf_put
#define rtf_get rtl_rtf_get
#define rtf_create_rt_handler rtl_rtf_create_rt_handler
#define rtf_make_user_pair rtl_rtf_make_user_pair
#define rtf_link_user_ioctl(fifo, fn) (-EOPNOTSUPP)
#define RTF_LEN(fifo) rtf_used(fifo)
#define RTF_FREE(fifo) rtf_free(fifo)
#define RTF_NO 64

#define O_RTL_FLAGS (O_NONBLOCK | O_RDONLY | O_WRONLY | O_RDWR | O_CREAT)

/*
 * Files from RT code: FIFOs only, "/dev/rtfN". None of these waits. With O_CREAT a Linux process
 * makes a FIFO that is not there.
 */
int rtl_open(struct module *owner, const char *name, int flags);
int rtl_close(int fd);
/* RTF_SETSIZE only: the FIFO's size, from a Linux process. */
int rtl_ioctl(int fd, int request, unsigned long value);
#define RTF_SETSIZE 1
ssize_t rtl_read(int fd, void *buf, size_t count);
ssize_t rtl_write(int fd, const void *buf, size_t count);

/* Interrupts. */

int rtl_request_irq(unsigned int irq,
		    unsigned int (*handler)(unsigned int irq, struct pt_regs *regs));
int rtl_free_irq(unsigned int irq);
#define rtl_request_global_irq rtl_request_irq
#define rtl_free_global_irq rtl_free_irq
/* The line is acknowledged and open again when the handler returns. */
#define rtl_hard_enable_irq(irq) ((void)(irq))
#define rtl_hard_disable_irq(irq) ((void)(irq))

int rtl_get_soft_irq(void (*handler)(int irq, void *data, struct pt_regs *regs), const char *name);
void rtl_free_soft_irq(unsigned int irq);
void rtl_global_pend_irq(int irq);

unsigned long rtl_hard_save(void);
void rtl_hard_restore(unsigned long flags);
void rtl_hard_off(void);
void rtl_hard_on(void);

typedef unsigned long rtl_irqstate_t;
#define rtl_no_interrupts(flags) ((flags) = rtl_hard_save())
#define rtl_restore_interrupts(flags) rtl_hard_restore(flags)
#define rtl_stop_interrupts() rtl_hard_off()
#define rtl_allow_interrupts() rtl_hard_on()
#define rtl_hard_cli() rtl_hard_off()
#define rtl_hard_sti() rtl_hard_on()
#define rtl_critical(flags) ((flags) = rtl_hard_save())
#define rtl_end_critical(flags) rtl_hard_restore(flags)

typedef struct {
	unsigned int taken;
} rtl_spinlock_t;

#define RTL_SPIN_LOCK_UNLOCKED { 0 }
#define rtl_spin_lock_init(lock) ((lock)->taken = 0)

static inline void rtl_spin_lock(rtl_spinlock_t *lock)
{
	while (xchg(&lock->taken, 1))
		cpu_relax();
}

static inline void rtl_spin_unlock(rtl_spinlock_t *lock)
{
	smp_store_release(&lock->taken, 0);
}

#define rtl_spin_lock_irqsave(lock, flags) do {				\
		rtl_no_interrupts(flags);				\
		rtl_spin_lock(lock);					\
	} while (0)
#define rtl_spin_unlock_irqrestore(lock, flags) do {			\
		rtl_spin_unlock(lock);					\
		rtl_restore_interrupts(flags);				\
	} while (0)

/* Words for Linux's log. */
#define rtl_printf rt_printk
#define conpr(text) rt_printk("%s", text)
#define conprn(number) rt_printk("%d ", (int)(number))

/* Memory that processes share by a name: mbuff.h there. Linux process; NULL if not. */
void *rtl_mbuff(struct module *owner, const char *name, int size, bool make);
void rtl_mbuff_free(struct module *owner, void *memory);
#define mbuff_alloc(name, size) rtl_mbuff(THIS_MODULE, name, size, true)
#define mbuff_attach(name, size) rtl_mbuff(THIS_MODULE, name, size, false)
#define mbuff_free(name, memory) ((void)(name), rtl_mbuff_free(THIS_MODULE, memory))
#define mbuff_detach(name, memory) mbuff_free(name, memory)

#include <rtl_more.h>

#endif
