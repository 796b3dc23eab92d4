// SPDX-License-Identifier: GPL-2.0-only
/*
 * FIFO figures, with the module fifo_wake and FIFO 0, which is 16 MiB. Prints lines of
 * "name value [value]", times in ns; under --icount, instructions.
 *
 *	read SIZE PIPE RTF	one read() of SIZE bytes
 *	drain SIZE PIPE MMAP	1 MB in records of SIZE, each looked at, per record
 *	wake RTF EVENTFD	median of the time from the put, or signal, to user space
 *	wakemax RTF EVENTFD	the longest
 *	stall QUIET READING	the longest put of 64 bytes, Linux idle, and in the middle of reads
 */
#include "fifo_check/fifo_check.h"
#include <sys/eventfd.h>

#define PIPE_BYTES 65536
#define WAKES 300

const char *test_name = "speed";

static int wake_fd;
static char buf[1 << 20];
static volatile long sink;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void command(const char *format, int a, int b)
{
	char line[64];
	int len = snprintf(line, sizeof(line), format, a, b);

	CHECK_EQ(write(wake_fd, line, len), len);
}

static void told(uint64_t *at, uint64_t *puts, uint64_t *min, uint64_t *max)
{
	char text[100] = "";
	unsigned long long v[4];

	CHECK(read(wake_fd, text, sizeof(text) - 1) > 0);
	CHECK_EQ(sscanf(text, "%llu %llu %llu %llu", v, v + 1, v + 2, v + 3), 4);
	*at = v[0];
	*puts = v[1];
	*min = v[2];
	*max = v[3];
}

/* ns per record to empty @fd of PIPE_BYTES, by reads of @size; the records are looked at. */
static uint64_t drain_by_read(int fd, int size)
{
	uint64_t begin = now_ns();
	int n;

	for (n = 0; n < PIPE_BYTES; n += size) {
		CHECK_EQ(read(fd, buf, size), size);
		sink += *(volatile long *)buf;
	}
	return (now_ns() - begin) * size / PIPE_BYTES;
}

static uint64_t of_pipe(int size)
{
	uint64_t least = UINT64_MAX;
	int p[2], i;

	CHECK_EQ(pipe(p), 0);
	CHECK_EQ(fcntl(p[1], F_SETPIPE_SZ, PIPE_BYTES), PIPE_BYTES);
	for (i = 0; i < 5; i++) {
		uint64_t took;

		CHECK_EQ(write(p[1], buf, PIPE_BYTES), PIPE_BYTES);
		took = drain_by_read(p[0], size);
		least = took < least ? took : least;
	}
	close(p[0]);
	close(p[1]);
	return least;
}

/* The RT side puts that much again; at the rate of 64 bytes each 20 us. */
static void refill(int fd)
{
	int there;

	command("stall 20", 0, 0);
	do {
		nap(0.001);
		CHECK_EQ(ioctl(fd, FIONREAD, &there), 0);
	} while (there < PIPE_BYTES);
	command("stop", 0, 0);
}

static uint64_t of_rtf(int fd, int size)
{
	uint64_t least = UINT64_MAX;
	int i;

	for (i = 0; i < 5; i++) {
		uint64_t took;

		refill(fd);
		took = drain_by_read(fd, size);
		least = took < least ? took : least;
		ioctl(fd, RTF_IOC_FLUSH);
	}
	return least;
}

static uint64_t of_mmap(int fd, int size)
{
	uint64_t least = UINT64_MAX;
	const struct rtf_map *map;
	struct rtf_layout l;
	int i;

	CHECK_EQ(ioctl(fd, RTF_IOC_CLAIM, &l), 0);
	map = mmap(NULL, l.index_bytes + 2ul * l.data_bytes, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(map != MAP_FAILED);
	for (i = 0; i < 5; i++) {
		uint64_t begin, took;
		struct rtf_consume c;
		const char *at;
		uint32_t n;

		refill(fd);
		begin = now_ns();
		c.from = __atomic_load_n(&map->tail, __ATOMIC_ACQUIRE);
		c.bytes = __atomic_load_n(&map->head, __ATOMIC_ACQUIRE) - c.from;
		at = (const char *)map + l.index_bytes + (c.from & (l.data_bytes - 1));
		for (n = 0; n < c.bytes; n += size)
			sink += *(volatile long *)(at + n);
		CHECK_EQ(ioctl(fd, RTF_IOC_CONSUME, &c), 0);
		took = (now_ns() - begin) * size / c.bytes;
		least = took < least ? took : least;
	}
	CHECK_EQ(munmap((void *)map, l.index_bytes + 2ul * l.data_bytes), 0);
	CHECK_EQ(ioctl(fd, RTF_IOC_RELEASE), 0);
	return least;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* From the moment before the put, or the signal, to user space after the read. */
static void wakes(int fd, uint64_t *median, uint64_t *longest)
{
	static uint64_t took[WAKES];
	uint64_t at, unused, woken;
	int i;

	for (i = 0; i < WAKES; i++) {
		CHECK_EQ(read(fd, buf, 8), 8);
		woken = now_ns();
		told(&at, &unused, &unused, &unused);
		took[i] = woken - at;
	}
	command("stop", 0, 0);
	qsort(took, WAKES, sizeof(*took), by_value);
	*median = took[WAKES / 2];
	*longest = took[WAKES - 1];
}

int main(void)
{
	static const int sizes[] = { 64, 4096 };
	uint64_t a, b, c, d, at, puts, min, quiet, reading;
	int fd, event, i, there;

	wake_fd = open("/proc/fifo_wake", O_RDWR);
	CHECK(wake_fd >= 0);
	fd = dev(0, O_RDWR);
	event = eventfd(0, 0);
	CHECK(fd >= 0 && event >= 0);
	memset(buf, 1, sizeof(buf));

	for (i = 0; i < 2; i++) {
		uint64_t pipe_ns = of_pipe(sizes[i]);

		printf("read %d %lu %lu\n", sizes[i], pipe_ns, of_rtf(fd, sizes[i]));
		printf("drain %d %lu %lu\n", sizes[i], pipe_ns, of_mmap(fd, sizes[i]));
	}
	ioctl(fd, RTF_IOC_FLUSH);

	command("fifo 1000", 0, 0);
	wakes(fd, &a, &b);
	command("eventfd %d %d", event, 1000);
	wakes(event, &c, &d);
	printf("wake %lu %lu\nwakemax %lu %lu\n", a, c, b, d);

	/* What is 4 MB long to copy is being copied when most of the puts come. */
	ioctl(fd, RTF_IOC_FLUSH);
	command("stall 20", 0, 0);
	nap(0.01);			/* past the wrap of the index */
	command("stall 20", 0, 0);
	nap(0.05);
	told(&at, &puts, &min, &quiet);
	CHECK(puts > 1000);
	command("stop", 0, 0);
	while (ioctl(fd, FIONREAD, &there) == 0 && there < 4 << 20) {
		command("stall 2", 0, 0);
		nap(0.02);
	}
	command("stall 20", 0, 0);
	for (i = 0; i < 4; i++)
		CHECK_EQ(read(fd, buf, sizeof(buf)), sizeof(buf));
	told(&at, &puts, &min, &reading);
	command("stop", 0, 0);
	CHECK(puts > 100);
	printf("stall %lu %lu\nputs %lu\n", quiet, reading, puts);
	return 0;
}
