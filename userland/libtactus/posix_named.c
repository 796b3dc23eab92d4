// SPDX-License-Identifier: LGPL-2.1-or-later WITH Linux-syscall-note
/* Memory that processes share by a name: files in /dev/shm, which appear whole or not at all. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "posix.h"

#define FOLDER "/dev/shm/tactus-"
#define PATH_BYTES (NAME_MAX + 32)
/* What is left of a file's name for "tactus-sem.". */
#define BARE_MOST (NAME_MAX - 16)

const char *named_check(const char *name, bool slash_wanted)
{
	const char *bare = name;

	errno = EINVAL;
	if (slash_wanted && *name != '/')
		return NULL;
	while (*bare == '/')
		bare++;
	if (slash_wanted && !*bare)
		errno = ENOENT;
	if (!*bare)
		return NULL;
	if (slash_wanted && (strchr(bare, '/') || bare > name + 1))
		errno = EACCES;
	if (strchr(bare, '/') || (slash_wanted && bare > name + 1))
		return NULL;
	errno = ENAMETOOLONG;
	return strlen(bare) > BARE_MOST ? NULL : bare;
}

static void path_of(char path[PATH_BYTES], const char *kind, const char *name)
{
	snprintf(path, PATH_BYTES, FOLDER "%s.%s", kind, name);
}

int named_find(const char *kind, const char *name)
{
	char path[PATH_BYTES];
	int fd;

	path_of(path, kind, name);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

static int fill(int fd, const void *start, size_t start_bytes, size_t bytes)
{
	/* Now, as a page that is not to be had later would be a SIGBUS. */
	int err = posix_fallocate(fd, 0, bytes);

	if (err)
		return -err;
	return pwrite(fd, start, start_bytes, 0) == (ssize_t)start_bytes ? 0 : -EIO;
}

int named_make(const char *kind, const char *name, mode_t mode, const void *start,
	       size_t start_bytes, size_t bytes)
{
	static _Atomic unsigned int count;
	char path[PATH_BYTES], fresh[PATH_BYTES], own[32];
	int fd, err;

	snprintf(own, sizeof(own), "%d.%u", getpid(), count++);
	path_of(fresh, "new", own);
	path_of(path, kind, name);
	unlink(fresh);		/* of a process that was killed there, and had our number */
	fd = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	err = fill(fd, start, start_bytes, bytes);
	if (!err && link(fresh, path))
		err = -errno;
	unlink(fresh);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int named_unlink(const char *kind, const char *name)
{
	char path[PATH_BYTES];

	path_of(path, kind, name);
	return unlink(path) ? -errno : 0;
}

int named_open(const struct named_way *way, const char *name, int how, void *arg, bool *made)
{
	int fd;

	/* Again if somebody else makes it at this moment. */
	do {
		fd = named_find(way->kind, name);
		if (fd >= 0 && is_anew(how)) {
			close(fd);
			return -EEXIST;
		}
		if (fd != -ENOENT)
			return fd;
		if (way->theirs(arg))
			return -EEXIST;
		if (how & O_CREAT)
			fd = way->make(arg);
	} while (fd == -EEXIST && !is_anew(how));
	*made = fd >= 0;
	return fd;
}

void *named_map(int fd, size_t least, struct stat *stat)
{
	void *memory;

	if (fstat(fd, stat) || stat->st_size < (off_t)least)
		return NULL;
	memory = mmap(NULL, stat->st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

void named_channel(char name[CHANNEL_BYTES], const struct stat *stat, char which)
{
	snprintf(name, CHANNEL_BYTES, "px%x.%llx.%c", minor(stat->st_dev),
		 (unsigned long long)stat->st_ino, which);
}
