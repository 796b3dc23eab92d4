// SPDX-License-Identifier: GPL-2.0-only
/* See tapfile.h. A line is read word by word; after an error the next line is tried. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

#include "tapfile.h"

struct word {
	const char *at;
	size_t length;
};

/* Of what is no text, no more than fits a line. */
#define MOST_SHOWN 200
#define WORD(w) (int)((w).length < MOST_SHOWN ? (w).length : MOST_SHOWN), (w).at

/* Columns count characters from 1, so they skip the later bytes of UTF-8. */
static unsigned int column_of(const struct tapfile *f, const char *at)
{
	unsigned int column = 1;

	for (const char *c = f->begin; c < at; c++)
		column += ((unsigned char)*c & 0xc0) != 0x80;
	return column;
}

/* Show the line, if it fits one, and, below it, where in it @at is. */
static void show(const struct tapfile *f, const char *at)
{
	if (f->end - f->begin > MOST_SHOWN)
		return;
	fputs("    ", f->complaints);
	for (const char *c = f->begin; c < f->end; c++)
		fputc((unsigned char)*c >= ' ' && *c != 0x7f ? *c : *c == '\t' ? '\t' : '?',
		      f->complaints);
	fputs("\n    ", f->complaints);
	for (const char *c = f->begin; c < at; c++)
		if (((unsigned char)*c & 0xc0) != 0x80)
			fputc(*c == '\t' ? '\t' : ' ', f->complaints);
	fputs("^\n", f->complaints);
}

__attribute__((format(printf, 3, 4)))
static bool complain(struct tapfile *f, const char *at, const char *format, ...)
{
	va_list args;

	if (f->errors++ >= TAPFILE_MOST_ERRORS || !f->complaints)
		return false;
	fprintf(f->complaints, "%s:%u:%u: error: ", f->name, f->number, column_of(f, at));
	va_start(args, format);
	vfprintf(f->complaints, format, args);
	va_end(args);
	fputc('\n', f->complaints);
	show(f, at);
	if (f->errors == TAPFILE_MOST_ERRORS)
		fprintf(f->complaints, "%s: more errors are not shown\n", f->name);
	return false;
}

static bool next_word(struct tapfile *f, struct word *w)
{
	while (f->at < f->end && (*f->at == ' ' || *f->at == '\t'))
		f->at++;
	w->at = f->at;
	while (f->at < f->end && *f->at != ' ' && *f->at != '\t')
		f->at++;
	w->length = f->at - w->at;
	return w->length;
}

static bool nothing_more(struct tapfile *f, const char *after)
{
	struct word w;

	if (!next_word(f, &w))
		return true;
	return complain(f, w.at, "\"%.*s\" is too much: %s", WORD(w), after);
}

/* Changes that make one name of the other: letters put in, left out or exchanged for others. */
static unsigned int distance(struct word w, const char *name)
{
	unsigned int row[40], length = strlen(name);

	if (w.length >= 32 || length >= 32 || w.length > length + 3 || length > w.length + 3)
		return 99;	/* no need to count */
	for (unsigned int j = 0; j <= length; j++)
		row[j] = j;
	for (unsigned int i = 1; i <= w.length; i++) {
		unsigned int diagonal = row[0];

		row[0] = i;
		for (unsigned int j = 1; j <= length; j++) {
			unsigned int same = toupper((unsigned char)w.at[i - 1]) == name[j - 1];
			unsigned int best = diagonal + !same;

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[length];
}

static const char *nearest(struct word w)
{
	unsigned int best = distance(w, "TRIGGER"), d;
	const char *name = "TRIGGER";

	for (unsigned int p = 1; p < TAP_PARAMS; p++) {
		d = distance(w, tap_param_info[p].name);
		if (d < best) {
			best = d;
			name = tap_param_info[p].name;
		}
	}
	return best <= 3 && best * 2 <= w.length ? name : NULL;
}

static bool word_is(struct word w, const char *name)
{
	for (size_t i = 0; i < w.length; i++)
		if (w.at[i] != name[i])
			return false;	/* also where the name ends: no word has a NUL in it */
	return !name[w.length];
}

/* TAP_P_NONE, and a complaint, if there is no such parameter. */
static unsigned int find(struct tapfile *f, struct word w)
{
	const char *near;

	for (unsigned int p = 1; p < TAP_PARAMS; p++)
		if (word_is(w, tap_param_info[p].name))
			return p;
	near = f->complaints && f->errors < TAPFILE_MOST_ERRORS ? nearest(w) : NULL;
	if (near)
		complain(f, w.at, "there is no parameter \"%.*s\"; is it %s?", WORD(w), near);
	else
		complain(f, w.at, "there is no parameter \"%.*s\"", WORD(w));
	return TAP_P_NONE;
}

/* Decimal digits with up to @places after a point, as a number of 10^-@places. */
static bool number(struct tapfile *f, const char *what, unsigned int places, struct word *w,
		   s64 *value)
{
	unsigned int left = places, digits = 0;
	bool point = false, minus = false;
	const char *c, *end;
	s64 sum = 0;

	if (!next_word(f, w))
		return complain(f, f->end, "%s is missing", what);
	end = w->at + w->length;
	c = w->at;
	if (*c == '-' || *c == '+')
		minus = *c++ == '-';
	for (; c < end; c++) {
		if (*c == '.' && !point && places) {
			point = true;
			continue;
		}
		if (*c < '0' || *c > '9')
			return complain(f, c, "%s is \"%.*s\", which is not a number%s", what,
					WORD(*w), *c == '.' && !places ? " without a point" : "");
		if (point && !left--)
			return complain(f, c, "%s has more than %u places after the point", what,
					places);
		if (sum > (S64_MAX - 9) / 10 / 1000000)
			return complain(f, w->at, "%s is \"%.*s\", which is too large", what,
					WORD(*w));
		sum = 10 * sum + *c - '0';
		digits++;
	}
	if (!digits)
		return complain(f, w->at, "%s is \"%.*s\", which is not a number", what, WORD(*w));
	while (left--)
		sum *= 10;
	*value = minus ? -sum : sum;
	return true;
}

/* A value of the table's type, though of no other range than a number's. */
static bool value_of(struct tapfile *f, unsigned int param, struct word *w, s64 *value)
{
	const struct tap_param_info *info = &tap_param_info[param];

	return number(f, info->name, info->type == TAP_TYPE_TIME ? 6 : 0, w, value);
}

/* "0, 1 or 3", "0 to 127", "-1.5 to 20 ms" */
static void range_text(unsigned int param, char *text, size_t size)
{
	const struct tap_param_info *info = &tap_param_info[param];
	s64 scale = info->type == TAP_TYPE_TIME ? TAP_NS_PER_MS : 1;
	size_t n = 0;

	if (!info->allowed) {
		snprintf(text, size, "%lld to %lld%s", (long long)(info->least / scale),
			 (long long)(info->most / scale), scale == 1 ? "" : " ms");
		return;
	}
	for (s64 v = info->least; v <= info->most; v++)
		if (info->allowed >> v & 1)
			n += snprintf(text + n, size - n, "%s%lld",
				      !n ? "" : v == info->most ? " or " : ", ", (long long)v);
}

static bool in_range(struct tapfile *f, unsigned int param, struct word w, s64 value)
{
	char range[64];

	if (!tap_value_check(param, value))
		return true;
	range_text(param, range, sizeof(range));
	return complain(f, w.at, "%s is %.*s; it may be %s", tap_param_info[param].name, WORD(w),
			range);
}

static bool read_scalar(struct tapfile *f, unsigned int param)
{
	struct word w;
	s64 value;

	if (!value_of(f, param, &w, &value) || !in_range(f, param, w, value))
		return false;
	tap_params_set(&f->params, param, 0, value);
	return nothing_more(f, "it takes one value");
}

static bool read_array(struct tapfile *f, unsigned int param)
{
	const char *name = tap_param_info[param].name;
	char after[64], what[64];
	struct word w;
	s64 count, value;

	snprintf(what, sizeof(what), "the number of values of %s", name);
	if (!number(f, what, 0, &w, &count))
		return false;
	if (tap_params_set(&f->params, param, 0, count))
		return complain(f, w.at, "%s is %.*s; it may be 0 to %d", what, WORD(w),
				TAP_ARRAY_MAX);
	for (s64 i = 1; i <= count; i++) {
		snprintf(what, sizeof(what), "value %lld of %s", (long long)i, name);
		if (!number(f, what, 0, &w, &value) || !in_range(f, param, w, value))
			return false;
		tap_params_set(&f->params, param, i, value);
	}
	snprintf(after, sizeof(after), "%lld values were announced", (long long)count);
	return nothing_more(f, after);
}

/* The rest of the line. Names that become parts of file names are letters and digits. */
static bool read_string(struct tapfile *f, unsigned int param)
{
	char *to = f->string[param - TAP_P_ARRAYS_END];
	const char *name = tap_param_info[param].name, *from, *end = f->end;
	struct word w;

	if (!next_word(f, &w))
		return complain(f, f->end, "%s is missing", name);
	from = w.at;
	while (end > from && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	f->at = f->end;
	if (end - from > TAPFILE_STRING_MAX)
		return complain(f, from, "%s is longer than %d bytes", name, TAPFILE_STRING_MAX);
	if (param != TAP_P_TITLE)
		for (const char *c = from; c < end; c++)
			if (!isalnum((unsigned char)*c) || *c & 0x80)
				return complain(f, c, "%s may have letters and digits only", name);
	memcpy(to, from, end - from);
	to[end - from] = '\0';
	return true;
}

static bool read_trigger(struct tapfile *f)
{
	struct tap_trigger t = {};
	struct word w, count;
	s64 value;
	int ret;

	if (!number(f, "the trigger's number", 0, &w, &value))
		return false;
	if (value < 0 || value > U16_MAX)
		return complain(f, w.at, "the trigger's number is %.*s; it may be 0 to %d", WORD(w),
				U16_MAX);
	t.number = value;
	for (unsigned int i = 0; i < f->params.triggers; i++)
		if (f->params.trigger[i].number == t.number)
			return complain(f, w.at, "there is a trigger %d already, at line %u",
					t.number, f->trigger_line[i]);
	if (f->params.triggers == TAP_TRIGGERS_MAX)
		return complain(f, w.at, "there are more than %d triggers", TAP_TRIGGERS_MAX);

	if (!next_word(f, &w))
		return complain(f, f->end, "the trigger's type is missing: K, T or M");
	t.kind = word_is(w, "K") ? TAP_AT_KEYSTROKE : word_is(w, "T") ? TAP_AT_TIME :
		 word_is(w, "M") ? TAP_AT_BEAT : 0;
	if (!t.kind)
		return complain(f, w.at, "the trigger's type is \"%.*s\"; it may be K (keystroke), "
				"T (ms) or M (metronome beat)", WORD(w));
	if (!number(f, "the trigger's count", 0, &count, &t.count))
		return false;

	if (!next_word(f, &w))
		return complain(f, f->end, "the parameter that the trigger sets is missing");
	t.param = find(f, w);
	if (!t.param)
		return false;
	if (t.param >= TAP_P_SCALARS)
		return complain(f, w.at, "a trigger cannot set %.*s, which is no single number",
				WORD(w));
	if (!value_of(f, t.param, &w, &t.value))
		return false;
	if (tap_param_info[t.param].type == TAP_TYPE_END)
		t.value = 0;
	else if (!in_range(f, t.param, w, t.value))
		return false;

	ret = tap_params_trigger(&f->params, &t);
	if (ret)	/* all else has been checked */
		return complain(f, count.at, "the trigger's count is %.*s; it may be %d to %lld",
				WORD(count), t.kind != TAP_AT_TIME, TAP_COUNT_MOST);
	f->trigger_line[f->params.triggers - 1] = f->number;
	return nothing_more(f, "a trigger is: number, type, count, parameter, value");
}

static bool read_line(struct tapfile *f)
{
	unsigned int param;
	struct word w;

	for (const char *c = f->begin; c < f->end; c++)
		if (((unsigned char)*c < ' ' && *c != '\t') || *c == 0x7f)
			return complain(f, c, "there is a control character, 0x%02x", *c);
	if (!next_word(f, &w))
		return true;
	if (word_is(w, "TRIGGER"))
		return read_trigger(f);
	param = find(f, w);
	if (!param)
		return false;
	if (f->line[param])
		return complain(f, w.at, "%.*s was set before, at line %u", WORD(w),
				f->line[param]);
	f->line[param] = f->number;
	f->column[param] = column_of(f, w.at);
	switch (tap_param_info[param].type) {
	case TAP_TYPE_STRING:
		return read_string(f, param);
	case TAP_TYPE_ARRAY:
		return read_array(f, param);
	case TAP_TYPE_END:
		return complain(f, w.at, "%.*s is for triggers only", WORD(w));
	default:
		return read_scalar(f, param);
	}
}

/* The first @c, or the end. */
static const char *seek(const char *from, const char *end, char c)
{
	while (from < end && *from != c)
		from++;
	return from;
}

/* Point at a line that has been read. */
static void go_to(struct tapfile *f, unsigned int line)
{
	f->begin = f->text;
	for (f->number = 1; f->number < line; f->number++)
		f->begin = seek(f->begin, f->text_end, '\n') + 1;
	f->end = seek(f->begin, f->text_end, '\n');
}

/* What only shows when all lines are read. */
static void check_whole(struct tapfile *f)
{
	unsigned int other, param = tap_params_check(&f->params, &other);
	const struct tap_param_info *a, *b;
	unsigned int line;

	if (param) {
		a = &tap_param_info[param];
		b = &tap_param_info[other];
		line = f->line[param] ?: f->line[other];
		for (unsigned int i = 0; !line && i < f->params.triggers; i++)
			if (f->params.trigger[i].param == param)
				line = f->trigger_line[i];
		go_to(f, line);
		if (b->type == TAP_TYPE_ARRAY)
			complain(f, f->begin, "%s 4 needs %s, which is not set", a->name, b->name);
		else
			complain(f, f->begin, "%s is above %s", a->name, b->name);
	}
	for (unsigned int i = 0; i < f->params.triggers; i++)
		if (f->params.trigger[i].param == TAP_P_END_EXP)
			return;
	f->warnings++;
	if (f->complaints)
		fprintf(f->complaints, "%s: warning: no trigger of END_EXP ends the trial\n",
			f->name);
}

bool tapfile_read(struct tapfile *f, const char *name, const char *text, size_t size,
		  FILE *complaints)
{
	memset(f, 0, sizeof(*f));
	f->name = name;
	f->complaints = complaints;
	f->text = text;
	f->text_end = text + size;
	tap_params_reset(&f->params);
	f->begin = f->end = f->at = text;
	f->number = 1;
	if (size > TAPFILE_MOST_BYTES)
		return complain(f, text, "the file has more than %d bytes", TAPFILE_MOST_BYTES);
	for (const char *next = text; next < f->text_end; f->number++) {
		f->begin = f->at = next;
		f->end = seek(next, f->text_end, '\n');
		next = f->end + 1;
		if (f->end > f->begin && f->end[-1] == '\r')
			f->end--;
		f->end = seek(f->begin, f->end, '#');
		read_line(f);
	}
	if (!f->errors)
		check_whole(f);
	return !f->errors;
}

static struct tap_command set(unsigned int param, unsigned int index, s64 value)
{
	return (struct tap_command) { .magic = TAP_MAGIC, .op = TAP_SET, .param = param,
				      .index = index, .value = value };
}

unsigned int tapfile_commands(const struct tapfile *f, struct tap_command *c)
{
	unsigned int n = 0;

	c[n++] = (struct tap_command) { .magic = TAP_MAGIC, .op = TAP_RESET };
	for (unsigned int p = 1; p < TAP_P_SCALARS; p++)
		if (f->line[p])
			c[n++] = set(p, 0, f->params.value[p]);
	for (unsigned int p = TAP_P_SCALARS; p < TAP_P_ARRAYS_END; p++) {
		const struct tap_list *list = &f->params.list[p - TAP_P_SCALARS];

		if (list->count)
			c[n++] = set(p, 0, list->count);
		for (unsigned int i = 0; i < list->count; i++)
			c[n++] = set(p, i + 1, list->element[i]);
	}
	for (unsigned int i = 0; i < f->params.triggers; i++) {
		const struct tap_trigger *t = &f->params.trigger[i];

		c[n++] = (struct tap_command) {
			.magic = TAP_MAGIC, .op = TAP_TRIGGER, .kind = t->kind, .param = t->param,
			.index = t->number, .count = t->count, .value = t->value,
		};
	}
	for (unsigned int i = 0; i < n; i++)
		c[i].serial = i + 1;
	return n;
}
