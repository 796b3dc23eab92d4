// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random operations on a FIFO against a reference model: lengths, order, bytes; by processes
 * that are killed at any moment. The RT side (fifo_test) moves what is written back to
 * the reader, as far as it fits, each time Linux has used the FIFO.
 *
 * usage: fifo_random OPERATIONS SEED [wrong]
 *
 * First one process that does all, one operation at a time, so that the model knows the
 * exact state after each; then a reader and a writer at once, in records, that block. Prints what
 * was done, and ends with 0 if all was as the model says. With "wrong" the model has an error
 * in it, and that must be found.
 */
#include "fifo_check/fifo_check.h"

#define FIFO 0
#define MAX_BYTES 60000

const char *test_name = "random";

/* What the FIFO is, or would be after the operation that is under way. */
struct model {
	uint32_t size, used_in, used_out;
	uint32_t next_in;		/* number of the byte that is written next */
	uint32_t next_out;		/* ... that is read next */
};

/* Survives the worker. */
static struct shared {
	struct model models[2];
	volatile uint8_t now;		/* which is the state; the other may be its successor */
	volatile uint8_t under_way;	/* an operation has begun */
	volatile uint64_t operations, moved, kills, refused, resizes, maps;
	uint32_t random;
	/* second part */
	volatile uint32_t epoch, confirmed[256];	/* words of each epoch that write() took */
	volatile bool stop;
} *s;

static uint8_t buf[MAX_BYTES];
static bool wrong;

static uint32_t rnd(uint32_t below)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 17;
	s->random ^= s->random << 5;
	return s->random % below;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t piece(const struct model *m)
{
	uint32_t half = m->size / 2;

	return half < 1 ? 1 : min_u32(half, RTF_ATOMIC_BYTES);
}

/* The RT side's turn. */
static void echo(struct model *m)
{
	uint32_t n = min_u32(m->used_in, m->size - m->used_out);

	m->used_in -= n;
	m->used_out += n;
}

static struct model *begin(void)
{
	struct model *next = &s->models[!s->now];

	*next = s->models[s->now];
	return next;
}

static void commit(void)
{
	s->now = !s->now;
	s->under_way = 0;
}

/* Mostly short, sometimes more than fits. */
static uint32_t some_bytes(void)
{
	switch (rnd(100)) {
	case 0:
		return rnd(MAX_BYTES + 1);
	case 1 ... 3:
		return rnd(5000);
	default:
		return 1 + rnd(64);
	}
}

static int vector(struct iovec *v, uint32_t n)
{
	uint32_t first = n ? rnd(n) : 0, second = n - first ? rnd(n - first) : 0;

	v[0] = (struct iovec){ buf, first };
	v[1] = (struct iovec){ buf + first, second };
	v[2] = (struct iovec){ buf + first + second, n - first - second };
	return 3;
}

/* Of @n bytes @want can be moved; none of some is a refusal. */
static void check_moved(ssize_t ret, uint32_t want, uint32_t n)
{
	if (want || !n) {
		CHECK_EQ(ret, want);
	} else {
		CHECK_EQ(ret, -1);
		CHECK_EQ(errno, EAGAIN);
		s->refused++;
	}
}

static void do_write(int fd)
{
	struct model *next = begin();
	uint32_t n = some_bytes(), room = next->size - next->used_in, i, want;
	struct iovec v[3];
	ssize_t ret;

	if (wrong && n > piece(next) && n < piece(next) + 20)
		room = n - 1;
	want = n <= piece(next) ? (n <= room ? n : 0) : min_u32(n, room);
	for (i = 0; i < n; i++)
		buf[i] = stream_byte(next->next_in + i);
	next->next_in += want;
	next->used_in += want;
	if (want)
		echo(next);
	s->under_way = 1;
	ret = rnd(4) ? write(fd, buf, n) : writev(fd, v, vector(v, n));
	check_moved(ret, want, n);
	s->moved += want;
	commit();
}

static void do_read(int fd)
{
	struct model *next = begin();
	uint32_t n = some_bytes(), want = min_u32(n, next->used_out), from = next->next_out, i;
	struct iovec v[3];
	ssize_t ret;

	next->next_out += want;
	next->used_out -= want;
	if (want)
		echo(next);
	s->under_way = 1;
	ret = rnd(4) ? read(fd, buf, n) : readv(fd, v, vector(v, n));
	check_moved(ret, want, n);
	for (i = 0; i < want; i++)
		CHECK_EQ(buf[i], stream_byte(from + i));
	commit();
}

static void do_flush(int fd)
{
	struct model *next = begin();
	uint32_t n = next->used_out;

	next->next_out += n;
	next->used_out = 0;
	if (n)
		echo(next);
	s->under_way = 1;
	CHECK_EQ(ioctl(fd, RTF_IOC_FLUSH), n);
	commit();
}

static void do_resize(int fd)
{
	struct model *next = begin();
	uint32_t size = rnd(4) ? 1 + rnd(20000) : 1 + rnd(100);
	bool fits = next->used_in <= size && next->used_out <= size;

	if (fits)
		next->size = size;
	s->under_way = 1;
	if (fits)
		CHECK_EQ(ioctl(fd, RTF_IOC_RESIZE, &size), 0);
	else
		CHECK_ERR(ioctl(fd, RTF_IOC_RESIZE, &size), ENOSPC);
	s->resizes++;
	commit();
}

static void do_look(int fd)
{
	const struct model *m = &s->models[s->now];
	struct rtf_stats stats = stats_of(fd);
	int n;

	CHECK_EQ(stats.size, m->size);
	CHECK_EQ(stats.used_in, m->used_in);
	CHECK_EQ(stats.used_out, m->used_out);
	CHECK_EQ(ioctl(fd, FIONREAD, &n), 0);
	CHECK_EQ(n, m->used_out);
	CHECK_EQ(events(fd, POLLIN | POLLOUT), (m->used_out ? POLLIN : 0) |
		 (m->size - m->used_in >= piece(m) ? POLLOUT : 0));
}

/* In place, and a part of it consumed. */
static void do_map(int fd)
{
	struct model *next = begin();
	struct rtf_layout l;
	struct rtf_consume c;
	const struct rtf_map *map;
	const uint8_t *data;
	uint32_t n = next->used_out, i, want = n ? rnd(n + 1) : 0;

	CHECK_EQ(ioctl(fd, RTF_IOC_CLAIM, &l), 0);
	map = mmap(NULL, l.index_bytes + 2L * l.data_bytes, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(map != MAP_FAILED);
	c = (struct rtf_consume){ map->tail, want };
	CHECK_EQ(map->head - map->tail, n);
	data = (const uint8_t *)map + l.index_bytes + (map->tail & (l.data_bytes - 1));
	for (i = 0; i < n; i++)
		CHECK_EQ(data[i], stream_byte(next->next_out + i));
	next->next_out += want;
	next->used_out -= want;
	if (want)
		echo(next);
	s->under_way = 1;
	CHECK_EQ(ioctl(fd, RTF_IOC_CONSUME, &c), 0);
	commit();
	CHECK_EQ(munmap((void *)map, l.index_bytes + 2L * l.data_bytes), 0);
	CHECK_EQ(ioctl(fd, RTF_IOC_RELEASE), 0);
	s->maps++;
}

/* What a killed worker was about is done or not done, and nothing else. */
static void recover(int fd)
{
	struct rtf_stats stats = stats_of(fd);
	int i;

	for (i = 0; i < 2; i++) {
		const struct model *m = &s->models[s->now ^ i];

		if (i && !s->under_way)
			break;
		if (stats.size == m->size && stats.used_in == m->used_in &&
		    stats.used_out == m->used_out) {
			s->now ^= i;
			s->under_way = 0;
			return;
		}
	}
	FAIL("after a kill there are %u and %u of %u bytes", stats.used_in, stats.used_out,
	     stats.size);
}

static void work(uint64_t operations)
{
	int fd = dev(FIFO, O_RDWR | O_NONBLOCK);

	recover(fd);
	for (; s->operations < operations; s->operations++) {
		uint32_t which = rnd(1000);

		if (which < 480)
			do_write(fd);
		else if (which < 970)
			do_read(fd);
		else if (which < 973)
			do_flush(fd);
		else if (which < 977)
			do_resize(fd);
		else if (which < 980)
			do_map(fd);
		else
			do_look(fd);
	}
}

static bool failed(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status) != SIGKILL;
}

static bool one_by_one(uint64_t operations)
{
	uint64_t kill_at = operations / 50;
	double last = now(), until = now() + 3000;
	int status;

	CHECK_EQ(rt("linux create %d 4000", FIFO), 0);
	CHECK_EQ(rt("linux rthandler %d 11", FIFO), 0);
	s->models[0].size = 4000;
	while (s->operations < operations && now() < until) {
		pid_t pid = fork();

		if (!pid) {
			control_fd = -1;
			work(operations);
			_exit(0);
		}
		while (!waitpid(pid, &status, WNOHANG)) {
			nap(0.001 + 0.0001 * (rand() % 100));
			if (s->operations > kill_at || now() > last + 1) {
				kill_at = s->operations + operations / 50;
				last = now();
				s->kills++;
				kill(pid, SIGKILL);
				waitpid(pid, &status, 0);
				break;
			}
		}
		if (failed(status))
			return false;
	}
	CHECK_EQ(rt("linux destroy %d", FIFO), 0);
	return s->operations >= operations;
}

/*
 * Second part. Words of 4 bytes: the writer's epoch in the upper 8 bits, counted from 0 in each. A
 * writer that was killed is followed by one of the next epoch; what it had been told was
 * written must be there.
 */
static void write_words(int fd)
{
	static uint32_t words[4000];
	uint32_t k = 0, i, n;

	while (!s->stop) {
		n = 1 + rnd(rnd(5) ? 20 : 4000);
		for (i = 0; i < n; i++)
			words[i] = s->epoch << 24 | (k + i);
		CHECK_EQ(write(fd, words, 4 * n), 4 * n);
		k += n;
		s->confirmed[s->epoch] = k;
	}
}

static volatile uint32_t *read_state;	/* epoch, next word, words read, a reader was killed */

static void read_words(int fd)
{
	static uint32_t words[3000];
	int n, i;

	for (;;) {
		n = read(fd, words, 4 * (1 + rnd(3000)));
		CHECK(n > 0 && n % 4 == 0);
		for (i = 0; i < n / 4; i++) {
			uint32_t epoch = words[i] >> 24, k = words[i] & 0xffffff;

			if (epoch != read_state[0]) {
				/* All that was confirmed of the old one, and of any between, was read. */
				while (!read_state[3] && epoch != read_state[0]) {
					CHECK_EQ(s->confirmed[read_state[0]] > read_state[1], false);
					read_state[0] = (read_state[0] + 1) & 255;
					read_state[1] = 0;
				}
				CHECK(k == 0 || read_state[3]);
				read_state[0] = epoch;
			} else if (k != read_state[1]) {
				/* Only what a killed reader had been given may be missing. */
				CHECK(read_state[3]);
				CHECK(k > read_state[1] && k - read_state[1] <= 3000);
			}
			read_state[1] = k + 1;
			read_state[2]++;
			read_state[3] = 0;
		}
	}
}

static bool at_once(int rounds)
{
	pid_t writer, reader;
	int fd, status, i, n = 0;

	CHECK_EQ(rt("linux create %d 5000", FIFO), 0);
	CHECK_EQ(rt("linux record %d 4", FIFO), 0);
	CHECK_EQ(rt("linux rthandler %d 14", FIFO), 0);
	read_state = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fd = dev(FIFO, O_RDWR);
	writer = child(write_words, fd);
	reader = child(read_words, fd);
	for (i = 0; i < rounds; i++) {
		bool which = rand() & 1;
		pid_t victim = which ? writer : reader;
		nap(0.0001 * (rand() % 200));
		kill(victim, SIGKILL);
		waitpid(victim, &status, 0);
		if (failed(status))
			return false;
		if (!which) {
			read_state[3] = 1;
			reader = child(read_words, fd);
			continue;
		}
		CHECK_EQ((stats_of(fd).used_in | stats_of(fd).used_out) % 4, 0);
		s->confirmed[(s->epoch + 1) & 255] = 0;
		s->epoch = (s->epoch + 1) & 255;
		writer = child(write_words, fd);
	}
	s->stop = true;
	nap(0.1);
	/* The writer may be waiting for a reader's room: give it time, then see that all arrives. */
	for (i = 0; i < 5000 && !waitpid(writer, &status, WNOHANG); i++)
		nap(0.002);
	CHECK(i < 5000 && !failed(status));
	do {
		nap(0.01);
		CHECK_EQ(ioctl(fd, FIONREAD, &n), 0);
	} while (n || stats_of(fd).used_in);
	nap(0.05);
	if (!read_state[3] && read_state[0] == s->epoch)
		CHECK_EQ(read_state[1], s->confirmed[s->epoch]);
	kill(reader, SIGKILL);
	waitpid(reader, &status, 0);
	if (failed(status))
		return false;
	CHECK_EQ(rt("rtwrong"), 0);
	CHECK(read_state[2] > 1000);
	printf("words %u rounds %d\n", read_state[2], rounds);
	return true;
}

int main(int argc, char **argv)
{
	uint64_t operations = argc > 2 ? strtoull(argv[1], NULL, 0) : 0;

	if (!operations)
		return 2;
	wrong = argc > 3;
	setvbuf(stdout, NULL, _IOLBF, 0);
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	s->random = strtoul(argv[2], NULL, 0) | 1;
	srand(s->random);
	if (!one_by_one(operations))
		return 1;
	printf("operations %llu moved %llu refused %llu resizes %llu maps %llu kills %llu\n",
	       (unsigned long long)s->operations, (unsigned long long)s->moved,
	       (unsigned long long)s->refused, (unsigned long long)s->resizes,
	       (unsigned long long)s->maps, (unsigned long long)s->kills);
	return !at_once(operations > 1000000 ? 2000 : 100);
}
