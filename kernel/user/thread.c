// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread's way to RT mode and back.
 *
 * The thread sleeps in read() for as long as it is in RT mode. That alone keeps the process and its
 * memory in being: exit, exec, signals and debuggers have to get it out of there first, and what
 * gets it out is this code. It is read() because that hands all 64 bits of its result on: they
 * become the thread's rax.
 */
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/uaccess.h>
#include "exec/life.h"
#include "exec/objects.h"
#include "exec/ring3.h"
#include "pipeline/pipeline.h"
#include "user.h"

#define STACK_BYTES 8192
/* How soon a thread notices that its task is no more, should nobody have told it. */
#define LOOK (HZ / 10)

/* ---- RT mode ---- */

/* The task's kernel half: once to ring 3, never to return. */
static void begin(int unused)
{
	struct thread *t = container_of(rt_task_self(), struct thread, task);

	pl_hard_save();
	/* The recall was before its first release. */
	while (READ_ONCE(t->stray))
		rt_task_suspend(&t->task);
	WRITE_ONCE(t->where, IN_RING3);
	pl_ring3_go(&t->regs, rt_ring3_top(&t->task));
	/* Not reached. */
	for (;;)
		cpu_relax();
}

/* It came back by itself: why? */
static unsigned int own_end(const struct thread *t)
{
	return t->left ? RT_END_LEAVE : t->end.trap ? RT_END_TRAP : RT_END_SYSCALL;
}

static u64 number_of(const struct thread *t, unsigned int reason)
{
	return reason == RT_END_TRAP ? t->end.vector : reason == RT_END_SYSCALL ? t->end.nr : 0;
}

void thread_end(struct thread *t, const struct pt_regs *regs)
{
	unsigned int reason = own_end(t);

	t->regs = *regs;
	t->ended = true;
	rt_ring3_demoted(&t->task, reason, number_of(t, reason), regs->ip);
	/* Others need not wait until Linux gets to it. */
	rt_mtx_abandon();
	rt_post(&t->over);
	while (READ_ONCE(t->ended))
		rt_task_suspend(&t->task);
}

/* ---- Linux's side ---- */

/* Linux, hard irq, also with PREEMPT_RT. */
static void wake(struct rt_post *post)
{
	complete(&container_of(post, struct thread, over)->done);
}

/* On the task's CPU, in Linux: so no RT task runs there now, and this one never again. */
static void recall(void *arg)
{
	struct thread *t = arg;

	rt_task_suspend(&t->task);
}

/* When it returns, the task does not run any more. It cannot fail: a CPU with RT tasks stays. */
static void recall_now(struct thread *t)
{
	smp_call_function_single(t->task.cpu, recall, t, 1);
}

void thread_stray(struct thread *t, unsigned long addr)
{
	lockdep_assert_held(&t->process->lock);
	if (!t->in_rt || t->stray)
		return;
	WRITE_ONCE(t->stray, addr ?: 1);
	/* The memory is Linux's when this returns: what RT code wrote there later would be lost. */
	recall_now(t);
	complete(&t->done);
}

/* The calling thread, of which the process has none yet; its mutex is held. NULL: no memory. */
static struct thread *add_calling(struct process *p)
{
	struct thread *t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);

	if (!t)
		return NULL;
	t->process = p;
	t->pid = get_task_pid(current, PIDTYPE_PID);
	t->ring3.ops = &user_ops;
	/* Of others PREEMPT_RT waits for the end only by waiting for RCU, three ticks. */
	rt_post_init_hard(&t->over, wake);
	init_completion(&t->done);
	spin_lock(&p->lock);
	list_add(&t->node, &p->threads);
	spin_unlock(&p->lock);
	return t;
}

struct thread *thread_find(struct process *p)
{
	struct thread *t, *next, *mine = NULL;

	mutex_lock(&p->mutex);
	list_for_each_entry_safe(t, next, &p->threads, node) {
		struct task_struct *alive;

		rcu_read_lock();
		alive = pid_task(t->pid, PIDTYPE_PID);
		rcu_read_unlock();
		if (alive == current) {
			mine = t;
		} else if (!alive) {
			spin_lock(&p->lock);
			list_del(&t->node);
			spin_unlock(&p->lock);
			thread_free(t);
		}
	}
	if (!mine)
		mine = add_calling(p);
	mutex_unlock(&p->mutex);
	return mine;
}

void thread_free(struct thread *t)
{
	put_pid(t->pid);
	kfree(t);
}

/* A thread's name as a task's may be. */
static void make_graphic(char *name)
{
	for (char *c = name; *c; c++)
		if (!isascii(*c) || !isgraph(*c))
			*c = '_';
}

static int make_task(struct thread *t, const char **why)
{
	char name[TASK_COMM_LEN];
	int err;

	get_task_comm(name, current);
	make_graphic(name);
	err = rt_task_make(&t->task, begin, 0, STACK_BYTES, t->attr.priority,
			   *name ? name : "user");
	if (err) {
		*why = err == -EINVAL ? "the priority is not 1 to 1000000" :
		       "the executive takes no more tasks on this CPU";
		return err;
	}
	if (t->attr.cpu >= 0)
		err = rt_task_set_cpu(&t->task, t->attr.cpu);
	if (err)
		*why = "that CPU cannot take an RT task";
	if (!err) {
		err = rt_task_set_deadline(&t->task, t->attr.deadline_ns);
		if (err)
			*why = "the deadline is out of range, or the set of tasks would not fit";
	}
	if (!err) {
		err = rt_task_set_budget(&t->task, t->attr.budget_ns, RT_BUDGET_STOP);
		if (err)
			*why = "the budget is out of range, or the set of tasks would not fit";
	}
	if (err)
		rt_task_delete(&t->task);
	return err;
}

/* The first release not yet due of those that there are since the first; or now, if so wished. */
static RTIME first_release(const struct rt_attr *attr)
{
	RTIME now = rt_get_time();

	if (!attr->start_ns)
		return now + attr->period_ns;
	if (attr->start_ns > now)
		return attr->start_ns;
	if (attr->flags & RT_START_NOW)
		return now;
	return attr->start_ns + ((now - attr->start_ns) / attr->period_ns + 1) * attr->period_ns;
}

/* It does not run any more: with what registers does the thread go on, and why? */
static unsigned int come_back(struct thread *t)
{
	bool stopped = READ_ONCE(t->task.stopped);

	if (t->ended)
		return own_end(t);
	if (t->where != NOT_BEGUN)
		t->regs = *rt_ring3_regs(&t->task);
	if (t->where == AT_OBJECT)
		t->regs.ax = call_over(t);
	/* A change of memory is no reason to disturb the program: it asks again, as a thread. */
	else if (t->where != IN_RING3)
		t->regs.ax = t->stray && !stopped && !signal_pending(current) ? -ENOSYS : -EINTR;
	return stopped ? RT_END_STOPPED : t->stray ? RT_END_MEMORY : RT_END_SIGNAL;
}

static void note(struct thread *t, unsigned int reason)
{
	struct rt_stat *stat = &t->stat;

	stat->demotions[reason]++;
	stat->ip = t->regs.ip;
	stat->vector = stat->address = stat->error_code = stat->nr = 0;
	if (reason == RT_END_TRAP) {
		stat->vector = t->end.vector;
		stat->address = t->end.address;
		stat->error_code = t->end.error_code;
	} else if (reason == RT_END_SYSCALL) {
		stat->nr = t->end.nr;
	} else if (reason == RT_END_MEMORY) {
		stat->address = t->stray;
	}
	WRITE_ONCE(stat->reason, reason);
	if (!t->ended)
		rt_ring3_demoted(&t->task, reason, 0, t->regs.ip);
	if (reason == RT_END_LEAVE)
		return;
	spin_lock(&t->process->lock);
	t->last = (struct demotion) {
		.when = rt_get_time(), .pid = pid_nr(t->pid), .reason = reason,
		.number = number_of(t, reason), .address = stat->address, .ip = stat->ip,
	};
	strscpy(t->last.task, t->task.name, sizeof(t->last.task));
	spin_unlock(&t->process->lock);
	demotion_keep(&t->last);
}

static void tell(struct thread *t, unsigned int reason)
{
	bool stray = reason == RT_END_SYSCALL || reason == RT_END_TRAP || reason == RT_END_MEMORY;

	if (stray && t->attr.flags & RT_DEMOTE_ABORT)
		send_sig(SIGABRT, current, 1);
	else if (reason == RT_END_STOPPED || (stray && t->attr.flags & RT_DEMOTE_SIGNAL))
		send_sig(SIGXCPU, current, 1);
}

static void set_in_rt(struct thread *t, bool in_rt)
{
	spin_lock(&t->process->lock);
	t->in_rt = in_rt;
	if (in_rt)
		shadow_follow(t->shadow);
	/* What has changed since the shadow was made has told nobody. */
	if (in_rt && t->shadow->stale)
		thread_stray(t, 1);
	spin_unlock(&t->process->lock);
}

static void sleep_in_rt(struct thread *t)
{
	long left;

	do
		left = wait_for_completion_interruptible_timeout(&t->done, LOOK);
	while (!left && !READ_ONCE(t->task.stopped) && !READ_ONCE(t->task.faulted));

	recall_now(t);
	rt_post_sync(&t->over);
}

long thread_run(struct thread *t, struct rt_enter __user *at, const char **why)
{
	struct pt_regs *regs = task_pt_regs(current);
	unsigned int reason;
	int err;

	err = make_task(t, why);
	if (err)
		return err;
	err = share_take(t);
	if (err) {
		*why = "the user's tasks would have more of the CPU than user_budget allows";
		goto err_task;
	}
	t->shadow = process_shadow(t->process, &t->stat.pages_ns);
	if (IS_ERR(t->shadow)) {
		err = PTR_ERR(t->shadow);
		*why = err == -EAGAIN ?
			       "the process has more memory than RLIMIT_MEMLOCK lets it pin" :
		       err == -EINTR ? "a signal came" :
				       "there is not enough memory";
		goto err_task;
	}
	*why = "there is not enough memory";
	err = ports_take(t);
	if (err)
		goto err_shadow;
	t->view = (struct view) {};
	t->stat.pages = t->shadow->pages;
	t->stat.huge_pages = t->shadow->huge_pages;
	t->regs = *regs;
	t->regs.ax = sizeof(struct rt_enter);
	t->regs.orig_ax = -1;
	t->where = NOT_BEGUN;
	t->ended = t->left = false;
	t->stray = 0;
	reinit_completion(&t->done);
	t->ring3.state.cr3 = __sme_pa(t->shadow->pgd);
	rt_ring3_attach(&t->task, &t->ring3, &t->over);
	t->attr.start_ns = first_release(&t->attr);
	err = put_user(t->attr.start_ns, &at->attr.start_ns);
	*why = "the memory of struct rt_enter cannot be written";
	if (err)
		goto err_shadow;
	t->stat.reason = RT_END_NONE;
	set_in_rt(t, true);
	err = rt_task_make_periodic(&t->task, t->attr.start_ns, t->attr.period_ns);
	if (err) {
		set_in_rt(t, false);
		*why = err == -EINVAL ? "the period is not 5 us to 1 h" :
		       "the set of tasks would not fit, or the policy refuses it";
		goto err_shadow;
	}
	*why = NULL;
	t->stat.promotions++;
	sleep_in_rt(t);
	set_in_rt(t, false);

	reason = come_back(t);
	note(t, reason);
	rt_ring3_detach(&t->task);
	/* They are not restarted, nor looked at as those of a system call. */
	*regs = t->regs;
	regs->orig_ax = -1;
	rt_task_delete(&t->task);
	share_give(t);
	ports_give(t);
	shadow_put(t->shadow);
	tell(t, reason);
	return regs->ax;

err_shadow:
	ports_give(t);
	shadow_put(t->shadow);
	process_refused(t->process);
err_task:
	share_give(t);
	rt_task_delete(&t->task);
	return err;
}
