/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * librtf: RT-FIFOs for programs. A FIFO is a file descriptor; read(), write(), poll() and
 * fsync() do what they do with a pipe, and here is the rest. See librtf(3).
 *
 * Functions that return int return -1 and set errno on failure; what each errno
 * means stands in rtf(4).
 */
#ifndef _TACTUS_RTF_H
#define _TACTUS_RTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* From the checkout or from where `make install` put it. */
#if __has_include(<tactus/fifo.h>)
#include <tactus/fifo.h>
#else
#include "uapi/tactus/fifo.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Open FIFO @fifo: a number ("3"), a name ("motor"), or a path. @flags as of open(2). */
int rtf_open(const char *fifo, int flags);

/* Needs CAP_SYS_RESOURCE. @fifo -1: any number; @name NULL: none. Returns the number. */
int rtf_create(int fifo, uint32_t size_bytes, uint32_t record_bytes, const char *name);
int rtf_destroy(int fifo);

int rtf_get_stats(int fd, struct rtf_stats *stats);
int rtf_resize(int fd, uint32_t size_bytes);		/* CAP_SYS_RESOURCE */
int rtf_set_record(int fd, uint32_t record_bytes);	/* CAP_SYS_RESOURCE */
int rtf_set_lowat(int fd, uint32_t bytes);
int rtf_flush(int fd);					/* returns bytes forgotten */

/* Move exactly @count bytes, however often that takes; fewer only at the end of the FIFO. */
ssize_t rtf_read_all(int fd, void *buf, size_t count);
ssize_t rtf_write_all(int fd, const void *buf, size_t count);

/* A zero-copy reader: the only one of its FIFO. One thread at a time. */
struct rtf_reader;

/* NULL on failure; keeps fd, the caller closes it */
struct rtf_reader *rtf_map(int fd);
int rtf_unmap(struct rtf_reader *reader);
const struct rtf_layout *rtf_layout(const struct rtf_reader *reader);

/* What there is to read, in one piece, oldest first. It does not wait: poll() does. */
const void *rtf_look(struct rtf_reader *reader, size_t *bytes);

/* Has what rtf_look() returned last been left alone so far, and not been overwritten? */
bool rtf_intact(const struct rtf_reader *reader);

/* Done with the first @bytes of it. errno ESTALE: it was overwritten meanwhile. */
int rtf_consume(struct rtf_reader *reader, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
