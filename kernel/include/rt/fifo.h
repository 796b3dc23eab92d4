/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RT-FIFOs: bytes between RT code and Linux processes (thesis, 3.5 and A.2).
 *
 * Each number is a pair of one-way rings: what Linux writes to /dev/rtfN the RT
 * side gets, what the RT side puts Linux reads. No side reads back what it wrote.
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

/* FIFOs have numbers below this. */
#define RTF_MAX_FIFOS 1024

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
 * Context: Linux process; may sleep. Not from the FIFO's own handler, watch or filter.
 * Return: 0, or -ENODEV (no such FIFO), -EBUSY (called from its handler, watch or filter),
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
 * Context: Linux process; may sleep. Not from the FIFO's own filter.
 * Return: 0, or -EINVAL (size, or less than a record), -ENODEV (no such FIFO), -ENOSPC
 * (more data in it than @new_size, in one of the directions), -EBUSY (a process has
 * claimed it, or called from its filter), -ENOMEM, -EPERM (called from RT code); on an
 * error nothing has changed.
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
 * Context: Linux process; may sleep. Not from the FIFO's own handler, watch or filter.
 * Return: 0, or -ENODEV (no such FIFO), -EBUSY (called from its handler, watch or filter),
 * -EPERM (called from RT code); on an error nothing has changed.
 * Source: thesis, A.2.
 */
int rtf_create_handler(unsigned int fifo, int (*handler)(unsigned int fifo));

/**
 * rtf_create_named - create a FIFO that processes find by name, at /dev/rtf/NAME
 * @owner: the module that unloads with it; NULL for none
 * @name: 1 to RTF_NAME_MAX letters, digits, '_', '-' and, not first, '.'
 * @size: bytes it holds, exactly, in each direction: 1 to RTF_MAX_SIZE_BYTES
 *
 * It gets the lowest number that is free; /dev/rtfN is the same FIFO.
 *
 * Context: Linux process; may sleep.
 * Return: its number, or -EINVAL (name or size), -EEXIST (there is one of this name),
 * -ENOSPC (all numbers are taken), -ENOMEM, -EPERM (called from RT code).
 */
int rtf_create_named(struct module *owner, const char *name, int size);

/**
 * rtf_find_named - which FIFO has this name?
 * @name: as given to rtf_create_named()
 *
 * Context: Linux process; may sleep.
 * Return: its number, or -ENODEV (there is none), -EINVAL (NULL), -EPERM (called from RT
 * code).
 */
int rtf_find_named(const char *name);

/**
 * rtf_set_record - let only whole records into a FIFO and out of it
 * @fifo: its number
 * @record_bytes: bytes of a record; 0 for bytes that belong to no record
 *
 * From then on a put, get, read or write moves a whole number of records or fails; a
 * read that has room for more gets as many as there are. rtf_put_overwrite() drops
 * whole ones. The RT side may go on meanwhile. Waits until every CPU has run Linux
 * for a moment.
 *
 * Context: Linux process; may sleep. Not from the FIFO's own filter.
 * Return: 0, or -EINVAL (negative, or more than the FIFO's size), -ENODEV (no such FIFO),
 * -EBUSY (it does not hold a whole number of them, or a process has claimed it, or called
 * from its filter), -EPERM (called from RT code).
 */
int rtf_set_record(unsigned int fifo, int record_bytes);

/**
 * struct rtf_written - what a process wants to write, as its filter sees it
 * @bytes: where the bytes lie, in one piece or two
 * @counts: how many in each; counts[1] may be 0
 * @done: how many bytes of the same call of write() have entered before
 * @total: how many bytes the call began with
 *
 * The process cannot change them any more, and the RT side does not see them yet. A
 * write of up to RTF_ATOMIC_BYTES, and half the FIFO, comes whole, a longer one in several parts.
 */
struct rtf_written {
	const void *bytes[2];
	unsigned int counts[2];
	unsigned int done;
	unsigned int total;
};

/**
 * rtf_set_filter - have a function look at what Linux writes, before any of it enters
 * @fifo: its number
 * @filter: called in the writing process; a negative result refuses these bytes, and is
 *	write()'s result if @done of them is 0, else the call ends short. It is held to what RT code
 *	may do: no sleeping, nothing of Linux that is not safe in an NMI. It replaces the filter
 *	there was; NULL is none.
 *
 * On return the filter there was is not running any more. A filter whose module is
 * unloaded is forgotten. One call at a time per FIFO.
 *
 * Context: Linux process; may sleep. Not from the FIFO's own filter; its handler and watch may.
 * Return: 0, or -ENODEV (no such FIFO), -EBUSY (called from its filter), -EPERM (called
 * from RT code); on an error nothing has changed.
 */
int rtf_set_filter(unsigned int fifo,
		   int (*filter)(unsigned int fifo, const struct rtf_written *written));

/* What a watch is told. */
#define RTF_OPENED 1	/* a process is opening the FIFO for writing */
#define RTF_CLOSED 2	/* the last user of such an opening has closed it, or died */

/**
 * rtf_watch_writers - have a function called when processes open a FIFO for writing
 * @fifo: its number
 * @watch: called with the FIFO's number and RTF_OPENED in the process that opens, whose
 *	open() fails with a negative result; and with RTF_CLOSED once for each opening that it
 *	let pass, behind all that was written by it. One call at a time per FIFO, and none while
 *	its handler runs; it may sleep, and should not for long. It replaces the watch there was,
 *	and does not see the closing of files whose opening that one saw. NULL is none.
 *
 * An opening for reading only is not reported. On return the watch there was is not running any
 * more. A watch whose module is unloaded is forgotten.
 *
 * Context: Linux process; may sleep. Not from the FIFO's own handler, watch or filter.
 * Return: 0, or -ENODEV (no such FIFO), -EBUSY (called from its handler, watch or filter),
 * -EPERM (called from RT code); on an error nothing has changed.
 */
int rtf_watch_writers(unsigned int fifo, int (*watch)(unsigned int fifo, unsigned int event));

/* What an RT handler is told, as bits. */
#define RTF_DATA 1	/* Linux has written: there is something to get */
#define RTF_SPACE 2	/* Linux has read: there is room to put */

/**
 * rtf_create_rt_handler - have RT code called when Linux has used a FIFO
 * @fifo: its number
 * @handler: called as an RT interrupt's handler is, on the CPU and at the moment that Linux
 *	has read from or written to the FIFO, with its number and RTF_DATA or RTF_SPACE; before the
 *	system call returns or waits, and before a handler of rtf_create_handler(). NULL: none.
 *
 * A task that it wakes up runs when it returns. Calls may come on several CPUs at a time. On
 * return the handler there was is not running any more; waits until every CPU has run Linux for
 * a moment. A handler that a fault has ended is forgotten, and one whose module is unloaded.
 *
 * Context: Linux process; may sleep. Not from the FIFO's own handler, watch or filter.
 * Return: 0, or -ENODEV (no such FIFO), -EBUSY (called from its handler, watch or filter),
 * -EPERM (called from RT code); on an error nothing has changed.
 */
int rtf_create_rt_handler(unsigned int fifo,
			  void (*handler)(unsigned int fifo, unsigned int events));

struct file;

/**
 * rtf_of_file - which FIFO is an open file of?
 * @file: of any kind
 *
 * Context: Linux process.
 * Return: its number; -ENOTTY: of none.
 */
int rtf_of_file(struct file *file);

/**
 * rtf_put - hand bytes to the Linux processes that read a FIFO, all or nothing
 * @fifo: its number
 * @buf: the bytes
 * @count: how many; 0 does nothing
 *
 * Context: any but a Linux NMI; wait-free; interrupts are off during the copy.
 * Return: @count, or -ENOSPC (they do not fit; counted as a drop), -ENODEV (no such
 * FIFO), -EINVAL (@buf NULL, @count negative or not whole records).
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
 * (@buf NULL, @count negative or not whole records).
 */
int rtf_get(unsigned int fifo, void *buf, int count);

/**
 * rtf_get_some - take as many bytes as there are, up to a number
 * @fifo: its number
 * @buf: where they go
 * @count: how many at most; 0 does nothing
 *
 * Of a FIFO with rtf_set_loop(): first what Linux wrote, then what RT code put.
 *
 * Context: any but a Linux NMI; interrupts are off during the copy, which begins anew when a
 * process takes bytes of a looped FIFO meanwhile.
 * Return: the number of bytes, 0 if there are none, -ENODEV (no such FIFO), -EINVAL
 * (@buf NULL, @count negative or not whole records).
 */
int rtf_get_some(unsigned int fifo, void *buf, int count);

/**
 * rtf_set_loop - let RT code get what RT code puts into a FIFO
 * @fifo: its number
 * @on: not 0: rtf_get_some(), rtf_used(), rtf_isempty() and rtf_flush() regard both directions;
 *	0: the FIFO is as rtf_create() made it
 *
 * Each byte goes to one reader, a process or RT code, whichever comes first. Only
 * rtf_get_some() takes bytes that RT code put.
 *
 * Context: any but a Linux NMI; wait-free.
 * Return: 0, -ENODEV (no such FIFO).
 */
int rtf_set_loop(unsigned int fifo, int on);

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
 * (@buf NULL, @count negative or not whole records).
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
