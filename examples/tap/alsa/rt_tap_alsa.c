// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tap loop as a sound card: one raw MIDI device with an input and an output.
 *
 *	insmod rt_tap.ko port=bridge; insmod rt_tap_alsa.ko
 *
 * What a program writes to the device arrives at the loop, what the loop sends a program can read.
 * snd-seq-midi makes it a port of the sequencer, so that aconnect joins it with keyboards
 * and synthesizers.
 * All of this is Linux: nothing is promised about its time.
 *
 * Locks: to_loop and from_loop, one for each direction; never both.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <sound/core.h>
#include <sound/initval.h>
#include <sound/rawmidi.h>

#include "../kernel/bridge.h"

#define CHUNK_BYTES 32

static struct platform_device *device;	/* a card must have one; nothing is behind it */
static struct snd_card *card;
/* The reader of what the loop sends, or NULL. */
static struct snd_rawmidi_substream *reader;
static DEFINE_SPINLOCK(from_loop);
static DEFINE_SPINLOCK(to_loop);

/* Move what the loop has sent to who reads it; with no reader it is gone, as from a cable. */
static void deliver(struct work_struct *unused)
{
	u8 bytes[CHUNK_BYTES];
	unsigned long flags;
	size_t count;

	spin_lock_irqsave(&from_loop, flags);
	while ((count = tap_bridge_read(bytes, sizeof(bytes))))
		if (reader)
			snd_rawmidi_receive(reader, bytes, count);
	spin_unlock_irqrestore(&from_loop, flags);
}

static DECLARE_WORK(delivery, deliver);

/* Context: Linux hard-irq. */
static void kick(void)
{
	queue_work(system_highpri_wq, &delivery);
}

static int nothing_to_do(struct snd_rawmidi_substream *substream)
{
	return 0;
}

static void to_loop_trigger(struct snd_rawmidi_substream *substream, int up)
{
	u8 bytes[CHUNK_BYTES];
	unsigned long flags;
	int count;

	if (!up)
		return;
	spin_lock_irqsave(&to_loop, flags);
	while ((count = snd_rawmidi_transmit(substream, bytes, sizeof(bytes))) > 0)
		tap_bridge_write(bytes, count);
	spin_unlock_irqrestore(&to_loop, flags);
}

static void from_loop_trigger(struct snd_rawmidi_substream *substream, int up)
{
	unsigned long flags;

	spin_lock_irqsave(&from_loop, flags);
	reader = up ? substream : NULL;
	spin_unlock_irqrestore(&from_loop, flags);
}

static const struct snd_rawmidi_ops to_loop_ops = {
	.open = nothing_to_do,
	.close = nothing_to_do,
	.trigger = to_loop_trigger,
};

static const struct snd_rawmidi_ops from_loop_ops = {
	.open = nothing_to_do,
	.close = nothing_to_do,
	.trigger = from_loop_trigger,
};

static int make_card(void)
{
	struct snd_rawmidi *midi;
	int err;

	device = platform_device_register_simple(KBUILD_MODNAME, PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(device))
		return PTR_ERR(device);
	err = snd_card_new(&device->dev, SNDRV_DEFAULT_IDX1, "tap", THIS_MODULE, 0, &card);
	if (err)
		goto err_remove_device;
	strscpy(card->driver, "rt_tap", sizeof(card->driver));
	strscpy(card->shortname, "Tactus tap loop", sizeof(card->shortname));
	strscpy(card->longname, "Tactus tap loop", sizeof(card->longname));
	err = snd_rawmidi_new(card, "tap", 0, 1, 1, &midi);
	if (err)
		goto err_free_card;
	strscpy(midi->name, "Tactus tap loop", sizeof(midi->name));
	snd_rawmidi_set_ops(midi, SNDRV_RAWMIDI_STREAM_OUTPUT, &to_loop_ops);
	snd_rawmidi_set_ops(midi, SNDRV_RAWMIDI_STREAM_INPUT, &from_loop_ops);
	midi->info_flags = SNDRV_RAWMIDI_INFO_OUTPUT | SNDRV_RAWMIDI_INFO_INPUT |
			   SNDRV_RAWMIDI_INFO_DUPLEX;
	err = snd_card_register(card);
	if (err)
		goto err_free_card;
	return 0;

err_free_card:
	snd_card_free(card);
err_remove_device:
	platform_device_unregister(device);
	return err;
}

static int __init rt_tap_alsa_init(void)
{
	int err = tap_bridge_attach(kick);

	if (err) {
		pr_err("refused: rt_tap %s; nothing was changed\n",
		       err == -EBUSY ? "has a driver at its bridge" : "was not loaded with port=bridge");
		return err;
	}
	err = make_card();
	if (err) {
		pr_err("cannot make a sound card: %d\n", err);
		tap_bridge_detach();
	}
	return err;
}

static void __exit rt_tap_alsa_exit(void)
{
	tap_bridge_detach();
	cancel_work_sync(&delivery);
	snd_card_free(card);
	platform_device_unregister(device);
}

module_init(rt_tap_alsa_init);
module_exit(rt_tap_alsa_exit);
MODULE_DESCRIPTION("The tap loop as a raw MIDI device of ALSA");
MODULE_LICENSE("GPL");
