// SPDX-License-Identifier: LGPL-2.1-or-later WITH Linux-syscall-note
/* See tactus/shm.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <tactus/shm.h>

/* What is mapped, so that nobody need know how long it is. */
struct map {
	struct map *next;
	void *memory;
	size_t bytes;
};

static struct map *maps;
static pthread_mutex_t maps_mutex = PTHREAD_MUTEX_INITIALIZER;

static int open_old(const char *name)
{
	char path[sizeof("/dev/rtshm/") + RTSHM_NAME_MAX];

	snprintf(path, sizeof(path), "/dev/rtshm/%s", name);
	return open(path, O_RDWR | O_CLOEXEC);
}

static int make(const char *name, size_t bytes, unsigned int mode)
{
	struct rtshm_new new = { .bytes = bytes, .mode = mode };
	int fd = open("/dev/rtshmctl", O_RDWR | O_CLOEXEC), why;

	if (fd < 0) {
		if (errno == ENOENT)
			errno = ENODEV;
		return -1;
	}
	strcpy(new.name, name);
	if (!ioctl(fd, RTSHM_IOC_CREATE, &new))
		return fd;
	why = errno;
	close(fd);
	errno = why;
	return -1;
}

/* Others may make it or end it in between. */
static int open_segment(const char *name, size_t bytes, unsigned int mode)
{
	int fd;

	for (;;) {
		fd = open_old(name);
		if (fd >= 0 || (errno != ENOENT && errno != ENXIO))
			return fd;
		if (!mode) {
			errno = access("/dev/rtshmctl", F_OK) ? ENODEV : ENOENT;
			return -1;
		}
		fd = make(name, bytes, mode);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
}

static void *map(int fd, size_t bytes)
{
	struct map *m = malloc(sizeof(*m));
	__u64 have;

	if (!m)
		return NULL;
	if (ioctl(fd, RTSHM_IOC_BYTES, &have))
		goto err_free;
	errno = EINVAL;
	if (bytes > have)
		goto err_free;
	m->bytes = have;
	m->memory = mmap(NULL, have, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m->memory == MAP_FAILED)
		goto err_free;
	pthread_mutex_lock(&maps_mutex);
	m->next = maps;
	maps = m;
	pthread_mutex_unlock(&maps_mutex);
	return m->memory;
err_free:
	free(m);
	return NULL;
}

void *rt_shm_map(const char *name, size_t bytes, unsigned int mode)
{
	void *memory;
	int fd, why;

	if (!name || !*name || *name == '.' || strchr(name, '/') || strlen(name) > RTSHM_NAME_MAX ||
	    mode & ~0777u || (mode && !bytes)) {
		errno = EINVAL;
		return NULL;
	}
	fd = open_segment(name, bytes, mode);
	if (fd < 0)
		return NULL;
	memory = map(fd, bytes);
	why = errno;
	close(fd);	/* the mapping holds the segment */
	errno = why;
	return memory;
}

int rt_shm_unmap(void *memory)
{
	struct map **at, *m;

	pthread_mutex_lock(&maps_mutex);
	for (at = &maps; (m = *at); at = &m->next)
		if (m->memory == memory)
			break;
	if (m)
		*at = m->next;
	pthread_mutex_unlock(&maps_mutex);
	if (!m)
		return -EINVAL;
	munmap(m->memory, m->bytes);
	free(m);
	return 0;
}
