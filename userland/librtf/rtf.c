// SPDX-License-Identifier: LGPL-2.1-or-later
/* librtf: see rtf.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "rtf.h"

#define CONTROL "/dev/rtfctl"

int rtf_open(const char *fifo, int flags)
{
	char path[16 + RTF_NAME_MAX];
	const char *under = "/dev/rtf/";

	if (!fifo || !*fifo) {
		errno = EINVAL;
		return -1;
	}
	if (strchr(fifo, '/'))
		return open(fifo, flags);
	/* A name may be made of digits, too; then the number wins, and a path tells them apart. */
	if (fifo[strspn(fifo, "0123456789")] == '\0')
		under = "/dev/rtf";
	if (snprintf(path, sizeof(path), "%s%s", under, fifo) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(path, flags);
}

static int control(unsigned long what, void *arg)
{
	int fd = open(CONTROL, O_RDWR | O_CLOEXEC), ret, why;

	if (fd < 0)
		return -1;
	ret = ioctl(fd, what, arg);
	why = errno;
	close(fd);
	errno = why;
	return ret;
}

int rtf_create(int fifo, uint32_t size_bytes, uint32_t record_bytes, const char *name)
{
	struct rtf_new new = { .fifo = fifo, .size = size_bytes, .record = record_bytes };

	if (name && (!*name || strlen(name) > RTF_NAME_MAX)) {
		errno = EINVAL;
		return -1;
	}
	if (name)
		strcpy(new.name, name);
	return control(RTF_IOC_CREATE, &new) ? -1 : new.fifo;
}

int rtf_destroy(int fifo)
{
	uint32_t number = fifo;

	return control(RTF_IOC_DESTROY, &number);
}

int rtf_get_stats(int fd, struct rtf_stats *stats)
{
	return ioctl(fd, RTF_IOC_STATS, stats);
}

int rtf_resize(int fd, uint32_t size_bytes)
{
	return ioctl(fd, RTF_IOC_RESIZE, &size_bytes);
}

int rtf_set_record(int fd, uint32_t record_bytes)
{
	return ioctl(fd, RTF_IOC_RECORD, &record_bytes);
}

int rtf_set_lowat(int fd, uint32_t bytes)
{
	return ioctl(fd, RTF_IOC_LOWAT, &bytes);
}

int rtf_flush(int fd)
{
	return ioctl(fd, RTF_IOC_FLUSH);
}

ssize_t rtf_read_all(int fd, void *buf, size_t count)
{
	size_t done = 0;

	while (done < count) {
		ssize_t n = read(fd, (char *)buf + done, count - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return done ? (ssize_t)done : -1;
		if (n == 0)
			break;
		done += n;
	}
	return done;
}

ssize_t rtf_write_all(int fd, const void *buf, size_t count)
{
	size_t done = 0;

	while (done < count) {
		ssize_t n = write(fd, (const char *)buf + done, count - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return done ? (ssize_t)done : -1;
		done += n;
	}
	return done;
}

struct rtf_reader {
	int fd;
	uint32_t from;			/* the tail that rtf_look() saw last */
	uint32_t bytes;			/* and how much there was */
	struct rtf_layout layout;
	const struct rtf_map *map;
	const char *data;
};

static size_t map_bytes(const struct rtf_reader *r)
{
	return r->layout.index_bytes + 2 * (size_t)r->layout.data_bytes;
}

struct rtf_reader *rtf_map(int fd)
{
	struct rtf_reader *r = calloc(1, sizeof(*r));
	void *map;
	int why;

	if (!r)
		return NULL;
	r->fd = fd;
	if (ioctl(fd, RTF_IOC_CLAIM, &r->layout))
		goto err_free;
	map = mmap(NULL, map_bytes(r), PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		goto err_claim;
	r->map = map;
	r->data = (const char *)map + r->layout.index_bytes;
	r->from = __atomic_load_n(&r->map->tail, __ATOMIC_ACQUIRE);
	return r;

err_claim:
	why = errno;
	ioctl(fd, RTF_IOC_RELEASE);
	errno = why;
err_free:
	free(r);
	return NULL;
}

int rtf_unmap(struct rtf_reader *r)
{
	int ret = munmap((void *)r->map, map_bytes(r));

	if (!ret)
		ret = ioctl(r->fd, RTF_IOC_RELEASE);
	free(r);
	return ret;
}

const struct rtf_layout *rtf_layout(const struct rtf_reader *r)
{
	return &r->layout;
}

const void *rtf_look(struct rtf_reader *r, size_t *bytes)
{
	/*
	 * tail first, so that head is not behind it; if it was overwritten between the two there
	 * seems to be more than fits, and the next look is better.
	 */
	do {
		r->from = __atomic_load_n(&r->map->tail, __ATOMIC_ACQUIRE);
		r->bytes = __atomic_load_n(&r->map->head, __ATOMIC_ACQUIRE) - r->from;
	} while (r->bytes > r->layout.size);
	*bytes = r->bytes;
	return r->data + (r->from & (r->layout.data_bytes - 1));
}

bool rtf_intact(const struct rtf_reader *r)
{
	/* What was read of the data before must not be done after this load. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&r->map->tail, __ATOMIC_ACQUIRE) == r->from;
}

int rtf_consume(struct rtf_reader *r, size_t bytes)
{
	struct rtf_consume part = { .from = r->from, .bytes = bytes };

	if (bytes > r->bytes) {
		errno = EINVAL;
		return -1;
	}
	if (ioctl(r->fd, RTF_IOC_CONSUME, &part))
		return -1;
	r->from += bytes;
	r->bytes -= bytes;
	return 0;
}
