/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RT-FIFOs inside: what the files of this module share.
 *
 *   ring.[ch]   one ring: put, get, resize. Pure.
 *   rtside.c    rtf_put, rtf_get: the RT end
 *   chardev.c   /dev/rtfN: the Linux end
 *   fifo.c      the table of FIFOs; create, destroy, resize, handlers
 *   ioctl.c     its ioctls
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
 * Locking order: rtf_table_lock; then, of one FIFO, handler_lock; out.lock; in.lock.
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

#define RTF_MAX_FIFOS 1024

/* One direction of a FIFO, with its Linux users. */
struct rtf_end {
	struct ring ring;
	struct mutex lock;		/* the Linux users of the ring; held for copies only */
	wait_queue_head_t wait;
	struct rt_post post;		/* from the RT side: wake up who waits */
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
	struct module *owner;		/* destroyed with it; NULL: nobody's */
	bool dead;			/* destroyed; set once, under handler_lock */
	u32 piece;			/* writes of up to so many bytes are not split */
	atomic_t openers;
	atomic_t syncers;		/* processes in fsync() */
	struct fasync_struct *fasync;

	struct mutex handler_lock;	/* held while the handler runs */
	int (*handler)(unsigned int fifo);
	struct task_struct *handler_task;	/* who runs it now */
};

/* An open file. */
struct rtf_file {
	struct rtf *f;
	u32 lowat;			/* at so much data it wants to know */
};

extern unsigned int rtf_count;		/* FIFO numbers there are */
extern struct rtf *rtf_table[RTF_MAX_FIFOS];	/* by number; NULL: does not exist */

struct rtf *rtf_find(unsigned int fifo);
void rtf_release(struct rtf *f);
int rtf_resize_this(struct rtf *f, u32 size);
int rtf_run_handler(struct rtf *f);
int rtf_table_init(unsigned int count);
void rtf_table_exit(void);

int rtf_chardev_init(void);
void rtf_chardev_exit(void);

long rtf_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

int rtf_status_init(void);
void rtf_status_exit(void);

/*
 * Sleeping and waking
 *
 * Who sleeps on a ring first queues itself on end->wait, then says in *end->want
 * at how much data (or space) it wants to be woken, then looks at the ring once
 * more. The RT end first moves its index, then looks at *end->want. With a full
 * barrier (E) between the two steps on either side, at least one of them sees the
 * other: no wake-up is lost.
 *
 * *end->want is lowered by sleepers, cleared by the post's function before it wakes
 * them all; who is not satisfied says so again. So a burst of puts costs one
 * interrupt of Linux, and a ring nobody waits for none.
 */

/* Linux end, queued on end->wait: ask for a wake-up at @bytes. */
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
