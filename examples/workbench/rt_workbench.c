// SPDX-License-Identifier: GPL-2.0-only
/*
 * A signal generator and a logic analyser on the parallel port (thesis, 4.3).
 *
 * The generator, an RT task, writes one byte to the port's eight data lines each period: the next
 * of /dev/rtf/bench_out while there is one. Else, with count=1, it is a number that counts up: its
 * bits are square waves, each half as fast as the one before. strobe=1 pulses the strobe line after
 * each byte, as for a printer.
 *
 * The analyser, another RT task, reads data and status lines each sample_us and puts a record into
 * /dev/rtf/bench_in when one of them has changed. It is the less urgent one: an edge of the
 * generator's is seen at the next sample.
 */
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/module.h>
#include <rt/fifo.h>
#include <rt/task.h>

#define PORTS 3
#define DATA 0
#define STATUS 1
#define CONTROL 2
/* Select and init: the printer is on line. */
#define CONTROL_REST 0x0c
#define CONTROL_STROBE 0x01

#define RECORDS 20000
#define OUT_BYTES 4096

/* As tactus record and scope are told: time_ns:u8,pins:u2 */
struct bench_record {
	u64 time_ns;
	u16 pins;	/* D0 to D7, then the status register's bits 0 to 7 */
} __packed;

static ushort base = 0x378;
module_param(base, ushort, 0444);
MODULE_PARM_DESC(base, "the port's first I/O port (default 0x378)");

static uint period_us = 100;
module_param(period_us, uint, 0444);
MODULE_PARM_DESC(period_us, "between two bytes of the generator, 20 to 1000000 us (default 100)");

static uint sample_us = 10;
module_param(sample_us, uint, 0444);
MODULE_PARM_DESC(sample_us, "between two looks of the analyser, 5 to 1000000 us (default 10)");

static bool count = true;
module_param(count, bool, 0444);
MODULE_PARM_DESC(count, "count up while there is nothing in /dev/rtf/bench_out (default 1)");

static bool strobe;
module_param(strobe, bool, 0444);
MODULE_PARM_DESC(strobe, "pulse the strobe line after each byte (default 0)");

static RT_TASK generator, analyser;
static int out_fifo, in_fifo;
static u8 saved_data, saved_control;

static void generate(int unused)
{
	u8 byte = 0;

	do {
		if (rtf_get(out_fifo, &byte, 1) != 1) {
			if (!count)
				continue;
			byte++;
		}
		outb(byte, base + DATA);
		if (strobe) {
			outb(CONTROL_REST | CONTROL_STROBE, base + CONTROL);
			outb(CONTROL_REST, base + CONTROL);
		}
	} while (rt_task_wait() != -EPERM);
}

static void analyse(int unused)
{
	struct bench_record record;
	int last = -1;

	do {
		record.pins = inb(base + DATA) | inb(base + STATUS) << 8;
		record.time_ns = rt_get_time();
		if (record.pins != last)
			rtf_put(in_fifo, &record, sizeof(record));
		last = record.pins;
	} while (rt_task_wait() != -EPERM);
}

static int __init make_fifos(void)
{
	int err;

	out_fifo = rtf_create_named(THIS_MODULE, "bench_out", OUT_BYTES);
	if (out_fifo < 0)
		return out_fifo;
	in_fifo = rtf_create_named(THIS_MODULE, "bench_in", RECORDS * sizeof(struct bench_record));
	if (in_fifo < 0) {
		err = in_fifo;
		goto err_destroy_out;
	}
	err = rtf_set_record(in_fifo, sizeof(struct bench_record));
	if (!err)
		return 0;
	rtf_destroy(in_fifo);
err_destroy_out:
	rtf_destroy(out_fifo);
	return err;
}

static void destroy_fifos(void)
{
	rtf_destroy(in_fifo);
	rtf_destroy(out_fifo);
}

/* The data lines keep what is written to them, where there is such a port. */
static bool __init port_is_there(void)
{
	bool keeps;

	saved_data = inb(base + DATA);
	saved_control = inb(base + CONTROL);
	outb(0x5a, base + DATA);
	keeps = inb(base + DATA) == 0x5a;
	outb(0xa5, base + DATA);
	return keeps && inb(base + DATA) == 0xa5;
}

static int __init start_tasks(void)
{
	RTIME start;
	int err = rt_task_init(&generator, generate, 0, 4096, 1);

	if (err)
		return err;
	err = rt_task_init(&analyser, analyse, 0, 4096, 2);
	if (err)
		goto err_delete_generator;
	start = rt_get_time() + 10000000;
	err = rt_task_make_periodic(&analyser, start, sample_us * 1000LL) ?:
	      rt_task_make_periodic(&generator, start + period_us * 1000LL, period_us * 1000LL);
	if (!err)
		return 0;
	rt_task_delete(&analyser);
err_delete_generator:
	rt_task_delete(&generator);
	return err;
}

static void give_port_back(void)
{
	outb(saved_data, base + DATA);
	outb(saved_control, base + CONTROL);
	release_region(base, PORTS);
}

static int __init bench_init(void)
{
	int err;

	if (period_us < 20 || period_us > 1000000 || sample_us < 5 || sample_us > 1000000)
		return -EINVAL;
	if (!request_region(base, PORTS, KBUILD_MODNAME)) {
		pr_err("refused: I/O ports from %#x are in use: unload parport_pc\n", base);
		return -EBUSY;
	}
	if (!port_is_there()) {
		pr_err("refused: there is no parallel port at %#x\n", base);
		release_region(base, PORTS);
		return -ENODEV;
	}
	outb(0, base + DATA);
	outb(CONTROL_REST, base + CONTROL);
	err = make_fifos();
	if (err)
		goto err_give_back;
	err = start_tasks();
	if (err)
		goto err_destroy;
	return 0;

err_destroy:
	destroy_fifos();
err_give_back:
	give_port_back();
	return err;
}

static void __exit bench_exit(void)
{
	rt_task_delete(&generator);
	rt_task_delete(&analyser);
	destroy_fifos();
	give_port_back();
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("Signal generator and logic analyser on the parallel port");
MODULE_LICENSE("GPL");
