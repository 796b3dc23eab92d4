// SPDX-License-Identifier: GPL-2.0-only
/*
 * Acquisition from a 16550 by an RT interrupt: each byte is stamped in the handler and handed to
 * Linux as a record in /dev/rtf/serial, whatever Linux has masked.
 *
 * Writing a number to the parameter send measures the interrupt itself. The chip is put into its
 * loop-back mode, and Linux sends that many bytes to itself, each inside a section with Linux's
 * interrupts off. It notes the clock before each, so late_ns is exact. Bytes from the line have
 * late_ns 0: nobody knows when they came.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/serial_reg.h>
#include <rt/fifo.h>
#include <rt/irq.h>
#include <rt/time.h>

#define PORTS 8
#define RECORDS 16384
/* A handler that finds more than this at a time has the line raised again. */
#define BYTES_AT_ONCE 64
#define SECTION_US 100
#define MCR_REST (UART_MCR_DTR | UART_MCR_RTS | UART_MCR_OUT2)

/* As tactus record and scope are told: time_ns:u8,late_ns:u4,byte:u1,bad:u1 */
struct serial_record {
	u64 time_ns;	/* of the handler's first instruction */
	u32 late_ns;	/* after the byte was sent, if Linux sent it */
	u8 byte;
	u8 bad;		/* the line status: overrun, parity, framing, break */
} __packed;

static ushort base = 0x2f8;
module_param(base, ushort, 0444);
MODULE_PARM_DESC(base, "first I/O port (default 0x2f8)");

static uint irq = 3;
module_param(irq, uint, 0444);
MODULE_PARM_DESC(irq, "interrupt (default 3)");

static ushort divisor = 1;
module_param(divisor, ushort, 0444);
MODULE_PARM_DESC(divisor, "baud is 115200 / divisor (default 1)");

static int fifo;
static DEFINE_MUTEX(send_mutex);
static bool running;		/* send_mutex */
static RTIME sent_at;		/* 0: the bytes are the line's */

/* Context: RT interrupt. */
static void receive(void)
{
	struct serial_record record = { .time_ns = rt_get_time() };
	RTIME sent = READ_ONCE(sent_at);
	int left = BYTES_AT_ONCE;

	record.late_ns = sent ? record.time_ns - sent : 0;
	while (!(inb(base + UART_IIR) & UART_IIR_NO_INT)) {
		u8 lsr = inb(base + UART_LSR);

		if (lsr & UART_LSR_DR) {
			record.byte = inb(base + UART_RX);
			record.bad = lsr & UART_LSR_BRK_ERROR_BITS;
			rtf_put(fifo, &record, sizeof(record));
		}
		if (--left)
			continue;
		/* An edge-triggered line must fall before it can rise. */
		outb(0, base + UART_IER);
		outb(UART_IER_RDI | UART_IER_RLSI, base + UART_IER);
		break;
	}
}

/* A byte to oneself, while Linux has interrupts off, for another time after each byte. */
static void send_one(unsigned int n)
{
	unsigned long flags;

	local_irq_save(flags);
	WRITE_ONCE(sent_at, rt_get_time());
	outb(n, base + UART_TX);
	udelay(SECTION_US + n % 53);
	local_irq_restore(flags);
}

static int send_set(const char *text, const struct kernel_param *param)
{
	unsigned int bytes;
	int err = kstrtouint(text, 0, &bytes);

	if (err)
		return err;
	mutex_lock(&send_mutex);
	if (running) {
		outb(MCR_REST | UART_MCR_LOOP, base + UART_MCR);
		for (unsigned int n = 0; n < bytes && n < RECORDS; n++)
			send_one(n);
		WRITE_ONCE(sent_at, 0);
		outb(MCR_REST, base + UART_MCR);
	} else {
		err = -ENODEV;
	}
	mutex_unlock(&send_mutex);
	return err;
}

static const struct kernel_param_ops send_ops = { .set = send_set };
module_param_cb(send, &send_ops, NULL, 0200);
MODULE_PARM_DESC(send, "write N: send N bytes to ourselves, each with Linux's interrupts off");

/* A 16550 keeps what is written to its scratch register. */
static bool __init uart_is_there(void)
{
	outb(0x5a, base + UART_SCR);
	if (inb(base + UART_SCR) != 0x5a)
		return false;
	outb(0xa5, base + UART_SCR);
	return inb(base + UART_SCR) == 0xa5;
}

static void __init uart_set_up(void)
{
	outb(0, base + UART_IER);
	outb(UART_LCR_DLAB, base + UART_LCR);
	outb(divisor & 0xff, base + UART_DLL);
	outb(divisor >> 8, base + UART_DLM);
	outb(UART_LCR_WLEN8, base + UART_LCR);
	outb(UART_FCR_ENABLE_FIFO | UART_FCR_CLEAR_RCVR | UART_FCR_CLEAR_XMIT | UART_FCR_TRIGGER_1,
	     base + UART_FCR);
	outb(MCR_REST, base + UART_MCR);
	(void)inb(base + UART_LSR);
	(void)inb(base + UART_RX);
	(void)inb(base + UART_MSR);
}

static int __init serial_init(void)
{
	int err = -ENODEV;

	if (!divisor)
		return -EINVAL;
	if (!request_region(base, PORTS, KBUILD_MODNAME)) {
		pr_err("refused: I/O ports from %#x are in use; if Linux's serial driver has them, unbind it\n",
		       base);
		return -EBUSY;
	}
	if (!uart_is_there()) {
		pr_err("refused: there is no 16550 at %#x\n", base);
		goto err_release;
	}
	fifo = rtf_create_named(THIS_MODULE, "serial", RECORDS * sizeof(struct serial_record));
	if (fifo < 0) {
		err = fifo;
		goto err_release;
	}
	err = rtf_set_record(fifo, sizeof(struct serial_record));
	if (err)
		goto err_destroy;
	uart_set_up();
	err = request_RTirq(irq, receive);
	if (err) {
		pr_err("refused: cannot have interrupt %u (%d)\n", irq, err);
		goto err_destroy;
	}
	mutex_lock(&send_mutex);
	running = true;
	mutex_unlock(&send_mutex);
	outb(UART_IER_RDI | UART_IER_RLSI, base + UART_IER);
	return 0;

err_destroy:
	rtf_destroy(fifo);
err_release:
	release_region(base, PORTS);
	return err;
}

static void __exit serial_exit(void)
{
	mutex_lock(&send_mutex);
	running = false;
	mutex_unlock(&send_mutex);
	outb(0, base + UART_IER);
	free_RTirq(irq);
	outb(0, base + UART_MCR);
	outb(0, base + UART_FCR);
	rtf_destroy(fifo);
	release_region(base, PORTS);
}

module_init(serial_init);
module_exit(serial_exit);
MODULE_DESCRIPTION("Acquisition from a 16550 by an RT interrupt");
MODULE_LICENSE("GPL");
