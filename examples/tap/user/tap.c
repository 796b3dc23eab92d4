// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tap loop as an ordinary program in RT mode: the module's engine, and a 16550 that is polled
 * once a period, so an answer waits for up to a period. See --help.
 *
 * Linux's ioperm() lets the program use the ports; RT mode honours that. The chip's registers are
 * as before afterwards, but for its FIFOs, which are off.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/io.h>
#include <sys/mman.h>
#include <time.h>
#include <linux/serial_reg.h>
#include <tactus/rt.h>

#include "../host/tapfile.h"
#include "../kernel/engine.h"
#include "../kernel/pace.h"

#define NS_PER_S 1000000000LL
#define UART_PORTS 8
#define UART_BAD_BYTE (UART_LSR_FE | UART_LSR_PE | UART_LSR_BI)
#define BITS_PER_BYTE 10
#define MESSAGE_BYTES 3
#define RECORDS 16384		/* kept until the trial is over */

static const char usage[] =
	"usage: tap [OPTIONS] FILE\n"
	"\n"
	"Plays the trial of a parameter file over a 16550 in RT mode, and prints its events.\n"
	"  --base PORT      first I/O port (default 0x2f8); no driver may use it\n"
	"  --baud-base HZ   a sixteenth of its crystal (default 115200)\n"
	"  --divisor N      baud is HZ / N (default 3: the 38400 of serial MIDI boxes)\n"
	"  --loop           what is sent comes back, inside of the chip\n"
	"  --period-us N    between two looks at the chip, 20 to 1000 (default 100)\n"
	"  --linux          the same as Linux runs it at its best: SCHED_FIFO 99\n"
	"  --records        print struct tap_record, not text\n"
	"\n"
	"Needs CAP_SYS_RAWIO for the ports, and /dev/rt. Ends with the trial, or by SIGINT.\n"
	"Status: 0, or 1 after a complaint, or if anything was lost; 2 usage.\n";

static struct {
	unsigned int base, baud_base, divisor;
	bool loop, linux_only, records;
	int64_t period_ns;
} option = { .base = 0x2f8, .baud_base = 115200, .divisor = 3, .period_ns = 100000 };

static struct tapfile file;
static char text[TAPFILE_MOST_BYTES + 1];
static struct tap_engine engine;
static struct tap_pace pace;
static struct midi_parser parser;
static struct tap_record record[RECORDS];
static unsigned int records;
static struct {
	u64 in, out, lost, bad, missed;
	int64_t latest_ns;
} count;
static volatile sig_atomic_t interrupted;

static u8 uart_in(int reg)
{
	return inb(option.base + reg);
}

static void uart_out(int reg, u8 value)
{
	outb(value, option.base + reg);
}

/* ---- the loop: in RT mode, so nothing here is a system call of Linux ---- */

static bool keep(void *unused, const struct tap_record *r)
{
	(void)unused;
	if (records == RECORDS)
		return false;
	record[records++] = *r;
	return true;
}

static u8 line_status(void)
{
	u8 lsr = uart_in(UART_LSR);

	count.lost += !!(lsr & UART_LSR_OE);
	return lsr;
}

static void take_input(int64_t now)
{
	struct midi_message message;
	u8 lsr;

	while ((lsr = line_status()) & UART_LSR_DR) {
		u8 byte = uart_in(UART_RX);

		if (lsr & UART_BAD_BYTE) {
			count.bad++;
			continue;
		}
		count.in++;
		if (midi_byte(&parser, byte, &message))
			tap_engine_message(&engine, &message, now);
	}
}

static void feed_line(void)
{
	u64 now = rt_now();

	if (tap_pace_next(&pace) > now)
		return;
	if (!(line_status() & UART_LSR_THRE)) {
		tap_pace_refused(&pace, now);
		return;
	}
	uart_out(UART_TX, tap_pace_first(&pace));
	tap_pace_sent(&pace, now);
	count.out++;
}

static void give_output(int64_t now)
{
	struct tap_out out;

	while (tap_pace_room(&pace, MESSAGE_BYTES) && tap_engine_due(&engine, now, &out)) {
		u64 handed = rt_now();
		u64 begins = tap_pace_put(&pace, out.msg, out.bytes, handed);

		feed_line();
		tap_engine_sent(&engine, &out, handed, begins);
	}
	feed_line();
}

/* Is the trial over? */
static bool pass(void)
{
	int64_t now = rt_now();

	take_input(now);
	if (interrupted)
		tap_engine_stop(&engine, now, TAP_BY_STOP);
	tap_engine_pass(&engine, now);
	give_output(now);
	return tap_engine_state(&engine) == TAP_ENGINE_OVER && tap_pace_idle(&pace, now);
}

/* ---- Linux ---- */

static void on_interrupt(int unused)
{
	(void)unused;
	interrupted = 1;
}

static void note_late(int64_t late)
{
	count.latest_ns = late > count.latest_ns ? late : count.latest_ns;
}

static int64_t linux_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void play_in_linux(void)
{
	struct sched_param most = { .sched_priority = sched_get_priority_max(SCHED_FIFO) };
	int64_t release;

	if (sched_setscheduler(0, SCHED_FIFO, &most))
		err(1, "SCHED_FIFO");
	tap_engine_start(&engine, 1, rt_now());
	release = linux_now();
	do {
		struct timespec at;

		release += option.period_ns;
		at = (struct timespec) { release / NS_PER_S, release % NS_PER_S };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		note_late(linux_now() - release);
	} while (!pass());
}

static void play(void)
{
	struct rt_attr attr = {
		.period_ns = option.period_ns, .budget_ns = option.period_ns / 2,
		.priority = 1, .cpu = -1,
	};
	struct rt_job job;
	int result;

	while ((result = rt_enter(&attr)) == -EINTR)
		;
	if (result)
		errx(1, "%s", rt_why());
	tap_engine_start(&engine, 1, rt_now());
	do {
		result = rt_wait(&job);
		count.missed += result == -ETIMEDOUT;
		if (!result)
			note_late(rt_now() - job.release_ns);
	} while (!pass());
	rt_leave();
}

static void set_divisor(unsigned int divisor)
{
	uart_out(UART_LCR, UART_LCR_DLAB);
	uart_out(UART_DLL, divisor & 0xff);
	uart_out(UART_DLM, divisor >> 8);
}

static unsigned int divisor_now(void)
{
	uart_out(UART_LCR, UART_LCR_DLAB);
	return uart_in(UART_DLL) | uart_in(UART_DLM) << 8;
}

/* The chip for the trial alone: polled, so without interrupts. */
static void with_uart(void (*play_it)(void))
{
	u8 lcr = uart_in(UART_LCR), mcr = uart_in(UART_MCR), ier;
	unsigned int divisor;

	uart_out(UART_LCR, lcr & ~UART_LCR_DLAB);
	ier = uart_in(UART_IER);
	uart_out(UART_IER, 0);
	divisor = divisor_now();
	set_divisor(option.divisor);
	uart_out(UART_LCR, UART_LCR_WLEN8);
	uart_out(UART_FCR, UART_FCR_ENABLE_FIFO | UART_FCR_CLEAR_RCVR | UART_FCR_CLEAR_XMIT);
	uart_out(UART_MCR, UART_MCR_DTR | UART_MCR_RTS | (option.loop ? UART_MCR_LOOP : 0));

	play_it();

	uart_out(UART_FCR, 0);
	set_divisor(divisor);
	uart_out(UART_LCR, lcr & ~UART_LCR_DLAB);
	uart_out(UART_IER, ier);
	uart_out(UART_MCR, mcr);
	uart_out(UART_LCR, lcr);
}

static bool uart_is_there(void)
{
	u8 scratch = uart_in(UART_SCR);
	bool keeps;

	uart_out(UART_SCR, 0x5a);
	keeps = uart_in(UART_SCR) == 0x5a;
	uart_out(UART_SCR, 0xa5);
	keeps = keeps && uart_in(UART_SCR) == 0xa5;
	uart_out(UART_SCR, scratch);
	return keeps;
}

static unsigned long number(const char *argument, unsigned long least, unsigned long most)
{
	char *end;
	unsigned long value = strtoul(argument, &end, 0);

	if (*argument < '0' || *argument > '9' || *end || value < least || value > most)
		errx(2, "\"%s\" is not a number from %lu to %lu", argument, least, most);
	return value;
}

static void take_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "base", required_argument, NULL, 'p' }, { "loop", no_argument, NULL, 'o' },
		{ "baud-base", required_argument, NULL, 'b' },
		{ "divisor", required_argument, NULL, 'd' },
		{ "period-us", required_argument, NULL, 'u' },
		{ "linux", no_argument, NULL, 'l' }, { "records", no_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
		option.base = letter == 'p' ? number(optarg, 0x100, 0xfff8) : option.base;
		option.baud_base = letter == 'b' ? number(optarg, 1, 100000000) : option.baud_base;
		option.divisor = letter == 'd' ? number(optarg, 1, 0xffff) : option.divisor;
		if (letter == 'u')
			option.period_ns = 1000 * number(optarg, 20, 1000);
		option.loop |= letter == 'o';
		option.linux_only |= letter == 'l';
		option.records |= letter == 'r';
		if (letter == 'h' || letter == '?') {
			fputs(usage, letter == 'h' ? stdout : stderr);
			exit(letter == 'h' ? 0 : 2);
		}
	}
	if (optind != argc - 1) {
		fputs(usage, stderr);
		exit(2);
	}
}

static void read_trial(const char *name)
{
	FILE *from = fopen(name, "rb");
	size_t size;

	if (!from)
		err(1, "%s", name);
	size = fread(text, 1, sizeof(text), from);
	if (ferror(from))
		err(1, "%s", name);
	fclose(from);
	if (!tapfile_read(&file, name, text, size, stderr))
		errx(1, "%s has errors", name);
}

int main(int argc, char **argv)
{
	struct tap_sink sink = { .put = keep };
	int result;

	take_options(argc, argv);
	read_trial(argv[optind]);
	result = rt_init();
	errno = -result;
	if (result)
		err(1, "/dev/rt");
	if (ioperm(option.base, UART_PORTS, 1))
		err(1, "the ports of the UART");
	if (!uart_is_there())
		errx(1, "there is no 16550 at %#x", option.base);
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		err(1, "mlockall");
	signal(SIGINT, on_interrupt);
	midi_init(&parser);
	tap_pace_init(&pace, BITS_PER_BYTE * NS_PER_S * option.divisor / option.baud_base);
	tap_engine_init(&engine, &file.params, &sink);
	with_uart(option.linux_only ? play_in_linux : play);

	tap_engine_count(&engine, TAP_FIG_BYTES_IN, count.in);
	tap_engine_count(&engine, TAP_FIG_BYTES_OUT, count.out);
	tap_engine_count(&engine, TAP_FIG_BYTES_LOST, count.lost);
	tap_engine_count(&engine, TAP_FIG_BYTES_BROKEN, parser.stats.broken + count.bad);
	tap_engine_finish(&engine, rt_now());
	for (unsigned int i = 0; i < records; i++)
		if (option.records)
			fwrite(&record[i], sizeof(record[i]), 1, stdout);
		else
			print_event(&record[i], stdout);
	fprintf(stderr, "tap: %" PRIu64 " bytes in, %" PRIu64 " out, %" PRIu64 " lost; ",
		count.in, count.out, count.lost);
	fprintf(stderr, "latest pass %" PRId64 " ns after its release, %" PRIu64 " missed\n",
		count.latest_ns, count.missed);
	return fflush(stdout) || count.lost || count.bad || count.missed || records == RECORDS;
}
