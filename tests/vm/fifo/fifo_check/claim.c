// SPDX-License-Identifier: GPL-2.0-only
/* Names, /dev/rtfctl, and the zero-copy reader. */
#include "fifo_check.h"

static int create_by_ioctl(int ctl, int number, uint32_t size, uint32_t record, const char *name)
{
	struct rtf_new new = { number, size, record, "" };

	snprintf(new.name, sizeof(new.name), "%s", name);
	return ioctl(ctl, RTF_IOC_CREATE, &new) ? -1 : new.fifo;
}

static void not_root(int ctl)
{
	struct rtf_new new = { -1, 100, 0, "" };

	CHECK_EQ(setgroups(0, NULL), 0);
	CHECK_EQ(setgid(65534), 0);
	CHECK_EQ(setuid(65534), 0);
	CHECK_ERR(ioctl(ctl, RTF_IOC_CREATE, &new), EPERM);
	CHECK_ERR(ioctl(ctl, RTF_IOC_DESTROY, &new.size), EPERM);
	CHECK_ERR(open("/dev/rtfctl", O_RDWR), EACCES);
	CHECK_ERR(open("/dev/rtf/motor", O_RDWR), EACCES);
}

static void test_names(void)
{
	char name[80];
	struct stat st;
	int fd, old;

	CHECK_EQ(rt("linux nameless 0"), -EINVAL);
	CHECK_EQ(rt("linux named 100 a/b"), -EINVAL);
	CHECK_EQ(rt("linux named 100 .a"), -EINVAL);
	CHECK_EQ(rt("linux named 100 .."), -EINVAL);
	CHECK_EQ(rt("linux named 100 a!b"), -EINVAL);
	CHECK_EQ(rt("linux named 100 \xc3\xa4"), -EINVAL);
	CHECK_EQ(rt("linux named 100 "), -EINVAL);
	CHECK_EQ(rt("linux named 0 motor"), -EINVAL);
	memset(name, 'n', sizeof(name));
	name[RTF_NAME_MAX + 1] = 0;
	CHECK_EQ(rt("linux named 100 %s", name), -EINVAL);
	CHECK_EQ(rt("irq named 100 motor"), -EPERM);
	CHECK_EQ(rt("task find 0 motor"), -EPERM);
	CHECK_EQ(rt("linux find 0 motor"), -ENODEV);
	CHECK_ERR(stat("/dev/rtf", &st), ENOENT);

	CHECK_EQ(rt("linux create 0 100"), 0);
	CHECK_EQ(rt("linux named 100 motor"), 1);	/* the lowest that is free */
	CHECK_EQ(rt("linux find 0 motor"), 1);
	CHECK_EQ(rt("linux named 100 motor"), -EEXIST);
	CHECK_EQ(stat("/dev/rtf/motor", &st), 0);
	CHECK(S_ISCHR(st.st_mode));
	CHECK_EQ(st.st_mode & 07777, 0660);
	fd = open("/dev/rtf/motor", O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK_EQ(stats_of(fd).number, 1);
	CHECK_EQ(rt("irq put 1 hello"), 5);
	expect(fd, "hello");
	CHECK_EQ(rt("irq put 1 both"), 4);
	expect(dev(1, O_RDONLY), "both");

	CHECK_EQ(rt("linux destroy 0"), 0);
	name[RTF_NAME_MAX] = 0;
	CHECK_EQ(rt("linux named 100 %s", name), 0);
	CHECK_EQ(rt("linux destroy 1"), 0);
	CHECK_ERR(stat("/dev/rtf/motor", &st), ENOENT);
	CHECK_EQ(rt("linux find 0 motor"), -ENODEV);
	CHECK_EQ(rt("linux named 100 motor"), 1);	/* at once another, of the same name */
	old = fd;
	fd = open("/dev/rtf/motor", O_RDWR | O_NONBLOCK);
	CHECK_EQ(rt("irq put 1 new"), 3);
	CHECK_EQ(read(old, name, 10), 0);
	expect(fd, "new");
}

static void test_control(void)
{
	uint32_t number;
	struct stat st;
	int ctl, fd, i, module_fd;

	CHECK_EQ(stat("/dev/rtfctl", &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0600);
	ctl = open("/dev/rtfctl", O_RDWR);
	CHECK(ctl >= 0);
	CHECK_ERR(create_by_ioctl(ctl, 0, 0, 0, ""), EINVAL);
	CHECK_ERR(create_by_ioctl(ctl, 0, MAX_SIZE + 1, 0, ""), EINVAL);
	CHECK_ERR(create_by_ioctl(ctl, 0, 100, 101, ""), EINVAL);
	CHECK_ERR(create_by_ioctl(ctl, 0, 100, 0, "a/b"), EINVAL);
	CHECK_ERR(create_by_ioctl(ctl, NFIFOS, 100, 0, ""), ENODEV);
	CHECK_ERR(create_by_ioctl(ctl, -2, 100, 0, ""), ENODEV);
	CHECK_ERR(ioctl(ctl, RTF_IOC_CREATE, NULL), EFAULT);
	CHECK_ERR(ioctl(ctl, RTF_IOC_DESTROY, NULL), EFAULT);
	CHECK_ERR(ioctl(ctl, RTF_IOC_STATS, NULL), ENOTTY);
	CHECK_ERR(read(ctl, &i, 4), EINVAL);

	CHECK_EQ(rt("linux create 5 100"), 0);		/* a module's */
	CHECK_EQ(create_by_ioctl(ctl, 3, 96, 8, "motor"), 3);
	CHECK_EQ(create_by_ioctl(ctl, -1, 100, 0, ""), 0);
	CHECK_ERR(create_by_ioctl(ctl, 3, 100, 0, ""), EBUSY);
	CHECK_ERR(create_by_ioctl(ctl, 5, 100, 0, ""), EBUSY);
	CHECK_ERR(create_by_ioctl(ctl, -1, 100, 0, "motor"), EEXIST);
	joined(child(not_root, ctl));
	fd = open("/dev/rtf/motor", O_RDWR | O_NONBLOCK);
	CHECK(fd >= 0);
	CHECK_EQ(stats_of(fd).number, 3);
	CHECK_EQ(stats_of(fd).record, 8);
	CHECK_EQ(rt("irq put 3 12345678"), 8);
	expect(fd, "12345678");

	number = 5;
	CHECK_ERR(ioctl(ctl, RTF_IOC_DESTROY, &number), EBUSY);
	module_fd = dev(5, O_RDWR);
	CHECK_EQ(rt("irq put 5 alive"), 5);
	expect(module_fd, "alive");
	number = 1;
	CHECK_ERR(ioctl(ctl, RTF_IOC_DESTROY, &number), ENODEV);
	number = UINT32_MAX;
	CHECK_ERR(ioctl(ctl, RTF_IOC_DESTROY, &number), ENODEV);
	number = 3;
	CHECK_EQ(ioctl(ctl, RTF_IOC_DESTROY, &number), 0);
	CHECK_ERR(stat("/dev/rtf", &st), ENOENT);
	CHECK_EQ(rt("irq put 3 12345678"), -ENODEV);
	for (i = 0; i < NFIFOS - 2; i++)
		CHECK(create_by_ioctl(ctl, -1, 1, 0, "") > 0);
	CHECK_ERR(create_by_ioctl(ctl, -1, 1, 0, ""), ENOSPC);
}

static void read_busy(int fd)
{
	char byte;

	CHECK_ERR(read(fd, &byte, 1), EBUSY);
}

static long map_bytes(struct rtf_layout *l)
{
	return l->index_bytes + 2L * l->data_bytes;
}

static void *map_it(int fd, struct rtf_layout *l)
{
	return mmap(NULL, map_bytes(l), PROT_READ, MAP_SHARED, fd, 0);
}

static void test_claim(void)
{
	struct rtf_layout l;
	struct rtf_consume c = { 0, 0 };
	uint32_t record = 4, size = 200;
	int fd, other, writer;
	pid_t pid;
	void *base;

	CHECK_EQ(rt("linux create 0 100"), 0);
	fd = dev(0, O_RDWR);
	other = dev(0, O_RDWR);
	writer = dev(0, O_WRONLY);
	CHECK_ERR(ioctl(writer, RTF_IOC_CLAIM, &l), EBADF);
	CHECK_ERR(ioctl(fd, RTF_IOC_RELEASE), EPERM);
	CHECK_ERR(ioctl(fd, RTF_IOC_CONSUME, &c), EPERM);
	CHECK_ERR(ioctl(fd, RTF_IOC_CONSUME, NULL), EFAULT);
	l = (struct rtf_layout){ 4096, 4096, 100, 0 };
	CHECK_ERR((long)map_it(fd, &l), EPERM);

	pid = child(read_busy, other);			/* asleep when it happens */
	nap(0.05);
	CHECK(still_there(pid));
	CHECK_EQ(ioctl(fd, RTF_IOC_CLAIM, &l), 0);
	joined(pid);
	CHECK_EQ(l.index_bytes, 4096);
	CHECK_EQ(l.data_bytes, 4096);
	CHECK_EQ(l.size, 100);
	CHECK_EQ(l.record, 0);
	CHECK_EQ(ioctl(fd, RTF_IOC_CLAIM, &l), 0);	/* once more is no harm */
	CHECK_ERR(ioctl(other, RTF_IOC_CLAIM, &l), EBUSY);
	CHECK_ERR(ioctl(other, RTF_IOC_FLUSH), EBUSY);
	CHECK_ERR(ioctl(other, RTF_IOC_RELEASE), EPERM);
	CHECK_ERR(ioctl(fd, RTF_IOC_RESIZE, &size), EBUSY);
	CHECK_ERR(ioctl(fd, RTF_IOC_RECORD, &record), EBUSY);
	CHECK_EQ(rt("linux resize 0 200"), -EBUSY);
	CHECK_EQ(rt("linux record 0 4"), -EBUSY);
	CHECK_ERR((long)map_it(other, &l), EBUSY);
	CHECK_EQ(events(other, POLLIN), POLLERR);
	read_busy(other);
	CHECK_EQ(write(other, "abc", 3), 3);		/* writing is not reading */
	rt_expect("irq", 0, "abc");
	CHECK_EQ(rt("irq put 0 hello"), 5);
	expect(fd, "hello");				/* the claimant may read as ever */

	CHECK_ERR((long)mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0), EINVAL);
	CHECK_ERR((long)mmap(NULL, map_bytes(&l), PROT_READ, MAP_PRIVATE, fd, 0), EINVAL);
	CHECK_ERR((long)mmap(NULL, map_bytes(&l), PROT_READ, MAP_SHARED, fd, 4096), EINVAL);
	CHECK_ERR((long)mmap(NULL, map_bytes(&l), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
		  EACCES);
	base = map_it(fd, &l);
	CHECK(base != MAP_FAILED);
	CHECK_ERR(mprotect(base, 4096, PROT_READ | PROT_WRITE), EACCES);
	CHECK_ERR((long)mremap(base, map_bytes(&l), 2 * map_bytes(&l), MREMAP_MAYMOVE), EFAULT);
	CHECK_ERR(ioctl(fd, RTF_IOC_RELEASE), EBUSY);	/* it is mapped */
	CHECK_EQ(munmap(base, 4096), 0);
	CHECK_ERR(ioctl(fd, RTF_IOC_RELEASE), EBUSY);	/* most of it */
	CHECK_EQ(munmap((char *)base + 4096, map_bytes(&l) - 4096), 0);
	CHECK_EQ(ioctl(fd, RTF_IOC_RELEASE), 0);
	CHECK_EQ(ioctl(other, RTF_IOC_CLAIM, &l), 0);
	close(other);					/* gives it back */
	CHECK_EQ(ioctl(fd, RTF_IOC_RESIZE, &size), 0);
	CHECK_EQ(rt("irq put 0 hello"), 5);
	expect(fd, "hello");
}

/* A long stream, read where it lies, in one piece each time. */
static void test_mapped(void)
{
	struct rtf_layout l;
	struct rtf_consume c;
	const struct rtf_map *map;
	uint32_t k = 0, i, head, total = 300000;
	const uint8_t *data;
	int fd;

	CHECK_EQ(rt("linux create 0 3000"), 0);
	fd = dev(0, O_RDONLY);
	CHECK_EQ(ioctl(fd, RTF_IOC_CLAIM, &l), 0);
	map = map_it(fd, &l);
	if (map == MAP_FAILED)
		FAIL("mmap: %s", strerror(errno));
	CHECK_EQ(map->head, map->tail);
	c = (struct rtf_consume){ map->tail, 1 };
	CHECK_ERR(ioctl(fd, RTF_IOC_CONSUME, &c), EINVAL);
	c = (struct rtf_consume){ map->tail + 1, 0 };
	CHECK_ERR(ioctl(fd, RTF_IOC_CONSUME, &c), ESTALE);
	rt("rtspace");
	CHECK_EQ(rt("linux rthandler 0 1"), 0);
	CHECK_EQ(rt("out 0 777 100 %u", total), 0);
	while (k < total) {
		struct pollfd p = { fd, POLLIN, 0 };

		CHECK_EQ(poll(&p, 1, 5000), 1);
		CHECK_EQ(p.revents, POLLIN);
		head = __atomic_load_n(&map->head, __ATOMIC_ACQUIRE);
		c = (struct rtf_consume){ map->tail, head - map->tail };
		CHECK(c.bytes && c.bytes <= l.size);
		data = (uint8_t *)map + l.index_bytes + (c.from & (l.data_bytes - 1));
		for (i = 0; i < c.bytes; i++, k++)
			CHECK_EQ(data[i], stream_byte(k));
		CHECK_EQ(ioctl(fd, RTF_IOC_CONSUME, &c), 0);
		CHECK_EQ(map->tail, head);
	}
	CHECK_EQ(rt("streamed"), total);
	CHECK(rt("rtspace") > 0);
	/* What is there at the end can be read when the FIFO is gone. */
	CHECK_EQ(rt("irq put 0 last"), 4);
	CHECK_EQ(rt("linux destroy 0"), 0);
	c = (struct rtf_consume){ map->tail, map->head - map->tail };
	CHECK_EQ(c.bytes, 4);
	CHECK_EQ(memcmp((char *)map + l.index_bytes + (c.from & 4095), "last", 4), 0);
	CHECK_EQ(ioctl(fd, RTF_IOC_CONSUME, &c), 0);
	CHECK_EQ(events(fd, POLLIN), POLLIN | POLLHUP);
}

/* Overwritten while they are read, records are known to be void; the others are whole. */
static void test_mapped_overwritten(void)
{
	struct rtf_layout l;
	const struct rtf_map *map;
	uint32_t stale = 0, whole = 0, i;
	int fd;

	CHECK_EQ(rt("linux create 0 800"), 0);
	CHECK_EQ(rt("linux record 0 8"), 0);
	fd = dev(0, O_RDONLY);
	CHECK_EQ(ioctl(fd, RTF_IOC_CLAIM, &l), 0);
	CHECK_EQ(l.record, 8);
	map = map_it(fd, &l);
	if (map == MAP_FAILED)
		FAIL("mmap: %s", strerror(errno));
	CHECK_EQ(rt("overstream 0 400 50 %d", 400 * 4000), 0);
	/* Until both have been seen, or the stream is over. */
	while ((whole < 20000 || !stale) && rt("streamed") < 400 * 4000) {
		uint32_t tail = __atomic_load_n(&map->tail, __ATOMIC_ACQUIRE);
		uint32_t n = __atomic_load_n(&map->head, __ATOMIC_ACQUIRE) - tail;
		struct rtf_consume c = { tail, n };
		uint8_t copy[800];

		if (!n || n > l.size)
			continue;
		CHECK_EQ(n % 8, 0);
		memcpy(copy, (char *)map + l.index_bytes + (tail & (l.data_bytes - 1)), n);
		/* A slow reader, for once: long enough for the ring to be overwritten. */
		if (whole > 1000 && !stale)
			usleep(5000);
		if (__atomic_load_n(&map->tail, __ATOMIC_ACQUIRE) != tail) {
			CHECK_ERR(ioctl(fd, RTF_IOC_CONSUME, &c), ESTALE);
			stale++;
			continue;
		}
		for (i = 0; i < n; i++)
			CHECK_EQ(copy[i], copy[i & ~7] ^ (i & 7));
		whole += n / 8;
		if (ioctl(fd, RTF_IOC_CONSUME, &c)) {
			CHECK_EQ(errno, ESTALE);
			stale++;
		}
	}
	CHECK(whole > 1000);
	CHECK(stale > 0);
}

const struct test claim_tests[] = {
	TEST(names), TEST(control), TEST(claim), TEST(mapped), TEST(mapped_overwritten),
	{}
};
