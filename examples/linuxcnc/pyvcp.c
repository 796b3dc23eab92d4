// SPDX-License-Identifier: GPL-2.0-only
/*
 * A panel for LinuxCNC's PyVCP in a terminal, where there is no X: pyvcp [-c NAME] PANEL.xml. It
 * makes the component NAME (by default the file's name) with the panel's pins and prints the panel
 * each second. So latency-test runs as it is.
 *
 * Input, a line each: the first letter of a button's pin presses it, q or the end of input ends. If
 * the output is no terminal, the panel is printed after each line of input only.
 *
 * Of PyVCP's elements it knows labels with a text, s32, u32, number, led and button, in tables'
 * rows. Any other that has a pin is refused.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rtapi.h>
#include <hal.h>

#define CELLS 64
#define NAME_BYTES 48
#define WIDTH 26
#define PRESS_US 50000

enum kind { TEXT, S32, U32, NUMBER, LED, BUTTON };

/* Elements with a pin: its type, and whether the panel writes it. */
static const struct {
	const char *tag;
	hal_type_t type;
	hal_pin_dir_t dir;
} kinds[] = {
	[TEXT] = { "label" },
	[S32] = { "s32", HAL_S32, HAL_IN },
	[U32] = { "u32", HAL_U32, HAL_IN },
	[NUMBER] = { "number", HAL_FLOAT, HAL_IN },
	[LED] = { "led", HAL_BIT, HAL_IN },
	[BUTTON] = { "button", HAL_BIT, HAL_OUT },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct cell {
	enum kind kind;
	int row;
	char text[NAME_BYTES], pin[NAME_BYTES];
	void **data;	/* in HAL's memory, as the pin has to be */
} cells[CELLS];
static int cell_count, rows, component = -1;

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	va_list args;

	fputs("pyvcp: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	if (component >= 0)
		hal_exit(component);
	exit(1);
}

static void on_signal(int number)
{
	/* The panel ends at the next look at its input. */
	close(STDIN_FILENO);
}

/* ---- the file ---- */

static char *contents(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t size = 0;
	char *text = NULL;

	if (!file || getdelim(&text, &size, '\0', file) < 0)
		die("%s: %s", path, file && !errno ? "empty" : strerror(errno));
	fclose(file);
	return text;
}

/* The value of attribute @name between @at and @end, or "". */
static void attribute(char *value, const char *at, const char *end, const char *name)
{
	size_t len = strlen(name);

	value[0] = '\0';
	for (; (at = memmem(at, end - at, name, len)); at += len) {
		const char *from = at + len + 2, *to;

		if (at[-1] != ' ' || from > end || at[len] != '=' || at[len + 1] != '"')
			continue;
		to = memchr(from, '"', end - from);
		if (to)
			snprintf(value, NAME_BYTES, "%.*s", (int)(to - from), from);
		return;
	}
}

static void add_cell(const char *tag, const char *end)
{
	struct cell cell = { .row = rows };

	attribute(cell.text, tag, end, "text");
	attribute(cell.pin, tag, end, "halpin");
	while (cell.kind < KINDS) {
		size_t len = strlen(kinds[cell.kind].tag);

		if (!strncmp(tag, kinds[cell.kind].tag, len) && strchr(" />", tag[len]))
			break;
		cell.kind++;
	}
	if (cell.kind == KINDS && !cell.pin[0])
		return;
	if (cell.kind == KINDS)
		die("a terminal shows no <%.*s>", (int)strcspn(tag, " />"), tag);
	if (cell.kind != TEXT && !cell.pin[0])
		die("<%s> without a halpin", kinds[cell.kind].tag);
	if (cell_count == CELLS)
		die("more than %d elements", CELLS);
	cells[cell_count++] = cell;
}

static void parse(const char *text)
{
	const char *at = text, *end;

	while ((at = strchr(at, '<')) && (end = strchr(at, '>'))) {
		if (!strncmp(at, "<tablerow", 9))
			rows++;
		else
			add_cell(at + 1, end);
		at = end;
	}
}

/* ---- HAL ---- */

static void make_pins(const char *name)
{
	component = hal_init(name);
	if (component < 0)
		die("HAL has no room for %s, or is not loaded: halrun", name);
	for (struct cell *c = cells; c < cells + cell_count; c++) {
		char full[HAL_NAME_LEN + 1];

		if (c->kind == TEXT)
			continue;
		snprintf(full, sizeof(full), "%s.%s", name, c->pin);
		c->data = hal_malloc(sizeof(*c->data));
		if (!c->data || hal_pin_new(full, kinds[c->kind].type, kinds[c->kind].dir, c->data,
					    component))
			die("HAL refused the pin %s", full);
	}
	if (hal_ready(component))
		die("HAL refused the component %s", name);
}

static void press(char key)
{
	for (struct cell *c = cells; c < cells + cell_count; c++) {
		if (c->kind != BUTTON || c->pin[0] != key)
			continue;
		**(hal_bit_t **)c->data = 1;
		usleep(PRESS_US);
		**(hal_bit_t **)c->data = 0;
	}
}

/* ---- the terminal ---- */

static void value_of(const struct cell *c, char *text, size_t size)
{
	switch (c->kind) {
	case TEXT:
		snprintf(text, size, "%s", c->text);
		break;
	case S32:
		snprintf(text, size, "%d", (int)**(hal_s32_t **)c->data);
		break;
	case U32:
		snprintf(text, size, "%u", (unsigned int)**(hal_u32_t **)c->data);
		break;
	case NUMBER:
		snprintf(text, size, "%.3f", (double)**(hal_float_t **)c->data);
		break;
	case LED:
		snprintf(text, size, "%s", **(hal_bit_t **)c->data ? "on" : "off");
		break;
	case BUTTON:
		snprintf(text, size, "[%c] %s", c->pin[0], c->text);
	}
}

static void print(void)
{
	for (const struct cell *c = cells, *end = cells + cell_count; c < end; c++) {
		bool last = c + 1 == end || c[1].row != c->row;
		char text[NAME_BYTES + 8];

		value_of(c, text, sizeof(text));
		printf("%*s%c", c->kind != TEXT && c->kind != BUTTON ? WIDTH : last ? 0 : -WIDTH,
		       text, last ? '\n' : ' ');
	}
	puts(isatty(STDOUT_FILENO) ? "[q] end\n" : "");
	fflush(stdout);
}

static void run(void)
{
	int period = isatty(STDOUT_FILENO) ? 1000 : -1;
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char line[80];

	for (;;) {
		int ready = poll(&input, 1, period);

		if (ready > 0) {
			ssize_t len = read(STDIN_FILENO, line, sizeof(line) - 1);

			if (len <= 0 || line[0] == 'q')
				return;
			press(line[0]);
		} else if (ready < 0) {
			return;
		}
		print();
	}
}

int main(int argc, char **argv)
{
	const char *name = NULL;
	char *file;
	int option;

	while ((option = getopt(argc, argv, "c:g:")) != -1) {
		if (option == 'c')
			name = optarg;
		else if (option != 'g')
			return 2;
	}
	if (optind + 1 != argc) {
		fputs("usage: pyvcp [-c NAME] PANEL.xml\n", stderr);
		return 2;
	}
	file = argv[optind];
	parse(contents(file));
	if (!name) {
		name = strdup(basename(file));
		*strchrnul(name, '.') = '\0';
	}
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	make_pins(name);
	run();
	print();
	hal_exit(component);
	return 0;
}
