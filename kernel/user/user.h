/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tactus_user: threads of ordinary processes as RT tasks in ring 3.
 *
 *	main.c		/dev/rt, checks
 *	status.c	files about programs; how much of a CPU a user has
 *	thread.c	to RT mode and back
 *	calls.c		RT calls
 *	ports.c		ports of I/O that Linux lets a thread use
 *	objects.c	semaphores, mutexes, mailboxes, condition variables, events
 *	shadow.c	page tables of RT mode
 *	process.c	one shadow a process, renewed when the process's memory has changed
 */
#ifndef _TACTUS_USER_H
#define _TACTUS_USER_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rt/fifo.h>
#include <rt/post.h>
#include <rt/sync.h>
#include <rt/task.h>
#include <uapi/tactus/rt.h>
#include "pipeline/ring3.h"

/* ---- shadow.c ---- */

/**
 * struct changes - of a process's memory, beside whoever fills a shadow with it
 * @lock: guards the rest; what is entered is entered under it
 * @open: how many have begun and not ended
 * @none: waits for none
 * @from: what is being pinned
 * @to: its end
 * @hit: some of that changes
 * @shadows: how many of that memory have pages pinned, stale ones included
 */
struct changes {
	spinlock_t lock;	/* see above */
	unsigned int open;
	wait_queue_head_t none;
	unsigned long from, to;
	bool hit;
	atomic_t shadows;
};

void changes_init(struct changes *c);
/* Of [@from, @to). Context: Linux, the memory's notifier; each that begins ends. */
void changes_begin(struct changes *c, unsigned long from, unsigned long to);
void changes_end(struct changes *c);

/**
 * struct shadow - an address space of RT mode: a process's pages, pinned, at its addresses
 * @ref: the process's, and each thread's in RT mode
 * @mm: whose
 * @changes: of that
 * @pgd: the page tables' top
 * @tables: all others, linked by their pages
 * @pages: how many pages are in it
 * @huge_pages: how many of 2 MiB; each counts as 512 in @pages
 * @stale: the process's memory is not what it was
 */
struct shadow {
	struct kref ref;
	struct mm_struct *mm;
	struct changes *changes;
	u64 *pgd;
	struct list_head tables;
	unsigned long pages, huge_pages;
	bool stale;
};

/* So many pages are pinned at a time: what one of the lowest tables has. */
#define SHADOW_PINS 512

/*
 * shadow_new - an empty one, of @mm; before its use comes shadow_follow()
 *
 * Context: Linux process; may sleep. Return: NULL: no memory.
 */
struct shadow *shadow_new(struct mm_struct *mm, struct changes *changes);

/*
 * shadow_fill - add whatever of the process's memory is not in it yet
 * @pages: room to pin them in
 *
 * Each page is allocated, pinned, and charged to RLIMIT_MEMLOCK.
 *
 * Context: a thread of the process; sleeps.
 * Return: 0, -ENOMEM, -EAGAIN (RLIMIT_MEMLOCK), -EINTR.
 */
int shadow_fill(struct shadow *s, struct page *pages[SHADOW_PINS]);

/** shadow_put - one user less; the last one unpins all. Context: Linux process; sleeps. */
void shadow_put(struct shadow *s);

/** shadow_follow - the kernel's half is what the process's is now. Context: Linux. */
void shadow_follow(struct shadow *s);

/** shadow_touches - is any page of [@from, @to) in it? Context: Linux. */
bool shadow_touches(const struct shadow *s, unsigned long from, unsigned long to);

/** shadow_at - where the kernel has the byte at @addr, or NULL. Context: any. */
void *shadow_at(const struct shadow *s, unsigned long addr, bool write);

/* ---- process.c ---- */

/*
 * struct process - an open /dev/rt
 * @notifier: tells of changes of its memory
 * @mm: whose
 * @mutex: guards @shadow, @threads and their making
 * @lock: guards the pointers @shadow and the list against the notifier
 * @changes: that the notifier tells of
 * @pins: room for shadow_fill(); guarded by @mutex
 * @fifos: that RT calls may use, by number
 * @objects: likewise, by place; none is taken out while it is open
 */
struct process {
	struct mmu_notifier notifier;
	struct mm_struct *mm;
	struct mutex mutex;		/* see above */
	spinlock_t lock;		/* likewise */
	struct changes changes;
	struct shadow *shadow;
	struct page **pins;
	struct list_head threads;
	struct list_head node;		/* among all, for status */
	unsigned long *fifos;
	struct object *objects[RT_OBJECTS_MOST];
	char name[RT_TASK_NAME_BYTES];
};

/* They hear of new memory. Context: Linux process; may sleep. Return: 0 or -errno. */
int process_init(void);
void process_exit(void);

/** process_new - of the caller, or an ERR_PTR. Context: Linux process; may sleep. */
struct process *process_new(void);
void process_free(struct process *p);

/*
 * process_shadow - the shadow as the process's memory is now; give it back by shadow_put()
 * @took_ns: what that took
 *
 * Context: a thread of the process; sleeps.
 * Return: it, or an ERR_PTR: what shadow_fill() says.
 */
struct shadow *process_shadow(struct process *p, u64 *took_ns);

/* process_refused - nothing stays pinned for a thread's next time, unless another is in RT mode */
void process_refused(struct process *p);

/* ---- thread.c ---- */

/**
 * struct demotion - how a thread left RT mode, if not by rt_leave()
 * @when: by rt_now(), ns
 * @pid: of the thread
 * @task: its name
 * @reason: RT_END_*
 * @number: of the system call, or of the exception's vector
 * @address: of the memory
 * @ip: the instruction
 */
struct demotion {
	s64 when;
	pid_t pid;
	char task[RT_TASK_NAME_BYTES];
	unsigned int reason;
	u64 number, address, ip;
};

/* Where the task is, if not where its registers say. */
enum where { NOT_BEGUN, IN_RING3, WAITING, AT_OBJECT };

/*
 * struct view - a page of a thread's shadow
 * @addr: where the process has it
 * @at: where the kernel has it
 * @bytes: PAGE_SIZE; 0: there is no page
 * @write: the process may write to it
 */
struct view {
	unsigned long addr, bytes;
	void *at;
	bool write;
};

/*
 * struct thread - one thread that was in RT mode, or is
 * @node: among its process's
 * @pid: the thread, for the next time
 * @regs: with which it goes there, or comes back if @ended
 * @view: of @shadow, where an RT call was last
 * @where: what is to become of its registers; written by the task, interrupts off
 * @ended: it came back by itself: @end says what for, @left: RT_CALL_LEAVE
 * @stray: its memory changed, here
 * @done: it need not be asleep any more
 * @call: number of the call that it is in, if it is AT_OBJECT
 * @message: what goes into a mailbox, or comes out
 * @flags: that it had of an event
 * @ports: a bit for each port, set if the thread may not use it, for @ports_bytes bytes; beyond it
 *	may not. NULL: no ports; @all_ports: all of them
 * @last: demotion
 * @uid: whose it is; @share: millionths of the CPU @share_cpu that it has: status.c's
 */
struct thread {
	struct list_head node;
	struct process *process;
	struct pid *pid;
	RT_TASK task;
	struct pl_ring3 ring3;
	struct shadow *shadow;
	struct view view;
	struct rt_attr attr;
	struct pt_regs regs;
	enum where where;
	bool in_rt, ended, left;
	struct pl_ring3_end end;
	unsigned long stray;
	struct rt_post over;
	struct completion done;
	struct rt_stat stat;
	unsigned long call;
	char message[RT_MBX_MAX_BYTES];
	unsigned int flags;
	unsigned long *ports;
	unsigned int ports_bytes;
	bool all_ports;
	struct demotion last;
	kuid_t uid;
	u64 share;
	int share_cpu;
};

/** thread_find - the calling thread's, made if there is none; NULL: no memory */
struct thread *thread_find(struct process *p);
void thread_free(struct thread *t);

/*
 * thread_run - the calling thread goes on in RT mode, and comes back
 * @at: user memory of a struct rt_enter, where the start is put
 * @why: a sentence if it is refused; else NULL
 *
 * Context: read() of a thread of the process; sleeps.
 * Return: what its rax is to be, or -errno with *@why set.
 */
long thread_run(struct thread *t, struct rt_enter __user *at, const char **why);

/** thread_end - the task goes on as a thread, with @regs; no return. Context: RT task, hard off. */
void thread_end(struct thread *t, const struct pt_regs *regs);

/** thread_stray - the memory at @addr has changed. Context: Linux; process->lock held. */
void thread_stray(struct thread *t, unsigned long addr);

/* ---- status.c ---- */

/* @p is among those that the files have, or no more. Context: Linux process. */
void process_show(struct process *p);
void process_hide(struct process *p);

/** process_each - @call for each of them. Context: Linux process; may sleep. */
void process_each(void (*call)(struct process *p));

/** demotion_keep - one more for the file. Context: Linux process. */
void demotion_keep(const struct demotion *d);

/**
 * share_take - the calling thread's task is to have its budget of its CPU
 * @t: with a task, which has not begun
 *
 * Context: Linux process; may sleep. Give it back by share_give().
 * Return: 0, -EDQUOT: the user's tasks would have more of that CPU than the parameter user_budget.
 */
int share_take(struct thread *t);
void share_give(struct thread *t);

/* The files in /sys/kernel/tactus. Context: Linux process; may sleep. Return: 0 or -errno. */
int status_init(void);
void status_exit(void);

/* ---- ports.c ---- */

/*
 * ports_take - what Linux lets the calling thread use is what it may use in RT mode
 *
 * Context: Linux process, the thread; may sleep. Give it back by ports_give().
 * Return: 0 or -ENOMEM.
 */
int ports_take(struct thread *t);
void ports_give(struct thread *t);

/*
 * ports_serve - carry out the port instruction at @regs, which was an exception
 *
 * Context: RT task, hard off. Return: false: it is none, or not allowed, and nothing was done.
 */
bool ports_serve(struct thread *t, struct pt_regs *regs);

/* ---- objects.c ---- */

/*
 * struct object - a semaphore, mutex, mailbox, condition variable or event, and who uses it
 * @wish: what it is
 * @owner: the user who made it, unless @by_kernel
 */
struct object {
	struct kref ref;
	struct list_head node;
	struct rt_object wish;
	kuid_t owner;
	bool by_kernel;
	union {
		struct rt_sem sem;
		struct rt_mtx mtx;
		struct rt_mbx mbx;
		struct rt_cnd cnd;
		struct rt_evt evt;
	};
	unsigned char memory[];
};

/** object_open - RT_IOC_OBJECT. Context: Linux process; may sleep. Return: its place, or -errno. */
long object_open(struct process *p, const struct rt_object __user *from);

/** object_at - at that place of the table, if it is one of @kind; else NULL. Context: any. */
struct object *object_at(const struct process *p, unsigned long place, unsigned int kind);

/** objects_close - @p uses none any more. Context: Linux process; may sleep. */
void objects_close(struct process *p);

/* RT_IOC_SEM_POST, and RT_IOC_MBX_SEND or RT_IOC_MBX_RECEIVE. Context: Linux process; may sleep. */
long object_post(const struct process *p, unsigned long place);
long object_message(const struct process *p, const struct rt_message __user *from, bool send);
/* RT_IOC_EVT_SET or RT_IOC_EVT_CLEAR. Context: likewise. */
long object_flags(const struct process *p, const struct rt_flags __user *from, bool set);

/* ---- calls.c ---- */

/*
 * call_over - what becomes of a call at an object whose task does not run any more
 *
 * It waits no longer. If it was served before, it was: nothing is lost.
 *
 * Context: Linux process.
 * Return: the call's result, -EINTR if it waited still.
 */
long call_over(struct thread *t);

extern const struct pl_ring3_ops user_ops;

#endif
