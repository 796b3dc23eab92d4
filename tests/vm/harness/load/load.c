// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one load under which Tactus is measured: fork and exec, pipes, compression, a
 * disk in RAM, serial interrupts and, when asked for, sections of 20 ms with
 * interrupts off (hog.ko). Runs as root in the guest for that many seconds of its time
 * and prints one line of what was done:
 *
 *	load: seconds=3.001 forks=830 mb=61.2 irqs=4711 ...
 *
 * or, with --json, one JSON object. A measurement under less load than its stated
 * minimum does not count: each figure has an option --min-FIGURE.
 *
 * Exit status: 0; 1 a worker failed, or less was done than the minimum; 2 usage.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

enum figure {
	FORKS, MB, IRQS, SERIAL_IRQS, PIPE_MB, GZIP_MB, DISK_MB, SERIAL_KB,
	SECTIONS, PROCESS, TIMER, HRTIMER, TASKLET, SPINLOCK, SECTION_MS, FIGURES
};

/* In the order in which they are printed. */
static const char *const figure_names[FIGURES] = {
	"forks", "mb", "irqs", "serial_irqs", "pipe_mb", "gzip_mb", "disk_mb", "serial_kb",
	"sections", "process", "timer", "hrtimer", "tasklet", "spinlock", "section_ms",
};

static const char usage[] =
	"usage: load [--seconds=S] [--json] [--irqoff=CONTEXT[,CONTEXT]...] [--gap-ms=N]\n"
	"            [--disk=DIRECTORY|DEVICE] [--serial=TTY] [--nice=N] [--min-FIGURE=N]...\n"
	"  --seconds  how long, in seconds of this machine's clock (default 3)\n"
	"  --json     print a JSON object instead of a line of name=value\n"
	"  --irqoff   also hold interrupts off for 20 ms at a time, in these contexts in\n"
	"             turn: process, timer, hrtimer, tasklet, spinlock (needs hog.ko)\n"
	"  --gap-ms   pause between two such sections (default 40)\n"
	"  --disk     where to write; a device is overwritten (default: a tmpfs)\n"
	"  --serial   UART to write to (default /dev/ttyS2)\n"
	"  --nice     how much to give way to other processes, 0 to 19 (default 0)\n"
	"  --min-...  fail if less was done than this; FIGURE is one of\n"
	"             forks mb irqs serial_irqs pipe_mb gzip_mb disk_mb serial_kb\n"
	"             sections process timer hrtimer tasklet spinlock section_ms\n";

/* What /proc/stat and /proc/hog count since boot. */
struct counts {
	double irqs;
	double serial_irqs;
	double sections[SPINLOCK - PROCESS + 1];
	double longest_ns;
	bool leaked;
	bool strayed;
};

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* The interrupt of a serial port, by its number: the line has no name while it is closed. */
static unsigned long serial_irq(const char *tty)
{
	const char *slash = strrchr(tty, '/');
	char path[256];
	unsigned long irq;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/tty/%s/irq", slash ? slash + 1 : tty);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%lu", &irq) != 1)
		load_fail(path);
	fclose(file);
	return irq;
}

/*
 * Device interrupts of all CPUs, by the line "intr TOTAL IRQ0 IRQ1 ..." of /proc/stat: the table in
 * /proc/interrupts differs between kernels.
 */
static void read_interrupts(struct counts *counts, unsigned long serial)
{
	FILE *file = fopen("/proc/stat", "r");
	unsigned long count, irq = 0;
	int c = 0;

	if (!file)
		load_fail("/proc/stat");
	while (fscanf(file, "intr %lu", &count) != 1) {
		while ((c = getc(file)) != '\n' && c != EOF)
			;
		if (c == EOF) {
			fprintf(stderr, "load: /proc/stat has no line of interrupts\n");
			exit(1);
		}
	}
	for (; fscanf(file, "%lu", &count) == 1; irq++) {
		counts->irqs += count;
		if (irq == serial)
			counts->serial_irqs += count;
	}
	fclose(file);
	if (irq <= serial) {
		fprintf(stderr, "load: /proc/stat has no interrupt %lu\n", serial);
		exit(1);
	}
}

static void read_hog(struct counts *counts)
{
	FILE *file = fopen("/proc/hog", "r");
	double total, *sections = counts->sections;
	int leaked, strayed;

	if (!file)
		load_fail("/proc/hog (is hog.ko loaded?)");
	if (fscanf(file, "process=%lf timer=%lf hrtimer=%lf tasklet=%lf spinlock=%lf "
		   "sections=%lf total_ns=%*f longest_ns=%lf leaked=%d strayed=%d", &sections[0],
		   &sections[1], &sections[2], &sections[3], &sections[4], &total,
		   &counts->longest_ns, &leaked, &strayed) != 9) {
		fprintf(stderr, "load: /proc/hog: cannot be parsed\n");
		exit(1);
	}
	counts->leaked = leaked;
	counts->strayed = strayed;
	fclose(file);
}

static struct counts read_counts(const struct load_options *options)
{
	struct counts counts = { 0 };

	read_interrupts(&counts, serial_irq(options->serial));
	if (options->irqoff)
		read_hog(&counts);
	return counts;
}

/* Start a worker in the workers' process group, which the first one founds. */
static pid_t start(load_worker *worker, const struct load_options *options,
		   struct load_done *done, pid_t group)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		load_fail("fork");
	if (!pid) {
		setpgid(0, group);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		worker(options, done);
	}
	setpgid(pid, group ?: pid);
	return pid;
}

/* Until the time is up; false as soon as a worker gave up. */
static bool wait_until(double end_s)
{
	double left_s;

	while ((left_s = end_s - now_s()) > 0) {
		double nap_s = left_s < 0.1 ? left_s : 0.1;
		struct timespec nap = { 0, (long)(nap_s * 1e9) };

		nanosleep(&nap, NULL);
		if (waitpid(-1, NULL, WNOHANG) > 0)
			return false;
	}
	return true;
}

/* Orphaned grandchildren come to us (sub-reaper), so none is left when this returns. */
static void stop_all(pid_t group)
{
	do {
		kill(-group, SIGKILL);
	} while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
}

static void report(const double *figures, double seconds, bool json)
{
	printf(json ? "{\"seconds\": %.3f" : "load: seconds=%.3f", seconds);
	for (int i = 0; i < FIGURES; i++)
		printf(json ? ", \"%s\": %.10g" : " %s=%.10g", figure_names[i], figures[i]);
	puts(json ? "}" : "");
	fflush(stdout);
}

static double round_to(double value, double step)
{
	return (double)(long long)(value / step + 0.5) * step;
}

static int run(struct load_options *options, double seconds, const double *minimum, bool json)
{
	static load_worker *const workers[] = {
		load_fork, load_pipe, load_gzip, load_disk, load_serial, load_irqoff,
	};
	size_t count = sizeof(workers) / sizeof(workers[0]) - !options->irqoff;
	struct load_done *done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct counts before, after;
	double figures[FIGURES] = { 0 };
	double begin_s;
	pid_t group = 0;
	int status = 0;

	if (done == MAP_FAILED)
		load_fail("mmap");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	before = read_counts(options);
	begin_s = now_s();
	for (size_t i = 0; i < count; i++) {
		pid_t pid = start(workers[i], options, done, group);

		group = group ?: pid;
	}
	if (!wait_until(begin_s + seconds)) {
		fprintf(stderr, "load: a worker ended early\n");
		status = 1;
	}
	/* A section that has begun is over before its writer dies: wait first, then count. */
	stop_all(group);
	seconds = now_s() - begin_s;
	after = read_counts(options);

	figures[FORKS] = done->forks;
	figures[PIPE_MB] = round_to(done->pipe_bytes / 1e6, 1e-3);
	figures[GZIP_MB] = round_to(done->gzip_bytes / 1e6, 1e-3);
	figures[DISK_MB] = round_to(done->disk_bytes / 1e6, 1e-3);
	figures[SERIAL_KB] = done->serial_bytes / 1e3;
	figures[MB] = figures[PIPE_MB] + figures[GZIP_MB] + figures[DISK_MB];
	figures[IRQS] = after.irqs - before.irqs;
	figures[SERIAL_IRQS] = after.serial_irqs - before.serial_irqs;
	for (int i = 0; i <= SPINLOCK - PROCESS; i++) {
		figures[PROCESS + i] = after.sections[i] - before.sections[i];
		figures[SECTIONS] += figures[PROCESS + i];
	}
	figures[SECTION_MS] = round_to(after.longest_ns / 1e6, 1e-3);
	report(figures, seconds, json);

	for (int i = 0; i < FIGURES; i++) {
		if (figures[i] >= minimum[i])
			continue;
		fprintf(stderr, "load: %s=%.10g is below the minimum of %.10g\n", figure_names[i],
			figures[i], minimum[i]);
		status = 1;
	}
	if (after.leaked) {
		fprintf(stderr, "load: irqs_disabled() was false in an interrupts-off section\n");
		status = 1;
	}
	if (after.strayed) {
		fprintf(stderr, "load: a section ran in another context than it should\n");
		status = 1;
	}
	return status;
}

static bool parse_number(const char *text, double *value)
{
	char *end;

	errno = 0;
	*value = strtod(text, &end);
	return end != text && !*end && !errno && *value >= 0 && *value <= 1e12;
}

static bool known_contexts(const char *list)
{
	for (;;) {
		size_t length = strcspn(list, ",");
		bool known = false;

		for (int i = PROCESS; i <= SPINLOCK; i++)
			known |= strlen(figure_names[i]) == length &&
				 !strncmp(figure_names[i], list, length);
		if (!known)
			return false;
		if (!list[length])
			return true;
		list += length + 1;
	}
}

static const char *own_path(void)
{
	static char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (length < 0)
		load_fail("/proc/self/exe");
	return path;
}

/* A file system in RAM that nobody else uses. */
static const char *own_tmpfs(void)
{
	static char directory[] = "/tmp/load.XXXXXX";

	if (mkdir("/tmp", 01777) && errno != EEXIST)
		load_fail("/tmp");
	if (!mkdtemp(directory) || mount("load", directory, "tmpfs", 0, "size=8m"))
		load_fail(directory);
	return directory;
}

static int bad_usage(void)
{
	fputs(usage, stderr);
	return 2;
}

int main(int argc, char **argv)
{
	enum { HELP = 1, SECONDS, JSON, IRQOFF, GAP, DISK, SERIAL, NICE, NOTHING, MINIMUM };
	struct option options[10 + FIGURES] = {
		{ "help", no_argument, NULL, HELP },
		{ "seconds", required_argument, NULL, SECONDS },
		{ "json", no_argument, NULL, JSON },
		{ "irqoff", required_argument, NULL, IRQOFF },
		{ "gap-ms", required_argument, NULL, GAP },
		{ "disk", required_argument, NULL, DISK },
		{ "serial", required_argument, NULL, SERIAL },
		{ "nice", required_argument, NULL, NICE },
		{ "nothing", no_argument, NULL, NOTHING },
	};
	struct load_options load = { .serial = "/dev/ttyS2", .gap_ms = 40 };
	char minimum_names[FIGURES][32];
	double minimum[FIGURES] = { 0 };
	double seconds = 3, number;
	const char *tmpfs = NULL;
	bool json = false;
	int option, status;

	for (int i = 0; i < FIGURES; i++) {
		snprintf(minimum_names[i], sizeof(minimum_names[i]), "min-%s", figure_names[i]);
		options[9 + i] = (struct option){ minimum_names[i], required_argument, NULL,
						  MINIMUM + i };
	}
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case HELP:
			fputs(usage, stdout);
			return 0;
		case NOTHING:
			return 0;	/* the fork worker's child */
		case SECONDS:
			if (!parse_number(optarg, &seconds) || !seconds || seconds > 86400)
				return bad_usage();
			break;
		case JSON:
			json = true;
			break;
		case IRQOFF:
			if (!known_contexts(optarg))
				return bad_usage();
			load.irqoff = optarg;
			break;
		case GAP:
			if (!parse_number(optarg, &number) || number > 60000)
				return bad_usage();
			load.gap_ms = number;
			break;
		case DISK:
			load.disk = optarg;
			break;
		case SERIAL:
			load.serial = optarg;
			break;
		case NICE:
			if (!parse_number(optarg, &number) || number > 19)
				return bad_usage();
			if (setpriority(PRIO_PROCESS, 0, number))
				load_fail("setpriority");
			break;
		default:
			if (option < MINIMUM || !parse_number(optarg, &minimum[option - MINIMUM]))
				return bad_usage();
		}
	}
	if (optind != argc)
		return bad_usage();

	load.self = own_path();
	if (!load.disk)
		load.disk = tmpfs = own_tmpfs();
	status = run(&load, seconds, minimum, json);
	if (tmpfs && (umount2(tmpfs, MNT_DETACH) || rmdir(tmpfs)))
		load_fail(tmpfs);
	return status;
}
