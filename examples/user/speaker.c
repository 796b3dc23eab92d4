// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thesis's speaker as an ordinary program in RT mode: 8192 times a second the next mu-law byte,
 * of which the speaker's bit is whether the wave rises. See --help.
 *
 * Linux's ioperm() lets the program use the ports; RT mode honours that.
 */
#include <err.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mman.h>
#include <tactus/rt.h>

#define RATE_HZ 8192
#define NS_PER_S 1000000000
#define MOST_BYTES (1 << 20)

#define PORT_PIT_CH2 0x42
#define PORT_PIT_MODE 0x43
#define PIT_CH2_LEVEL 0xb0	/* both bytes, mode 0: the output is 1 soon, and stays so */
#define PORT_SPEAKER 0x61
#define SPEAKER_GATE 1
#define SPEAKER_DATA 2

static unsigned char sound[MOST_BYTES];

/* Thesis, appendix B: mu-law bytes in the order of their loudness. */
static int rank(unsigned char code)
{
	return code & 0x80 ? 382 - code : code;
}

/* In RT mode: nothing here is a system call of Linux. The latest write, ns. */
static int64_t play(size_t bytes, unsigned char silent, unsigned int *missed)
{
	struct rt_attr attr = {
		.period_ns = NS_PER_S / RATE_HZ, .budget_ns = NS_PER_S / RATE_HZ / 4,
		.priority = 1, .cpu = -1,
	};
	int64_t latest = 0;
	struct rt_job job;
	int before = 0;

	if (rt_enter(&attr))
		errx(1, "%s", rt_why());
	for (size_t i = 0; i < bytes; i++) {
		int now = rank(sound[i]);
		int64_t late;

		*missed += rt_wait(&job) != 0;
		outb(silent | (now > before ? SPEAKER_DATA : 0), PORT_SPEAKER);
		late = rt_now() - job.release_ns;
		latest = late > latest ? late : latest;
		before = now;
	}
	rt_leave();
	return latest;
}

int main(int argc, char **argv)
{
	unsigned int missed = 0;
	struct rt_stat stat;
	unsigned char was;
	int64_t latest;
	size_t bytes;
	FILE *file;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		puts("usage: speaker FILE\n"
		     "Plays up to 1 MiB of mu-law bytes, 8192 a second, on the PC speaker, in RT mode.\n"
		     "Needs CAP_SYS_RAWIO for the ports, and /dev/rt.");
		return 0;
	}
	if (argc != 2)
		errx(2, "usage: speaker FILE; see --help");
	file = fopen(argv[1], "rb");
	if (!file)
		err(1, "%s", argv[1]);
	bytes = fread(sound, 1, sizeof(sound), file);
	if (ferror(file) || !bytes)
		errx(1, "%s: nothing to play", argv[1]);
	fclose(file);
	if (ioperm(PORT_PIT_CH2, 2, 1) || ioperm(PORT_SPEAKER, 1, 1))
		err(1, "the ports of the speaker");
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		err(1, "mlockall");

	was = inb(PORT_SPEAKER);
	outb((was & ~SPEAKER_DATA) | SPEAKER_GATE, PORT_SPEAKER);
	outb(PIT_CH2_LEVEL, PORT_PIT_MODE);
	outb(3, PORT_PIT_CH2);
	outb(0, PORT_PIT_CH2);
	latest = play(bytes, (was & ~SPEAKER_DATA) | SPEAKER_GATE, &missed);
	outb(was, PORT_SPEAKER);

	if (rt_stat(&stat))
		errx(1, "no figures");
	printf("%zu bytes, the latest write %" PRId64 " ns after its release, %u missed, "
	       "%" PRIu64 " demotions by ports\n", bytes, latest, missed,
	       (uint64_t)stat.demotions[RT_END_TRAP]);
	return 0;
}
