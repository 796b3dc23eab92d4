/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The states of tasks and jobs: who is ready, what a release, an end of a job, a
 * suspension or a wake-up does. Pure logic: time is an argument, switching is the
 * caller's, and so is the lock: every function here runs with the rq's lock held.
 *
 *   core.c      tasks and jobs
 *   budget.c    budgets, and the watchdog
 *   policy.c    what is asked of a policy, and the built-in one
 *
 *   state     suspended  queued  release timer   meaning
 *   --------  ---------  ------  --------------  -----------------------------------
 *   DORMANT   0/1        0       -               initialised, never started
 *   WAITING   0          0       next_release    periodic, between two jobs
 *   WAITING   1          0       -               the same; releases are skipped
 *   WAITING   0/1        0       -               sporadic, without an arrival
 *   READY     0          1       -               in a job: running or wants to
 *   READY     1          0       -               in a job, stopped by a call or by the executive
 *   BLOCKED   0/1        0       (its end)       in a job, waiting for something else
 *   DEAD      -          0       -               never runs again
 *
 * "queued" is exactly "the policy has been told enqueue, and not yet dequeue".
 *
 * No timer runs for a task with a job: rt_task_wait() looks at the clock. So a task that
 * overruns causes no interrupts, and still gets a job for each release.
 */
#ifndef _TACTUS_SCHED_CORE_H
#define _TACTUS_SCHED_CORE_H

#include <rt/sched.h>
#include "sched/events.h"
#include "sched/timerq.h"

#define RTIME_MAX RT_NO_DEADLINE
#define CORE_NOTHING_INHERITED (~0ULL)
#define CORE_DUMP_BYTES 512

enum core_task_state {
	CORE_DEAD,		/* also what a zeroed RT_TASK is */
	CORE_DORMANT,
	CORE_WAITING,
	CORE_READY,
	CORE_BLOCKED,
};

/* What task->queued says. */
enum core_queued {
	CORE_NOT_QUEUED,
	CORE_QUEUED,
	CORE_MOVING,		/* from one policy to the next */
	CORE_OVERLOOKED,	/* queued, and not picked since rq->looked */
};

/* The operations of a policy that are timed; in a row, so many may take too long but one. */
enum core_policy_op {
	CORE_OP_ADMIT, CORE_OP_ATTACH, CORE_OP_DETACH, CORE_OP_RELEASE, CORE_OP_ENQUEUE,
	CORE_OP_DEQUEUE, CORE_OP_PICK, CORE_OP_PREEMPTS, CORE_POLICY_OPS
};

#define CORE_SLOW_OPS 3

/* So many tasks, and so many users' timers, are few. */
#define CORE_FEW 8
#define CORE_FEW_READY_SLOTS CORE_FEW
#define CORE_FEW_TIMER_SLOTS (CORE_FEW + CORE_FEW + 2)

/*
 * struct rt_rq - one CPU's tasks
 * @cpu: whose
 * @ops: what is asked: the built-in policy, or any other under supervision (policy.c)
 * @built_in: it is the built-in one
 * @policy: which policy it is, complete
 * @supervised: what @ops is then
 * @policy_ticks: how long an operation of a policy may take; U64_MAX: for ever
 * @stall_ticks: how long a policy may keep a ready task waiting, at least; U64_MAX: for ever
 * @enqueued: when enqueue ended the last time, in ticks
 * @nr_ready: how many tasks a supervised policy knows as ready
 * @slow: of each of its operations, how often in a row it took too long
 * @looked: when it was last looked whether it keeps a task waiting
 * @verdict: why it is to be thrown out; NULL: it is not
 * @curr: the running task; NULL: Linux
 * @need_resched: @curr may not be what the policy picks
 * @poked: the CPU has been interrupted for that since it picked
 * @since: when @curr was last accounted for
 * @stopped: the executive has stopped a task, and nobody has taken note yet
 * @budget_timer: the end of @curr's budget
 * @watch_timer: a look whether Linux gets the CPU at all
 * @watch_ns: how long RT tasks may keep Linux from the CPU; 0: for ever
 * @linux_left: when Linux last lost the CPU
 * @ejected: the policy that was thrown out, until somebody took note
 * @eject_reason, @dump: why, and what the policy said of itself
 * @dump_ticks: how long it took to say that
 * @timers: releases and users' timers
 * @ready: the ready queue that policies may use
 * @few_ready, @few_timers: their slots while few are enough
 * @many_ready, @many_timers: slots for as many as there may be
 * @tasks: all tasks of the CPU, linked by next
 * @count: how many
 * @ids: how many there have been
 * @events: what happened to their jobs
 */
struct rt_rq {
	/*
	 * What each release and each switch touches, in few cache lines; between the two parts lies
	 * what fills the second one's first line. Both end with the slots that are used first.
	 * static_assert()s in exec/cpu.h keep it so.
	 */
	RT_TASK *curr;
	bool need_resched, poked, built_in, stopped;
	int cpu;
	struct timerq timers;
	struct heap ready;
	struct heap_slot few_ready[CORE_FEW_READY_SLOTS];

	struct heap_slot *many_ready, *many_timers;
	const struct rt_sched_ops *policy;
	const char *eject_reason;
	u64 dump_ticks;

	struct events events;		/* its end is what is touched */
	const struct rt_sched_ops *ejected;
	RTIME since, linux_left;
	struct rt_timer watch_timer, budget_timer;
	struct heap_slot few_timers[CORE_FEW_TIMER_SLOTS];

	const struct rt_sched_ops *ops;
	RTIME watch_ns;
	char dump[CORE_DUMP_BYTES];
	struct rt_sched_ops supervised;
	u64 policy_ticks, stall_ticks, enqueued, looked;
	unsigned int nr_ready;
	unsigned char slow[CORE_POLICY_OPS];
	const char *verdict;
	RT_TASK *tasks;
	unsigned int count, ids;
};

/*
 * The seam to the layer above, which holds the lock: in debug builds, complain if it is not held.
 */
#ifdef TACTUS_DEBUG
void core_check_locked(const struct rt_rq *rq, const char *where);
#define core_assert_locked(rq) core_check_locked(rq, __func__)
#else
#define core_assert_locked(rq) do { } while (0)
#endif

/* The policy that is always there: fixed priorities. */
extern const struct rt_sched_ops core_fixed_priority;

void core_init(struct rt_rq *rq, int cpu, const struct rt_sched_ops *ops,
	       struct heap_slot *ready_slots, struct heap_slot *timer_slots);

/* Slots that core_init() wants: */
#define CORE_READY_SLOTS RT_MAX_TASKS
#define CORE_TIMER_SLOTS (RT_MAX_TASKS + RT_MAX_TIMERS + 2)

/** core_begin_small - after core_init(): use the queue's own few slots while they are enough */
void core_begin_small(struct rt_rq *rq);

/*
 * core_grow - leave the few slots for good; that is to copy them
 *
 * Return: whether there were few.
 */
bool core_grow(struct rt_rq *rq);

/** core_add - a new, dormant task of this CPU; 0 or -ENOSPC */
int core_add(struct rt_rq *rq, RT_TASK *task);

/** core_remove - forget a task; it is dead or dormant */
void core_remove(struct rt_rq *rq, RT_TASK *task);

/** core_kill - whatever it was doing, it is DEAD afterwards */
void core_kill(struct rt_rq *rq, RT_TASK *task);

/** core_check_periodic - the errno of rt_task_make_periodic() for these arguments */
int core_check_periodic(RTIME start, RTIME period);

/** core_check_deadline, core_check_budget - likewise */
int core_check_deadline(RTIME relative);
int core_check_budget(RTIME budget, int action);

/** core_set_priority - see rt_task_set_priority(); 0, -EINVAL, or what admit says */
int core_set_priority(struct rt_rq *rq, RT_TASK *task, int priority);

/** core_set_deadline - see rt_task_set_deadline(); 0, -EINVAL, or what admit says */
int core_set_deadline(struct rt_rq *rq, RT_TASK *task, RTIME relative);

/** core_set_budget - see rt_task_set_budget(); 0 or -EINVAL */
int core_set_budget(RT_TASK *task, RTIME budget, int action);

/** core_make_periodic - see rt_task_make_periodic(); 0 or what admit says */
int core_make_periodic(struct rt_rq *rq, RT_TASK *task, RTIME start, RTIME period, RTIME now);

/** core_check_sporadic, core_make_sporadic - see rt_task_make_sporadic(); likewise */
int core_check_sporadic(RTIME interval);
int core_make_sporadic(struct rt_rq *rq, RT_TASK *task, RTIME interval);

/** core_requeue - @task's inherited urgency has changed */
void core_requeue(struct rt_rq *rq, RT_TASK *task);

/** core_budget_due - the budget of rq->curr may be used up; its timer is still queued */
void core_budget_due(struct rt_rq *rq, RTIME now);

/*
 * core_budget_settle - @task owns no mutex any more: it is held up for what it took beyond its
 * budget
 *
 * Any state, any of the CPU's tasks.
 */
void core_budget_settle(struct rt_rq *rq, RT_TASK *task, RTIME now);

/*
 * core_budget_note - rq->curr is about to end its job: count it if the budget was used up
 *
 * For a CPU that cannot interrupt a job, so that core_budget_due() comes too late.
 */
void core_budget_note(struct rt_rq *rq, RTIME now);

/*
 * core_watch_due - have RT tasks kept Linux from the CPU for too long?
 *
 * Then the one is stopped that has had the CPU for longest since it last waited for anything, and
 * wants more. Tasks that a budget holds up come last, and the owner of a mutex gets as much time
 * again. O(tasks), and rare.
 */
void core_watch_due(struct rt_rq *rq, RTIME now);

/** core_next_stopped - a task that was stopped, each once; NULL: no more. O(tasks) */
RT_TASK *core_next_stopped(struct rt_rq *rq);

/** core_release - @task's timer is due: a release, or the end of its sleep; it is still queued */
void core_release(struct rt_rq *rq, RT_TASK *task);

/*
 * core_release_due - core_release() for all that are due, up to the first timer for anything else
 *
 * Return: that timer, which is due and still queued; or NULL: nothing more is due.
 */
struct rt_timer *core_release_due(struct rt_rq *rq, RTIME now);

/*
 * core_wait - the job of rq->curr is done
 *
 * Return: 0, -ETIMEDOUT (the next one has begun, late), -EPERM (not periodic).
 */
int core_wait(struct rt_rq *rq, RTIME now);

/*
 * core_block - rq->curr waits, with its job, until core_unblock() or @until (RT_NO_DEADLINE: none)
 */
void core_block(struct rt_rq *rq, RTIME until);

/** core_sleep - the same until the moment @until, which the caller waits for the rest of */
void core_sleep(struct rt_rq *rq, RTIME until);

/** core_unblock - @task, which is blocked, goes on with its job */
void core_unblock(struct rt_rq *rq, RT_TASK *task);

/** core_suspend - @self: by the task's own code; the task may go on if !suspended then */
void core_suspend(struct rt_rq *rq, RT_TASK *task, bool self);

/** core_wakeup - see rt_task_wakeup(); 0, or -EAGAIN: for the next one to do */
int core_wakeup(struct rt_rq *rq, RT_TASK *task, RTIME now);

/** core_wake_stopped - if a Linux process wants it, it goes on; else the wake-up is kept */
void core_wake_stopped(struct rt_rq *rq, RT_TASK *task, RTIME now, bool by_linux);

/*
 * core_pick - who runs now? Sets rq->curr, and accounts for the time of the one before.
 *
 * Ejects a policy that names a task that cannot run, or none while one is ready; that keeps a task
 * waiting for too long; or one of whose operations has taken too long too often in a row. The
 * built-in policy stays.
 *
 * Return: a task that is queued, or NULL.
 */
RT_TASK *core_pick(struct rt_rq *rq, RTIME now);

/*
 * core_pick_released - the same after a release
 *
 * If that has interrupted Linux, which is common, it executes few bytes, one behind the other.
 */
RT_TASK *core_pick_released(struct rt_rq *rq, RTIME now);

/*
 * core_swap - give the CPU's tasks to another policy, which admits them
 *
 * O(tasks), and O(log tasks) for each that is ready. What tasks inherit counts as the most urgent
 * until it is worked out anew, so that no owner of a mutex is held up meanwhile: afterwards
 * core_rekey(), then sync_sort() and sync_inherit().
 */
void core_swap(struct rt_rq *rq, const struct rt_sched_ops *ops);

/*
 * core_rekey - have the policy say the keys of tasks that wait for others
 * @task: where to begin in the list of tasks
 * @count: how many to look at
 *
 * Return: where to go on, or NULL.
 */
RT_TASK *core_rekey(struct rt_rq *rq, RT_TASK *task, unsigned int count);

/** core_admits - would @ops take all tasks, and say so in time? NULL, or the first it refuses */
const RT_TASK *core_admits(struct rt_rq *rq, const struct rt_sched_ops *ops);

/** core_complete_ops - check a policy and fill what it omits; 0 or -EINVAL */
int core_complete_ops(struct rt_sched_ops *full, const struct rt_sched_ops *ops);

/** core_state_name - for people */
const char *core_state_name(const struct rt_rq *rq, const RT_TASK *task);

#endif
