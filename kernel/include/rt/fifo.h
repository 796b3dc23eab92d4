/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RT-FIFOs: bytes between RT code and Linux processes (thesis, 3.5 and A.2).
 *
 * Each number is a pair of one-way rings: what Linux writes to /dev/rtfN the RT
 * side gets, what the RT side puts Linux reads. Nobody reads back what he wrote.
 *
 * The RT side (put, get) never waits for Linux, not even for a process that was
 * interrupted in the middle of a read, a write, or rtf_resize(). A transfer keeps
 * this CPU's interrupts off for the time of its copy; so any number of RT tasks,
 * RT interrupts and Linux code may use one end of a FIFO, as long as they do so
 * on one CPU. On several CPUs, each end is for one user at a time.
 */
#ifndef _RT_FIFO_H
#define _RT_FIFO_H

#include <linux/module.h>
#include <uapi/tactus/fifo.h>

/**
 * rtf_create_for - create a FIFO that belongs to a module
 * @owner: the module that unloads with it; NULL for none
 * @fifo: its number, from 0 to one less than rtfifo's parameter nfifos
 * @size: bytes it holds, exactly, in each direction: 1 to RTF_MAX_SIZE_BYTES
 *
 * A FIFO that @owner leaves behind when it is unloaded is destroyed.
 *
 * Context: Linux process; may sleep.
 * Return: 0, or -EINVAL (size), -ENODEV (number out of range), -EBUSY (exists),
 * -ENOMEM, -EPERM (called from RT code).
 */
int rtf_create_for(struct module *owner, unsigned int fifo, int size);

/**
 * rtf_create - create a FIFO
 * @fifo: its number, from 0 to one less than rtfifo's parameter nfifos
 * @size: bytes it holds, exactly, in each direction: 1 to RTF_MAX_SIZE_BYTES
 *
 * Context: Linux process; may sleep.
 * Return: as rtf_create_for(), which it is with the calling module as owner.
 * Source: thesis, A.2.
 */
int rtf_create(unsigned int fifo, int size);
#define rtf_create(fifo, size) rtf_create_for(THIS_MODULE, fifo, size)

/**
 * rtf_destroy - end a FIFO
 * @fifo: its number
 *
 * Succeeds with openers: readers get what is left and then end of file, writers
 * EPIPE, for as long as they keep it open; the RT side gets -ENODEV from now on.
 * On return no handler and no transfer is running any more. The number is free.
 *
 * Waits until every CPU has run Linux for a moment.
 *
 * Context: Linux process; may sleep. Not from the FIFO's own handler.
 * Return: 0, or -ENODEV (no such FIFO), -EBUSY (called from its handler),
 * -EPERM (called from RT code).
 * Source: thesis, A.2.
 */
int rtf_destroy(unsigned int fifo);

/**
 * rtf_resize - change the size of a FIFO and keep the data
 * @fifo: its number
 * @new_size: bytes it holds, exactly, in each direction: 1 to RTF_MAX_SIZE_BYTES
 *
 * The RT side may go on meanwhile. Waits until every CPU has run Linux for a moment.
 *
 * Context: Linux process; may sleep.
 * Return: 0, or -EINVAL (size), -ENODEV (no such FIFO), -ENOSPC (more data in it
 * than @new_size, in one of the directions), -ENOMEM, -EPERM (called from RT
 * code); on an error nothing has changed.
 * Source: thesis, A.2.
 */
int rtf_resize(unsigned int fifo, int new_size);

/**
 * rtf_create_handler - have a function called when Linux has used a FIFO
 * @fifo: its number
 * @handler: called with the FIFO's number in the process that has just moved at
 *	least one byte by a read or a write, after the transfer, one call at a time
 *	per FIFO; a negative result becomes that system call's. It may sleep, and may
 *	use rtf_get() and rtf_put() on this and other FIFOs, as long as nothing else
 *	uses that end. It replaces the handler there was; NULL is none.
 *
 * On return the handler there was is not running any more. A handler whose module
 * is unloaded is forgotten.
 *
 * Context: Linux process; may sleep. Not from the FIFO's own handler.
 * Return: 0, or -ENODEV (no such FIFO), -EBUSY (called from its handler), -EPERM
 * (called from RT code).
 * Source: thesis, A.2.
 */
int rtf_create_handler(unsigned int fifo, int (*handler)(unsigned int fifo));

/**
 * rtf_put - hand bytes to the Linux processes that read a FIFO, all or nothing
 * @fifo: its number
 * @buf: the bytes
 * @count: how many; 0 does nothing
 *
 * Context: any but a Linux NMI; wait-free; interrupts are off during the copy.
 * Return: @count, or -ENOSPC (they do not fit; counted as a drop), -ENODEV (no such
 * FIFO), -EINVAL (@buf NULL or @count negative).
 */
int rtf_put(unsigned int fifo, const void *buf, int count);

/**
 * rtf_get - take bytes that Linux processes wrote to a FIFO, all or nothing
 * @fifo: its number
 * @buf: where they go
 * @count: how many; 0 does nothing
 *
 * Context: any but a Linux NMI; wait-free; interrupts are off during the copy.
 * Return: @count, or -EAGAIN (there are fewer), -ENODEV (no such FIFO), -EINVAL
 * (@buf NULL or @count negative).
 */
int rtf_get(unsigned int fifo, void *buf, int count);

/**
 * rtf_put_overwrite - hand bytes to Linux, and drop the oldest ones if need be
 * @fifo: its number
 * @buf: the bytes
 * @count: how many; 0 does nothing
 *
 * As many of the oldest unread bytes are dropped as it takes, whatever they
 * were put with, and counted as lost. What a process had read of them already when that
 * happens is read again from the new oldest byte on.
 *
 * Context: any but a Linux NMI; wait-free (at most @count attempts, each of which
 * fails only when Linux has just made room); interrupts are off during the copy.
 * Return: @count, or -ENOSPC (more than the FIFO's size, or not enough room while
 * rtf_resize() is at work; counted as a drop), -ENODEV (no such FIFO), -EINVAL
 * (@buf NULL or @count negative).
 */
int rtf_put_overwrite(unsigned int fifo, const void *buf, int count);

/**
 * rtf_peek - rtf_get() that leaves the bytes where they are
 * @fifo: its number
 * @buf: where they are copied to
 * @count: how many; 0 does nothing
 *
 * Context: any but a Linux NMI; wait-free; interrupts are off during the copy.
 * Return: @count, or -EAGAIN (there are fewer), -ENODEV (no such FIFO), -EINVAL
 * (@buf NULL or @count negative).
 */
int rtf_peek(unsigned int fifo, void *buf, int count);

/**
 * rtf_flush - forget all that Linux has written and the RT side has not got
 * @fifo: its number
 *
 * Context: any but a Linux NMI; wait-free.
 * Return: the number of bytes forgotten, or -ENODEV (no such FIFO).
 */
int rtf_flush(unsigned int fifo);

/**
 * rtf_used - how many bytes rtf_get() can take
 * @fifo: its number
 *
 * Linux may have added some by the time of the return.
 *
 * Context: any but a Linux NMI; wait-free.
 * Return: bytes, or -ENODEV (no such FIFO).
 */
int rtf_used(unsigned int fifo);

/**
 * rtf_free - how many bytes rtf_put() has room for
 * @fifo: its number
 *
 * Linux may have made more room by the time of the return.
 *
 * Context: any but a Linux NMI; wait-free.
 * Return: bytes, or -ENODEV (no such FIFO).
 */
int rtf_free(unsigned int fifo);

/**
 * rtf_isempty - is there nothing for rtf_get() to take?
 * @fifo: its number
 *
 * Context: any but a Linux NMI; wait-free.
 * Return: 1 if so, 0 if not, or -ENODEV (no such FIFO).
 */
int rtf_isempty(unsigned int fifo);

/**
 * rt_fifo_put - rtf_put() with the thesis's result
 * @fifo: the FIFO's number
 * @buf: the bytes
 * @count: how many
 *
 * Context: any but a Linux NMI; wait-free; interrupts are off during the copy.
 * Return: @count, or -1 on any failure.
 * Source: thesis, A.2.
 */
int rt_fifo_put(unsigned int fifo, char *buf, int count);

/**
 * rt_fifo_get - rtf_get() with the thesis's result
 * @fifo: the FIFO's number
 * @buf: where they go
 * @count: how many
 *
 * Context: any but a Linux NMI; wait-free; interrupts are off during the copy.
 * Return: @count, or -1 on any failure.
 * Source: thesis, A.2.
 */
int rt_fifo_get(unsigned int fifo, char *buf, int count);

#endif
