/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RT tasks (thesis, 3.2 and Appendix A.1).
 *
 * A task belongs to one CPU. Its life:
 *
 *	            rt_task_init
 *	                 |
 *	             dormant --- rt_task_wakeup ----------------.
 *	                 |                                      |
 *	         rt_task_make_periodic                          |
 *	                 |                                      v
 *	             waiting --- release moment --------------> ready --> running
 *	                 ^                                      |  ^
 *	                 '--------- rt_task_wait ---------------'  |
 *	                                                        |  |
 *	             suspended <-- rt_task_suspend -------------'  |
 *	                 '---------- rt_task_wakeup ---------------'
 *
 * and rt_task_delete, or the return of the task's function, ends it from anywhere.
 *
 * What a task executes between a release and the rt_task_wait() that answers it
 * is a job. Release moments are start + k * period, whatever happens to the jobs.
 */
#ifndef _RT_TASK_H
#define _RT_TASK_H

#include <rt/node.h>
#include <rt/time.h>
#include <rt/timer.h>

/* Priorities are 1, the highest, to this (thesis, A.1). */
#define RT_LOWEST_PRIORITY 1000000

/* The deadline of a job that has none: later than any. */
#define RT_NO_DEADLINE 0x7fffffffffffffffLL

/* Limits; beyond them a call returns -EINVAL (sizes, periods) or -ENOSPC (tasks). */
#define RT_STACK_MIN_BYTES 256
#define RT_STACK_MAX_BYTES (1 << 20)
#define RT_PERIOD_MIN_NS 5000LL
#define RT_PERIOD_MAX_NS (3600 * RT_TICKS_PER_SEC)
#define RT_MAX_TASKS 1024	/* on one CPU */
#define RT_TASK_NAME_BYTES 16	/* with the terminating zero */

struct pl_ring3;
struct rt_mtx;
struct rt_post;
struct rt_waitq;

/**
 * typedef RT_TASK - one RT task; opaque to its users
 *
 * Allocate it as you like, statically for instance. It must stay until
 * rt_task_delete() called from Linux has returned.
 */
typedef struct rt_task_struct RT_TASK;

/**
 * struct rt_task_struct - what scheduling policies may read; the rest is private
 * @priority: 1 (the highest) to RT_LOWEST_PRIORITY
 * @cpu: where it runs
 * @period: ns, of a sporadic task the least interval; 0 for a task that has neither
 * @relative_deadline: of each job, ns after its release; 0: the period
 * @release: when the present (last) job was released, ns of rt_get_time()
 * @deadline: of the present (last) job, ns of rt_get_time(); RT_NO_DEADLINE if none. A job that
 *	lives on the budget of a later release moment has that one's
 * @policy_data: the policy's own, zeroed before attach
 */
struct rt_task_struct {
	int priority;
	int cpu;
	RTIME period;
	RTIME relative_deadline;
	RTIME release;
	RTIME deadline;

	/* private: what each release touches comes first, in three cache lines */
	RTIME next_release;		/* of the job after the present one */
	struct rt_node ready;		/* in the ready queue, if the policy uses that */
	unsigned char state;		/* enum core_task_state */
	unsigned char suspended;
	unsigned char token;		/* woken up while not suspended */
	unsigned char queued;		/* known to the policy as ready */
	unsigned char stopped;		/* by the executive, for cause; apart from suspended */
	unsigned char sporadic;		/* released by rt_task_wakeup() */
	unsigned char begun;		/* its job has had the CPU */
	unsigned char pending;		/* blocked by an object of rt/sync.h */
	unsigned char throttled;	/* blocked until its budget is renewed */
	unsigned char uses_fp;
	unsigned char spent;		/* RT_BUDGET_COUNT: this job's budget, and that is noted */
	unsigned char budget_action;	/* enum rt_budget_action */
	RTIME budget;			/* ns a job; 0: none */
	RTIME due;			/* of the present job, whatever deadline the policy sees */
	RTIME exec, job_exec, max_exec;	/* CPU time: in all; of the present job; of any job */
	RTIME streak;			/* exec when it last became ready, having been waiting */
	unsigned long long key;		/* the policy's, when it last became ready */
	unsigned long long inherited;	/* of the most urgent task that it keeps waiting */
	unsigned long long releases;
	struct rt_frame {
		void *sp;
		unsigned long canary;
		int on_cpu;		/* the stack is in use */
	} frame;			/* where it left off; switch.S knows the offsets */
	struct pl_ring3 *ring3;		/* its half in ring 3, if it has one */
	RTIME max_late;
	struct rt_timer timer;		/* the next release */

	/* public: */
	unsigned long long policy_data[2];

	/* private: */

	unsigned int id;		/* in events */
	unsigned char untold;		/* stopped, and the log does not say so yet */
	unsigned char faulted;		/* dead of a fault of its own */
	unsigned long long magic;
	RTIME token_time;
	RTIME suspension, section;	/* ns a job, for admission */
	RTIME grid;			/* the release moment whose budget is being used */
	RTIME paid;			/* what exec is when that is used up */

	struct rt_waitq *waits_in;
	struct rt_mtx *waits_for, *owned;
	struct rt_task_struct *wait_next;
	void *wait_buffer;
	int wait_result;

	unsigned long long overruns, skipped, misses, budget_overruns;

	struct rt_task_struct *next, *swap_next, *dead_next;
	void (*fn)(int data);
	int data;
	int stack_bytes;
	void *stack;
	void *fp_area;			/* its floating point registers, while others use them */
	struct rt_post *over;		/* the executive ended it: stopped, or faulted */
	char name[RT_TASK_NAME_BYTES];
};

/**
 * rt_task_init - create a task; it does not run yet
 * @task: its structure
 * @fn: its code; the task ends, as if deleted, when it returns
 * @data: handed to @fn
 * @stack_size: bytes that @fn and what it calls need, RT_STACK_MIN_BYTES to
 *	RT_STACK_MAX_BYTES; room for interrupts is added
 * @priority: 1 (the highest) to RT_LOWEST_PRIORITY; among equals, first come is
 *	first served
 *
 * The task belongs to the CPU that this is called on, unless rt_task_set_cpu()
 * moves it. rt_task_make_periodic() or rt_task_wakeup() starts it. Its code starts
 * with hardware interrupts on, and without floating point: see rt_use_fp().
 *
 * Context: Linux process; may sleep.
 * Return: 0, -EINVAL (null @task or @fn, @stack_size or @priority out of range),
 * -EBUSY (@task is alive), -EPERM (called from RT code), -ENOMEM, -ENOSPC
 * (RT_MAX_TASKS on this CPU), -ENODEV (the executive is not active). After an
 * error nothing has changed.
 * Source: thesis, A.1.
 */
int rt_task_init(RT_TASK *task, void (*fn)(int data), int data, int stack_size, int priority);

/**
 * rt_task_set_cpu - bind a task that has not started yet to another CPU
 * @task: initialised, never made periodic or woken up
 * @cpu: an online CPU that has the RT timer
 *
 * Context: Linux process; may sleep.
 * Return: 0, -EINVAL (no such task or CPU), -EBUSY (it has started), -ENOSPC
 * (RT_MAX_TASKS on @cpu), -EPERM (called from RT code).
 */
int rt_task_set_cpu(RT_TASK *task, int cpu);

/**
 * rt_task_set_name - what status and log call the task
 * @task: initialised
 * @name: cut to RT_TASK_NAME_BYTES; the default is the name of the task's function
 *
 * Context: Linux process; may sleep.
 * Return: 0, -EINVAL (no such task, no name, white space or unprintable characters
 * in it), -EPERM (called from RT code).
 */
int rt_task_set_name(RT_TASK *task, const char *name);

/**
 * rt_task_make_periodic - release a task at @start_time + k * @period
 * @task: initialised; it may be periodic already, and it may be the caller
 * @start_time: the first release, ns of rt_get_time()
 * @period: ns, RT_PERIOD_MIN_NS to RT_PERIOD_MAX_NS
 *
 * With a start at or before now the first release is at once, on behalf of the
 * last moment @start_time + k * @period that is not after now (@start_time itself
 * if it is less than a period ago), and the next at the following one.
 *
 * If a job is in progress (a task that makes itself periodic), that job goes on. It
 * then counts as the first release's if that would be at once, and rt_task_wait()
 * ends it. If the task is suspended, nothing is released before it is woken up.
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (no such task, @period out of range, @start_time negative or
 * so late that the next release would overflow), -ENOSPC (the policy does not admit it, or
 * the set would not fit: see admission), -EPERM (with admission=enforce: not called by a
 * Linux process). After an error nothing has changed.
 * Source: thesis, A.1.
 */
int rt_task_make_periodic(RT_TASK *task, RTIME start_time, RTIME period);

/**
 * rt_task_make_sporadic - release a task by rt_task_wakeup(), but not too often
 * @task: initialised; it may be periodic already, and it may be the caller
 * @interval: the least between two releases, ns, RT_PERIOD_MIN_NS to RT_PERIOD_MAX_NS
 *
 * From now on each rt_task_wakeup() of @task, by an RT interrupt as a rule, is an arrival: the
 * task is released at once, or when @interval has passed since the release before. One
 * arrival is kept while a job is in progress or the interval lasts; more are counted as skipped.
 * rt_task_wait() ends a job, and returns at the next release. For policies, deadlines, budgets
 * and admission @interval is the period: more load than that the task cannot be.
 *
 * A job that is in progress goes on. rt_task_make_periodic() makes the task periodic again. Said of
 * a sporadic task again, it changes the interval, not before the present one is over.
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (no such task, @interval out of range), -ENOSPC (the policy does not admit
 * it, or the set would not fit: see admission), -EPERM (with admission=enforce: not called by a
 * Linux process). After an error nothing has changed.
 */
int rt_task_make_sporadic(RT_TASK *task, RTIME interval);

/**
 * rt_task_set_deadline - by when after its release each job of a task is to end
 * @task: initialised
 * @relative_deadline: ns, up to RT_PERIOD_MAX_NS; 0: the period (the default), or no
 *	deadline for a task without one
 *
 * It counts from the next release on, and for the order of tasks from the next time that
 * @task becomes ready. A job that ends later is a miss, which is counted; nothing else
 * happens to it.
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (no such task, @relative_deadline out of range), -ENOSPC (the policy does
 * not admit it, or the set would not fit: see admission), -EPERM (with admission=enforce: not
 * called by a Linux process). After an error nothing has changed.
 */
int rt_task_set_deadline(RT_TASK *task, RTIME relative_deadline);

/**
 * rt_task_set_priority - make a task more or less urgent
 * @task: initialised; may be the caller
 * @priority: 1 (the highest) to RT_LOWEST_PRIORITY
 *
 * A ready task goes behind those of equal priority. What a task has inherited by a mutex stays;
 * while it waits for an object of rt/sync.h, its place there stays, too. Sets of tasks are not
 * tested again.
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (no such task, @priority out of range), -ENOSPC (the policy does not admit
 * it), -EPERM (with admission=enforce). After an error nothing has changed.
 */
int rt_task_set_priority(RT_TASK *task, int priority);

/**
 * enum rt_budget_action - what happens to a job that has used up its budget
 * @RT_BUDGET_COUNT: it goes on, and is counted
 * @RT_BUDGET_THROTTLE: it stops until the task's next release moment, and goes on then with
 *	that one's budget and deadline; a task without a period is stopped
 * @RT_BUDGET_STOP: the task is stopped, and the kernel's log says so
 */
enum rt_budget_action {
	RT_BUDGET_COUNT,
	RT_BUDGET_THROTTLE,
	RT_BUDGET_STOP,
};

/**
 * rt_task_set_budget - bound the CPU time of each job of a task
 * @task: initialised
 * @budget: ns of CPU time a job, up to RT_PERIOD_MAX_NS; 0: unbounded (the default)
 * @action: for a job that needs more
 *
 * RT interrupts that come while the task runs are on its account. It is enforced from the
 * next time on that @task gets the CPU.
 *
 * Unless jobs are only counted, each release moment pays for one budget: a job that is late because
 * of the one before has what that left, and k periods never have more than k + 1 budgets (if the
 * deadline is not after the period). The owner of a mutex goes on, and what it took beyond its
 * budget is charged when it owns nothing any more. In mode=hosted, where nothing ends a job, it is
 * charged at the job's end.
 *
 * A task's budget is also its cost when sets of tasks are tested: see tactus's parameter
 * admission, which may refuse what does not fit. Such tests are made in Linux processes.
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (no such task, @budget or @action out of range), -ENOSPC (the set would
 * not fit: see admission), -EPERM (with admission=enforce: not called by a Linux process).
 * After an error nothing has changed.
 * Source: Abeni & Buttazzo, Integrating multimedia applications in hard real-time systems,
 * RTSS 1998: constant bandwidth servers, with hard reservations.
 */
int rt_task_set_budget(RT_TASK *task, RTIME budget, enum rt_budget_action action);

/**
 * rt_task_set_suspension - say how long each job of a task waits for other things than the CPU
 * @task: initialised
 * @suspension: ns a job, up to RT_PERIOD_MAX_NS; 0: not at all (the default)
 *
 * The sum of what a job spends at most asleep, suspended, and waiting for mutexes, semaphores and
 * mailboxes. It is for admission only, which counts it as if the job computed meanwhile: a task
 * that waits inside of its jobs harms less urgent ones more than its budget tells. Nobody
 * measures or enforces it.
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (no such task, @suspension out of range), -ENOSPC (the set would not fit: see
 * admission), -EPERM (with admission=enforce: not called by a Linux process). After an error
 * nothing has changed.
 * Source: Chen et al., Many suspensions, many problems: a review of self-suspending tasks in
 * real-time systems, Real-Time Systems 55, 2019.
 */
int rt_task_set_suspension(RT_TASK *task, RTIME suspension);

/**
 * rt_task_set_section - say for how long a task keeps mutexes
 * @task: initialised; it need not have a period
 * @section: ns of its CPU time between its first rt_mtx_lock() and the rt_mtx_unlock() that leaves
 *	it without a mutex, at most, up to RT_PERIOD_MAX_NS; 0: none that anybody more urgent wants
 *	(the default)
 *
 * It is for admission only. Under priority inheritance each less urgent task blocks a more urgent
 * one's job once, for a section at most. So the test of fixed priorities adds the sections of all
 * tasks of lower rank to a response time, and that of EDF those of all with longer deadlines to a
 * demand. Nobody measures or enforces it.
 *
 * This is of the tasks of one CPU. A wait for another CPU's task, or for a mutex by a task that
 * waits for other things inside its jobs, belongs into rt_task_set_suspension(). A CPU with tasks
 * of both kinds is tested by none: with admission=enforce it is refused.
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (no such task, @section out of range), -ENOSPC (the set would not fit: see
 * admission), -EPERM (with admission=enforce: not called by a Linux process). After an error
 * nothing has changed.
 * Source: Sha, Rajkumar, Lehoczky, Priority inheritance protocols, IEEE Transactions on Computers
 * 39(9), 1990.
 */
int rt_task_set_section(RT_TASK *task, RTIME section);

/**
 * rt_task_wait - end the present job; return at the next release
 *
 * A sporadic task's next release needs an arrival: see rt_task_make_sporadic().
 *
 * When the next release has passed already (an overrun), it returns at once, or as
 * soon as equal and more urgent tasks let it. So every release gets its job, late
 * ones too. An overrun's job goes behind tasks of equal priority that are ready.
 *
 * Context: periodic or sporadic RT task only.
 * Return: 0, -ETIMEDOUT (the job that begins now was released while the one before
 * still ran), -EPERM (not called by a periodic or sporadic RT task).
 * Source: thesis, A.1.
 */
int rt_task_wait(void);

/**
 * rt_task_sleep_until - let the job rest until a moment
 * @when: ns of rt_get_time(); at or before now: it returns at once
 *
 * The job goes on afterwards: sleeping is no rt_task_wait(). Releases that pass meanwhile
 * are overruns. Suspending the task does not stop the clock.
 *
 * Context: RT task only.
 * Return: 0, -EINVAL (negative @when), -EPERM (not called by an RT task).
 */
int rt_task_sleep_until(RTIME when);

/**
 * rt_task_suspend - stop a task until it is woken up
 * @task: initialised; may be the caller, and may be suspended already
 *
 * A task that suspends itself returns from this call when it is woken up. If it
 * was woken up since it was last resumed (or started), the call returns at once, so
 * an interrupt that comes while its task still handles the one before is not lost; two
 * such interrupts are one wake-up, as with a binary semaphore.
 *
 * Other tasks, and interrupt handlers, suspend a task in any case, and wake-ups
 * kept for its own next suspension stay kept. Suspensions do not nest.
 *
 * A suspended periodic task is not released. See rt_task_wakeup().
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (no such task).
 * Source: thesis, A.1.
 */
int rt_task_suspend(RT_TASK *task);

/**
 * rt_task_wakeup - let a task run
 * @task: initialised
 *
 * A sporadic task: see rt_task_make_sporadic(). A task that never started starts, without a period.
 * A suspended task goes on where it was: in a job, in that job; waiting for its next release, at
 * once if that passed meanwhile, and for the last such moment only. A periodic task's releases that
 * passed during its suspension are skipped, and counted as such. For a task that is not periodic
 * each wake-up from a suspension is a release. A wake-up of a task that is not suspended is kept
 * for its next rt_task_suspend() of itself.
 *
 * A task that the executive has stopped, for its budget or for Linux's sake, goes on if a Linux
 * process calls this; with a budget that holds it up, from its next release moment on. Other
 * wake-ups of it are kept as if it were not suspended.
 *
 * Context: any; from Linux not inside an NMI.
 * Return: 0, -EINVAL (no such task).
 * Source: thesis, A.1.
 */
int rt_task_wakeup(RT_TASK *task);

/**
 * rt_task_delete - end a task
 * @task: initialised; running, ready, waiting, suspended, or never started
 *
 * From Linux: on return the task can no longer run on any CPU, its stack is freed,
 * and @task may be freed or initialised again. From RT code, the task itself
 * included (the call does not return then): the task never executes another
 * instruction of its own after the next reschedule, and the rest is done by Linux
 * when it gets to it; call rt_task_delete() again from Linux, which waits for
 * that, before freeing @task. (It may return -EINVAL then: all was done already.)
 *
 * A task that is left when the module with its code or structure is unloaded is
 * deleted before the module's memory goes.
 *
 * Context: any; from Linux a process that may sleep.
 * Return: 0, -EINVAL (no such task; deleted already).
 * Source: thesis, A.1.
 */
int rt_task_delete(RT_TASK *task);

/**
 * rt_use_fp - may the calling task use floating point?
 * @flag: not 0: its floating point registers (x87, SSE, AVX, with their control words) are
 *	the task's own from now on, as if no other task and no Linux used them; 0: it does not
 *	use any from now on, and what is in them is lost
 *
 * They begin in their initial state: round to nearest, all exceptions masked. Saying the same
 * again changes nothing. The code itself must be compiled for it: see <rt/fp.mk>.
 *
 * A task that uses floating point without this is stopped by the fault that it causes (unless
 * tactus was loaded with fp_trap=0: then it spoils the numbers of others). RT interrupt
 * handlers and RT timer functions must never use any. AMX is not for RT tasks.
 *
 * Context: RT task only; elsewhere nothing happens.
 * Source: thesis, A.1.
 */
void rt_use_fp(int flag);

/**
 * rt_task_self - the RT task that calls
 *
 * Context: any.
 * Return: the running RT task, also inside an RT interrupt that interrupted it; NULL
 * in Linux.
 */
RT_TASK *rt_task_self(void);

#endif
