/* SPDX-License-Identifier: GPL-2.0-only */
/* What the load's main program and its workers share. */
#ifndef _LOAD_H
#define _LOAD_H

#include <stdint.h>
#include <sys/types.h>

/*
 * In memory that all processes share; each counter has one writer and is read only
 * when that writer is dead.
 */
struct load_done {
	uint64_t forks;
	uint64_t pipe_bytes;
	uint64_t gzip_bytes;
	uint64_t disk_bytes;
	uint64_t serial_bytes;
};

struct load_options {
	const char *self;	/* path of this program, to be executed by the fork worker */
	const char *disk;	/* directory, or block device that may be overwritten */
	const char *serial;	/* terminal device of a real UART */
	char *irqoff;		/* comma-separated contexts of /proc/hog; NULL: none */
	unsigned int gap_ms;	/* pause between two sections */
};

/* A worker never returns: it works until it is killed, or exits when it cannot. */
typedef void load_worker(const struct load_options *options, struct load_done *done);

load_worker load_fork, load_pipe, load_gzip, load_disk, load_serial, load_irqoff;

/* Print to stderr, with errno's text, and exit with 1. */
void load_fail(const char *what) __attribute__((noreturn));

/* Write all of it or fail. */
void load_write(int fd, const void *data, size_t size, const char *what);

#endif
