// SPDX-License-Identifier: GPL-2.0-only
/*
 * A keyboard and an ear for the tap loop's sound card.
 *
 *	tap_midi play DEVICE NOTES        raw MIDI: send so many notes, wait for each one's echo
 *	tap_midi join CLIENT CLIENT       sequencer: ports 0 of both, both ways, as aconnect does
 *	tap_midi part CLIENT CLIENT       undo that
 *
 * play prints, in ns, the mean and the longest time from a message's write() to its echo's
 * read(), and fails unless every echo is the message itself:
 *
 *	messages=200 mean_ns=1012345 max_ns=2345678
 *
 * Exit status: 0; 1 something failed; 2 usage.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <sound/asequencer.h>

#define TIMEOUT_MS 20000

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void echo(int fd, const uint8_t *message)
{
	struct pollfd input = { .fd = fd, .events = POLLIN };
	uint8_t got[3];
	size_t have = 0;

	while (have < sizeof(got)) {
		ssize_t count;

		if (poll(&input, 1, TIMEOUT_MS) != 1) {
			fprintf(stderr, "tap_midi: no echo of %02x %02x %02x, only %zu bytes\n",
				message[0], message[1], message[2], have);
			exit(1);
		}
		count = read(fd, got + have, sizeof(got) - have);
		if (count <= 0 && errno != EAGAIN)
			die("read");
		have += count > 0 ? count : 0;
	}
	if (memcmp(got, message, sizeof(got))) {
		fprintf(stderr, "tap_midi: %02x %02x %02x came back as %02x %02x %02x\n",
			message[0], message[1], message[2], got[0], got[1], got[2]);
		exit(1);
	}
}

static void play(const char *device, int notes)
{
	int fd = open(device, O_RDWR | O_NONBLOCK);
	struct pollfd input = { .fd = fd, .events = POLLIN };
	int64_t sum = 0, longest = 0;

	if (fd < 0)
		die(device);
	/* Listening begins with the first look: an echo may be there before write() returns. */
	poll(&input, 1, 0);
	for (int n = 0; n < 2 * notes; n++) {
		uint8_t message[] = { n % 2 ? 0x80 : 0x90, 30 + n / 2 % 60,
				      n % 2 ? 0 : 1 + n / 2 % 100 };
		int64_t begin = now_ns(), took;

		if (write(fd, message, sizeof(message)) != sizeof(message))
			die("write");
		echo(fd, message);
		took = now_ns() - begin;
		sum += took;
		longest = took > longest ? took : longest;
	}
	printf("messages=%d mean_ns=%lld max_ns=%lld\n", 2 * notes,
	       (long long)(sum / (2 * notes)), (long long)longest);
}

static void subscribe(int fd, bool join, int from, int to)
{
	struct snd_seq_port_subscribe subscription = {
		.sender = { .client = from }, .dest = { .client = to },
	};

	if (ioctl(fd, join ? SNDRV_SEQ_IOCTL_SUBSCRIBE_PORT : SNDRV_SEQ_IOCTL_UNSUBSCRIBE_PORT,
		  &subscription))
		die("subscription");
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "play") && atoi(argv[3]) > 0) {
		play(argv[2], atoi(argv[3]));
	} else if (argc == 4 && (!strcmp(argv[1], "join") || !strcmp(argv[1], "part"))) {
		int fd = open("/dev/snd/seq", O_RDWR);
		bool join = argv[1][0] == 'j';

		if (fd < 0)
			die("/dev/snd/seq");
		subscribe(fd, join, atoi(argv[2]), atoi(argv[3]));
		subscribe(fd, join, atoi(argv[3]), atoi(argv[2]));
	} else {
		fprintf(stderr, "usage: tap_midi play DEVICE NOTES | join|part CLIENT CLIENT\n");
		return 2;
	}
	return 0;
}
