/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What fewer programs for RTAI use; included by rtai_compat.h only, where Tactus's own names are
 * still its own. Functions are in skins/rtai/more.c and messages.c.
 */
#ifndef _RTAI_MORE_H
#define _RTAI_MORE_H

#ifndef _RTAI_COMPAT_H
#error "include rtai_compat.h"
#endif

#include <linux/ioport.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/rtmutex.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <asm/fpu/api.h>
#include <asm/irqflags.h>
#include <asm/msr.h>
#include <asm/tsc.h>

/* Of Linux 2.4. */
#ifndef EXPORT_NO_SYMBOLS
#define EXPORT_NO_SYMBOLS
#endif
#define smp_num_cpus num_online_cpus()
/*
 * For arrays by hard_cpu_id(). RTAI had 2; by a distribution's NR_CPUS, 8192, they are arrays that
 * no memory holds. A task comes to one of these CPUs unless the program names another.
 */
#if NR_CPUS < 32
#define NR_RT_CPUS NR_CPUS
#else
#define NR_RT_CPUS 32
#endif
#define RTAI_NR_CPUS NR_RT_CPUS
#define RTAI_MODULE_PARM(name, type) module_param(name, type, 0444)

/* As Linux had it: whether ports are free, for now. 0, -EBUSY. Linux process. */
static inline int check_region(unsigned long first, unsigned long many)
{
	if (!request_region(first, many, "check_region"))
		return -EBUSY;
	release_region(first, many);
	return 0;
}

/* Numbers. A count is a nanosecond; rdtsc() counts the TSC, CPU_FREQ times a second. */

#define CPU_FREQ ((unsigned long)tsc_khz * 1000)
#define FREQ_APIC 1000000000UL
#define TIMER_FREQ 1000000000UL
#define LATENCY_8254 0
#define SETUP_TIME_8254 0
#define TIMER_8254_IRQ 0
#define LOCAL_TIMER_IPI 0xef

/* A frequency above 2 GHz is a negative int, and meant as it is. */
static inline long long llimd(long long value, int times, int by)
{
	return value < 0 ? -(long long)mul_u64_u64_div_u64(-value, (unsigned int)times,
							   (unsigned int)by)
			 : (long long)mul_u64_u64_div_u64(value, (unsigned int)times,
							  (unsigned int)by);
}

static inline int imuldiv(int value, int times, int by)
{
	return (int)((long long)value * (unsigned int)times / (unsigned int)by);
}

static inline unsigned long long ulldiv(unsigned long long value, unsigned long by,
					unsigned long *rest)
{
	*rest = value % by;
	return value / by;
}

#define rtai_llimd llimd
#define rtai_imuldiv imuldiv
#define rtai_ulldiv ulldiv
#define nano2count_cpuid(ns, cpu) nano2count(ns)
#define count2nano_cpuid(count, cpu) count2nano(count)
#define rt_get_time_cpuid(cpu) rt_get_time()
#define rt_get_time_ns_cpuid(cpu) rt_get_time()
#define rt_get_real_time() rtai_real_time()
#define rt_get_real_time_ns() rtai_real_time()
#define rtai_print_to_screen(...) rt_printk(__VA_ARGS__)
#define rt_sync_printk(...) rt_printk(__VA_ARGS__)

/* ns since 1970; what Linux makes of its clock later does not count. Any context. */
static inline RTIME rtai_real_time(void)
{
	return ktime_get_real_fast_ns();
}

/* The timer, and lines: every CPU has a timer, and a line stays where Linux has put it. */

struct apic_timer_setup_data {
	int mode, count;
};

#define start_rt_timer_cpuid(period, cpu) start_rt_timer(period)
#define start_rt_apic_timers(setup, cpu) ((void)(setup))
#define stop_rt_apic_timers() do { } while (0)
#define rt_get_timer_cpu() (-1)
#define DECLR_8254_TSC_EMULATION struct rtai_nothing
#define SETUP_8254_TSC_EMULATION do { } while (0)
#define CLEAR_8254_TSC_EMULATION do { } while (0)
#define rt_mask_and_ack_irq(irq) do { } while (0)
#define rt_end_irq(irq) do { } while (0)
#define rt_eoi_irq(irq) do { } while (0)
#define rt_set_irq_cookie(irq, cookie) ((void)(irq), (void)(cookie))
#define rt_mount_rtai() do { } while (0)
#define rt_umount_rtai() do { } while (0)
#define rt_mount() 0
#define rt_umount() do { } while (0)

/*
 * The bare timer, under a program that brings no tasks. Linux keeps its own, so nothing of what
 * programs do here to keep Linux's clock going is needed, or harmful. A program calculates in
 * @rt_times; the layer does not read it again.
 */

struct rt_times {
	int linux_tick, periodic_tick;
	RTIME tick_time, linux_time, intr_time;
};

extern struct rt_times rt_smp_times[NR_RT_CPUS];
extern struct rt_times rt_times __asm__("rt_smp_times");	/* the first of those */

/**
 * rt_request_timer - have a function called by a timer of RTAI's only user
 * @handler: called with the number TIMER_8254_IRQ, and with rt_set_global_irq_ext()'s data; no
 *	floating point. What it returns does not count
 * @tick: its period, in parts of FREQ_8254; 0: @rt_times is in parts of CPU_FREQ, and the next
 *	call is rt_set_timer_delay()'s. The first is a tick of Linux's later
 * @apic: not 0: parts of FREQ_APIC instead of FREQ_8254
 *
 * What is missed by more than a period is left out.
 *
 * Context: of @handler: RT interrupt, on the CPU that this is called on. Of this: Linux process.
 * Return: 0, -EINVAL (no @handler, negative @tick), -EBUSY (there is one), or as rt_timer_start().
 */
int rt_request_timer(void (*handler)(void), unsigned int tick, int apic);
/* On return the handler does not run. Linux process. */
void rt_free_timer(void);
/* From the handler: when it is called next, in parts of FREQ_8254 or FREQ_APIC. 0: as it would. */
void rt_set_timer_delay(int delay);
/* What the handler of a line gets as its second argument. Any context. */
void rt_set_global_irq_ext(unsigned int irq, int ext, unsigned long data);

/**
 * rt_request_linux_irq - have Linux call a function for what rt_pend_linux_irq() hands on
 * @irq: 0 to 15
 * @handler: int or void (*)(int irq, void *dev, struct pt_regs *regs); no regs: NULL
 * @name: not used
 * @dev: its second argument, and by what it is freed
 *
 * Linux's own interrupts of that line do not call it: for those there is request_irq().
 *
 * Context: of @handler: hard interrupt of Linux. Of this: Linux process.
 * Return: 0, -EINVAL, -EBUSY (16 of them).
 */
int rt_request_linux_irq(unsigned int irq, void *handler, char *name, void *dev);
/* 0, -EINVAL. On return the handler does not run. Linux process; may sleep. */
int rt_free_linux_irq(unsigned int irq, void *dev);
/* To those functions only. A driver of Linux's own is not called. Any context. */
void rt_pend_linux_irq(unsigned int irq);

static inline int rt_assign_irq_to_cpu(int irq, unsigned long cpus)
{
	return 0;
}

static inline int rt_reset_irq_to_sym_mode(int irq)
{
	return 0;
}

static inline int rt_set_irq_ack(unsigned int irq, int (*ack)(unsigned int irq, void *data))
{
	return 0;
}

/* The CPU's own flag: keep it short. */

static inline void rt_global_save_flags(unsigned long *flags)
{
	*flags = native_save_fl();
}

#define rtai_cli() ((void)rt_global_save_flags_and_cli())
#define rtai_sti() rt_global_restore_flags(X86_EFLAGS_IF)
#define rtai_save_flags_and_cli(flags) ((flags) = rt_global_save_flags_and_cli())
#define rtai_restore_flags(flags) rt_global_restore_flags(flags)
#define hard_cli() rtai_cli()
#define hard_sti() rtai_sti()
#define hard_save_flags_and_cli(flags) rtai_save_flags_and_cli(flags)
#define hard_restore_flags(flags) rtai_restore_flags(flags)
#define rt_get_global_lock() do { } while (0)
#define rt_release_global_lock() do { } while (0)

static inline void rtai_spin_lock(spinlock_t *lock)
{
	while (xchg((unsigned int *)lock, 1))
		cpu_relax();
}

static inline void rtai_spin_unlock(spinlock_t *lock)
{
	smp_store_release((unsigned int *)lock, 0);
}

static inline unsigned long rtai_spin_lock_irqsave(spinlock_t *lock)
{
	unsigned long flags = rt_global_save_flags_and_cli();

	rtai_spin_lock(lock);
	return flags;
}

static inline void rtai_spin_unlock_irqrestore(unsigned long flags, spinlock_t *lock)
{
	rtai_spin_unlock(lock);
	rt_global_restore_flags(flags);
}

/* Some are names of Linux's, with other arguments or on PREEMPT_RT. */
#define rt_spin_lock(lock) rtai_spin_lock(lock)
#define rt_spin_unlock(lock) rtai_spin_unlock(lock)
#define rt_spin_lock_irqsave(lock) rtai_spin_lock_irqsave(lock)
#define rt_spin_unlock_irqrestore(flags, lock) rtai_spin_unlock_irqrestore(flags, lock)
#define rt_spin_lock_irq(lock) ((void)rtai_spin_lock_irqsave(lock))
#define rt_spin_unlock_irq(lock) rtai_spin_unlock_irqrestore(X86_EFLAGS_IF, lock)

/* Nothing is scheduled on this CPU between the two; they nest. Interrupts wait meanwhile. */
void rt_sched_lock(void);
void rt_sched_unlock(void);

/* Floating point in init_module(). */

typedef int FPU_ENV;
#define save_cr0_and_clts(word) ((word) = 0, kernel_fpu_begin())
#define restore_cr0(word) ((void)(word), kernel_fpu_end())
#define save_fpenv(env) ((void)(env))
#define restore_fpenv(env) ((void)(env))
#define init_fpu() do { } while (0)
#define init_xfpu() do { } while (0)

/* Tasks. */

#define RT_SCHED_READY 1
#define RT_SCHED_SUSPENDED 2
#define RT_SCHED_DELAYED 4
#define RT_SCHED_SEMAPHORE 8
/* The names before RTAI 3, for programs that do not say which RTAI they are for. */
#if !defined(RTAI) || RTAI < 3
#define READY RT_SCHED_READY
#define SUSPENDED RT_SCHED_SUSPENDED
#define DELAYED RT_SCHED_DELAYED
#define SEMAPHORE RT_SCHED_SEMAPHORE
#endif

/* Some of the above: who waits for any object is in RT_SCHED_SEMAPHORE. */
int rt_get_task_state(struct rtai_task *task);

/**
 * rt_task_set_resume_end_times - when the calling task goes on, and by when its job is to end
 * @resume: a moment; negative: so much after its last
 * @end: a moment; negative: so much after @resume
 *
 * The end is the job's deadline: it orders tasks if tactus_edf is loaded.
 *
 * Context: RT task only; returns at that moment.
 */
void rt_task_set_resume_end_times(RTIME resume, RTIME end);

int rt_set_period(struct rtai_task *task, RTIME period);
int rt_set_resume_time(struct rtai_task *task, RTIME resume);
/* 0, RTE_TIMOUT. @until 0: not at all, if nobody has resumed it. Of the calling task. */
int rtai_suspend_until(struct rtai_task *task, RTIME until);

#define rt_set_resume_end_times(resume, end) rt_task_set_resume_end_times(resume, end)
#define rt_task_suspend_until(task, until) rtai_suspend_until(task, until)
#define rt_task_suspend_timed(task, delay) rtai_suspend_until(task, rt_get_time() + (delay))
#define rt_task_suspend_if(task) rtai_suspend_until(task, 0)
#define rt_task_wakeup_sleeping(task) rt_task_resume(task)
#define rt_get_inher_prio(task) rt_get_prio(task)
#define rt_sched_type() 0
#define rt_spv_RMS(cpu) do { } while (0)
#define rt_kthread_init(...) rt_task_init(__VA_ARGS__)
#define rt_kthread_init_cpuid(...) rt_task_init_cpuid(__VA_ARGS__)

static inline int rt_get_priorities(struct rtai_task *task, int *now, int *base)
{
	*now = *base = rt_get_prio(task);
	return 0;
}

/* ns that the task has had of the CPU */
static inline void rt_get_exectime(struct rtai_task *task, RTIME *times)
{
	times[0] = task->task.exec;
	times[1] = 0;
	times[2] = rt_get_time();
}

/* Semaphores. */

#define rt_sem_count(s) READ_ONCE((s)->sem.count)
/* Waits until as many as the semaphore was initialised with are here. RT task only. */
int rt_sem_wait_barrier(SEM *sem);

/* Its owner may take it again. What Linux calls rt_mutex_lock() is something else. */
#undef rt_mutex_init
#undef rt_mutex_lock
#define rt_mutex_init(mutex) rt_typed_sem_init(mutex, 1, RES_SEM)
#define rt_mutex_destroy(mutex) rt_sem_delete(mutex)
#define rt_mutex_lock(mutex) rtai_sem_wait(mutex)
#define rt_mutex_trylock(mutex) rt_sem_wait_if(mutex)
#define rt_mutex_timedlock(mutex, until) rtai_sem_wait_until(mutex, until)
#define rt_mutex_unlock(mutex) rt_sem_signal(mutex)
#define rt_cond_timedwait(cond, mutex, until) \
	(rt_cond_wait_until(cond, mutex, until) ? -ETIMEDOUT : 0)

/* Locks for readers and writers, with priority among those that wait. RT tasks only. */
typedef struct rtai_rwl {
	struct rt_mtx guard;
	struct rt_cnd changed;
	struct rtai_task *writer;
	int depth, readers;
} RWL;

#define RTAI_READ 0
#define RTAI_WRITE 1

void rtai_rwl_init(RWL *rwl);
int rtai_rwl_delete(RWL *rwl);
/* 0, SEM_TIMOUT, SEM_ERR */
int rtai_rwl_lock(RWL *rwl, int how, RTIME until);
int rt_rwl_unlock(RWL *rwl);

#define rt_rwl_init(rwl) rtai_rwl_init(rwl)
#define rt_typed_rwl_init(rwl, type) rtai_rwl_init(rwl)
#define rt_rwl_delete(rwl) rtai_rwl_delete(rwl)
#define rt_rwl_rdlock(rwl) rtai_rwl_lock(rwl, RTAI_READ, RT_NO_DEADLINE)
#define rt_rwl_rdlock_if(rwl) rtai_rwl_lock(rwl, RTAI_READ, 0)
#define rt_rwl_rdlock_until(rwl, until) rtai_rwl_lock(rwl, RTAI_READ, until)
#define rt_rwl_rdlock_timed(rwl, delay) rtai_rwl_lock(rwl, RTAI_READ, rt_get_time() + (delay))
#define rt_rwl_wrlock(rwl) rtai_rwl_lock(rwl, RTAI_WRITE, RT_NO_DEADLINE)
#define rt_rwl_wrlock_if(rwl) rtai_rwl_lock(rwl, RTAI_WRITE, 0)
#define rt_rwl_wrlock_until(rwl, until) rtai_rwl_lock(rwl, RTAI_WRITE, until)
#define rt_rwl_wrlock_timed(rwl, delay) rtai_rwl_lock(rwl, RTAI_WRITE, rt_get_time() + (delay))
#define rt_rwl_rdunlock(rwl) rt_rwl_unlock(rwl)
#define rt_rwl_wrunlock(rwl) rt_rwl_unlock(rwl)

/* Recursive "spin locks": here they are mutexes. 0, -1. */
typedef SEM SPL;

static inline int rtai_spl_lock(SPL *spl, RTIME until)
{
	return rtai_sem_wait_until(spl, until) == 1 ? 0 : -1;
}

#define rt_spl_init(spl) rt_typed_sem_init(spl, 1, RES_SEM)
#define rt_spl_delete(spl) rt_sem_delete(spl)
#define rt_spl_lock(spl) rtai_spl_lock(spl, RT_NO_DEADLINE)
#define rt_spl_lock_if(spl) rtai_spl_lock(spl, 0)
#define rt_spl_lock_timed(spl, ns) rtai_spl_lock(spl, rt_get_time() + (ns))
#define rt_spl_unlock(spl) (rt_sem_signal(spl) ? -1 : 0)

/* 32 bits. Waiting for cleared bits is missing, as are combined tests. */
typedef struct rtai_bits {
	struct rt_evt evt;
} BITS;

#define ALL_SET 0
#define ANY_SET 1
#define SET_BITS 0
#define CLR_BITS 1
#define SET_CLR_BITS 2
#define NOP_BITS 3
#define BITS_ERR 0xffff
#define BITS_TIMOUT 0xfffe

void rt_bits_init(BITS *bits, unsigned long mask);
int rt_bits_delete(BITS *bits);
unsigned long rt_get_bits(BITS *bits);
/* SET_BITS or CLR_BITS; the bits after that */
unsigned long rt_bits_signal(BITS *bits, int how, unsigned long mask);
int rtai_bits_wait(BITS *bits, int test, unsigned long mask, int how, unsigned long exit_mask,
		   unsigned long *result, RTIME until);

#define rt_bits_reset(bits, mask) \
	(rt_bits_signal(bits, CLR_BITS, ~(unsigned long)(mask)), \
	 rt_bits_signal(bits, SET_BITS, mask))
#define rt_bits_wait(bits, test, mask, how, exit_mask, result) \
	rtai_bits_wait(bits, test, mask, how, exit_mask, result, RT_NO_DEADLINE)
#define rt_bits_wait_if(bits, test, mask, how, exit_mask, result) \
	rtai_bits_wait(bits, test, mask, how, exit_mask, result, 0)
#define rt_bits_wait_until(bits, test, mask, how, exit_mask, until, result) \
	rtai_bits_wait(bits, test, mask, how, exit_mask, result, until)
#define rt_bits_wait_timed(bits, test, mask, how, exit_mask, delay, result) \
	rtai_bits_wait(bits, test, mask, how, exit_mask, result, rt_get_time() + (delay))

/* Mailboxes. */

/* Copies and leaves it there; how many bytes were missing. */
int rt_mbx_evdrp(MBX *mbx, void *msg, int size);
/* What is oldest gives way. */
int rt_mbx_ovrwr_send(MBX *mbx, const void *msg, int size);

/* Messages, of a word and of any length. */

struct rtai_letter {
	const void *out;
	void *in;
	int out_bytes, in_bytes;
};

/* @until 0: only if it is being waited for. */
struct rtai_task *rtai_send(struct rtai_task *task, unsigned long msg, void *reply,
			    struct rtai_letter *letter, int rpc, RTIME until);
struct rtai_task *rtai_receive_until(struct rtai_task *from, void *msg, void *text, int size,
				     int *length, RTIME until);
struct rtai_task *rt_returnx(struct rtai_task *task, const void *msg, int size);

static inline struct rtai_task *rtai_sendx(struct rtai_task *task, const void *msg, int size,
					   RTIME until)
{
	struct rtai_letter letter = { msg, NULL, size, 0 };

	return rtai_send(task, 0, NULL, &letter, 0, until);
}

static inline struct rtai_task *rtai_rpcx(struct rtai_task *task, const void *msg, void *reply,
					  int size, int reply_size, RTIME until)
{
	struct rtai_letter letter = { msg, reply, size, reply_size };

	return rtai_send(task, 0, NULL, &letter, 1, until);
}

#define rt_send_if(task, msg) rtai_send(task, msg, NULL, NULL, 0, 0)
#define rt_send_until(task, msg, until) rtai_send(task, msg, NULL, NULL, 0, until)
#define rt_send_timed(task, msg, delay) \
	rtai_send(task, msg, NULL, NULL, 0, rt_get_time() + (delay))
#define rt_rpc_if(task, msg, reply) rtai_send(task, msg, reply, NULL, 1, 0)
#define rt_rpc_until(task, msg, reply, until) rtai_send(task, msg, reply, NULL, 1, until)
#define rt_rpc_timed(task, msg, reply, delay) \
	rtai_send(task, msg, reply, NULL, 1, rt_get_time() + (delay))
#define rt_receive_if(task, msg) rtai_receive_until(task, msg, NULL, 0, NULL, 0)
#define rt_receive_until(task, msg, until) rtai_receive_until(task, msg, NULL, 0, NULL, until)
#define rt_receive_timed(task, msg, delay) \
	rtai_receive_until(task, msg, NULL, 0, NULL, rt_get_time() + (delay))
#define rt_isrpc(task) READ_ONCE((task)->rpc)
#define rt_sendx(task, msg, size) rtai_sendx(task, msg, size, RT_NO_DEADLINE)
#define rt_sendx_if(task, msg, size) rtai_sendx(task, msg, size, 0)
#define rt_sendx_until(task, msg, size, until) rtai_sendx(task, msg, size, until)
#define rt_sendx_timed(task, msg, size, delay) rtai_sendx(task, msg, size, rt_get_time() + (delay))
#define rt_rpcx(task, msg, reply, size, reply_size) \
	rtai_rpcx(task, msg, reply, size, reply_size, RT_NO_DEADLINE)
#define rt_rpcx_if(task, msg, reply, size, reply_size) \
	rtai_rpcx(task, msg, reply, size, reply_size, 0)
#define rt_rpcx_until(task, msg, reply, size, reply_size, until) \
	rtai_rpcx(task, msg, reply, size, reply_size, until)
#define rt_rpcx_timed(task, msg, reply, size, reply_size, delay) \
	rtai_rpcx(task, msg, reply, size, reply_size, rt_get_time() + (delay))
#define rt_receivex(task, msg, size, length) \
	rtai_receive_until(task, NULL, msg, size, (int *)(length), RT_NO_DEADLINE)
#define rt_receivex_if(task, msg, size, length) \
	rtai_receive_until(task, NULL, msg, size, (int *)(length), 0)
#define rt_receivex_until(task, msg, size, length, until) \
	rtai_receive_until(task, NULL, msg, size, (int *)(length), until)
#define rt_receivex_timed(task, msg, size, length, delay) \
	rtai_receive_until(task, NULL, msg, size, (int *)(length), rt_get_time() + (delay))
#define rt_isrpcx(task) rt_isrpc(task)

/* Memory from anywhere: RTAI_HEAP_BYTES for all programs. NULL if there is no more. */

#define RTAI_HEAP_BYTES (1 << 20)

void *rt_malloc(int size);
void rt_free(void *memory);

#define rt_gmalloc(size) rt_malloc(size)
#define rt_gfree(memory) rt_free(memory)

/* Objects by name: made when it is new, else the one there is. Deleted with their last user. */

SEM *rt_typed_named_sem_init(const char *name, int value, int type);
MBX *rt_typed_named_mbx_init(const char *name, int size, int type);
struct rtai_task *rtai_named_task_init(const char *name, void (*fn)(long data), long data,
				       int stack_size, int priority, int uses_fpu,
				       void (*signal)(void), int cpu, int fp_file);
int rt_named_sem_delete(SEM *sem);
int rt_named_mbx_delete(MBX *mbx);
int rt_named_task_delete(struct rtai_task *task);

#define rt_named_sem_init(name, value) rt_typed_named_sem_init(name, value, CNT_SEM)
#define rt_named_mbx_init(name, size) rt_typed_named_mbx_init(name, size, PRIO_Q)
#define rt_get_name(object) rtai_name_of(object)
unsigned long rtai_name_of(void *object);

/* FIFOs. */

#define rtf_evdrp(fifo, buf, count) rtf_peek(fifo, buf, count)
#define rtf_is_empty(fifo) rtf_isempty(fifo)
#define rtf_get_frbs(fifo) rtf_free(fifo)
/* The memory is Tactus's. RTAI did not look at @buf either, and programs declare none. */
#define rtf_create_using_bh_and_usr_buf(fifo, buf, size, bh) \
	rtai_rtf_create(THIS_MODULE, fifo, size)
#define rtf_destroy_using_usr_buf(fifo) rtf_destroy(fifo)

/* Lights at a parallel port. */

#ifndef LEDSPORT
#define LEDSPORT 0x378
#endif

static unsigned int __maybe_unused rtai_leds;

#define rt_set_leds_port(port) do { } while (0)
#define rt_leds_set(value) outb(rtai_leds = (value), LEDSPORT)
#define rt_leds_set_mask(mask, value) \
	rt_leds_set((rtai_leds & ~(mask)) | ((value) & (mask)))
#define rt_toggle_leds(mask) rt_leds_set(rtai_leds ^ (mask))

#endif
