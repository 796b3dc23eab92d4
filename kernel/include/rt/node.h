/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a thing must contain to be in one of the executive's queues.
 */
#ifndef _RT_NODE_H
#define _RT_NODE_H

/**
 * struct rt_node - a place in a queue; zero-initialise before first use
 *
 * A node is in one queue at a time.
 */
struct rt_node {
	/* private: */
	unsigned int place;	/* counted from 1; 0: in no queue */
};

#endif
