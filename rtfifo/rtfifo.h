/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RT-FIFOs inside: what the files of this module share.
 *
 *   ring.[ch]   one ring: put, get, resize. Pure.
 *   rtside.c    rtf_put, rtf_get: the RT end
 *   chardev.c   /dev/rtfN: the Linux end
 *   claim.c     its zero-copy reader
 *   ioctl.c     its ioctls
 *   nodes.c     the nodes in /dev, by number and by name, and /dev/rtfctl
 *   fifo.c      the table of FIFOs; create, destroy
 *   change.c    resize, records
 *   hooks.c     what is called when Linux uses a FIFO: handlers, filter, watch
 *   status.c    /sys/kernel/tactus/fifos
 *   main.c      module parameters, loading and unloading
 *
 * The RT end and the life of a FIFO
 *
 * RT code is to Linux what an NMI is, so it takes no lock and counts no
 * reference. Every RT operation, from looking up the number to its last access,
 * runs with this CPU's hardware interrupts off. It can therefore not be
 * pre-empted, suspended or deleted half-way, neither by Linux nor by other RT
 * code on its CPU, and a CPU that answers a Linux interrupt is not inside one.
 * rtf_sync() makes use of that: it interrupts every CPU and waits for the answers;
 * operations that began before it are then over. So rtf_destroy() clears the
 * table's entry, calls rtf_sync(), and the FIFO belongs to Linux alone;
 * rtf_resize() switches buffers in the same way. (This is RCU, with "interrupts
 * are off" as the read side; RCU's own grace periods will not do, for they take a
 * CPU that was idle when RT code interrupted it for quiescent.)
 *
 * The Linux end and the life of a FIFO
 *
 * An open file holds a reference to the FIFO it opened. A destroyed FIFO lives on,
 * dead, until its last file is closed.
 *
 * Locking order: of one FIFO, handler_lock; out.lock; in.lock; and rtf_table_lock last.
 * A process's mmap_lock comes before out.lock, and is never taken with it held.
 * rtf_table_lock is not held while waiting for handlers or CPUs. The RT end takes none.
 */
#ifndef _RTFIFO_RTFIFO_H
#define _RTFIFO_RTFIFO_H

#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <rt/fifo.h>
#include <rt/post.h>
#include "ring.h"

typedef int rtf_filter_fn(unsigned int fifo, const struct rtf_written *written);
typedef int rtf_watch_fn(unsigned int fifo, unsigned int event);
typedef void rtf_rt_handler_fn(unsigned int fifo, unsigned int events);

/* One direction of a FIFO, with its Linux users. */
struct rtf_end {
	struct ring ring;
	struct mutex lock;		/* the Linux users of the ring; held for copies only */
	struct task_struct *sleeper;	/* who sleeps in read(), if nobody did before */
	wait_queue_head_t wait;		/* all others */
	struct rt_post post;		/* from the RT side: wake up who waits */
	struct rt_post others;		/* from @post: the queue, where it cannot */
	u32 *want;			/* in the ring's index: what they wait for; 0: nothing */
};

/* The page of a FIFO that processes may see. */
struct rtf_page {
	struct ring_index out;
	struct ring_index in;
};

struct rtf {
	struct rtf_end out;		/* RT puts, Linux reads */
	struct rtf_end in;		/* Linux writes, RT gets */
	struct rtf_page *page;
	struct kref ref;
	unsigned int number;
	char name[RTF_NAME_MAX + 1];	/* of /dev/rtf/NAME; empty: none */
	struct module *owner;		/* destroyed with it; NULL: nobody's */
	bool by_user;			/* made by RTF_IOC_CREATE */
	bool loop;			/* RT code gets what RT code puts, too */
	bool dead;			/* destroyed; set once, under handler_lock */
	u32 piece;			/* writes of up to that many bytes are not split */
	atomic_t openers;
	atomic_t syncers;		/* processes in fsync() */
	struct fasync_struct *fasync;
	struct rtf_file *claimant;	/* the only one to read; changed under out.lock */
	atomic_t maps;			/* mappings of the out ring; the claimant's */

	struct mutex handler_lock;	/* held while the handler, or the watch, runs */
	int (*handler)(unsigned int fifo);
	struct task_struct *handler_task;	/* who runs it now */
	rtf_watch_fn *watch;		/* under handler_lock */
	rtf_filter_fn *filter;		/* under in.lock, held while it runs */
	struct task_struct *filter_task;	/* who runs it now */
	rtf_rt_handler_fn *rt_handler;	/* run with interrupts off: rtf_sync() waits for it */
};

/* An open file. */
struct rtf_file {
	struct rtf *f;
	u32 lowat;			/* at so much data it wants to know */
	rtf_watch_fn *told;		/* who is to be told of its closing */
};

extern unsigned int rtf_count;		/* FIFO numbers there are */
extern struct rtf *rtf_table[RTF_MAX_FIFOS];	/* by number; NULL: does not exist */

struct rtf *rtf_find(unsigned int fifo);
void rtf_release(struct rtf *f);
int rtf_create_like(struct module *owner, bool by_user, struct rtf_new *new);
struct ring_buf *rtf_buf_alloc(u32 size);
void rtf_buf_free(struct ring_buf *buf);
u32 rtf_piece(u32 size, u32 record);
int rtf_destroy_users(unsigned int fifo);
int rtf_resize_this(struct rtf *f, u32 size);
int rtf_record_new(struct rtf *f, u32 record);
int rtf_record_this(struct rtf *f, u32 record);
void rtf_sync(void);
int rtf_table_init(unsigned int count);
void rtf_table_exit(void);

void rtf_wake_end(struct rtf_end *end, __poll_t events);

bool rtf_in_filter(struct rtf *f);
bool rtf_in_hook(struct rtf *f);
void rtf_hooks_off(struct rtf *f);
void rtf_hooks_forget(struct rtf *f, struct module *mod);
int rtf_run_filter(struct rtf *f, u32 n, u32 done, u32 total);
void rtf_tell_rt(struct rtf *f, unsigned int event);
int rtf_run_handler(struct rtf *f, int how);
int rtf_tell_opened(struct rtf_file *open);
void rtf_tell_closed(struct rtf_file *open);

extern const struct file_operations rtf_fops;
int rtf_number_of_minor(unsigned int minor);
int rtf_name_node_add(const struct rtf *f);
void rtf_name_node_remove(const struct rtf *f);
int rtf_nodes_init(void);
void rtf_nodes_exit(void);

/* May this open file read? Stable with out.lock held. */
static inline bool rtf_may_read(const struct rtf_file *open)
{
	const struct rtf_file *claimant = READ_ONCE(open->f->claimant);

	return !claimant || claimant == open;
}

long rtf_claim(struct rtf_file *open, struct rtf_layout __user *to);
long rtf_unclaim(struct rtf_file *open);
long rtf_consume(struct rtf_file *open, const struct rtf_consume __user *from);
int rtf_mmap(struct file *file, struct vm_area_struct *vma);

long rtf_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

int rtf_status_init(void);
void rtf_status_exit(void);

/*
 * Sleeping and waking
 *
 * A sleeper first queues itself on end->wait, or takes the place end->sleeper, then says in
 * *end->want at how much data (or space) it wants to be woken, then looks at the ring once
 * more. The RT end first moves its index, then looks at *end->want. With a full
 * barrier (E) between the two steps on either side, at least one of them sees the
 * other: no wake-up is lost.
 *
 * *end->want is lowered by sleepers, cleared by the post's function before it wakes
 * them all; who is not satisfied says so again. So a burst of puts costs one
 * interrupt of Linux, and a ring nobody waits for none.
 */

/* Linux end, queued on end->wait, or its sleeper: ask for a wake-up at @bytes. */
static inline void rtf_want(struct rtf_end *end, u32 bytes)
{
	u32 want = READ_ONCE(*end->want);

	while (!want || want > bytes) {
		u32 seen = cmpxchg(end->want, want, bytes);

		if (seen == want)
			break;
		want = seen;
	}
	smp_mb();	/* (E): with the one in rtf_wanted() */
}

/* RT end, after it has moved its index: does anybody sleep? @want is the end's. */
static __always_inline bool rtf_wanted(const u32 *want)
{
	smp_mb();	/* (E): with the one in rtf_want() */
	return READ_ONCE(*want);
}

#endif
