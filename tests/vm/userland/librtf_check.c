// SPDX-License-Identifier: GPL-2.0-only
/* librtf against /dev/rtfN, with the module fifo_test as the RT side; prints "ok librtf". */
#include "../fifo/fifo_check/fifo_check.h"
#include <tactus/rtf.h>

const char *test_name = "librtf";

static void files(void)
{
	struct rtf_stats s;
	char bytes[100];
	int fd, n;

	CHECK_ERR(rtf_open(NULL, O_RDWR), EINVAL);
	CHECK_ERR(rtf_open("", O_RDWR), EINVAL);
	CHECK_ERR(rtf_open("0", O_RDWR), ENODEV);
	CHECK_ERR(rtf_open("motor", O_RDWR), ENOENT);
	CHECK_ERR(rtf_open("a-name-that-is-longer-than-any-that-a-fifo-may-have", O_RDWR), ENAMETOOLONG);
	CHECK_ERR(rtf_create(-1, 100, 0, ""), EINVAL);
	CHECK_ERR(rtf_create(-1, 100, 0, "a-name-that-is-longer-than-any-o"), EINVAL);
	CHECK_ERR(rtf_create(-1, 0, 0, "motor"), EINVAL);
	n = rtf_create(-1, 100, 0, "motor");
	CHECK_EQ(n, 0);
	fd = rtf_open("motor", O_RDWR | O_NONBLOCK);
	CHECK(fd >= 0);
	close(rtf_open("0", O_RDWR));
	close(rtf_open("/dev/rtf0", O_RDWR));
	CHECK_EQ(rtf_get_stats(fd, &s), 0);
	CHECK_EQ(s.number, 0);
	CHECK_EQ(s.openers, 1);
	CHECK_EQ(rtf_resize(fd, 50), 0);
	CHECK_EQ(rt("irq fill 0 51"), -ENOSPC);
	CHECK_EQ(rt("irq put 0 abcdef"), 6);
	CHECK_EQ(rtf_set_lowat(fd, 7), 0);
	CHECK_EQ(events(fd, POLLIN), 0);
	CHECK_ERR(rtf_set_lowat(fd, 51), EINVAL);
	CHECK_EQ(rtf_read_all(fd, bytes, 4), 4);
	CHECK_EQ(memcmp(bytes, "abcd", 4), 0);
	CHECK_EQ(rtf_flush(fd), 2);
	CHECK_EQ(rtf_set_record(fd, 8), 0);
	CHECK_ERR(rtf_write_all(fd, "abc", 3), EINVAL);
	CHECK_EQ(rtf_write_all(fd, "abcdefgh", 8), 8);
	rt_expect("irq", 0, "abcdefgh");
	CHECK_EQ(rt("irq put 0 12345678"), 8);
	CHECK_EQ(rtf_destroy(0), 0);
	CHECK_ERR(rtf_destroy(0), ENODEV);
	CHECK_EQ(rtf_read_all(fd, bytes, 100), 8);	/* to the end */
	CHECK_ERR(rtf_write_all(fd, "abcdefgh", 8), EPIPE);
	close(fd);
}

static void reader(void)
{
	struct rtf_reader *r;
	uint32_t k = 0, i;
	const uint8_t *at;
	size_t n;
	int fd, other;

	CHECK_EQ(rt("linux create 1 3000"), 0);
	fd = rtf_open("1", O_WRONLY);
	CHECK(!rtf_map(fd));
	CHECK_EQ(errno, EBADF);
	close(fd);
	fd = rtf_open("1", O_RDONLY);
	other = rtf_open("1", O_RDONLY);
	r = rtf_map(fd);
	CHECK(r);
	CHECK(!rtf_map(other));
	CHECK_EQ(errno, EBUSY);
	CHECK_EQ(rtf_layout(r)->size, 3000);
	rtf_look(r, &n);
	CHECK_EQ(n, 0);
	CHECK_ERR(rtf_consume(r, 1), EINVAL);
	CHECK_EQ(rt("out 1 900 200 60000"), 0);
	while (k < 60000) {
		struct pollfd p = { fd, POLLIN, 0 };

		CHECK_EQ(poll(&p, 1, 5000), 1);
		at = rtf_look(r, &n);
		CHECK(n);
		for (i = 0; i < n; i++)
			CHECK_EQ(at[i], stream_byte(k + i));
		CHECK(rtf_intact(r));
		CHECK_EQ(rtf_consume(r, n / 3), 0);	/* in two steps */
		CHECK_EQ(rtf_consume(r, n - n / 3), 0);
		k += n;
	}
	CHECK_EQ(rt("irq fill 1 3000"), 3000);
	at = rtf_look(r, &n);
	CHECK_EQ(n, 3000);
	CHECK_EQ(rt("irq over 1 new"), 3);
	CHECK(!rtf_intact(r));
	CHECK_ERR(rtf_consume(r, 10), ESTALE);
	at = rtf_look(r, &n);
	CHECK_EQ(memcmp(at + n - 3, "new", 3), 0);
	CHECK_EQ(rtf_unmap(r), 0);
	CHECK_EQ(rtf_flush(other), 3000);
}

int main(void)
{
	alarm(60);
	files();
	reader();
	puts("ok librtf");
	return 0;
}
