/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one way from RT code into Linux: post a function that Linux runs, in
 * hard-irq context, as soon as it has (its virtual) interrupts enabled.
 *
 * irq_work is made for NMIs, and to Linux RT code is an NMI: the queue is
 * lock-free and the self-IPI is a pending Linux interrupt like any other.
 */
#ifndef _RT_POST_H
#define _RT_POST_H

#include <linux/irq_work.h>

struct rt_post {
	struct irq_work work;
};

/**
 * rt_post_init - prepare a post
 * @post: the post; must stay allocated until rt_post_sync()
 * @fn: called with @post in Linux hard-irq context on the posting CPU
 *
 * Context: any.
 */
static inline void rt_post_init(struct rt_post *post, void (*fn)(struct rt_post *post))
{
	init_irq_work(&post->work, (void (*)(struct irq_work *))fn);
}

/**
 * rt_post_init_hard - prepare a post whose function runs in hard-irq context on PREEMPT_RT, too
 * @post: as above
 * @fn: as above; it may take raw locks only. That kernel runs those of rt_post_init() in a thread.
 *
 * Context: any.
 */
static inline void rt_post_init_hard(struct rt_post *post, void (*fn)(struct rt_post *post))
{
	post->work = IRQ_WORK_INIT_HARD((void (*)(struct irq_work *))fn);
}

/**
 * rt_post - have Linux call the post's function soon
 * @post: the post; posting one that is pending already is one call
 *
 * Context: any; wait-free.
 * Return: true if it was not pending yet.
 */
static inline bool rt_post(struct rt_post *post)
{
	return irq_work_queue(&post->work);
}

/**
 * rt_post_sync - wait until a post's function is not running or pending
 * @post: the post; on PREEMPT_RT one that is not hard takes a grace period of RCU, which is ticks
 *
 * Context: Linux process; may sleep.
 */
static inline void rt_post_sync(struct rt_post *post)
{
	irq_work_sync(&post->work);
}

#endif
