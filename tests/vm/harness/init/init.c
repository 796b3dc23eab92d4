// SPDX-License-Identifier: GPL-2.0-only
/*
 * PID 1 of the bench's guest.
 *
 * It mounts the usual file systems, loads the modules the job names, runs the job's command and
 * sends what the command printed, the files asked for and its status to the host; then it ends
 * the machine at once.
 *
 * All of that travels through the memory of an ivshmem device, which the host maps too: writing
 * there is plain stores, so that neither a driver nor an interrupt nor the host's speed shows up
 * in what the guest measures, and it works on kernels where virtio is a module. The console
 * carries nothing but the kernel's own messages.
 *
 * A kernel that Secure Boot has locked down lets nobody map a device. There the same bytes go over
 * the second serial line, which costs time and interrupts.
 *
 * A boot may serve many jobs (bench/kept.py): then there is none in the file system that the kernel
 * has unpacked. PID 1 has the machine stop, by the port that tells of a panic, and the host puts an
 * archive with the job into the channel before it goes on.
 *
 * Invariants of the channel: only the guest writes `head`, only the host writes `tail`; both
 * count bytes and never wrap; a byte is stored before the head that covers it is.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "../mark.h"

#define EXIT_PORT	0xf4		/* isa-debug-exit */
#define PANIC_PORT	0x505		/* pvpanic: in virtual time the machine stops behind this instruction */
#define SERIAL		"/dev/ttyS1"
#define IVSHMEM_ID	"0x1af4 0x1110"
#define MAGIC		0x3168636e65427654ULL	/* "TvBench1" */
#define RING_OFFSET	4096

#define NO_JOB		UINT64_MAX

enum record {			/* keep in step with bench/channel.py */
	REC_STDOUT = 1,
	REC_STDERR = 2,
	REC_FILE = 3,		/* u32 number of the --get, u32 mode, path below it */
	REC_DATA = 4,
	REC_FILE_FAILED = 5,	/* u32 number of the --get, reason */
	REC_STATUS = 6,		/* i32 */
	REC_SETUP_FAILED = 7,	/* reason */
	REC_KMSG = 8,
	REC_READY = 9,
};

struct channel {
	uint64_t magic;
	uint64_t head;
	char pad[48];
	uint64_t tail;
	char pad2[56];
	uint64_t job_bytes;		/* of the archive that lies in the ring: the host's */
	uint64_t stood;			/* how far the TSC went while the guest waited for it */
};

static struct channel *channel;
static char *ring;
static uint64_t ring_bytes;
static int serial = -1;		/* instead of the channel */

static void finish(void)
{
	if (serial >= 0)
		tcdrain(serial);
	if (!iopl(3))
		__asm__ volatile("outl %0, %w1" : : "a"(0), "Nd"(EXIT_PORT));
	/* A kernel without iopl(): QEMU's -no-reboot makes an end of this too. */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static void serial_put(const char *from, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(serial, from, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			serial = -1;
			finish();
		}
		from += n;
		bytes -= n;
	}
}

static void put(const void *data, size_t bytes)
{
	const char *from = data;

	if (serial >= 0) {
		serial_put(from, bytes);
		return;
	}
	while (bytes) {
		uint64_t head = channel->head;
		uint64_t tail = __atomic_load_n(&channel->tail, __ATOMIC_ACQUIRE);
		uint64_t at = head % ring_bytes;
		uint64_t room = ring_bytes - (head - tail);

		if (!room) {
			usleep(1000);
			continue;
		}
		if (room > bytes)
			room = bytes;
		if (room > ring_bytes - at)
			room = ring_bytes - at;
		memcpy(ring + at, from, room);
		/* Publishes the bytes above; the host loads head before it reads them. */
		__atomic_store_n(&channel->head, head + room, __ATOMIC_RELEASE);
		from += room;
		bytes -= room;
	}
}

static void send_parts(enum record type, const void *a, size_t a_bytes, const void *b,
		       size_t b_bytes)
{
	uint32_t header[2] = { type, a_bytes + b_bytes };

	put(header, sizeof(header));
	put(a, a_bytes);
	put(b, b_bytes);
}

static void send_record(enum record type, const void *data, size_t bytes)
{
	send_parts(type, data, bytes, NULL, 0);
}

/* The whole of the kernel's log: on some kernels the console lags behind it. */
static void send_kmsg(void)
{
	static char line[8192];
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return;
	for (;;) {
		n = read(fd, line, sizeof(line));
		if (n > 0)
			send_record(REC_KMSG, line, n);
		else if (!(n < 0 && errno == EPIPE))
			break;
	}
	close(fd);
}

static void __attribute__((noreturn, format(printf, 1, 2))) setup_failed(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "bench: %s\n", text);
	if (channel || serial >= 0) {
		send_kmsg();
		send_record(REC_SETUP_FAILED, text, strlen(text));
	}
	finish();
	abort();
}

static char *read_file(const char *path, size_t *bytes)
{
	size_t used = 0, room = 65536;
	char *text = malloc(room);
	int fd = open(path, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		setup_failed("%s: %s", path, strerror(errno));
	while ((n = read(fd, text + used, room - used - 1)) > 0) {
		used += n;
		if (room - used < 4096) {
			room *= 2;
			text = realloc(text, room);
		}
	}
	close(fd);
	text[used] = 0;
	if (bytes)
		*bytes = used;
	return text;
}

static void mount_one(const char *type, const char *where, const char *options)
{
	mkdir(where, 0755);
	/* A kernel without debugfs or the like is still worth running. */
	mount(type, where, type, 0, options);
}

static void mount_all(void)
{
	mount_one("proc", "/proc", NULL);
	mount_one("sysfs", "/sys", NULL);
	mount_one("devtmpfs", "/dev", "mode=0755");
	mount_one("devpts", "/dev/pts", "mode=0620,ptmxmode=0666");
	mount_one("tmpfs", "/dev/shm", "mode=1777");
	mount_one("tmpfs", "/run", "mode=0755");
	mount_one("tmpfs", "/tmp", "mode=1777");
	mount_one("debugfs", "/sys/kernel/debug", NULL);
	mount_one("tracefs", "/sys/kernel/tracing", NULL);
	symlink("/proc/self/fd", "/dev/fd");
	symlink("/proc/self/fd/0", "/dev/stdin");
	symlink("/proc/self/fd/1", "/dev/stdout");
	symlink("/proc/self/fd/2", "/dev/stderr");
}

static int attribute_is(const char *device, const char *name, const char *wanted)
{
	char path[512], text[16] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", device, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return !strncmp(text, wanted, 6);
}

/*
 * True if there is a second line; it carries all records then. The magic number parts them from what
 * the firmware has printed there.
 */
static int serial_open(void)
{
	uint64_t magic = MAGIC;
	struct termios raw;

	serial = open(SERIAL, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (serial < 0)
		return 0;
	if (tcgetattr(serial, &raw)) {
		close(serial);
		serial = -1;
		return 0;
	}
	cfmakeraw(&raw);
	raw.c_cflag |= CLOCAL;
	cfsetspeed(&raw, B115200);
	tcsetattr(serial, TCSANOW, &raw);
	serial_put((char *)&magic, sizeof(magic));
	return 1;
}

static void channel_open(void)
{
	DIR *dir = opendir("/sys/bus/pci/devices");
	struct dirent *entry;
	char path[512];
	struct stat st;
	void *mem;
	int fd, err;

	while (dir && (entry = readdir(dir))) {
		if (!attribute_is(entry->d_name, "vendor", IVSHMEM_ID) ||
		    !attribute_is(entry->d_name, "device", IVSHMEM_ID + 7))
			continue;
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/enable", entry->d_name);
		fd = open(path, O_WRONLY);
		if (fd < 0 || write(fd, "1", 1) != 1)
			setup_failed("%s: %s", path, strerror(errno));
		close(fd);
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/resource2", entry->d_name);
		fd = open(path, O_RDWR);
		if (fd < 0 || fstat(fd, &st))
			setup_failed("%s: %s", path, strerror(errno));
		mem = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		err = errno;
		if (mem == MAP_FAILED && err == EPERM && serial_open())
			break;
		if (mem == MAP_FAILED)
			setup_failed("%s: %s", path, strerror(err));
		close(fd);
		ring = (char *)mem + RING_OFFSET;
		ring_bytes = st.st_size - RING_OFFSET;
		channel = mem;
		if (channel->magic != MAGIC)
			setup_failed("the channel's magic number is wrong");
		break;
	}
	if (dir)
		closedir(dir);
	if (!channel && serial < 0 && !serial_open())
		setup_failed("no channel to the host (PCI device ivshmem or second serial line) found");
}

static uint64_t tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* One of the eight digits' numbers in the header of a newc archive's entry. */
static uint32_t hex(const char *header, int field)
{
	char digits[9] = "";

	memcpy(digits, header + 6 + 8 * field, 8);
	return strtoul(digits, NULL, 16);
}

/* A newc archive, as initrd.py writes them, over what is there: what the kernel does with an initrd. */
static void unpack(const char *at, const char *end)
{
	enum { MODE = 1, BYTES = 6, NAME_BYTES = 11, HEADER = 110 };
	static char target[4096];

	if (chdir("/"))
		setup_failed("/: %s", strerror(errno));
	while (end - at >= HEADER && !memcmp(at, "070701", 6)) {
		uint32_t mode = hex(at, MODE), bytes = hex(at, BYTES);
		const char *name = at + HEADER;
		const char *data = at + ((HEADER + hex(at, NAME_BYTES) + 3) & ~3u);
		int fd = -1, bad;

		if (!strcmp(name, "TRAILER!!!"))
			return;
		if (S_ISDIR(mode)) {
			bad = mkdir(name, mode & 07777) && errno != EEXIST;
		} else if (S_ISLNK(mode)) {
			snprintf(target, sizeof(target), "%.*s", (int)bytes, data);
			bad = symlink(target, name) && errno != EEXIST;
		} else {
			unlink(name);
			fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 07777);
			bad = fd < 0 || write(fd, data, bytes) != (ssize_t)bytes;
		}
		if (bad)
			setup_failed("unpacking %s: %s", name, strerror(errno));
		if (fd >= 0)
			close(fd);
		at = data + ((bytes + 3) & ~3u);
	}
	setup_failed("the job's archive has no end");
}

/*
 * Stops the machine and takes the job that the host has brought meanwhile; the state in between is
 * what kept.py keeps. Without a job it was but to see whether the clock stood as well.
 */
static void take_job(void)
{
	uint64_t stopped;
	char *archive;

	if (!channel || iopl(3))
		setup_failed("there is no job, and no way to wait for one");
	/* The first time takes longer: the page may have to be found. */
	channel->stood = tsc() - tsc();
	stopped = tsc();
	__asm__ volatile("outb %b0, %w1" : : "a"(1), "Nd"(PANIC_PORT) : "memory");
	channel->stood = tsc() - stopped;
	/* In virtual time it is there now; in the host's, some instructions may run before the stop. */
	while (!__atomic_load_n(&channel->job_bytes, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
	if (channel->job_bytes == NO_JOB)
		finish();
	iopl(0);
	/* What it unpacks may tell of trouble by the ring. */
	archive = malloc(channel->job_bytes);
	memcpy(archive, ring, channel->job_bytes);
	unpack(archive, archive + channel->job_bytes);
	free(archive);
	if (chdir("/root"))
		setup_failed("/root: %s", strerror(errno));
}

static void loopback_up(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd >= 0) {
		ioctl(fd, SIOCSIFFLAGS, &request);
		close(fd);
	}
}

static void load_module(char *spec)
{
	char *params = strchr(spec, ' ');
	int fd;

	if (params)
		*params++ = 0;
	else
		params = "";
	fd = open(spec, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		setup_failed("module %s: %s", spec, strerror(errno));
	if (syscall(SYS_finit_module, fd, params, 0))
		setup_failed("module %s%s%s is refused: %s", spec, *params ? " " : "", params,
			     strerror(errno));
	close(fd);
}

/*
 * Keeps every CPU from halting: under "sleep=off" virtual time jumps when a CPU halts. SCHED_IDLE
 * and nice 19, so that whatever else there is to do comes first.
 */
static void busy_start(void)
{
	int cpu, cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (cpu = 0; cpu < cpus; cpu++) {
		struct sched_param param = { 0 };
		cpu_set_t set;

		if (fork())
			continue;
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof(set), &set);
		setpriority(PRIO_PROCESS, 0, 19);
		sched_setscheduler(0, SCHED_IDLE, &param);
		for (;;)
			__asm__ volatile(".fill 400, 1, 0x90"); /* long blocks: cheap to emulate */
	}
}

static uint32_t get_number;
static const char *get_root;

static int send_file(const char *path, const struct stat *st, int what, struct FTW *ftw)
{
	static char data[65536];
	uint32_t header[2] = { get_number, st->st_mode & 0777 };
	const char *below = path + strlen(get_root);
	char text[600];
	ssize_t n;
	int fd;

	(void)ftw;
	if (what != FTW_F && what != FTW_SL)
		return 0;
	fd = open(path, O_RDONLY | O_NONBLOCK);
	if (fd < 0) {
		n = snprintf(text, sizeof(text), "%s: %s", path, strerror(errno));
		send_parts(REC_FILE_FAILED, &get_number, sizeof(get_number), text, n);
		return 0;
	}
	send_parts(REC_FILE, header, sizeof(header), below, strlen(below));
	while ((n = read(fd, data, sizeof(data))) > 0)
		send_record(REC_DATA, data, n);
	if (n < 0) {
		n = snprintf(text, sizeof(text), "%s: %s", path, strerror(errno));
		send_parts(REC_FILE_FAILED, &get_number, sizeof(get_number), text, n);
	}
	close(fd);
	return 0;
}

static void send_wanted(uint32_t number, const char *path)
{
	char text[600];
	int n;

	get_number = number;
	get_root = path;
	if (nftw(path, send_file, 16, 0)) {
		n = snprintf(text, sizeof(text), "%s: %s", path, strerror(errno));
		send_parts(REC_FILE_FAILED, &number, sizeof(number), text, n);
	}
}

static int run_command(const char *command)
{
	static char data[65536];
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	int out[2], err[2], status = 0, child, i;
	sigset_t blocked, none;
	ssize_t n;

	sigemptyset(&none);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, NULL);

	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		setup_failed("pipe: %s", strerror(errno));
	fds[0].fd = out[0];
	fds[1].fd = err[0];
	child = fork();
	if (child < 0)
		setup_failed("fork: %s", strerror(errno));
	if (!child) {
		int null = open("/dev/null", O_RDONLY);

		sigprocmask(SIG_SETMASK, &none, NULL);
		setsid();
		dup2(null, 0);
		dup2(out[1], 1);
		dup2(err[1], 2);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	close(out[1]);
	close(err[1]);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	for (;;) {
		int pid, wait_status, ended = 0;

		/* Children first, pipes after: what the command wrote last is not lost. */
		while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0) {
			if (pid == child) {
				status = wait_status;
				ended = 1;
			}
		}
		for (i = 0; i < 2; i++) {
			while (fds[i].fd >= 0 && (n = read(fds[i].fd, data, sizeof(data))) > 0)
				send_record(i ? REC_STDERR : REC_STDOUT, data, n);
			if (fds[i].fd >= 0 && n == 0)
				fds[i].fd = -1;
		}
		if (ended)
			break;
		ppoll(fds, 2, NULL, &none);	/* SIGCHLD interrupts it, and is let in only here */
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void on_sigchld(int signal)
{
	(void)signal;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_sigchld };
	char *job, *line, *next, *command;
	uint32_t number = 0;
	int busy = 0;
	int32_t status;

	next_schedule();
	mount_all();
	channel_open();
	loopback_up();
	sigaction(SIGCHLD, &action, NULL);
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/root", 1);
	setenv("TERM", "dumb", 1);
	setenv("LANG", "C.UTF-8", 1);
	if (chdir("/root"))
		setup_failed("/root: %s", strerror(errno));
	if (access("/bench/job", F_OK))
		take_job();
	job = read_file("/bench/job", NULL);
	command = read_file("/bench/command", NULL);
	for (line = job; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (!strncmp(line, "load ", 5))
			load_module(line + 5);
		else if (!strcmp(line, "busy"))
			busy = 1;
	}
	if (busy)
		busy_start();
	send_record(REC_READY, NULL, 0);
	status = run_command(command);
	job = read_file("/bench/job", NULL);
	for (line = job; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (!strncmp(line, "get ", 4))
			send_wanted(number++, line + 4);
	}
	send_kmsg();
	send_record(REC_STATUS, &status, sizeof(status));
	finish();
	return 0;
}
