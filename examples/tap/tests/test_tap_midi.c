// SPDX-License-Identifier: GPL-2.0-only
/* The MIDI parser: whole messages out of any stream, and every byte accounted for. */
#include "check.h"
#include "examples/tap/kernel/midi.c"

static struct midi_parser parser;
static struct midi_message got[4096];
static unsigned int count;

static void feed(const u8 *bytes, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		count += midi_byte(&parser, bytes[i], &got[count]);
		CHECK_EQ(parser.stats.bytes, parser.stats.message_bytes + parser.stats.broken +
			 parser.stats.sysex_bytes + parser.have + parser.fresh);
	}
}

#define FEED(...)							\
	do {								\
		static const u8 bytes_[] = { __VA_ARGS__ };		\
									\
		midi_init(&parser);					\
		count = 0;						\
		feed(bytes_, sizeof(bytes_));				\
	} while (0)

#define IS(i, ...)							\
	do {								\
		static const u8 whole_[] = { __VA_ARGS__ };		\
									\
		CHECK((i) < count);					\
		CHECK_EQ(got[i].bytes, sizeof(whole_));			\
		CHECK(!memcmp(got[i].byte, whole_, sizeof(whole_)));	\
	} while (0)

static void test_whole_messages(void)
{
	FEED(0x90, 60, 100, 0x80, 60, 0, 0xc3, 5, 0xe1, 0, 64, 0xf2, 1, 2, 0xf3, 7, 0xf6);
	CHECK_EQ(count, 7);
	IS(0, 0x90, 60, 100);
	IS(1, 0x80, 60, 0);
	IS(2, 0xc3, 5);
	IS(3, 0xe1, 0, 64);
	IS(4, 0xf2, 1, 2);
	IS(5, 0xf3, 7);
	IS(6, 0xf6);
	CHECK_EQ(parser.stats.messages, 7);
	CHECK_EQ(parser.stats.broken, 0);
}

static void test_running_status(void)
{
	FEED(0x91, 60, 100, 60, 0, 62, 1, 0xd2, 9, 8);
	CHECK_EQ(count, 5);
	IS(1, 0x91, 60, 0);
	IS(2, 0x91, 62, 1);
	IS(4, 0xd2, 8);
	CHECK(midi_press(&got[0]) && !midi_release(&got[0]));
	CHECK(midi_release(&got[1]) && !midi_press(&got[1]));
	CHECK(!midi_release(&got[3]) && !midi_press(&got[3]));
	/* It ends with any message of the system, but not with real time. */
	FEED(0x90, 60, 1, 0xf6, 61, 1);
	CHECK_EQ(count, 2);
	CHECK_EQ(parser.stats.broken, 2);
	FEED(0x90, 60, 1, 0xf3, 1, 61, 1);
	CHECK_EQ(parser.stats.broken, 2);
	FEED(0x90, 60, 1, 0xf8, 61, 1);
	CHECK_EQ(count, 3);
	CHECK_EQ(parser.stats.broken, 0);
}

static void test_real_time_inside(void)
{
	FEED(0x90, 0xf8, 60, 0xfe, 0xff, 100, 0xfa);
	CHECK_EQ(count, 5);
	IS(0, 0xf8);
	IS(1, 0xfe);
	IS(2, 0xff);
	IS(3, 0x90, 60, 100);
	IS(4, 0xfa);
	FEED(0xf0, 1, 0xf8, 2, 0xf7);
	CHECK_EQ(count, 1);
	CHECK_EQ(parser.stats.sysex_bytes, 4);
}

static void test_sysex(void)
{
	FEED(0xf0, 1, 2, 3, 0xf7, 0x90, 1, 2);
	CHECK_EQ(count, 1);
	CHECK_EQ(parser.stats.sysex, 1);
	CHECK_EQ(parser.stats.sysex_bytes, 5);
	/* One that another status cuts short; and it ends running status. */
	FEED(0x90, 1, 2, 0xf0, 3, 0x80, 4, 5, 0xf0, 6, 7, 0xf7, 8, 9);
	CHECK_EQ(count, 2);
	IS(1, 0x80, 4, 5);
	CHECK_EQ(parser.stats.sysex, 2);
	CHECK_EQ(parser.stats.broken, 2);
}

static void test_broken(void)
{
	/* Data without status, a message cut short, undefined bytes, an end without a beginning. */
	FEED(1, 2, 0x90, 60, 0x91, 61, 1, 0xf4, 5, 0xf9, 0xf7, 0x92, 0x93, 1, 2);
	CHECK_EQ(count, 2);
	IS(0, 0x91, 61, 1);
	IS(1, 0x93, 1, 2);
	CHECK_EQ(parser.stats.broken, 2 + 2 + 2 + 1 + 1 + 1);
}

/* After any rubbish whatever, a message with its status gets through. */
static void test_resynchronises(void)
{
	u32 seed = 1;

	for (int round = 0; round < 20000; round++) {
		u8 rubbish[8];
		static const u8 whole[] = { 0x95, 33, 44 };

		midi_init(&parser);
		count = 0;
		for (unsigned int i = 0; i < sizeof(rubbish); i++) {
			seed = seed * 1664525 + 1013904223;
			rubbish[i] = seed >> 24;
		}
		feed(rubbish, seed >> 8 & 7);
		feed(whole, sizeof(whole));
		CHECK(count);
		IS(count - 1, 0x95, 33, 44);
	}
}

int main(void)
{
	test_whole_messages();
	test_running_status();
	test_real_time_inside();
	test_sysex();
	test_broken();
	test_resynchronises();
	return 0;
}
