// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loop of FTAP's Figure 1 as an RT task: input, time, process, output queue, output.
 *
 *	  .--> what is due to the line, and the bytes that it can take to the port
 *	  |    bytes of the port, each with its time --> messages --> the engine
 *	  |    what time brings: beats, triggers
 *	  |    what is due now: output again
 *	  |    once in pass_ns: commands
 *	  '--- sleep: until input comes, something is due, the line can take a byte, or pass_ns is
 *	  over
 *
 * A periodic loop would add up to a period to each answer; this one is woken by the port's
 * interrupt and by one-shot timers for what is due, so it adds what waking up takes. The passes
 * in between are for commands, and bound the harm of a lost interrupt.
 *
 * Invariants: everything here is the task's alone once it runs, but for the counts that Linux
 * reads. No call waits for Linux: a record that does not fit into the FIFO is lost and counted.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>

#include <rt/fifo.h>
#include <rt/sync.h>
#include <rt/task.h>

#include "engine.h"
#include "midi.h"
#include "pace.h"
#include "params.h"
#include "rt_tap.h"

#define STACK_BYTES 8192
/* After so many passes in a row without rest Linux gets a chance, whatever is due. */
#define PASSES_IN_A_ROW 64
#define REST_NS 20000
/* In one pass; the rest in the next. */
#define COMMANDS_AT_ONCE 16
#define MESSAGE_BYTES 3
/* Kept free in the FIFO for the end of a trial: TAP_ENDED, the figures, TAP_DONE. */
#define CLOSING_RECORDS (TAP_FIGURES + 2)
/* How long a trial may take to switch its notes off when the module is unloaded. */
#define END_MS 2000

static struct tap_loop_setup setup;
static struct tap_loop_stats stats;
static struct tap_engine engine;
static struct tap_params params;
static struct midi_parser parser;
static struct tap_pace pace;
static struct rt_sem work;
static RT_TASK task;
static bool trial, end_asked;
static u64 commands_at, poll_at;
static int in_a_row;

void tap_loop_wake(void)
{
	rt_sem_post(&work);
}

bool tap_loop_running(void)
{
	return READ_ONCE(trial);
}

void tap_loop_stats(struct tap_loop_stats *copy)
{
	*copy = stats;
	if (setup.port)
		setup.port->stats(&copy->port);
}

static bool fifo_has_room(unsigned int records)
{
	return rtf_free(setup.events_fifo) >= (int)(records * sizeof(struct tap_record));
}

/* Whoever comes late must learn that a trial is over: its last records always fit. */
static bool put_record(void *unused, const struct tap_record *record)
{
	bool closing = record->class >= TAP_ENDED && record->class <= TAP_DONE;

	if (!closing && !fifo_has_room(CLOSING_RECORDS + 1))
		return false;
	return rtf_put(setup.events_fifo, record, sizeof(*record)) == sizeof(*record);
}

static void take_input(void)
{
	struct midi_message message;
	RTIME at;
	u8 byte;

	while (setup.port->rx(&byte, &at))
		if (!trial)
			stats.stray_bytes++;
		else if (midi_byte(&parser, byte, &message))
			tap_engine_message(&engine, &message, at);
}

/* Bytes to the port, as fast as the line is. */
static void feed_line(void)
{
	while (tap_pace_next(&pace) <= rt_get_time()) {
		bool taken = setup.port->tx(tap_pace_first(&pace));
		u64 now = rt_get_time();

		if (!taken) {
			tap_pace_refused(&pace, now);
			break;
		}
		tap_pace_sent(&pace, now);
	}
}

/* A record is made after the byte has left: the line does not wait for the books. */
static void give_output(u64 now)
{
	struct tap_out out;

	if (setup.poll_ns) {
		if (now < poll_at)
			return;
		poll_at += (div64_u64(now - poll_at, setup.poll_ns) + 1) * setup.poll_ns;
	}
	while (tap_pace_room(&pace, MESSAGE_BYTES) && tap_engine_due(&engine, now, &out)) {
		u64 handed = rt_get_time();
		u64 begins = tap_pace_put(&pace, out.msg, out.bytes, handed);

		feed_line();
		tap_engine_sent(&engine, &out, handed, begins);
	}
}

static void refuse(const struct tap_command *command, int err, unsigned int param,
		   unsigned int index)
{
	struct tap_record record = {
		.class = TAP_REFUSED,
		.source = command->serial,
		.param = param,
		.index = index,
		.value = err,
		.trial = command->op == TAP_START ? command->value : 0,
	};

	stats.refused++;
	put_record(NULL, &record);
}

static void start_trial(const struct tap_command *command)
{
	const struct tap_sink sink = { .put = put_record };
	unsigned int other, wrong = tap_params_check(&params, &other);

	if (wrong) {
		refuse(command, -EINVAL, wrong, other);
		return;
	}
	if (!fifo_has_room(2 * CLOSING_RECORDS)) {
		refuse(command, -ENOSPC, 0, 0);
		return;
	}
	if (command->value < 0 || command->value > U32_MAX) {
		refuse(command, -ERANGE, 0, 0);
		return;
	}
	tap_engine_init(&engine, &params, &sink);
	midi_init(&parser);
	setup.port->start();
	stats.trials++;
	WRITE_ONCE(trial, true);
	poll_at = rt_get_time();
	tap_engine_start(&engine, command->value, poll_at);
}

static void set_parameter(const struct tap_command *command)
{
	int err = tap_params_command(&params, command);

	if (err)
		refuse(command, err, command->param, command->index);
}

static void obey(const struct tap_command *command)
{
	if (command->magic != TAP_MAGIC)
		refuse(command, -EINVAL, 0, 0);
	else if (command->op == TAP_STOP)
		tap_engine_stop(&engine, rt_get_time(), TAP_BY_STOP);
	else if (trial)
		refuse(command, -EBUSY, command->param, command->index);
	else if (command->op == TAP_START)
		start_trial(command);
	else
		set_parameter(command);
}

static void take_commands(void)
{
	struct tap_command command;
	int left = COMMANDS_AT_ONCE;

	while (left-- && rtf_get(setup.commands_fifo, &command, sizeof(command)) > 0)
		obey(&command);
	if (READ_ONCE(end_asked))
		tap_engine_stop(&engine, rt_get_time(), TAP_BY_STOP);
}

static void finish_trial(u64 now)
{
	struct tap_port_stats port;

	setup.port->stats(&port);
	tap_engine_count(&engine, TAP_FIG_BYTES_IN, port.rx_bytes);
	tap_engine_count(&engine, TAP_FIG_BYTES_OUT, port.tx_bytes);
	tap_engine_count(&engine, TAP_FIG_BYTES_LOST, port.lost_bytes);
	tap_engine_count(&engine, TAP_FIG_BYTES_BROKEN, parser.stats.broken + port.bad_bytes);
	tap_engine_count(&engine, TAP_FIG_SYSEX, parser.stats.sysex);
	tap_engine_count(&engine, TAP_FIG_SYSEX_BYTES, parser.stats.sysex_bytes);
	tap_engine_finish(&engine, now);
	WRITE_ONCE(trial, false);
}

/* Return: when the next pass is due if no input comes. */
static u64 pass(void)
{
	u64 now, next;

	/* What was waited for first: neither new input nor its record is in its way. */
	feed_line();
	if (trial)
		give_output(rt_get_time());
	take_input();
	now = rt_get_time();
	if (trial)
		tap_engine_pass(&engine, now);
	if (trial)
		give_output(now);
	feed_line();
	if (commands_at <= now) {
		take_commands();
		commands_at = now + setup.pass_ns;
	}
	if (trial && tap_engine_state(&engine) == TAP_ENGINE_OVER && tap_pace_idle(&pace, now))
		finish_trial(now);
	stats.passes++;

	next = min(commands_at, tap_pace_next(&pace));
	if (trial && tap_pace_room(&pace, MESSAGE_BYTES)) {
		u64 due = tap_engine_next(&engine);

		next = min(next, setup.poll_ns ? max(due, poll_at) : due);
	}
	now = rt_get_time();
	if (next > now) {
		in_a_row = 0;
		return next;
	}
	if (++in_a_row < PASSES_IN_A_ROW)
		return now;
	in_a_row = 0;
	return now + REST_NS;
}

static void loop(int unused)
{
	int err;

	do
		err = rt_sem_wait_until(&work, pass());
	while (!err || err == -ETIMEDOUT);
}

int tap_loop_prepare(void)
{
	return rt_sem_init(&work, 0);
}

int tap_loop_start(const struct tap_loop_setup *wanted)
{
	int err;

	setup = *wanted;
	memset(&stats, 0, sizeof(stats));
	tap_params_reset(&params);
	tap_pace_init(&pace, setup.byte_ns);
	err = rt_task_init(&task, loop, 0, STACK_BYTES, 1);
	if (err)
		return err;
	rt_task_set_name(&task, "tap");
	rt_task_wakeup(&task);
	return 0;
}

void tap_loop_end(void)
{
	int left = END_MS;

	WRITE_ONCE(end_asked, true);
	while (tap_loop_running() && left--)
		msleep(1);
	rt_task_delete(&task);
}
