// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks at the speaker's hardware from a guest's user space, for test_speaker.py.
 *
 *	speaker_probe show		print the registers that the driver must give back
 *	speaker_probe set MODE PORT A	PIT channel 2's mode, port 0x61 bits 0-1, RTC rate bits
 *	speaker_probe clock SECONDS	read and write the CMOS chip through Linux as fast as can be
 *
 * Exit status: 0; 1 something is wrong with what was read; 2 usage or no access.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nvram.h>
#include <linux/rtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define CMOS_RAM "/dev/nvram"	/* Linux's nvram.ko; checks a checksum at each access */
#define CMOS_RAM_OFFSET 64
#define CMOS_RAM_BYTES 16

static unsigned char cmos(unsigned char index)
{
	outb(index, 0x70);
	return inb(0x71);
}

static void show(void)
{
	unsigned int status;

	outb(0xe8, 0x43);	/* read back channel 2's status, leave its count */
	status = inb(0x42);
	printf("port=%d mode=%u access=%u bcd=%u out=%u rtc_a=%02x rtc_b=%02x\n", inb(0x61) & 3,
	       status >> 1 & 7, status >> 4 & 3, status & 1, status >> 7,
	       cmos(0x0a) & 0x7f, cmos(0x0b));
}

static void set(int mode, int port, int rate)
{
	outb((inb(0x61) & ~3) | port, 0x61);
	outb(0xb0 | mode << 1, 0x43);
	outb(0xa9, 0x42);
	outb(0x04, 0x42);
	outb(0x0a, 0x70);
	outb(0x20 | rate, 0x71);
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* The clock's seconds, or -1 if Linux read nonsense from it. */
static time_t read_clock(int rtc)
{
	struct rtc_time read;
	struct tm when = { 0 };

	if (ioctl(rtc, RTC_RD_TIME, &read))
		return -1;
	when.tm_sec = read.tm_sec;
	when.tm_min = read.tm_min;
	when.tm_hour = read.tm_hour;
	when.tm_mday = read.tm_mday;
	when.tm_mon = read.tm_mon;
	when.tm_year = read.tm_year;
	return timegm(&when);
}

/* Bytes that no other index of the chip holds: a write or read gone astray shows. */
static int ram_round(int ram, unsigned int round)
{
	unsigned char out[CMOS_RAM_BYTES], in[CMOS_RAM_BYTES];

	for (unsigned int n = 0; n < sizeof(out); n++)
		out[n] = 0x80 | ((round * 7 + n * 11) & 0x7f);
	if (pwrite(ram, out, sizeof(out), CMOS_RAM_OFFSET) == sizeof(out) &&
	    pread(ram, in, sizeof(in), CMOS_RAM_OFFSET) == sizeof(in))
		return memcmp(out, in, sizeof(in)) != 0;
	if (errno != EIO)	/* a checksum that does not fit */
		err(2, "%s", CMOS_RAM);
	if (ioctl(ram, NVRAM_INIT))
		err(2, "NVRAM_INIT");
	return 1;
}

static int clock_loop(double seconds)
{
	int rtc = open("/dev/rtc0", O_RDONLY), ram = open(CMOS_RAM, O_RDWR);
	unsigned int rounds = 0, wrong_times = 0, wrong_ram = 0;
	double start;
	time_t first;

	if (rtc < 0)
		err(2, "/dev/rtc0");
	if (ram < 0)
		err(2, "%s", CMOS_RAM);
	if (ioctl(ram, NVRAM_INIT))
		err(2, "NVRAM_INIT");
	first = read_clock(rtc);
	if (first < 0)
		err(2, "RTC_RD_TIME");
	start = now_s();
	while (now_s() - start < seconds) {
		double before = now_s() - start;
		time_t now = read_clock(rtc), passed = now - first;

		/* The first reading was anywhere within its second. */
		if (now < 0 || passed < (time_t)before || passed > now_s() - start + 1.1)
			wrong_times++;
		wrong_ram += ram_round(ram, rounds++);
	}
	printf("rounds=%u wrong_times=%u wrong_ram=%u\n", rounds, wrong_times, wrong_ram);
	return wrong_times || wrong_ram;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "clock"))
		return clock_loop(atof(argv[2]));
	if (ioperm(0x42, 2, 1) || ioperm(0x61, 1, 1) || ioperm(0x70, 2, 1))
		err(2, "ioperm");
	if (argc == 5 && !strcmp(argv[1], "set")) {
		set(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "show")) {
		show();
		return 0;
	}
	fprintf(stderr, "usage: speaker_probe show | set MODE PORT RATE | clock SECONDS\n");
	return 2;
}
