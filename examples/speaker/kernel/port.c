// SPDX-License-Identifier: GPL-2.0-only
/*
 * Port 0x61 and channel 2 of the 8254 timer.
 *
 * The speaker hears bit 1 of the port AND the channel's output. For slope and sigma the output
 * is made 1 and stays so, and the bit is the sound. For pwm the bit stays 1, and each tick
 * writes a count: the output is 0 for so many of its clocks, then 1.
 *
 * Mode 0 of the 8254 does that, in its form of one byte: a count that is written takes the output
 * down at once, is loaded with the next clock, and the output is up again count + 1 clocks after
 * the write, until the next one; a count that comes early starts over. Mode 1, the
 * "one-shot" proper, is started by the gate instead, which is bit 0 of port 0x61: three writes
 * a tick, two of them to a port that Linux reads and writes back, for the same pulse.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/i8253.h>
#include <linux/io.h>
#include <linux/module.h>
#include "speaker.h"

#define PORT_PIT_MODE 0x43
#define PIT_READ_BACK_CH2 0xc8
#define PIT_SELECT_CH2 0x80
#define PIT_CH2_LEVEL 0xb0	/* both bytes, mode 0 */
#define PIT_CH2_PULSE 0x90	/* low byte only, mode 0 */
#define PIT_STATUS_OUT 0x80
#define PIT_STATUS_NULL_COUNT 0x40
#define PIT_STATUS_ACCESS 0x30
#define PIT_ACCESS_LOW 0x10
#define PIT_ACCESS_HIGH 0x20
#define PIT_STATUS_MODE 0x0e
#define PIT_STATUS_CONTROL 0x3f	/* access, mode, BCD: the bits of the mode word */

/* A pulse to try, in clocks and in us, rounded down and up with room to spare. */
#define TRIAL_COUNT 200
#define TRIAL_BEFORE_US 50
#define TRIAL_AFTER_US 400

static struct {
	u8 port;
	u8 pit_status;
	u16 pit_count;
} saved;

static bool has_pwm;

bool port_has_pwm(void)
{
	return has_pwm;
}

static void rest(void)
{
	outb_p((inb_p(PORT_SPEAKER) & ~SPEAKER_DATA) | SPEAKER_GATE, PORT_SPEAKER);
}

/* Does the channel do what pwm needs, and can it be seen? Silent: the bit is 0. */
static bool try_pulse(void)
{
	bool down, up;

	rest();
	outb_p(PIT_CH2_PULSE, PORT_PIT_MODE);
	outb_p(TRIAL_COUNT, PORT_PIT_CH2);
	udelay(TRIAL_BEFORE_US);
	down = !(inb_p(PORT_SPEAKER) & SPEAKER_OUT);
	udelay(TRIAL_AFTER_US - TRIAL_BEFORE_US);
	up = inb_p(PORT_SPEAKER) & SPEAKER_OUT;
	return down && up;
}

int port_take(void)
{
	unsigned long flags;
	int err = owner_take();

	if (err)
		return err;
	raw_spin_lock_irqsave(&i8253_lock, flags);
	saved.port = inb_p(PORT_SPEAKER);
	outb_p(PIT_READ_BACK_CH2, PORT_PIT_MODE);
	saved.pit_status = inb_p(PORT_PIT_CH2);
	saved.pit_count = 0;
	if (saved.pit_status & PIT_ACCESS_LOW)
		saved.pit_count = inb_p(PORT_PIT_CH2);
	if (saved.pit_status & PIT_ACCESS_HIGH)
		saved.pit_count |= inb_p(PORT_PIT_CH2) << 8;
	has_pwm = try_pulse();
	raw_spin_unlock_irqrestore(&i8253_lock, flags);
	return 0;
}

/* At rest, and ready for counts or for bits. */
void port_setup(bool pwm)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&i8253_lock, flags);
	rest();
	if (pwm) {
		outb_p(PIT_CH2_PULSE, PORT_PIT_MODE);
		outb_p(1, PORT_PIT_CH2);
	} else {
		outb_p(PIT_CH2_LEVEL, PORT_PIT_MODE);
		outb_p(3, PORT_PIT_CH2);
		outb_p(0, PORT_PIT_CH2);
	}
	raw_spin_unlock_irqrestore(&i8253_lock, flags);
}

static void pit_load_count(u16 count)
{
	if (saved.pit_status & PIT_ACCESS_LOW)
		outb_p(count & 0xff, PORT_PIT_CH2);
	if (saved.pit_status & PIT_ACCESS_HIGH)
		outb_p(count >> 8, PORT_PIT_CH2);
}

void port_give_back(void)
{
	u8 port, mode = saved.pit_status & PIT_STATUS_MODE;
	unsigned long flags;

	raw_spin_lock_irqsave(&i8253_lock, flags);
	port = inb_p(PORT_SPEAKER) & ~(SPEAKER_GATE | SPEAKER_DATA);
	outb_p(port, PORT_SPEAKER);
	/* Access 0 would be another command, and no chip reports it. */
	if (saved.pit_status & PIT_STATUS_ACCESS) {
		outb_p(PIT_SELECT_CH2 | (saved.pit_status & PIT_STATUS_CONTROL), PORT_PIT_MODE);
		if (mode == 0 && saved.pit_status & PIT_STATUS_OUT) {
			/* Had counted down: let it do so again, or its output would be 0. */
			outb_p(port | SPEAKER_GATE, PORT_SPEAKER);
			pit_load_count(saved.pit_status & PIT_ACCESS_LOW ? 1 : 0x100);
			udelay(saved.pit_status & PIT_ACCESS_LOW ? 5 : 250);
		} else if (!(saved.pit_status & PIT_STATUS_NULL_COUNT)) {
			pit_load_count(saved.pit_count);
		}
	}
	outb_p(port | (saved.port & (SPEAKER_GATE | SPEAKER_DATA)), PORT_SPEAKER);
	raw_spin_unlock_irqrestore(&i8253_lock, flags);
	owner_give_back();
}
