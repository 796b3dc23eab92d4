// SPDX-License-Identifier: GPL-2.0-only
/* Shared memory, from processes: each case by its name; "ok NAME" for each that holds. As root. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tactus/shm.h>

#define ALL "/sys/kernel/tactus/shm"
#define HEADER "name\tbytes\tmode\tuid\tgid\tmodules\tfiles\n"

#define CHECK(condition) do {							\
		if (!(condition)) {						\
			printf("%s:%d: %s, errno %d\n", __FILE__, __LINE__, #condition, errno); \
			exit(1);						\
		}								\
	} while (0)
#define CHECK_ERR(call, why) do {						\
		errno = 0;							\
		CHECK((long)(call) == -1 && errno == (why));			\
	} while (0)

struct shared {
	unsigned long ticks, in, sum;
};

static char *text_of(const char *path)
{
	static char text[4096];
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	CHECK(n >= 0);
	text[n] = 0;
	close(fd);
	return text;
}

static int nothing_left(void)
{
	return !strcmp(text_of(ALL), HEADER);
}

static int control(int flags)
{
	int fd = open("/dev/rtshmctl", flags | O_CLOEXEC);

	CHECK(fd >= 0);
	return fd;
}

static int create(const char *name, unsigned long bytes, unsigned int mode)
{
	struct rtshm_new want = { .bytes = bytes, .mode = mode };
	int fd = control(O_RDWR), why;

	memcpy(want.name, name, strnlen(name, sizeof(want.name)));
	if (!ioctl(fd, RTSHM_IOC_CREATE, &want))
		return fd;
	why = errno;
	close(fd);
	errno = why;
	return -1;
}

static void *map(int fd, unsigned long bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

/* What the test module's call returns. */
static int in_kernel(const char *call)
{
	int fd = open("/proc/shm_test", O_WRONLY), ret;

	CHECK(fd >= 0);
	ret = write(fd, call, strlen(call));
	close(fd);
	return ret < 0 ? -1 : 0;
}

/* A child's exit status. */
static int child(int (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(fn());
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void bad_input(void)
{
	struct rtshm_new want = { .name = "x", .bytes = 1, .mode = 0600, .reserved = 1 };
	int fd, ro = control(O_RDONLY);
	__u64 bytes;

	CHECK_ERR(create("", 1, 0600), EINVAL);
	CHECK_ERR(create(".x", 1, 0600), EINVAL);
	CHECK_ERR(create("a/b", 1, 0600), EINVAL);
	CHECK_ERR(create("a!b", 1, 0600), EINVAL);
	CHECK_ERR(create("\xe4", 1, 0600), EINVAL);
	CHECK_ERR(create("0123456789012345678901234567890123", 1, 0600), EINVAL);
	CHECK_ERR(create("x", 0, 0600), EINVAL);
	CHECK_ERR(create("x", 1, 01000), EINVAL);
	CHECK_ERR(create("x", (64 << 20) + 1, 0600), ENOSPC);
	CHECK_ERR(create("x", ~0ul, 0600), ENOSPC);
	CHECK_ERR(ioctl(ro, RTSHM_IOC_CREATE, &want), EACCES);
	close(ro);
	fd = control(O_RDWR);
	CHECK_ERR(ioctl(fd, RTSHM_IOC_CREATE, &want), EINVAL);
	CHECK_ERR(ioctl(fd, RTSHM_IOC_CREATE, 1), EFAULT);
	CHECK_ERR(ioctl(fd, RTSHM_IOC_BYTES, &bytes), ENODEV);
	CHECK_ERR(ioctl(fd, _IO(0xED, 9)), ENOTTY);
	CHECK_ERR(map(fd, 4096), ENODEV);
	CHECK(nothing_left());
	want.reserved = 0;
	CHECK(!ioctl(fd, RTSHM_IOC_CREATE, &want));
	CHECK_ERR(ioctl(fd, RTSHM_IOC_CREATE, &want), EBUSY);
	CHECK_ERR(create("x", 1, 0600), EEXIST);
	CHECK_ERR(ioctl(fd, RTSHM_IOC_BYTES, 1), EFAULT);
	CHECK(!ioctl(fd, RTSHM_IOC_BYTES, &bytes) && bytes == 1);
	CHECK_ERR(map(fd, 4097), EINVAL);
	CHECK_ERR(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 4096), EINVAL);
	CHECK_ERR(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 1L << 62), EINVAL);
	CHECK_ERR(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0), EINVAL);
	CHECK(!strcmp(text_of(ALL), HEADER "x\t1\t600\t0\t0\t0\t1\n"));
	close(fd);
}

static int as_stranger(void)
{
	int fd;

	CHECK(!setgid(1000) && !setuid(1000));
	CHECK_ERR(open("/dev/rtshm/secret", O_RDONLY), EACCES);
	CHECK_ERR(open("/dev/rtshm/public", O_RDWR), EACCES);
	CHECK_ERR(open("/dev/rtshmctl", O_RDWR), EACCES);
	fd = open("/dev/rtshm/public", O_RDONLY);
	CHECK(fd >= 0);
	CHECK_ERR(map(fd, 4096), EACCES);
	char *memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(memory != MAP_FAILED && memory[7] == 'p');
	CHECK_ERR(mprotect(memory, 4096, PROT_READ | PROT_WRITE), EACCES);
	CHECK_ERR(mremap(memory, 4096, 8192, MREMAP_MAYMOVE), EFAULT);
	return 0;
}

static int as_owner(void)
{
	struct stat st;
	int fd;

	CHECK(!setgid(1001) && !setuid(1002));
	fd = create("theirs", 10, 0640);
	CHECK(fd >= 0 && !stat("/dev/rtshm/theirs", &st));
	CHECK(st.st_uid == 1002 && st.st_gid == 1001 && (st.st_mode & 07777) == 0640);
	CHECK(strstr(text_of(ALL), "theirs\t10\t640\t1002\t1001\t0\t1\n"));
	return 0;
}

static void permissions(void)
{
	int secret = create("secret", 4096, 0600), public = create("public", 8192, 0644);
	char *memory = map(public, 8192);

	CHECK(secret >= 0 && memory != MAP_FAILED && !memory[8191]);
	memory[7] = 'p';
	CHECK(!child(as_stranger));
	CHECK(!chmod("/dev/rtshmctl", 0666));
	CHECK(!child(as_owner));
	CHECK(!chmod("/dev/rtshmctl", 0600));
	CHECK_ERR(access("/dev/rtshm/theirs", F_OK), ENOENT);
	munmap(memory, 8192);
	close(secret);
	close(public);
}

static void killed(void)
{
	int ready[2], status, turn;
	char byte;
	pid_t pid;

	for (turn = 0; turn < 3; turn++) {
		CHECK(!pipe(ready));
		pid = fork();
		if (!pid) {
			CHECK(rt_shm_map("killed", 100000, 0600));
			CHECK(write(ready[1], "x", 1) == 1);
			pause();
		}
		CHECK(read(ready[0], &byte, 1) == 1);
		CHECK(!access("/dev/rtshm/killed", F_OK) && !nothing_left());
		kill(pid, SIGKILL);
		CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
		CHECK_ERR(access("/dev/rtshm/killed", F_OK), ENOENT);
		CHECK(nothing_left());
		close(ready[0]);
		close(ready[1]);
	}
}

static char *inherited;

static int uses_it(void)
{
	CHECK(inherited[0] == 'a');
	inherited[0] = 'b';
	return 0;
}

static void lifetime(void)
{
	int fd = create("life", 4096, 0600);

	inherited = map(fd, 4096);
	close(fd);
	CHECK(!access("/dev/rtshm/life", F_OK));
	inherited[0] = 'a';
	CHECK(!child(uses_it));
	CHECK(inherited[0] == 'b');
	munmap(inherited, 4096);
	CHECK_ERR(access("/dev/rtshm/life", F_OK), ENOENT);
}

static void limit(void)
{
	int half = create("half", 32 << 20, 0600), rest;

	CHECK(half >= 0);
	CHECK_ERR(create("more", (32 << 20) + 1, 0600), ENOSPC);
	rest = create("rest", 32 << 20, 0600);
	CHECK(rest >= 0);
	CHECK_ERR(create("byte", 1, 0600), ENOSPC);
	close(half);
	close(rest);
	for (int i = 0; i < 5; i++) {
		half = create("half", 32 << 20, 0600);
		CHECK(half >= 0);
		close(half);
	}
}

static void library(void)
{
	char *first = rt_shm_map("lib", 5000, 0600), *second = rt_shm_map("lib", 0, 0);

	CHECK(first && second && first != second);
	first[4999] = 'x';
	CHECK(second[4999] == 'x');
	CHECK(!rt_shm_map("lib", 5001, 0600) && errno == EINVAL);
	CHECK(!rt_shm_map("none", 1, 0) && errno == ENOENT);
	CHECK(!rt_shm_map("a/b", 1, 0600) && errno == EINVAL);
	CHECK(!rt_shm_map(NULL, 1, 0600) && errno == EINVAL);
	CHECK(rt_shm_unmap(first) == 0 && rt_shm_unmap(first) == -EINVAL);
	CHECK(!access("/dev/rtshm/lib", F_OK));
	CHECK(rt_shm_unmap(second) == 0);
}

static void modules(void)
{
	volatile struct shared *shared;
	unsigned long before;

	CHECK(!system("modprobe shm_test"));
	shared = rt_shm_map("shm_test", sizeof(*shared), 0);
	CHECK(shared);
	CHECK(!strcmp(text_of(ALL), HEADER "shm_test\t24\t644\t0\t0\t1\t1\n"));
	shared->in = 3;
	before = shared->ticks;
	while (shared->ticks < before + 20)
		;
	shared->in = 0;
	usleep(3000);
	CHECK(shared->sum % 3 == 0 && shared->sum >= 57 && shared->sum <= 3 * shared->ticks);

	CHECK_ERR(in_kernel("create .x 1 600"), EINVAL);
	CHECK_ERR(in_kernel("create x 0 600"), EINVAL);
	CHECK_ERR(in_kernel("create x 1 1000"), EINVAL);
	CHECK_ERR(in_kernel("create shm_test 1 600"), EEXIST);
	CHECK_ERR(in_kernel("create x 67108865 600"), ENOSPC);
	CHECK_ERR(in_kernel("create 0123456789012345678901234567890123 1 600"), EINVAL);
	CHECK_ERR(in_kernel("attach shm_test 25"), EINVAL);
	CHECK_ERR(in_kernel("attach none 1"), ENOENT);
	CHECK_ERR(in_kernel("detach"), EINVAL);
	CHECK(!in_kernel("rt"));
	CHECK(!in_kernel("attach shm_test 24") && !in_kernel("detach"));
	CHECK(strstr(text_of(ALL), "shm_test\t24\t644\t0\t0\t1\t1\n"));

	/* A process's segment stays while a module holds it. */
	char *ours = rt_shm_map("ours", 1, 0600);
	CHECK(ours && !in_kernel("attach ours 1"));
	CHECK(!rt_shm_unmap(ours) && strstr(text_of(ALL), "ours\t1\t600\t0\t0\t1\t0\n"));
	CHECK(!in_kernel("detach") && !strstr(text_of(ALL), "ours"));
	CHECK_ERR(in_kernel("detach"), EINVAL);
	CHECK(!in_kernel("create kept 1 600"));

	CHECK(!syscall(SYS_delete_module, "shm_test", O_NONBLOCK));
	CHECK(!strcmp(text_of(ALL), HEADER "shm_test\t24\t644\t0\t0\t0\t1\n"));
	before = shared->ticks;
	usleep(3000);
	CHECK(shared->ticks == before);
	CHECK_ERR(syscall(SYS_delete_module, "rtshm", O_NONBLOCK), EWOULDBLOCK);
	CHECK(!rt_shm_unmap((void *)shared));
}

#define CASES(do)								\
	do(bad_input) do(permissions) do(killed) do(lifetime) do(limit) do(library) do(modules)

#define RUN(name) { setbuf(stdout, NULL); name(); CHECK(nothing_left()); puts("ok " #name); }

int main(void)
{
	CASES(RUN)
	CHECK(!syscall(SYS_delete_module, "rtshm", O_NONBLOCK));
	CHECK_ERR(access("/dev/rtshmctl", F_OK), ENOENT);
	CHECK(!rt_shm_map("x", 1, 0600) && errno == ENODEV);
	puts("ok unloaded");
	return 0;
}
