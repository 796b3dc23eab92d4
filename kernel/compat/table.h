/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables for sysfs, whose own texts end with a page. */
#ifndef _TACTUS_COMPAT_TABLE_H
#define _TACTUS_COMPAT_TABLE_H

#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

/* A row, its newline included. */
#define RT_TABLE_ROW 192

/**
 * struct rt_table - one read of a table that may be longer than sysfs's page
 * @buf: gets the bytes
 * @offset: of the first byte that is wanted
 * @count: how many are, at most
 * @done: how many there are so far
 * @at: where the next line begins
 *
 * For a binary attribute. Each read prints all lines again, and what lies within it is kept. Rows
 * have one length, blanks before the newline, so that figures may grow between two reads and no
 * row is torn.
 */
struct rt_table {
	char *buf;
	loff_t offset;
	size_t count, done;
	loff_t at;
};

static inline void rt_table_put(struct rt_table *table, const char *line, size_t length)
{
	loff_t skip = max_t(loff_t, table->offset - table->at, 0);
	size_t part;

	table->at += length;
	if (skip >= length)
		return;
	part = min_t(size_t, length - skip, table->count - table->done);
	memcpy(table->buf + table->done, line + skip, part);
	table->done += part;
}

/** rt_table_head - the first line; @names: with tabs between and a newline. Context: any. */
static inline void rt_table_head(struct rt_table *table, const char *names)
{
	rt_table_put(table, names, strlen(names));
}

/**
 * rt_table_row - a line of RT_TABLE_ROW bytes
 * @table: to print into
 * @format: cells with tabs between, without a newline; what does not fit is cut
 *
 * Context: any.
 */
static inline __printf(2, 3) void rt_table_row(struct rt_table *table, const char *format, ...)
{
	char line[RT_TABLE_ROW + 1];
	va_list cells;
	int used;

	va_start(cells, format);
	used = vscnprintf(line, RT_TABLE_ROW, format, cells);
	va_end(cells);
	memset(line + used, ' ', RT_TABLE_ROW - 1 - used);
	line[RT_TABLE_ROW - 1] = '\n';
	rt_table_put(table, line, RT_TABLE_ROW);
}

#endif
