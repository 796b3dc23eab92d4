// SPDX-License-Identifier: GPL-2.0-only
/*
 * rt_tap: tapping experiments, after Finney's FTAP, with the loop in hard real time.
 *
 *	insmod rt_tap.ko port=uart uart_base=0x2e8 uart_irq=5
 *	tactus tap experiment.ftap
 *
 * This file puts the loop together: parameters, FIFOs, port, statistics.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/sysfs.h>

#include <rt/fifo.h>

#include "rt_tap.h"
#include "tap.h"

#define COMMANDS_MOST 4096

static char *port = "wire";
module_param(port, charp, 0444);
MODULE_PARM_DESC(port, "uart: a 16550; wire: a loop in memory (default); bridge: for rt_tap_alsa");

static uint records = 65536;
module_param(records, uint, 0444);
MODULE_PARM_DESC(records, "how many records wait for a reader, 256 to 262144 (default 65536)");

static uint pass_us = 500;
module_param(pass_us, uint, 0444);
MODULE_PARM_DESC(pass_us, "longest time between two passes, 50 to 10000 us (default 500)");

static uint output_poll_us;
module_param(output_poll_us, uint, 0444);
MODULE_PARM_DESC(output_poll_us, "look at output only so often, us, as bad drivers do (default 0)");

static const struct tap_port *const ports[] = {
	&tap_port_wire, &tap_port_uart, &tap_port_bridge,
};

static const struct tap_port *tap_port_named(const char *name)
{
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(ports); n++)
		if (sysfs_streq(name, ports[n]->name))
			return ports[n];
	return NULL;
}

/* The bridge's times are of all trials since loading, the port's of the last trial. */
static u64 waited_max_ns(void)
{
	u64 max_ns, mean_ns;

	tap_bridge_waited(&max_ns, &mean_ns);
	return max_ns;
}

static u64 waited_mean_ns(void)
{
	u64 max_ns, mean_ns;

	tap_bridge_waited(&max_ns, &mean_ns);
	return mean_ns;
}

#define STAT(_name, _value)								\
static ssize_t _name##_show(struct kobject *kobj, struct kobj_attribute *attr,		\
			    char *buf)							\
{											\
	struct tap_loop_stats stats;							\
											\
	tap_loop_stats(&stats);								\
	return sysfs_emit(buf, "%llu\n", (unsigned long long)(_value));			\
}											\
static struct kobj_attribute stat_##_name = __ATTR(_name, 0444, _name##_show, NULL)

STAT(running, tap_loop_running());
STAT(trials, stats.trials);
STAT(passes, stats.passes);
STAT(stray_bytes, stats.stray_bytes);
STAT(refused, stats.refused);
STAT(rx_bytes, stats.port.rx_bytes);
STAT(tx_bytes, stats.port.tx_bytes);
STAT(lost_bytes, stats.port.lost_bytes);
STAT(bad_bytes, stats.port.bad_bytes);
STAT(stamp_late_max_ns, stats.port.stamp_late_max_ns);
STAT(idle_max_ns, stats.port.idle_max_ns);
STAT(idle_sum_ns, stats.port.idle_sum_ns);
STAT(bridge_max_ns, waited_max_ns());
STAT(bridge_mean_ns, waited_mean_ns());

static const struct attribute *stat_attributes[] = {
	&stat_running.attr, &stat_trials.attr, &stat_passes.attr, &stat_stray_bytes.attr,
	&stat_refused.attr, &stat_rx_bytes.attr, &stat_tx_bytes.attr, &stat_lost_bytes.attr,
	&stat_bad_bytes.attr, &stat_stamp_late_max_ns.attr, &stat_idle_max_ns.attr,
	&stat_idle_sum_ns.attr, &stat_bridge_max_ns.attr, &stat_bridge_mean_ns.attr,
	NULL,
};

static struct tap_loop_setup setup;
static struct kobject *stat_kobj;	/* /sys/module/rt_tap/stats */

static int stats_add(void)
{
	int err;

	stat_kobj = kobject_create_and_add("stats", &THIS_MODULE->mkobj.kobj);
	if (!stat_kobj)
		return -ENOMEM;
	err = sysfs_create_files(stat_kobj, stat_attributes);
	if (err)
		kobject_put(stat_kobj);
	return err;
}

static int make_fifo(const char *name, unsigned int count, unsigned int bytes)
{
	int fifo = rtf_create_named(THIS_MODULE, name, count * bytes), err;

	if (fifo < 0) {
		pr_err("cannot create the RT-FIFO %s: %d\n", name, fifo);
		return fifo;
	}
	err = rtf_set_record(fifo, bytes);
	if (err)
		rtf_destroy(fifo);
	return err ?: fifo;
}

static int check_parameters(void)
{
	if (pass_us < 50 || pass_us > 10000 || records < 256 || records > 262144 ||
	    output_poll_us > 1000000) {
		pr_err("refused: pass_us, records or output_poll_us is out of range; nothing was changed\n");
		return -EINVAL;
	}
	setup.port = tap_port_named(port);
	if (!setup.port) {
		pr_err("refused: there is no port %s; nothing was changed\n", port);
		return -EINVAL;
	}
	setup.pass_ns = pass_us * 1000ULL;
	setup.poll_ns = output_poll_us * 1000ULL;
	return 0;
}

static int make_fifos(void)
{
	int fifo = make_fifo(TAP_FIFO_EVENTS, records, sizeof(struct tap_record));

	if (fifo < 0)
		return fifo;
	setup.events_fifo = fifo;
	fifo = make_fifo(TAP_FIFO_COMMANDS, COMMANDS_MOST, sizeof(struct tap_command));
	if (fifo < 0) {
		rtf_destroy(setup.events_fifo);
		return fifo;
	}
	setup.commands_fifo = fifo;
	return 0;
}

static int __init rt_tap_init(void)
{
	long byte_ns;
	int err = check_parameters();

	if (err)
		return err;
	err = make_fifos();
	if (err)
		return err;
	err = tap_loop_prepare();
	if (err)
		goto err_destroy_fifos;
	byte_ns = setup.port->open(tap_loop_wake);
	if (byte_ns < 0) {
		err = byte_ns;
		goto err_destroy_fifos;
	}
	setup.byte_ns = byte_ns;
	err = tap_loop_start(&setup);
	if (err) {
		pr_err("cannot start the RT task: %d\n", err);
		goto err_close_port;
	}
	err = stats_add();
	if (err)
		goto err_end_loop;
	return 0;

err_end_loop:
	tap_loop_end();
err_close_port:
	setup.port->close();
err_destroy_fifos:
	rtf_destroy(setup.commands_fifo);
	rtf_destroy(setup.events_fifo);
	return err;
}

static void __exit rt_tap_exit(void)
{
	kobject_put(stat_kobj);
	tap_loop_end();
	setup.port->close();
	rtf_destroy(setup.commands_fifo);
	rtf_destroy(setup.events_fifo);
}

module_init(rt_tap_init);
module_exit(rt_tap_exit);
MODULE_DESCRIPTION("Tapping experiments with the loop in hard real time");
MODULE_LICENSE("GPL");
