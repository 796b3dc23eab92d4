// SPDX-License-Identifier: GPL-2.0-only
/*
 * Budgets, and the watchdog. See core.h.
 *
 * A budget belongs to a release moment, not to a job: each moment start + k * period pays for
 * @budget of CPU time, once. A job uses its own release's. Is that used up, the job goes on with
 * the next one's: when its moment comes (until then it is throttled), and with its deadline. This
 * is a constant bandwidth server with hard reservations for each task (Abeni & Buttazzo, RTSS 1998;
 * SCHED_DEADLINE), on the task's own grid. So
 *
 *  - a task never gets more than k + 1 budgets in k periods (its deadline is not after its period);
 *  - its demand is that of a periodic task with jobs of @budget, whatever its jobs are like: what
 *    admission found out about the others holds;
 *  - a task that keeps its budget notices nothing of all this.
 *
 * A budget that is not used lasts until the deadline of its release (at least for the period) and
 * is lost then. A job that is late because of the one before lives on what is left.
 *
 * The owner of a mutex is not held up: it goes on with the budgets of moments to come, and pays for
 * it when it owns nothing any more.
 *
 * task->grid is the release moment whose budget is being used; task->paid is what task->exec is
 * when it is used up. What exec is beyond that is a debt, which the next budget pays.
 */
#include "sched/rq.h"

int core_check_budget(RTIME budget, int action)
{
	return budget < 0 || budget > RT_PERIOD_MAX_NS || action < RT_BUDGET_COUNT ||
	       action > RT_BUDGET_STOP ? -EINVAL : 0;
}

int core_set_budget(RT_TASK *task, RTIME budget, int action)
{
	int error = core_check_budget(budget, action);

	if (error)
		return error;
	if (task->budget) {
		task->paid += budget - task->budget;
	} else {
		task->paid = task->exec - task->job_exec + budget;
		if (task->grid < task->release)
			task->grid = task->release;
	}
	task->budget = budget;
	task->budget_action = action;
	return 0;
}

/*
 * What exec is when @periods more budgets are used up: debts are paid, what is left over is lost.
 */
static RTIME paid_after(const RT_TASK *task, u64 periods)
{
	u64 owed = task->exec - task->paid, budget = task->budget;

	if (task->exec <= task->paid || (owed + budget - 1) / budget < periods)
		return task->exec + budget;
	return task->paid + periods * budget;
}

void rq_budget_begin(struct rt_rq *rq, RT_TASK *task, RTIME release)
{
	task->spent = 0;
	if (!task->period) {
		task->paid = task->exec + task->budget;
	} else if (release > task->grid) {
		/*
		 * Less than a period later there is no other budget: the task was given another
		 * start.
		 */
		if (release - task->grid >= task->period)
			task->paid = paid_after(task, (u64)(release - task->grid) / task->period);
		task->grid = release;
	}
	if (task->period && rq_budget_holds(task))
		task->deadline = rq_deadline_after(task, task->grid);
	rq->ops->release(rq, task);
}

/* From now on it lives on the budget of @grid, a later moment, and has its deadline. */
static void move_to(struct rt_rq *rq, RT_TASK *task, RTIME grid)
{
	bool queued = task->queued;
	u64 place = rq_leave(rq, task);

	task->paid = paid_after(task, (u64)(grid - task->grid) / task->period);
	task->grid = grid;
	task->deadline = rq_deadline_after(task, grid);
	rq->ops->release(rq, task);
	if (queued)
		rq_return(rq, task, place);
}

void rq_budget_again(struct rt_rq *rq, RT_TASK *task, RTIME now)
{
	RTIME next = task->grid;

	if (task->job_exec > task->max_exec)
		task->max_exec = task->job_exec;
	task->job_exec = 0;
	task->spent = 0;
	if (!rq_budget_holds(task))
		return;
	if (!task->period) {
		task->paid = task->exec + task->budget;
		return;
	}
	/* In the middle of a period others do not reckon with it. */
	if (next <= now)
		next += ((u64)(now - next) / task->period + 1) * task->period;
	if (next > task->grid)
		move_to(rq, task, next);
}

/* The first release moment, from task->grid on, whose budget is not lost. */
static RTIME live_grid(const RT_TASK *task, RTIME now)
{
	RTIME lasts = max(task->period, task->relative_deadline), over = now - task->grid - lasts;

	if (over < 0)
		return task->grid;
	return task->grid + ((u64)over / task->period + 1) * task->period;
}

/* The moment whose budget pays the last of what it owes. */
static RTIME paying_grid(const RT_TASK *task)
{
	u64 periods = (u64)(task->exec - task->paid) / task->budget + 1;

	return task->grid + min(periods, (1ULL << 61) / task->period) * task->period;
}

static void stop(struct rt_rq *rq, RT_TASK *task)
{
	task->stopped = 1;
	task->untold = 1;
	rq_dequeue(rq, task);
	rq->stopped = true;
}

RT_TASK *core_next_stopped(struct rt_rq *rq)
{
	core_assert_locked(rq);
	rq->stopped = false;
	for (RT_TASK *task = rq->tasks; task; task = task->next)
		if (task->untold) {
			task->untold = 0;
			return task;
		}
	return NULL;
}

/* Is it the job that has used too much, so that the task is to be stopped? */
static bool must_stop(const RT_TASK *task)
{
	return (task->budget_action == RT_BUDGET_STOP || !task->period) &&
	       task->job_exec >= task->budget && !READ_ONCE(task->owned);
}

static void throttle(struct rt_rq *rq, RT_TASK *task)
{
	rq_dequeue(rq, task);
	task->throttled = 1;
	task->state = CORE_BLOCKED;
	timerq_add_release(&rq->timers, &task->timer, task->grid);
}

bool rq_budget_allows(struct rt_rq *rq, RT_TASK *task, RTIME now)
{
	RTIME grid, was = task->grid;

	/* The timer, which logs it, comes at once. */
	if (!task->period || must_stop(task))
		return true;
	grid = live_grid(task, now);
	if (grid > task->grid)
		move_to(rq, task, grid);
	if (task->exec >= task->paid)
		move_to(rq, task, paying_grid(task));
	/* Another CPU may take away what it owns; core_budget_settle() follows. */
	if (task->grid > now + rq->timers.gravity.job && !READ_ONCE(task->owned)) {
		throttle(rq, task);
		return false;
	}
	return task->grid == was;
}

void rq_budget_arm(struct rt_rq *rq, RTIME now)
{
	const RT_TASK *task = rq->curr;
	RTIME left;

	if (!rq_budget_holds(task)) {
		if (task->spent)
			return;
		left = task->budget - task->job_exec;
	} else {
		left = task->paid - task->exec;
		/* That of the job comes first if the job has had the rest of another before. */
		if (must_stop(task))
			left = 0;
		else if (task->budget_action == RT_BUDGET_STOP && task->job_exec < task->budget)
			left = min(left, task->budget - task->job_exec);
	}
	timerq_add_release(&rq->timers, &rq->budget_timer, now + left);
}

void core_budget_due(struct rt_rq *rq, RTIME now)
{
	RT_TASK *task = rq->curr;

	core_assert_locked(rq);
	timerq_remove_release(&rq->timers, &rq->budget_timer);
	if (!task || task->state != CORE_READY || rq_held(task) || !task->budget)
		return;
	rq_account(rq, now);
	if (rq_budget_holds(task) ? task->exec < task->paid && !must_stop(task) :
	    task->job_exec < task->budget) {
		rq_budget_arm(rq, now);
		return;
	}
	task->budget_overruns++;
	if (!rq_budget_holds(task)) {
		task->spent = 1;
		return;
	}
	if (must_stop(task)) {
		stop(rq, task);
		return;
	}
	/* On credit; there is no grid to take it from. */
	if (!task->period)
		task->paid = task->exec + task->budget;
	if (rq_budget_allows(rq, task, now))
		rq_budget_arm(rq, now);
}

void core_budget_settle(struct rt_rq *rq, RT_TASK *task, RTIME now)
{
	core_assert_locked(rq);
	if (task->state != CORE_READY || rq_held(task) || !rq_budget_holds(task))
		return;
	if (task == rq->curr)
		rq_account(rq, now);
	if (!rq_budget_allows(rq, task, now) || task != rq->curr)
		return;		/* it is armed when the task gets the CPU */
	timerq_remove_release(&rq->timers, &rq->budget_timer);
	rq_budget_arm(rq, now);
}

void core_budget_note(struct rt_rq *rq, RTIME now)
{
	RT_TASK *task = rq->curr;

	core_assert_locked(rq);
	rq_account(rq, now);
	if (!task->budget || task->spent || task->job_exec < task->budget)
		return;
	task->budget_overruns++;
	task->spent = 1;
}

/* Is @a more to blame than @b for Linux's having got nothing? */
static bool worse(const RT_TASK *a, const RT_TASK *b)
{
	bool a_bound = rq_budget_holds(a) && a->period && !READ_ONCE(a->owned);
	bool b_bound = rq_budget_holds(b) && b->period && !READ_ONCE(b->owned);

	if (a_bound != b_bound)
		return b_bound;
	return a->exec - a->streak > b->exec - b->streak;
}

/*
 * Whoever is ready has been so since Linux lost the CPU, or became so later. NULL: nobody is to
 * blame now, since the one that was has just been stopped, or since others may be waiting for what
 * it owns.
 */
static RT_TASK *culprit(struct rt_rq *rq, RTIME now)
{
	RT_TASK *hog = NULL;

	if (!rq->curr->queued)
		return NULL;
	for (RT_TASK *task = rq->tasks; task; task = task->next)
		if (task->queued && task->exec > task->streak && (!hog || worse(task, hog)))
			hog = task;
	if (hog && READ_ONCE(hog->owned) && now - rq->linux_left < 2 * rq->watch_ns)
		return NULL;
	return hog;
}

void core_watch_due(struct rt_rq *rq, RTIME now)
{
	RT_TASK *hog;

	core_assert_locked(rq);
	timerq_remove_release(&rq->timers, &rq->watch_timer);
	if (!rq->curr)
		return;		/* rq_leave_linux() queues it again */
	if (now - rq->linux_left < rq->watch_ns) {
		timerq_add_release(&rq->timers, &rq->watch_timer, rq->linux_left + rq->watch_ns);
		return;
	}
	rq_account(rq, now);
	hog = culprit(rq, now);
	if (hog)
		stop(rq, hog);
	/* Should another take its place, that has a tenth of the time. */
	timerq_add_release(&rq->timers, &rq->watch_timer, now + rq->watch_ns / 10);
}
