// SPDX-License-Identifier: GPL-2.0-only
/*
 * tactus-tapfile: checks a trial's parameter file, and says what is in it.
 *
 * Exit status: 0 the file is right, 1 it is not or could not be read, 2 usage.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tapfile.h"

static const char usage[] =
	"usage: tactus-tapfile [--json | --commands | --run [OPTIONS]] FILE\n"
	"       tactus-tapfile --describe | --reference\n"
	"\n"
	"Checks a parameter file; complaints go to stderr. FILE may be - for stdin.\n"
	"  --json          print what is in it, with every default; times are ns\n"
	"  --commands      print it as struct tap_command, for /dev/rtf/tap_set\n"
	"  --run           go through the trial without the executive and print its events;\n"
	"                  stdin has the input: lines of a time in ns and bytes in hex\n"
	"    --pass NS     pass through the loop every NS (default: whenever something is due)\n"
	"    --until NS    stop the trial then (default: an hour)\n"
	"    --records     print struct tap_record, not text\n"
	"  --describe      print names and numbers of parameters, events and figures as JSON\n"
	"  --reference     print the parameters as tables of Markdown\n";

static struct tapfile file;
static char text[TAPFILE_MOST_BYTES + 1];
static struct tap_command commands[TAPFILE_COMMANDS];

static bool read_file(const char *name, size_t *size)
{
	FILE *from = strcmp(name, "-") ? fopen(name, "rb") : stdin;

	if (from) {
		*size = fread(text, 1, sizeof(text), from);
		if (!ferror(from))
			return true;
	}
	fprintf(stderr, "tactus-tapfile: %s cannot be read: %s\n", name, strerror(errno));
	return false;
}

static u64 time_argument(const char *argument)
{
	char *end;
	u64 ns = strtoull(argument, &end, 10);

	if (*argument < '0' || *argument > '9' || *end || ns > S64_MAX) {
		fprintf(stderr, "tactus-tapfile: \"%s\" is no time in ns\n", argument);
		exit(2);
	}
	return ns;
}

int main(int argc, char **argv)
{
	enum { CHECK, JSON = 'j', COMMANDS = 'c', RUN = 'r', DESCRIBE = 'd', REFERENCE = 'f',
	       PASS = 'p', UNTIL = 'u', RECORDS = 'b', HELP = 'h' } what = CHECK;
	static const struct option options[] = {
		{ "json", no_argument, NULL, JSON },
		{ "commands", no_argument, NULL, COMMANDS },
		{ "run", no_argument, NULL, RUN },
		{ "describe", no_argument, NULL, DESCRIBE },
		{ "reference", no_argument, NULL, REFERENCE },
		{ "help", no_argument, NULL, HELP },
		{ "pass", required_argument, NULL, PASS },
		{ "records", no_argument, NULL, RECORDS },
		{ "until", required_argument, NULL, UNTIL },
		{},
	};
	struct dryrun how = { .until_ns = TAP_HOUR_MS * TAP_NS_PER_MS };
	int option;
	size_t size;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == PASS)
			how.pass_ns = time_argument(optarg);
		else if (option == UNTIL)
			how.until_ns = time_argument(optarg);
		else if (option == RECORDS)
			how.records = true;
		else if (option == '?' || what != CHECK)
			goto err_usage;
		else
			what = option;
	}
	if (what == HELP) {
		fputs(usage, stdout);
		return 0;
	}
	if (what == DESCRIBE || what == REFERENCE) {
		if (optind != argc)
			goto err_usage;
		(what == DESCRIBE ? print_describe : print_reference)(stdout);
		return 0;
	}
	if (optind != argc - 1 || (what == RUN && !strcmp(argv[optind], "-")))
		goto err_usage;

	if (!read_file(argv[optind], &size))
		return 1;
	if (!tapfile_read(&file, strcmp(argv[optind], "-") ? argv[optind] : "<stdin>", text, size,
			  stderr)) {
		fprintf(stderr, "%s: %u error%s\n", file.name, file.errors,
			file.errors == 1 ? "" : "s");
		return 1;
	}
	if (what == JSON)
		print_json(&file, stdout);
	else if (what == COMMANDS)
		fwrite(commands, sizeof(commands[0]), tapfile_commands(&file, commands), stdout);
	else if (what == RUN && dryrun(&file, &how, stdin, stdout))
		return 1;
	return fflush(stdout) ? 1 : 0;
err_usage:
	fputs(usage, stderr);
	return 2;
}
