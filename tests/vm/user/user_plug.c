// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that comes while a thread is in RT mode: user_plug waits for it, puts it on line, and lets
 * threads of another process, whose tasks the kernel has there, preempt the first one in ring 3, which
 * has its page tables still. Prints where the memory is, and the jobs.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tactus/rt.h>

#define BLOCKS "/sys/devices/system/memory/memory*"
#define YOUNG 20
#define JOBS 20

static volatile int over, old_jobs, young_jobs, strayed;

static void must(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", what, rt_why());
	exit(1);
}

/* Most of the time in ring 3. */
static void *is_old(void *unused)
{
	struct rt_attr attr = {
		.period_ns = 1000000, .budget_ns = 800000, .priority = 5, .cpu = 0,
	};
	struct rt_job job;

	must(!rt_enter(&attr), "old");
	while (!over) {
		strayed += rt_wait(&job) != 0;
		old_jobs++;
		while (rt_now() < job.release_ns + 600000)
			;
	}
	rt_leave();
	return unused;
}

static void *is_young(void *unused)
{
	struct rt_attr attr = {
		.period_ns = 370000, .budget_ns = 30000, .priority = 6, .cpu = 0,
	};

	must(!rt_enter(&attr), "young");
	for (int k = 0; k < JOBS; k++) {
		rt_wait(NULL);
		young_jobs++;
	}
	rt_leave();
	return unused;
}

/* What there is of @pattern; the last one into @last. */
static size_t count(const char *pattern, char *last, size_t bytes)
{
	glob_t found = {};
	size_t sum;

	glob(pattern, 0, NULL, &found);
	sum = found.gl_pathc;
	for (size_t i = 0; i < sum; i++) {
		char path[100], state[20] = "";
		int fd;

		snprintf(path, sizeof(path), "%s/state", found.gl_pathv[i]);
		fd = open(path, O_RDONLY);
		if (read(fd, state, sizeof(state) - 1) > 0 && !strcmp(state, "offline\n"))
			snprintf(last, bytes, "%s", path);
		close(fd);
	}
	globfree(&found);
	return sum;
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	must(write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
	close(fd);
}

static int be_young(int go)
{
	pthread_t young[YOUNG];
	char word;

	must(read(go, &word, 1) == 1, "go");
	must(!rt_init(), "young's init");
	for (int i = 0; i < YOUNG; i++)
		pthread_create(&young[i], NULL, is_young, NULL);
	for (int i = 0; i < YOUNG; i++)
		pthread_join(young[i], NULL);
	printf("young %d\n", young_jobs);
	return 0;
}

int main(void)
{
	char state[100] = "";
	int go[2], status;
	size_t blocks;
	pthread_t old;

	must(!pipe(go), "pipe");
	if (!fork())
		return be_young(go[0]);
	must(!rt_init(), "init");
	blocks = count(BLOCKS, state, sizeof(state));
	pthread_create(&old, NULL, is_old, NULL);
	while (old_jobs < 20)
		usleep(1000);
	put("/dev/kmsg", "user_plug: now\n");
	while (count(BLOCKS, state, sizeof(state)) == blocks || !state[0])
		usleep(10000);
	printf("%s\n", state);
	fflush(stdout);
	put(state, "online_kernel");
	must(write(go[1], "g", 1) == 1, "go");
	wait(&status);
	over = 1;
	pthread_join(old, NULL);
	printf("strayed %d\n", strayed);
	return status != 0;
}
