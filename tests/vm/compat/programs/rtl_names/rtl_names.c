// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names that RTLinux's own examples use: each part says a line, and the test compares them. The
 * headers are those that such programs include, and none besides.
 */
#include <rtl.h>
#include <rtl_sched.h>
#include <rtl_tracer.h>
#include <time.h>
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/utsname.h>
#include <linux/malloc.h>
#include <linux/mc146818rtc.h>
#include <linux/wrapper.h>

MODULE_LICENSE("GPL");

#define SAY(fmt, ...) rtl_printf("names: " fmt "\n", ##__VA_ARGS__)
#define RTC (RTL_SIGIRQMIN + 8)

static pthread_t marked, waker;
static int interrupts, steps;

/* Programs have this slip, which compilers forgave. */
static void slip(void)
{
	return 1;
}

/* The layer's clock was set when it was loaded: it may have drifted from Linux's since. */
static int is_now(time_t seconds)
{
	const s64 drift = 10 * NSEC_PER_MSEC;
	s64 now = ktime_get_real_ns();

	return seconds * NSEC_PER_SEC <= now + drift && (seconds + 1) * NSEC_PER_SEC > now - drift;
}

static void on_interrupt(int sig)
{
	if (sig == RTC)
		interrupts++;
	CMOS_READ(RTC_REG_C);
}

static void tick(int on)
{
	unsigned char b = CMOS_READ(RTC_REG_B);

	CMOS_WRITE(on ? b | RTC_PIE : b & ~RTC_PIE, RTC_REG_B);
	CMOS_READ(RTC_REG_C);
}

static void *mark(void *unused)
{
	RTL_MARK_SUSPENDED(pthread_self());
	steps = 1;
	rtl_schedule();
	SAY("woken up at step %d", steps);
	RTL_MARK_SUSPENDED(pthread_self());
	RTL_MARK_READY(pthread_self());
	rtl_schedule();
	SAY("not suspended");
	/* A wake-up between the mark and the call counts. */
	RTL_MARK_SUSPENDED(pthread_self());
	pthread_wakeup_np(pthread_self());
	rtl_schedule();
	SAY("woken up before");
	return NULL;
}

static void *wake(void *unused)
{
	usleep(1000);
	SAY("marked at step %d", steps);
	steps = 2;
	pthread_wakeup_np(marked);
	rtl_trace2(RTL_TRACE_USER, 1);
	SAY("open in RT %d", open("/dev/rtf9", O_CREAT));
	return NULL;
}

int init_module(void)
{
	struct sigaction act = { .sa_handler = on_interrupt, .sa_flags = SA_FOCUS, .sa_focus = 1 };
	struct sigaction old = { .sa_handler = SIG_IGN };
	pthread_attr_t attr;
	struct utsname name;
	unsigned int low = 0;
	int fd, flags, err;

	slip();
	rtl_no_interrupts(flags);
	SAY("line %d", sigaction(RTC, &act, &old));
	tick(1);
	rtl_restore_interrupts(flags);
	SAY("was default %d", old.sa_handler == SIG_DFL);
	err = sigaction(RTC + 8, &act, NULL);
	SAY("bad line %d %d", err, errno);
	SAY("taken %d", rtl_request_irq(8, NULL));
	fd = open("/dev/rtf7", O_NONBLOCK | O_CREAT);
	SAY("open %d %d", fd, open("/dev/rtf8", O_NONBLOCK));
	SAY("size %d %d %d", ioctl(fd, RTF_SETSIZE, 4000), ioctl(fd, 99, 1), ioctl(0, RTF_SETSIZE, 1));
	SAY("room %d", RTF_FREE(7));
	SAY("CPUs %d %d %d", rtl_cpu_exists(0), rtl_cpu_exists(-1), rtl_cpu_exists(NR_CPUS));
	SAY("affinity %d channel %d", rtl_irq_set_affinity(8, NULL, NULL), I8253_channel2_free());
	SAY("uname %d %s", uname(&name), name.sysname);
	SAY("time %d", is_now(time(NULL)));
	rdtscl(low);
	SAY("rdtscl %d", low != 0);
	pthread_attr_init(&attr);
	attr.stack_addr = NULL;
	pthread_create(&marked, &attr, mark, NULL);
	SAY("magic %d", marked->magic == RTL_THREAD_MAGIC);
	return pthread_create(&waker, NULL, wake, NULL);
}

void cleanup_module(void)
{
	struct sigaction none = { .sa_handler = SIG_DFL };

	tick(0);
	SAY("interrupts %d", interrupts > 0);
	SAY("given back %d", sigaction(RTC, &none, NULL));
	pthread_delete_np(marked);
	pthread_delete_np(waker);
}
