// SPDX-License-Identifier: GPL-2.0-only
/*
 * The port "uart": a 16550 that is ours alone, with its interrupt as an RT interrupt.
 *
 * Linux's serial driver must not have it: ports and line are asked for, and refused if taken. Each
 * byte interrupts (the receive FIFO's trigger level is 1) and is stamped in the handler. Output is
 * polled: the task keeps the pace, the holding register's flag is asked on top of it, as a UART's
 * crystal and the CPU's clock differ.
 *
 * Invariants: the handler alone reads received bytes and writes rx statistics; both sides count
 * line errors, each in a number of its own, since reading the line status clears them. All
 * registers are as before after close, but for the FIFOs' content and trigger level, which cannot
 * be read.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/serial_reg.h>
#include <linux/string.h>

#include <rt/irq.h>

#include "port.h"

#define UART_PORTS 8
/* A handler that finds more than this at a time has the line raised again instead of going on. */
#define UART_BYTES_AT_ONCE 64
#define UART_INTERRUPTS (UART_IER_RDI | UART_IER_RLSI)
#define UART_BAD_BYTE (UART_LSR_FE | UART_LSR_PE | UART_LSR_BI)

static ushort uart_base = 0x2f8;
module_param(uart_base, ushort, 0444);
MODULE_PARM_DESC(uart_base, "port=uart: first I/O port (default 0x2f8)");

static uint uart_irq = 3;
module_param(uart_irq, uint, 0444);
MODULE_PARM_DESC(uart_irq, "port=uart: interrupt (default 3)");

static uint uart_baud_base = 115200;
module_param(uart_baud_base, uint, 0444);
MODULE_PARM_DESC(uart_baud_base, "port=uart: a sixteenth of its crystal, Hz (default 115200)");

static ushort uart_divisor = 3;
module_param(uart_divisor, ushort, 0444);
MODULE_PARM_DESC(uart_divisor, "port=uart: baud is uart_baud_base / uart_divisor (default 3)");

static bool uart_loop;
module_param(uart_loop, bool, 0444);
MODULE_PARM_DESC(uart_loop, "port=uart: what is sent comes back, inside of the chip (default 0)");

static struct {
	struct tap_rx_ring rx;
	struct tap_port_stats stats;
	u64 task_overruns, task_bad;	/* line errors that the task read */
	void (*wake)(void);
	struct {
		u8 ier, lcr, mcr, dll, dlm;
		bool fifos;
	} saved;
} uart;

static u8 uart_in(int reg)
{
	return inb(uart_base + reg);
}

static void uart_out(int reg, u8 value)
{
	outb(value, uart_base + reg);
}

/* Context: RT interrupt. */
static void uart_receive(u8 lsr, RTIME now)
{
	u8 byte = uart_in(UART_RX);

	if (lsr & UART_BAD_BYTE)
		uart.stats.bad_bytes++;
	else if (tap_rx_put(&uart.rx, byte, now))
		uart.stats.rx_bytes++;
	else
		uart.stats.lost_bytes++;
}

/* Bytes have arrived, or a line error. Context: RT interrupt. */
static void uart_interrupt(void)
{
	RTIME now = rt_get_time();
	int left = UART_BYTES_AT_ONCE;

	while (!(uart_in(UART_IIR) & UART_IIR_NO_INT)) {
		u8 lsr = uart_in(UART_LSR);

		if (lsr & UART_LSR_OE)
			uart.stats.lost_bytes++;
		if (lsr & UART_LSR_DR)
			uart_receive(lsr, now);
		if (--left)
			continue;
		/* An edge-triggered line must fall before it can rise. */
		uart_out(UART_IER, 0);
		uart_out(UART_IER, UART_INTERRUPTS);
		break;
	}
	uart.wake();
}

/* Context: RT task. */
static bool uart_tx(u8 byte)
{
	u8 lsr = uart_in(UART_LSR);

	uart.task_overruns += !!(lsr & UART_LSR_OE);
	uart.task_bad += !!(lsr & UART_BAD_BYTE);
	if (!(lsr & UART_LSR_THRE))
		return false;
	uart_out(UART_TX, byte);
	uart.stats.tx_bytes++;
	return true;
}

static bool uart_rx(u8 *byte, RTIME *at)
{
	return tap_rx_get(&uart.rx, byte, at);
}

static void uart_start(void)
{
	tap_rx_forget(&uart.rx);
	memset(&uart.stats, 0, sizeof(uart.stats));
	uart.task_overruns = 0;
	uart.task_bad = 0;
}

static void uart_stats(struct tap_port_stats *stats)
{
	*stats = uart.stats;
	stats->lost_bytes += READ_ONCE(uart.task_overruns);
	stats->bad_bytes += READ_ONCE(uart.task_bad);
}

static void uart_set_divisor(u8 low, u8 high)
{
	uart_out(UART_LCR, UART_LCR_DLAB);
	uart_out(UART_DLL, low);
	uart_out(UART_DLM, high);
}

/* A 16550 keeps what is written to its scratch register, and says when its FIFOs are on. */
static bool uart_is_there(void)
{
	u8 scratch = uart_in(UART_SCR), fifos;
	bool keeps;

	uart_out(UART_SCR, 0x5a);
	keeps = uart_in(UART_SCR) == 0x5a;
	uart_out(UART_SCR, 0xa5);
	keeps = keeps && uart_in(UART_SCR) == 0xa5;
	uart_out(UART_SCR, scratch);
	if (!keeps)
		return false;
	fifos = uart_in(UART_IIR) & 0xc0;
	uart.saved.fifos = fifos == 0xc0;
	uart_out(UART_FCR, UART_FCR_ENABLE_FIFO);
	if ((uart_in(UART_IIR) & 0xc0) == 0xc0)
		return true;
	uart_out(UART_FCR, 0);
	return false;
}

static void uart_take(void)
{
	u8 lcr = uart_in(UART_LCR);

	uart.saved.lcr = lcr;
	uart_out(UART_LCR, lcr & ~UART_LCR_DLAB);
	uart.saved.ier = uart_in(UART_IER);
	uart_out(UART_IER, 0);
	uart.saved.mcr = uart_in(UART_MCR);
	uart_out(UART_LCR, UART_LCR_DLAB);
	uart.saved.dll = uart_in(UART_DLL);
	uart.saved.dlm = uart_in(UART_DLM);

	uart_set_divisor(uart_divisor & 0xff, uart_divisor >> 8);
	uart_out(UART_LCR, UART_LCR_WLEN8);
	uart_out(UART_FCR, UART_FCR_ENABLE_FIFO);
	uart_out(UART_FCR, UART_FCR_ENABLE_FIFO | UART_FCR_CLEAR_RCVR | UART_FCR_CLEAR_XMIT |
		 UART_FCR_TRIGGER_1);
	uart_out(UART_MCR, UART_MCR_DTR | UART_MCR_RTS | UART_MCR_OUT2 |
		 (uart_loop ? UART_MCR_LOOP : 0));
	(void)uart_in(UART_LSR);
	(void)uart_in(UART_RX);
	(void)uart_in(UART_MSR);
}

static void uart_give_back(void)
{
	uart_out(UART_FCR, UART_FCR_ENABLE_FIFO | UART_FCR_CLEAR_RCVR | UART_FCR_CLEAR_XMIT);
	uart_out(UART_FCR, uart.saved.fifos ? UART_FCR_ENABLE_FIFO : 0);
	uart_set_divisor(uart.saved.dll, uart.saved.dlm);
	uart_out(UART_LCR, uart.saved.lcr & ~UART_LCR_DLAB);
	uart_out(UART_MCR, uart.saved.mcr);
	uart_out(UART_IER, uart.saved.ier);
	uart_out(UART_LCR, uart.saved.lcr);
}

static long uart_open(void (*wake)(void))
{
	int err;

	memset(&uart, 0, sizeof(uart));
	uart.wake = wake;
	if (!uart_divisor || !uart_baud_base || uart_baud_base > 100000000) {
		pr_err("refused: %u / %u is no baud rate; nothing was changed\n", uart_baud_base,
		       uart_divisor);
		return -EINVAL;
	}
	if (!request_region(uart_base, UART_PORTS, KBUILD_MODNAME)) {
		pr_err("refused: I/O ports %#x to %#x are in use; if Linux's serial driver has them, unbind it; nothing was changed\n",
		       uart_base, uart_base + UART_PORTS - 1);
		return -EBUSY;
	}
	err = -ENODEV;
	if (!uart_is_there()) {
		pr_err("refused: there is no 16550 at %#x; nothing was changed\n", uart_base);
		goto err_release;
	}
	uart_take();
	err = request_RTirq(uart_irq, uart_interrupt);
	if (err) {
		pr_err("refused: cannot have interrupt %u (%d); nothing was changed\n", uart_irq,
		       err);
		goto err_give_back;
	}
	uart_out(UART_IER, UART_INTERRUPTS);
	return div_u64((u64)TAP_BITS_PER_BYTE * RT_TICKS_PER_SEC * uart_divisor, uart_baud_base);

err_give_back:
	uart_give_back();
err_release:
	release_region(uart_base, UART_PORTS);
	return err;
}

static void uart_close(void)
{
	uart_out(UART_IER, 0);
	free_RTirq(uart_irq);
	uart_give_back();
	release_region(uart_base, UART_PORTS);
}

const struct tap_port tap_port_uart = {
	.name = "uart",
	.open = uart_open,
	.close = uart_close,
	.start = uart_start,
	.rx = uart_rx,
	.tx = uart_tx,
	.stats = uart_stats,
};
