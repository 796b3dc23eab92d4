/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The API of RTAI (2 to 5, kernel modules) on Tactus; all the old header names lead here.
 * docs/porting.md says what each call means, and what is missing. The functions are in
 * skins/rtai. A count of the timer is a nanosecond, whatever mode the timer is set to.
 */
#ifndef _RTAI_COMPAT_H
#define _RTAI_COMPAT_H

#include <linux/errno.h>
#include <linux/interrupt.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/io.h>
#include <rt/context.h>
#include <rt/fifo.h>
#include <rt/irq.h>
#include <rt/printk.h>
#include <rt/sync.h>
#include <rt/task.h>
#include <rt/time.h>
#include <rt/timer.h>
#include <uapi/tactus/rtai.h>

#define RT_TIME_END RT_NO_DEADLINE
#define RT_SCHED_HIGHEST_PRIORITY 0
#define RT_SCHED_LOWEST_PRIORITY (RT_LOWEST_PRIORITY - 1)
#define RT_SCHED_LINUX_PRIORITY 0x7fffffff
#define RT_SCHED_FIFO 0
#define RT_SCHED_RR 1
#define FREQ_8254 1193180
#define RTE_TIMOUT 0xfffe
#define RTE_OBJINV 0xffff
#define SEM_TIMOUT RTE_TIMOUT
#define SEM_ERR RTE_OBJINV
#define RTE_TMROVRN 1
#define BIN_SEM 1
#define CNT_SEM 2
#define RES_SEM 3
#define PRIO_Q 0
#define FIFO_Q 4
#define RES_Q 3

/* Tasks. The first member is Tactus's own. */

struct rtai_task {
	RT_TASK task;
	unsigned long long rtai_magic;
	void (*fn)(long data);
	long data;
	void (*signal)(void);
	int fp, fp_always;
	struct rt_sem arrived, answered;	/* messages: to this task; of this task */
	struct rtai_task *senders, *next_sender;
	unsigned long msg, reply;
	int rpc;
	struct rtai_letter *letter;
	struct rtai_task *from;		/* while @receiving: NULL: any task */
	int receiving;
	int priority;			/* as it was said there */
	RTIME resume_time;		/* of the present job */
	struct rt_sem resumed;		/* while it is suspended for a time */
	int timed;
};

static inline RT_TASK *rtai_native(struct rtai_task *task)
{
	return task ? &task->task : NULL;
}

int rtai_task_init(struct rtai_task *task, void (*fn)(long data), long data, int stack_size,
		   int priority, int uses_fpu, void (*signal)(void), int cpu, int fp_file);
struct rtai_task *rt_whoami(void);
int rtai_task_make_periodic(struct rtai_task *task, RTIME start, RTIME period);
int rt_task_wait_period(void);
int rt_change_prio(struct rtai_task *task, int priority);
void rt_task_yield(void);
int rt_sleep_until(RTIME when);
unsigned long rt_global_save_flags_and_cli(void);
void rt_global_restore_flags(unsigned long flags);

static inline int rtai_priority(int priority)
{
	return clamp(priority, 0, RT_LOWEST_PRIORITY - 1) + 1;
}

static inline int rtai_task_suspend(struct rtai_task *task)
{
	return rt_task_suspend(rtai_native(task));
}

int rt_task_resume(struct rtai_task *task);

static inline int rtai_task_delete(struct rtai_task *task)
{
	return rt_task_delete(rtai_native(task));
}

static inline int rtai_task_make_periodic_relative_ns(struct rtai_task *task, RTIME delay,
						      RTIME period)
{
	return rtai_task_make_periodic(task, rt_get_time() + delay, period);
}

static inline int rt_task_use_fpu(struct rtai_task *task, int flag)
{
	task->fp = flag;
	if (task == rt_whoami())
		rt_use_fp(flag);
	return 0;
}

static inline int rt_get_prio(struct rtai_task *task)
{
	return task->task.priority - 1;
}

static inline int rt_sleep(RTIME delay)
{
	return rt_sleep_until(rt_get_time() + delay);
}

static inline void rt_busy_sleep(int ns)
{
	RTIME end = rt_get_time() + ns;

	while (rt_get_time() < end)
		cpu_relax();
}

static inline int rt_set_runnable_on_cpuid(struct rtai_task *task, unsigned int cpu)
{
	return rt_task_set_cpu(rtai_native(task), cpu);
}

static inline int rt_set_runnable_on_cpus(struct rtai_task *task, unsigned long cpus)
{
	return cpus ? rt_task_set_cpu(rtai_native(task), __ffs(cpus)) : -EINVAL;
}

static inline RTIME next_period(void)
{
	RT_TASK *self = rt_task_self();

	return self ? self->next_release : 0;
}

/* The timer needs neither start nor mode. */
static inline RTIME start_rt_timer(long period)
{
	return period;
}

#define stop_rt_timer() do { } while (0)
#define start_rt_timer_ns(period) start_rt_timer(period)
#define rt_set_oneshot_mode() do { } while (0)
#define rt_set_periodic_mode() do { } while (0)
#define rt_is_hard_timer_running() 1
#define rt_free_timers() do { } while (0)
#define rt_linux_use_fpu(flag) do { } while (0)
#define rt_preempt_always(flag) do { } while (0)
#define rt_set_sched_policy(task, policy, quantum) do { } while (0)
/* A task whose code faults is ended, and the log says why: no handler is called. */
#define RTAI_NR_TRAPS 32
typedef int (*RT_TRAP_HANDLER)(int vector, int signo, struct pt_regs *regs, void *dummy);
#define rt_set_task_trap_handler(task, vector, handler) \
	((void)(task), (void)(vector), (void)(handler), (RT_TRAP_HANDLER)NULL)
#define rt_task_signal_handler(task, fn) ((void)(task), (void)(fn), 0)
#define nano2count(ns) ((RTIME)(ns))
#define count2nano(count) ((RTIME)(count))
#define rt_get_time_ns() rt_get_time()
#define rt_get_cpu_time_ns() rt_get_time()
#define rtai_rdtsc() rt_get_time()
#define hard_cpu_id() raw_smp_processor_id()
#define rtai_cpuid() raw_smp_processor_id()
#define rt_global_cli() ((void)rt_global_save_flags_and_cli())
#define rt_global_sti() rt_global_restore_flags(X86_EFLAGS_IF)

/* Semaphores and conditions. Counting ones, unless the type says otherwise. */

typedef struct rtai_sem {
	int type;
	struct rt_sem sem;
	struct rt_mtx mtx;		/* of RES_SEM */
	RT_TASK *owner;
	int depth;
	atomic_t waiters;
	struct rt_sem gate;		/* of barriers */
	int parties;
	atomic_t arrived;
} SEM;

typedef struct rtai_cnd {
	struct rt_cnd cnd;
	struct rt_mtx guard;		/* beside semaphores that are no resources */
} CND;

void rt_typed_sem_init(SEM *sem, int value, int type);
int rt_sem_delete(SEM *sem);
int rt_sem_signal(SEM *sem);
int rt_sem_broadcast(SEM *sem);
int rtai_sem_wait_until(SEM *sem, RTIME until);
int rt_cond_wait_until(CND *cond, SEM *mutex, RTIME until);

static inline int rtai_sem_wait(SEM *sem)
{
	return rtai_sem_wait_until(sem, RT_NO_DEADLINE);
}

/* 0: it would have had to wait. */
static inline int rt_sem_wait_if(SEM *sem)
{
	int got = rtai_sem_wait_until(sem, 0);

	return got == SEM_TIMOUT ? 0 : got;
}

#define rt_sem_wait_timed(sem, delay) rtai_sem_wait_until(sem, rt_get_time() + (delay))
void rt_cond_init(CND *cond);
int rt_cond_destroy(CND *cond);
#define rt_cond_delete(cond) rt_cond_destroy(cond)
#define rt_cond_wait(cond, mutex) rt_cond_wait_until(cond, mutex, RT_NO_DEADLINE)
#define rt_cond_wait_timed(cond, mutex, delay) \
	rt_cond_wait_until(cond, mutex, rt_get_time() + (delay))
int rt_cond_signal(CND *cond);
int rt_cond_broadcast(CND *cond);

/* Mailboxes: bytes, messages of any length. The result is how many were not moved. */

typedef struct rtai_mbx {
	char *memory;
	int size, first, used, lock;
	struct rt_sem senders, receivers;	/* one of each at a time */
	struct rt_sem space, data;
	atomic_t wants_space, wants_data;
} MBX;

#define RTAI_MBX_WP 1	/* as much as can be moved at once */
#define RTAI_MBX_IF 2	/* all at once, or nothing */

int rtai_mbx_init(MBX *mbx, int size);
int rt_mbx_delete(MBX *mbx);
int rtai_mbx_send(MBX *mbx, const void *msg, int size, RTIME until, int how);
int rtai_mbx_receive(MBX *mbx, void *msg, int size, RTIME until, int how);

#define rt_typed_mbx_init(mbx, size, type) rtai_mbx_init(mbx, size)
#define rt_mbx_send(mbx, msg, size) rtai_mbx_send(mbx, msg, size, RT_NO_DEADLINE, 0)
#define rt_mbx_send_wp(mbx, msg, size) rtai_mbx_send(mbx, msg, size, 0, RTAI_MBX_WP)
#define rt_mbx_send_if(mbx, msg, size) rtai_mbx_send(mbx, msg, size, 0, RTAI_MBX_IF)
#define rt_mbx_send_timed(mbx, msg, size, delay) \
	rtai_mbx_send(mbx, msg, size, rt_get_time() + (delay), 0)
#define rt_mbx_receive(mbx, msg, size) rtai_mbx_receive(mbx, msg, size, RT_NO_DEADLINE, 0)
#define rt_mbx_receive_wp(mbx, msg, size) rtai_mbx_receive(mbx, msg, size, 0, RTAI_MBX_WP)
#define rt_mbx_receive_if(mbx, msg, size) rtai_mbx_receive(mbx, msg, size, 0, RTAI_MBX_IF)
#define rt_mbx_receive_timed(mbx, msg, size, delay) \
	rtai_mbx_receive(mbx, msg, size, rt_get_time() + (delay), 0)

/* Typed mailboxes: whole messages. The result is how many bytes were not moved. */

typedef struct rt_typed_mailbox {
	char *memory;
	int size, first, used, lock;
	struct rt_sem space, data;
	atomic_t want_space, want_data;
} TBX;

int rt_tbx_init(TBX *tbx, int size, int flags);
int rt_tbx_delete(TBX *tbx);
/* @until 0: at once, or not at all. A message longer than the box: -EMSGSIZE. */
int rtai_tbx_send(TBX *tbx, const void *msg, int size, RTIME until, int urgent);
/* What does not fit into @size is lost. */
int rtai_tbx_receive(TBX *tbx, void *msg, int size, RTIME until);
int rt_tbx_broadcast(TBX *tbx, const void *msg, int size);

#define rt_tbx_send(tbx, msg, size) rtai_tbx_send(tbx, msg, size, RT_NO_DEADLINE, 0)
#define rt_tbx_send_if(tbx, msg, size) rtai_tbx_send(tbx, msg, size, 0, 0)
#define rt_tbx_send_until(tbx, msg, size, until) rtai_tbx_send(tbx, msg, size, until, 0)
#define rt_tbx_send_timed(tbx, msg, size, delay) \
	rtai_tbx_send(tbx, msg, size, rt_get_time() + (delay), 0)
#define rt_tbx_urgent(tbx, msg, size) rtai_tbx_send(tbx, msg, size, RT_NO_DEADLINE, 1)
#define rt_tbx_urgent_if(tbx, msg, size) rtai_tbx_send(tbx, msg, size, 0, 1)
#define rt_tbx_urgent_until(tbx, msg, size, until) rtai_tbx_send(tbx, msg, size, until, 1)
#define rt_tbx_urgent_timed(tbx, msg, size, delay) \
	rtai_tbx_send(tbx, msg, size, rt_get_time() + (delay), 1)
#define rt_tbx_receive(tbx, msg, size) rtai_tbx_receive(tbx, msg, size, RT_NO_DEADLINE)
#define rt_tbx_receive_if(tbx, msg, size) rtai_tbx_receive(tbx, msg, size, 0)
#define rt_tbx_receive_until(tbx, msg, size, until) rtai_tbx_receive(tbx, msg, size, until)
#define rt_tbx_receive_timed(tbx, msg, size, delay) \
	rtai_tbx_receive(tbx, msg, size, rt_get_time() + (delay))
#define rt_tbx_broadcast_if(tbx, msg, size) rt_tbx_broadcast(tbx, msg, size)

/* Tasklets and timers, of modules. Zero one before its first use. */

struct rt_tasklet_struct {
	struct rt_timer timer;
	struct list_head all;
	int priority, overrun;
	RTIME firing_time, period;
	void (*handler)(unsigned long data);
	unsigned long data, id;
};

int rt_insert_timer(struct rt_tasklet_struct *timer, int priority, RTIME firing_time, RTIME period,
		    void (*handler)(unsigned long data), unsigned long data, int pid);
void rt_remove_timer(struct rt_tasklet_struct *timer);
void rt_set_timer_firing_time(struct rt_tasklet_struct *timer, RTIME firing_time);
void rt_set_timer_period(struct rt_tasklet_struct *timer, RTIME period);
void rt_get_timer_times(struct rt_tasklet_struct *timer, RTIME times[]);
int rt_insert_tasklet(struct rt_tasklet_struct *tasklet, int priority,
		      void (*handler)(unsigned long data), unsigned long data, unsigned long id,
		      int pid);
void rt_remove_tasklet(struct rt_tasklet_struct *tasklet);
struct rt_tasklet_struct *rt_find_tasklet_by_id(unsigned long id);
int rt_exec_tasklet(struct rt_tasklet_struct *tasklet);

#define rt_get_timer_overrun(timer) ((RTIME)(timer)->overrun)
#define rt_set_timer_priority(timer, prio) ((void)((timer)->priority = (prio)))
#define rt_set_tasklet_priority(tasklet, prio) ((void)((tasklet)->priority = (prio)))
#define rt_set_tasklet_handler(tasklet, fn) ((tasklet)->handler = (fn), 0)
#define rt_set_tasklet_data(tasklet, word) ((void)((tasklet)->data = (word)))
#define rt_fast_set_tasklet_handler(tasklet, fn) ((void)((tasklet)->handler = (fn)))
#define rt_fast_set_tasklet_data(tasklet, word) ((void)((tasklet)->data = (word)))
#define rt_set_timer_handler(timer, fn) rt_set_tasklet_handler(timer, fn)
#define rt_set_timer_data(timer, word) rt_set_tasklet_data(timer, word)
#define rt_fast_set_timer_handler(timer, fn) rt_fast_set_tasklet_handler(timer, fn)
#define rt_fast_set_timer_data(timer, word) rt_fast_set_tasklet_data(timer, word)
#define rt_fast_set_timer_period(timer, ns) rt_set_timer_period(timer, ns)
#define rt_tasklet_use_fpu(tasklet, flag) ((void)(tasklet), (void)(flag))

/* Memory that processes share, by a number: rtai_shm.h there. Linux process; NULL if not. */

#define USE_VMALLOC 0
#define USE_GFP_KERNEL 1
#define USE_GFP_ATOMIC 2
#define USE_GFP_DMA 3

void *rtai_shm_alloc(struct module *owner, unsigned long name, int size);
/* 1: done, 0: this module does not have it. */
int rtai_shm_free(struct module *owner, unsigned long name);

#define rt_shm_alloc(name, size, kind) rtai_shm_alloc(THIS_MODULE, name, size)
#define rt_shm_free(name) rtai_shm_free(THIS_MODULE, name)
#define rtai_kmalloc(name, size) rtai_shm_alloc(THIS_MODULE, name, size)
#define rtai_kfree(name) ((void)rtai_shm_free(THIS_MODULE, name))

/* Messages of one word, task to task. Waiters are served in order of arrival. */

struct rtai_task *rt_send(struct rtai_task *task, unsigned long msg);
struct rtai_task *rt_rpc(struct rtai_task *task, unsigned long msg, void *reply);
struct rtai_task *rtai_receive(struct rtai_task *task, void *msg);
struct rtai_task *rt_return(struct rtai_task *task, unsigned long reply);
#define rt_receive(task, msg) rtai_receive(task, msg)

/* FIFOs: rtf_get() may get fewer bytes, rtf_put() may put fewer. */

int rtai_rtf_create(struct module *owner, unsigned int fifo, int size);
int rtai_rtf_put(unsigned int fifo, const void *buf, int count);

#undef rtf_create
#define rtf_create(fifo, size) rtai_rtf_create(THIS_MODULE, fifo, size)
#define rtf_create_using_bh(fifo, size, bh) rtf_create(fifo, size)
#define rtf_ovrwr_put rtf_put_overwrite
#define rtf_put_if(fifo, buf, count) rtf_put(fifo, buf, count)
#define rtf_get_if(fifo, buf, count) rtf_get(fifo, buf, count)
#define rtf_reset(fifo) ((void)rtf_flush(fifo), 0)
/* int (*)(unsigned int fifo, int how): 'r' after a read of Linux's, 'w' after a write. */
#define X_FIFO_HANDLER(handler) ((int (*)(unsigned int))(handler))
#define X_FIFO_HANDLER2(handler) ((int (*)(unsigned int))(handler))
#define RTF_NO 64

/* Interrupts, and Linux's attention. */

int rt_request_irq(unsigned int irq, int (*handler)(unsigned int irq, void *data), void *data,
		   int mode);
int rt_release_irq(unsigned int irq);
#define rt_startup_irq(irq) 0
#define rt_shutdown_irq(irq) do { } while (0)
/* Programs hand these on as functions. */
static inline void rt_enable_irq(unsigned int irq) { }
static inline void rt_disable_irq(unsigned int irq) { }
static inline void rt_ack_irq(unsigned int irq) { }
static inline void rt_unmask_irq(unsigned int irq) { }
#define rt_request_global_irq(irq, fn) rt_request_irq(irq, (void *)(fn), NULL, 0)
#define rt_free_global_irq(irq) rt_release_irq(irq)
int rt_request_srq(unsigned int label, void (*handler)(void), long long (*user)(unsigned long));
int rt_free_srq(unsigned int srq);
void rt_pend_linux_srq(unsigned int srq);

/* Names: six characters in a number. */

unsigned long nam2num(const char *name);
void num2nam(unsigned long num, char *name);
int rt_register(unsigned long name, void *object, int type, void *owner);
int rt_drg_on_name(unsigned long name);
int rt_drg_on_adr(void *object);
void *rt_get_adr(unsigned long name);
#define rt_get_adr_cnt(name) rt_get_adr(name)
#define IS_TASK 0
#define IS_SEM 1
#define IS_MBX 3

#include <rtai_more.h>

/* Last, for the text above means Tactus's own by these names. */
#define RT_TASK struct rtai_task
#ifdef __SSE2__
#define RTAI_FP_FILE 1
#else
#define RTAI_FP_FILE 0
#endif
#define rt_task_init(task, fn, data, stack, prio, fpu, sig) \
	rtai_task_init(task, (void (*)(long))(fn), (long)(data), stack, prio, fpu, sig, -1, \
		       RTAI_FP_FILE)
#define rt_task_init_cpuid(task, fn, data, stack, prio, fpu, sig, cpu) \
	rtai_task_init(task, (void (*)(long))(fn), (long)(data), stack, prio, fpu, sig, cpu, \
		       RTAI_FP_FILE)
#define rt_named_task_init(name, fn, data, stack, prio, fpu, sig) \
	rtai_named_task_init(name, (void (*)(long))(fn), (long)(data), stack, prio, fpu, sig, -1, \
			     RTAI_FP_FILE)
#define rt_named_task_init_cpuid(name, fn, data, stack, prio, fpu, sig, cpu) \
	rtai_named_task_init(name, (void (*)(long))(fn), (long)(data), stack, prio, fpu, sig, cpu, \
			     RTAI_FP_FILE)
#define rt_task_make_periodic rtai_task_make_periodic
#define rt_task_make_periodic_relative_ns rtai_task_make_periodic_relative_ns
#define rt_task_suspend rtai_task_suspend
#define rt_task_delete rtai_task_delete
#define rt_sem_init(sem, value) rt_typed_sem_init(sem, value, CNT_SEM)
#define rt_sem_wait rtai_sem_wait
#define rt_sem_wait_until rtai_sem_wait_until
#define rt_mbx_init rtai_mbx_init
#define rt_mbx_send_until(mbx, msg, size, until) rtai_mbx_send(mbx, msg, size, until, 0)
#define rt_mbx_receive_until(mbx, msg, size, until) rtai_mbx_receive(mbx, msg, size, until, 0)
#define rtf_put rtai_rtf_put
#define rtf_get rtf_get_some

#endif
