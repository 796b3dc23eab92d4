/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For hal_parport of LinuxCNC, in place of Linux's header: a port is LinuxCNC's alone, and Linux's
 * parport has none. The interface that hal_parport uses left Linux in 5.6. Unload parport_pc first,
 * else the region of ports is taken and loading fails.
 */
#ifndef _PARPORT_H_	/* Linux's own word: its header is left out behind this one */
#define _PARPORT_H_

/* Asked for, of ports of Linux's. */
#define PARPORT_MODE_PCSPP	1
#define PARPORT_MODE_TRISTATE	2
#define PARPORT_MODE_EPP	4

struct parport {
	const char *name;
	unsigned long base, base_hi;
	unsigned int modes;
};

struct pardevice {
	struct parport *port;
};

#define parport_find_number(number)	((struct parport *)NULL)
#define parport_find_base(base)		((struct parport *)NULL)
#define parport_put_port(port)		((void)(port))
#define parport_register_device(...)	((struct pardevice *)NULL)
#define parport_unregister_device(dev)	((void)(dev))
#define parport_claim(dev)		((void)(dev), -ENODEV)
#define parport_release(dev)		((void)(dev))

#endif
