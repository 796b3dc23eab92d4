// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plays raw samples on an ALSA device by its ioctls, for guests without alsa-lib.
 *
 *	pcm_play DEVICE FORMAT RATE FILE	FORMAT: u8 or s16 (little-endian); one channel
 *	pcm_play --stop-after BYTES ...		drop the stream after so many, without a drain
 *	pcm_play --period FRAMES ...		frames of a period; default 1024, four to a buffer
 *
 * Prints, as words NAME=VALUE: the rate and buffer that the driver gave; whether the position
 * only ever went forward and how often it moved; underruns; how long the play took, ms.
 *
 * Exit status: 0; 1 the device refused something; 2 usage.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sound/asound.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static unsigned int underruns, moves, backward;

static void any(struct snd_pcm_hw_params *params)
{
	memset(params, 0, sizeof(*params));
	memset(params->masks, 0xff, sizeof(params->masks));
	for (unsigned int n = 0; n < sizeof(params->intervals) / sizeof(params->intervals[0]); n++)
		params->intervals[n].max = ~0u;
	params->rmask = ~0u;
	params->info = ~0u;
}

static void set_mask(struct snd_pcm_hw_params *params, int which, unsigned int bit)
{
	struct snd_mask *mask = &params->masks[which - SNDRV_PCM_HW_PARAM_FIRST_MASK];

	memset(mask, 0, sizeof(*mask));
	mask->bits[bit / 32] = 1u << bit % 32;
}

static struct snd_interval *interval(struct snd_pcm_hw_params *params, int which)
{
	return &params->intervals[which - SNDRV_PCM_HW_PARAM_FIRST_INTERVAL];
}

static void set(struct snd_pcm_hw_params *params, int which, unsigned int value)
{
	*interval(params, which) =
		(struct snd_interval){ .min = value, .max = value, .integer = 1 };
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

/* Looks where the device is. */
static void look(int pcm)
{
	static snd_pcm_uframes_t before;
	struct snd_pcm_status status;

	memset(&status, 0, sizeof(status));
	if (ioctl(pcm, SNDRV_PCM_IOCTL_STATUS, &status))
		err(1, "STATUS");
	moves += status.hw_ptr != before;
	backward += (snd_pcm_sframes_t)(status.hw_ptr - before) < 0;
	before = status.hw_ptr;
}

static void write_all(int pcm, const char *data, unsigned long frames, unsigned int width)
{
	while (frames) {
		struct snd_xferi transfer = {
			.buf = (void *)data,
			.frames = frames < 256 ? frames : 256,
		};

		if (ioctl(pcm, SNDRV_PCM_IOCTL_WRITEI_FRAMES, &transfer)) {
			if (errno != EPIPE)
				err(1, "WRITEI_FRAMES");
			underruns++;
			if (ioctl(pcm, SNDRV_PCM_IOCTL_PREPARE))
				err(1, "PREPARE");
			continue;
		}
		data += transfer.result * width;
		frames -= transfer.result;
		look(pcm);
	}
}

static char *read_file(const char *path, long *size)
{
	FILE *file = fopen(path, "rb");
	char *data;

	if (!file || fseek(file, 0, SEEK_END))
		err(1, "%s", path);
	*size = ftell(file);
	if (*size < 0)
		err(1, "%s", path);
	rewind(file);
	data = malloc(*size + 1);
	if (!data || fread(data, 1, *size, file) != (size_t)*size)
		err(1, "%s", path);
	fclose(file);
	return data;
}

int main(int argc, char **argv)
{
	unsigned int width, period = 1024;
	struct snd_pcm_hw_params hw;
	struct snd_pcm_sw_params sw = { 0 };
	long size, stop_after = -1;
	double start;
	char *data;
	int pcm;

	while (argc > 2 && !strncmp(argv[1], "--", 2)) {
		if (!strcmp(argv[1], "--stop-after"))
			stop_after = atol(argv[2]);
		else if (!strcmp(argv[1], "--period"))
			period = atoi(argv[2]);
		argc -= 2;
		argv += 2;
	}
	if (argc != 5 || (strcmp(argv[2], "u8") && strcmp(argv[2], "s16"))) {
		fprintf(stderr, "usage: pcm_play [--stop-after BYTES] [--period FRAMES] DEVICE u8|s16 RATE FILE\n");
		return 2;
	}
	width = strcmp(argv[2], "u8") ? 2 : 1;
	data = read_file(argv[4], &size);
	pcm = open(argv[1], O_RDWR);
	if (pcm < 0)
		err(1, "%s", argv[1]);

	any(&hw);
	set_mask(&hw, SNDRV_PCM_HW_PARAM_ACCESS, SNDRV_PCM_ACCESS_RW_INTERLEAVED);
	set_mask(&hw, SNDRV_PCM_HW_PARAM_FORMAT,
		 width == 1 ? SNDRV_PCM_FORMAT_U8 : SNDRV_PCM_FORMAT_S16_LE);
	set_mask(&hw, SNDRV_PCM_HW_PARAM_SUBFORMAT, SNDRV_PCM_SUBFORMAT_STD);
	set(&hw, SNDRV_PCM_HW_PARAM_CHANNELS, 1);
	set(&hw, SNDRV_PCM_HW_PARAM_RATE, atoi(argv[3]));
	set(&hw, SNDRV_PCM_HW_PARAM_PERIOD_SIZE, period);
	set(&hw, SNDRV_PCM_HW_PARAM_PERIODS, 4);
	if (ioctl(pcm, SNDRV_PCM_IOCTL_HW_PARAMS, &hw))
		err(1, "HW_PARAMS");
	sw.avail_min = 1;
	sw.start_threshold = 4 * period;
	sw.stop_threshold = 4 * period;
	sw.boundary = 4 * period;
	sw.period_step = 1;
	while (sw.boundary * 2 <= 0x7fffffffUL - 4 * period)
		sw.boundary *= 2;
	if (ioctl(pcm, SNDRV_PCM_IOCTL_SW_PARAMS, &sw))
		err(1, "SW_PARAMS");
	if (ioctl(pcm, SNDRV_PCM_IOCTL_PREPARE))
		err(1, "PREPARE");

	start = now_ms();
	if (stop_after >= 0 && stop_after < size)
		size = stop_after;
	write_all(pcm, data, size / width, width);
	if (ioctl(pcm, stop_after < 0 ? SNDRV_PCM_IOCTL_DRAIN : SNDRV_PCM_IOCTL_DROP))
		err(1, "%s", stop_after < 0 ? "DRAIN" : "DROP");
	printf("rate=%u buffer=%u frames=%ld moves=%u backward=%u underruns=%u ms=%.0f\n",
	       interval(&hw, SNDRV_PCM_HW_PARAM_RATE)->min,
	       interval(&hw, SNDRV_PCM_HW_PARAM_BUFFER_SIZE)->min, size / width, moves, backward,
	       underruns, now_ms() - start);
	close(pcm);
	return 0;
}
