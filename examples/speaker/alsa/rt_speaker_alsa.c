// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PC speaker as an ALSA card: aplay -D plughw:RTSpeaker sound.wav
 *
 * To rt_speaker this is one more writer of its FIFO: it opens the FIFO's node, writes a WAV header
 * and then what ALSA's buffer holds, all in Linux context; nothing here runs in RT context. The
 * position that ALSA is told is that of the last frame that has sounded: what was written, less
 * what is still in the FIFO, from which rt_speaker takes a frame when it has sounded.
 *
 *	application --> ALSA's buffer --(feed: work)--> RT-FIFO --> RT task --> port 0x42 or 0x61
 *	                     ^                             |
 *	                     +---- pointer, periods -------+  rtf_used()
 *
 * Invariants: @sent counts the bytes of sound in and behind the FIFO, and changes with it under
 * @lock; @sounded never goes back within a stream; @file is open from prepare to the stop.
 *
 * Locking order: ALSA's stream lock (a mutex: the device is nonatomic), then @lock. The feeding
 * work takes them one after the other.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/workqueue.h>
#include <sound/core.h>
#include <sound/initval.h>
#include <sound/pcm.h>

#include <rt/fifo.h>

#include "../kernel/rt_speaker.h"

#define RATE_MIN_HZ 4000
#define RATE_MAX_HZ 48000
#define POLLS_A_PERIOD 4

/* What rt_speaker reads the form of the sound from; the length is not known. */
struct wav_header {
	char riff[4];
	__le32 riff_bytes;
	char wave_fmt[8];
	__le32 fmt_bytes;
	__le16 coding, channels;
	__le32 rate_hz, bytes_a_second;
	__le16 frame_bytes, bits;
	char data[4];
	__le32 data_bytes;
} __packed;

static struct {
	struct platform_device *device;
	struct snd_card *card;
	struct snd_pcm_substream *substream;
	struct delayed_work feed;
	unsigned long poll_jiffies;
	bool running;

	struct mutex lock;	/* of all below */
	struct file *file;
	snd_pcm_uframes_t appl;	/* where the application was; ALSA counts modulo its boundary */
	s64 written;		/* frames, by the application */
	u64 sent, sounded;	/* bytes of the stream */
	u64 elapsed;		/* periods that ALSA has been told of */
} speaker;

/*
 * How many bytes of the stream have sounded. The header is taken out of the FIFO first.
 *
 * Context: Linux process, @lock held.
 */
static u64 sounded(void)
{
	int used = rtf_used(rt_speaker_fifo());
	u64 now = used < 0 || used > speaker.sent ? 0 : speaker.sent - used;

	lockdep_assert_held(&speaker.lock);
	speaker.sounded = max(speaker.sounded, now);
	return speaker.sounded;
}

static int write_header(struct file *file, struct snd_pcm_runtime *runtime)
{
	unsigned int width = snd_pcm_format_physical_width(runtime->format);
	struct wav_header header = {
		.riff = "RIFF",
		.riff_bytes = cpu_to_le32(U32_MAX),
		.wave_fmt = "WAVEfmt ",
		.fmt_bytes = cpu_to_le32(16),
		.coding = cpu_to_le16(1),
		.channels = cpu_to_le16(runtime->channels),
		.rate_hz = cpu_to_le32(runtime->rate),
		.bytes_a_second = cpu_to_le32(runtime->rate * width / 8),
		.frame_bytes = cpu_to_le16(width / 8),
		.bits = cpu_to_le16(width),
		.data = "data",
		.data_bytes = cpu_to_le32(U32_MAX),
	};
	ssize_t done = kernel_write(file, &header, sizeof(header), NULL);

	return done == sizeof(header) ? 0 : done < 0 ? done : -EIO;
}

static struct file *fifo_file(void)
{
	char path[] = "/dev/rtf4294967295";

	snprintf(path, sizeof(path), "/dev/rtf%u", rt_speaker_fifo());
	return filp_open(path, O_WRONLY | O_NONBLOCK, 0);
}

/* Is it to be had? Context: kernel thread, where who closes a file last closes it at once. */
static long try_fifo(void *unused)
{
	struct file *file = fifo_file();

	if (IS_ERR(file))
		return PTR_ERR(file);
	__fput_sync(file);
	return 0;
}

/* Context: kernel thread. */
static long open_fifo(void *runtime)
{
	struct file *file = fifo_file();
	int err;

	if (IS_ERR(file))
		return PTR_ERR(file);
	rt_speaker_reads_file();
	err = write_header(file, runtime);
	if (err) {
		__fput_sync(file);
		return err;
	}
	speaker.file = file;
	return 0;
}

/* Context: kernel thread. */
static long close_fifo(void *unused)
{
	__fput_sync(speaker.file);
	speaker.file = NULL;
	return 0;
}

/* Nothing of the stream is heard from now on. Context: Linux process; may sleep; @lock held. */
static void end_stream(void)
{
	lockdep_assert_held(&speaker.lock);
	if (!speaker.file)
		return;
	if (sounded() < speaker.sent)
		rt_speaker_stop();
	work_on_cpu(0, close_fifo, NULL);
}

/* Context: Linux process; may sleep; @lock held. */
static int begin_stream(struct snd_pcm_runtime *runtime)
{
	lockdep_assert_held(&speaker.lock);
	speaker.appl = 0;
	speaker.written = 0;
	speaker.sent = 0;
	speaker.sounded = 0;
	speaker.elapsed = 0;
	return work_on_cpu(0, open_fifo, runtime);
}

/* Frames that the application has written; it may also take some back. @lock held. */
static s64 written(struct snd_pcm_runtime *runtime)
{
	snd_pcm_uframes_t appl = READ_ONCE(runtime->control->appl_ptr);
	snd_pcm_sframes_t more = appl - speaker.appl;

	if (more < -(snd_pcm_sframes_t)(runtime->boundary / 2))
		more += runtime->boundary;
	speaker.appl = appl;
	speaker.written += more;
	return speaker.written;
}

/* Hand over the bytes that are there, as far as the FIFO has room. @lock held. */
static void send(struct snd_pcm_runtime *runtime)
{
	size_t size = frames_to_bytes(runtime, runtime->buffer_size);
	s64 ready = written(runtime) * frames_to_bytes(runtime, 1) - speaker.sent;

	while (ready > 0) {
		size_t at = speaker.sent % size;
		size_t part = min_t(s64, ready, size - at);
		ssize_t done = kernel_write(speaker.file, runtime->dma_area + at, part, NULL);

		if (done <= 0)
			break;
		speaker.sent += done;
		ready -= done;
	}
}

/*
 * Feeds the FIFO, and tells ALSA of the periods that have sounded.
 *
 * Context: kernel thread.
 */
static void feed(struct work_struct *work)
{
	struct snd_pcm_substream *substream = speaker.substream;
	struct snd_pcm_runtime *runtime = substream->runtime;
	bool tell = false;
	u64 periods;

	mutex_lock(&speaker.lock);
	if (!speaker.running || !speaker.file) {
		mutex_unlock(&speaker.lock);
		return;
	}
	send(runtime);
	periods = div_u64(sounded(), frames_to_bytes(runtime, runtime->period_size));
	/*
	 * At the end of the data ALSA looks whether that is the end of a drain, or an
	 * underrun.
	 */
	tell = periods != speaker.elapsed || speaker.sounded == speaker.sent;
	speaker.elapsed = periods;
	mutex_unlock(&speaker.lock);

	if (tell)
		snd_pcm_period_elapsed(substream);
	if (READ_ONCE(speaker.running))
		queue_delayed_work(system_highpri_wq, &speaker.feed, speaker.poll_jiffies);
}

static const struct snd_pcm_hardware hardware = {
	.info = SNDRV_PCM_INFO_INTERLEAVED | SNDRV_PCM_INFO_MMAP | SNDRV_PCM_INFO_MMAP_VALID |
		SNDRV_PCM_INFO_SYNC_APPLPTR,
	.formats = SNDRV_PCM_FMTBIT_U8 | SNDRV_PCM_FMTBIT_S16_LE,
	.rates = SNDRV_PCM_RATE_CONTINUOUS | SNDRV_PCM_RATE_8000_48000,
	.rate_min = RATE_MIN_HZ,
	.rate_max = RATE_MAX_HZ,
	.channels_min = 1,
	.channels_max = 1,
	.buffer_bytes_max = 65536,
	.period_bytes_min = 256,
	.period_bytes_max = 16384,
	.periods_min = 2,
	.periods_max = 64,
};

/*
 * A program that plays on the node already is reported here; prepare may still find another.
 */
static int speaker_open(struct snd_pcm_substream *substream)
{
	substream->runtime->hw = hardware;
	speaker.substream = substream;
	return work_on_cpu(0, try_fifo, NULL);
}

static int speaker_close(struct snd_pcm_substream *substream)
{
	mutex_lock(&speaker.lock);
	end_stream();
	mutex_unlock(&speaker.lock);
	return 0;
}

static int speaker_prepare(struct snd_pcm_substream *substream)
{
	struct snd_pcm_runtime *runtime = substream->runtime;
	int err;

	speaker.poll_jiffies = max(1UL, msecs_to_jiffies(
		runtime->period_size * MSEC_PER_SEC / runtime->rate / POLLS_A_PERIOD));
	mutex_lock(&speaker.lock);
	end_stream();
	err = begin_stream(runtime);
	mutex_unlock(&speaker.lock);
	return err;
}

static int speaker_trigger(struct snd_pcm_substream *substream, int command)
{
	int err = 0;

	mutex_lock(&speaker.lock);
	switch (command) {
	case SNDRV_PCM_TRIGGER_START:
		speaker.running = true;
		mod_delayed_work(system_highpri_wq, &speaker.feed, 0);
		break;
	case SNDRV_PCM_TRIGGER_STOP:
		speaker.running = false;
		end_stream();
		break;
	default:
		err = -EINVAL;
	}
	mutex_unlock(&speaker.lock);
	return err;
}

static int speaker_sync_stop(struct snd_pcm_substream *substream)
{
	cancel_delayed_work_sync(&speaker.feed);
	return 0;
}

static snd_pcm_uframes_t speaker_pointer(struct snd_pcm_substream *substream)
{
	struct snd_pcm_runtime *runtime = substream->runtime;
	u64 frames;

	mutex_lock(&speaker.lock);
	frames = div_u64(speaker.file ? sounded() : speaker.sounded, frames_to_bytes(runtime, 1));
	mutex_unlock(&speaker.lock);
	return frames % runtime->buffer_size;
}

/* The application has written more. */
static int speaker_ack(struct snd_pcm_substream *substream)
{
	if (READ_ONCE(speaker.running))
		mod_delayed_work(system_highpri_wq, &speaker.feed, 0);
	return 0;
}

static const struct snd_pcm_ops ops = {
	.open = speaker_open,
	.close = speaker_close,
	.prepare = speaker_prepare,
	.trigger = speaker_trigger,
	.sync_stop = speaker_sync_stop,
	.pointer = speaker_pointer,
	.ack = speaker_ack,
};

static int make_card(struct device *parent)
{
	struct snd_pcm *pcm;
	int err;

	err = snd_card_new(parent, SNDRV_DEFAULT_IDX1, "RTSpeaker", THIS_MODULE, 0, &speaker.card);
	if (err)
		return err;
	err = snd_pcm_new(speaker.card, "RT PC speaker", 0, 1, 0, &pcm);
	if (err)
		goto err_free;
	pcm->nonatomic = true;
	strscpy(pcm->name, "RT PC speaker", sizeof(pcm->name));
	snd_pcm_set_ops(pcm, SNDRV_PCM_STREAM_PLAYBACK, &ops);
	err = snd_pcm_set_managed_buffer_all(pcm, SNDRV_DMA_TYPE_VMALLOC, NULL, 0, 0);
	if (err)
		goto err_free;
	strscpy(speaker.card->driver, "rt_speaker", sizeof(speaker.card->driver));
	strscpy(speaker.card->shortname, "RT PC speaker", sizeof(speaker.card->shortname));
	snprintf(speaker.card->longname, sizeof(speaker.card->longname),
		 "PC speaker by rt_speaker, RT-FIFO %u", rt_speaker_fifo());
	err = snd_card_register(speaker.card);
	if (!err)
		return 0;
err_free:
	snd_card_free(speaker.card);
	return err;
}

static int __init rt_speaker_alsa_init(void)
{
	int err;

	mutex_init(&speaker.lock);
	INIT_DELAYED_WORK(&speaker.feed, feed);
	speaker.device =
		platform_device_register_simple(KBUILD_MODNAME, PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(speaker.device))
		return PTR_ERR(speaker.device);
	err = make_card(&speaker.device->dev);
	if (err)
		platform_device_unregister(speaker.device);
	return err;
}

static void __exit rt_speaker_alsa_exit(void)
{
	snd_card_free(speaker.card);
	platform_device_unregister(speaker.device);
}

module_init(rt_speaker_alsa_init);
module_exit(rt_speaker_alsa_exit);

MODULE_DESCRIPTION("ALSA card of the real-time PC speaker");
MODULE_LICENSE("GPL");
