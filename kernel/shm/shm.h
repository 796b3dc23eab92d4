/* SPDX-License-Identifier: GPL-2.0-only */
/* rtshm's own. See <rt/shm.h> and <uapi/tactus/shm.h>. */
#ifndef _SHM_SHM_H
#define _SHM_SHM_H

#include <linux/device.h>
#include <linux/idr.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <rt/shm.h>

/* Segments at a time. */
#define RTSHM_MOST 1024

/*
 * struct shm - a segment; all but what never changes belongs to shm_mutex
 * @node: in shm_all
 * @holds: struct hold of each attachment by a module
 * @files: open files; a mapping has one of them
 * @minor: of its node; not used again for a million segments, so no open() can meet another
 * @device: the node
 */
struct shm {
	struct list_head node, holds;
	unsigned int files;
	int minor;
	struct device *device;
	/* Constant: */
	char name[RTSHM_NAME_MAX + 1];
	size_t bytes;
	void *memory;
	unsigned int mode;
	kuid_t uid;
	kgid_t gid;
};

struct hold {
	struct list_head node;
	struct module *owner;
};

extern struct mutex shm_mutex;
extern struct list_head shm_all;
extern unsigned long shm_max_bytes;

/**
 * shm_new - a segment with nobody to hold it; shm_mutex held
 * @want: checked here
 * @uid: the node's
 * @gid: likewise
 * @account: charge the memory to the caller's control group
 *
 * Return: it, or ERR_PTR as rt_shm_create_for().
 */
struct shm *shm_new(const struct rtshm_new *want, kuid_t uid, kgid_t gid, bool account);

/** shm_of_minor - the segment of a node, or NULL; shm_mutex held */
struct shm *shm_of_minor(unsigned int minor);

/** shm_settle - end the segment if nobody holds it; shm_mutex held */
void shm_settle(struct shm *s);

/** shm_segments_exit - end what modules left */
void shm_segments_exit(void);

/** shm_segments_init - watch modules go. Return: 0 or -errno. */
int shm_segments_init(void);

/* The nodes: of all, of one. 0 or -errno. */
int shm_nodes_init(void);
void shm_nodes_exit(void);
int shm_node_add(struct shm *s);
void shm_node_remove(struct shm *s);

#endif
