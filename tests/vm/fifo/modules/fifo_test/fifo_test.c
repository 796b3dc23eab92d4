// SPDX-License-Identifier: GPL-2.0-only
/*
 * The RT side of the FIFO tests: calls rtfifo's functions as a test program asks,
 * in any of the three contexts.
 *
 * A command is written to /proc/fifo_test and its result read from the same open
 * file: a number, and after a get, a blank and the bytes.
 *
 *	CONTEXT create FIFO SIZE	CONTEXT is linux, irq (an RT timer's function)
 *	CONTEXT destroy FIFO		or task (an RT task)
 *	CONTEXT resize FIFO SIZE
 *	CONTEXT handler FIFO KIND	none count fail get slow change: tries to change the FIFO it is of
 *	CONTEXT record FIFO BYTES
 *	CONTEXT named SIZE NAME		rtf_create_named
 *	CONTEXT find 0 NAME		rtf_find_named
 *	CONTEXT filter FIFO KIND	0 none, 1 pass, 2 refuse what begins with an x, 3 all but the
 *					first part of a write, 4 try to change the FIFO
 *	CONTEXT rthandler FIFO KIND	0 none, 1 count, 2 echo: what can be got is put; 3 count, then
 *					read from address 8; 10 + N: echo
 *					for what fits, N bytes at a time
 *	CONTEXT put FIFO BYTES		the rest of the command, to its end
 *	CONTEXT get FIFO COUNT
 *	CONTEXT rtput / rtget		the same with rt_fifo_put, rt_fifo_get
 *	CONTEXT over FIFO BYTES		the same with rtf_put_overwrite
 *	CONTEXT peek FIFO COUNT
 *	CONTEXT flush / used / free / isempty FIFO
 *	CONTEXT fill FIFO COUNT		put of COUNT bytes 'x'
 *	CONTEXT null FIFO		put from and get to a null pointer: put's result
 *	CONTEXT watch FIFO KIND		0 none, 1 count, 2 refuse the opening, 3 try to change the FIFO
 *	calls				handler calls so far; resets the count
 *	inside				what get counted; that slow is over; what the changes that were
 *					tried are, see changes_refused()
 *	filtered			bytes that the filter saw and let pass; resets the count
 *	watched				100 * openings + closings that the watch saw; resets
 *					the count
 *	rtdata / rtspace		calls of the RT handler so far; resets the count
 *	rtwrong				those that were not made out-of-band
 *	out FIFO CHUNK PERIOD_US TOTAL	an RT timer puts TOTAL bytes of a known stream
 *	overstream FIFO CHUNK PERIOD_US TOTAL	the same with rtf_put_overwrite
 *	in FIFO CHUNK PERIOD_US TOTAL	an RT timer gets and checks such a stream
 *	streamed			bytes so far; -1 if one was wrong
 *	long FIFO BYTES			one put of that many bytes, in an RT timer's function, in 30 ms
 *	inlong				is it going on?
 *	stop				end the stream
 *
 * The stream's byte k is k ^ k >> 8 ^ k >> 16. Its timer runs on the CPU that the
 * command is given on.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <rt/context.h>
#include <rt/fifo.h>
#include <rt/task.h>
#include <rt/time.h>
#include <rt/timer.h>

#define MAX_BYTES 65536

enum kind { NONE, COUNT, FAIL, GET, SLOW, CHANGE, KINDS };

static const char *const kind_names[KINDS] = {
	"none", "count", "fail", "get", "slow", "change"
};

/* One command at a time; what follows is its. */
static DEFINE_MUTEX(command_lock);

static struct {
	char what[16];
	unsigned int fifo;
	int arg;
	char name[64];
	enum kind kind;
	char *bytes;
	int ret;
	int got;	/* bytes to show */
	bool done;
} cmd;

static enum kind handler_kind;
static atomic_t handler_calls;
static int handler_inside;

static int filter_kind, rt_handler_kind;
static unsigned int filtered;
static atomic_t rt_data, rt_space, rt_wrong;

/* From inside of one of the FIFO's functions: a bit for each change that is refused with EBUSY. */
static int changes_refused(unsigned int fifo, int (*filter)(unsigned int, const struct rtf_written *))
{
	int results[] = {
		rtf_create_handler(fifo, NULL), rtf_watch_writers(fifo, NULL),
		rtf_create_rt_handler(fifo, NULL), rtf_destroy(fifo),
		rtf_set_filter(fifo, filter), rtf_resize(fifo, 100), rtf_set_record(fifo, 0),
	};
	int i, refused = 0;

	for (i = 0; i < ARRAY_SIZE(results); i++)
		refused |= (results[i] == -EBUSY) << i;
	return refused;
}

static int filter(unsigned int fifo, const struct rtf_written *w)
{
	if (filter_kind == 4)
		handler_inside = changes_refused(fifo, NULL);
	if (filter_kind == 2 && *(const char *)w->bytes[0] == 'x')
		return -EBADMSG;
	if (filter_kind == 3 && w->done)
		return -EBADMSG;
	if (w->done + w->counts[0] + w->counts[1] > w->total || !w->counts[0])
		return -EILSEQ;
	filtered += w->counts[0] + w->counts[1];
	return 1;
}

static int watch_kind;
static atomic_t watched;

static int watch(unsigned int fifo, unsigned int event)
{
	if (watch_kind == 2 && event == RTF_OPENED)
		return -EBADMSG;
	if (watch_kind == 3)
		handler_inside = changes_refused(fifo, filter);
	atomic_add(event == RTF_OPENED ? 100 : 1, &watched);
	return 1;
}

static void echo_what_fits(unsigned int fifo, int unit)
{
	static char bytes[512];		/* interrupts are off, and one CPU uses it */
	int n;

	for (;;) {
		n = min3(rtf_used(fifo), rtf_free(fifo), (int)sizeof(bytes));
		n -= n % unit;
		if (n <= 0 || rtf_get(fifo, bytes, n) != n)
			return;
		if (rtf_put(fifo, bytes, n) != n)
			atomic_inc(&rt_wrong);
	}
}

static void rt_handler(unsigned int fifo, unsigned int events)
{
	char byte;

	if (rt_context() != RT_CONTEXT_IRQ)
		atomic_inc(&rt_wrong);
	atomic_inc(events == RTF_DATA ? &rt_data : &rt_space);
	if (rt_handler_kind == 3)
		(void)READ_ONCE(*(int *)8);
	while (rt_handler_kind == 2 && rtf_get(fifo, &byte, 1) == 1)
		rtf_put(fifo, &byte, 1);
	if (rt_handler_kind > 10)
		echo_what_fits(fifo, rt_handler_kind - 10);
}

static int handler(unsigned int fifo)
{
	static char sink[256];

	atomic_inc(&handler_calls);
	switch (handler_kind) {
	case FAIL:
		return -ENOTUNIQ;
	case GET:
		handler_inside = 0;
		while (rtf_get(fifo, sink, 1) == 1)
			handler_inside++;
		return 0;
	case SLOW:
		msleep(300);
		handler_inside = 1;
		return 0;
	case CHANGE:
		handler_inside = changes_refused(fifo, filter);
		return 0;
	default:
		return 0;
	}
}

/* In the command's context. */
static void execute(void)
{
	cmd.got = 0;
	cmd.ret = -ENOSYS;
	if (!strcmp(cmd.what, "create")) {
		cmd.ret = rtf_create(cmd.fifo, cmd.arg);
	} else if (!strcmp(cmd.what, "destroy")) {
		cmd.ret = rtf_destroy(cmd.fifo);
	} else if (!strcmp(cmd.what, "resize")) {
		cmd.ret = rtf_resize(cmd.fifo, cmd.arg);
	} else if (!strcmp(cmd.what, "record")) {
		cmd.ret = rtf_set_record(cmd.fifo, cmd.arg);
	} else if (!strcmp(cmd.what, "named")) {
		cmd.ret = rtf_create_named(THIS_MODULE, cmd.name, cmd.fifo);
	} else if (!strcmp(cmd.what, "find")) {
		cmd.ret = rtf_find_named(cmd.name);
	} else if (!strcmp(cmd.what, "nameless")) {
		cmd.ret = rtf_find_named(NULL);
		if (rtf_create_named(THIS_MODULE, NULL, 100) != cmd.ret)
			cmd.ret = -EILSEQ;
	} else if (!strcmp(cmd.what, "filter")) {
		filter_kind = cmd.arg;
		cmd.ret = rtf_set_filter(cmd.fifo, cmd.arg ? filter : NULL);
	} else if (!strcmp(cmd.what, "watch")) {
		watch_kind = cmd.arg;
		cmd.ret = rtf_watch_writers(cmd.fifo, cmd.arg ? watch : NULL);
	} else if (!strcmp(cmd.what, "rthandler")) {
		rt_handler_kind = cmd.arg;
		cmd.ret = rtf_create_rt_handler(cmd.fifo, cmd.arg ? rt_handler : NULL);
	} else if (!strcmp(cmd.what, "handler")) {
		cmd.ret = rtf_create_handler(cmd.fifo, cmd.kind == NONE ? NULL : handler);
	} else if (!strcmp(cmd.what, "put") || !strcmp(cmd.what, "fill")) {
		cmd.ret = rtf_put(cmd.fifo, cmd.bytes, cmd.arg);
	} else if (!strcmp(cmd.what, "over")) {
		cmd.ret = rtf_put_overwrite(cmd.fifo, cmd.bytes, cmd.arg);
	} else if (!strcmp(cmd.what, "peek")) {
		cmd.ret = rtf_peek(cmd.fifo, cmd.bytes, cmd.arg);
		cmd.got = cmd.ret;
	} else if (!strcmp(cmd.what, "flush")) {
		cmd.ret = rtf_flush(cmd.fifo);
	} else if (!strcmp(cmd.what, "used")) {
		cmd.ret = rtf_used(cmd.fifo);
	} else if (!strcmp(cmd.what, "free")) {
		cmd.ret = rtf_free(cmd.fifo);
	} else if (!strcmp(cmd.what, "isempty")) {
		cmd.ret = rtf_isempty(cmd.fifo);
	} else if (!strcmp(cmd.what, "rtput")) {
		cmd.ret = rt_fifo_put(cmd.fifo, cmd.bytes, cmd.arg);
	} else if (!strcmp(cmd.what, "get")) {
		cmd.ret = rtf_get(cmd.fifo, cmd.bytes, cmd.arg);
		cmd.got = cmd.ret;
	} else if (!strcmp(cmd.what, "rtget")) {
		cmd.ret = rt_fifo_get(cmd.fifo, cmd.bytes, cmd.arg);
		cmd.got = cmd.ret;
	} else if (!strcmp(cmd.what, "null")) {
		cmd.ret = rtf_put(cmd.fifo, NULL, 1);
		if (rtf_get(cmd.fifo, NULL, 1) != cmd.ret)
			cmd.ret = -EILSEQ;
	}
	smp_store_release(&cmd.done, true);
}

static void timer_fn(struct rt_timer *timer)
{
	execute();
}

static struct rt_timer command_timer = { .fn = timer_fn };
static RT_TASK command_task;

static void task_fn(int unused)
{
	for (;;) {
		execute();
		rt_task_suspend(&command_task);
	}
}

static int execute_in(const char *context)
{
	int ret, tries;

	cmd.done = false;
	if (!strcmp(context, "linux")) {
		execute();
		return 0;
	}
	if (!strcmp(context, "irq"))
		ret = rt_timer_start(&command_timer, rt_get_time());
	else if (!strcmp(context, "task"))
		ret = rt_task_wakeup(&command_task);
	else
		return -EINVAL;
	for (tries = 0; !ret && !smp_load_acquire(&cmd.done); tries++) {
		if (tries == 5000)
			return -ETIMEDOUT;
		usleep_range(100, 1000);
	}
	return ret;
}

/* The stream, all in the RT timer's function while it is active. */
static struct {
	struct rt_timer timer;
	unsigned int fifo;
	u32 chunk, total, at, wrong;
	RTIME period;
	bool out, over;
	char bytes[4096];
} stream;

static u8 stream_byte(u32 k)
{
	return (u8)(k ^ k >> 8 ^ k >> 16);
}

static void stream_fn(struct rt_timer *timer)
{
	u32 at = stream.at, n = min(stream.chunk, stream.total - at), i;

	if (stream.out) {
		for (i = 0; i < n; i++)
			stream.bytes[i] = stream_byte(at + i);
		if ((stream.over ? rtf_put_overwrite(stream.fifo, stream.bytes, n) :
				   rtf_put(stream.fifo, stream.bytes, n)) != n)
			n = 0;
	} else if (rtf_get(stream.fifo, stream.bytes, n) == n) {
		for (i = 0; i < n; i++)
			stream.wrong += (u8)stream.bytes[i] != stream_byte(at + i);
	} else {
		n = 0;
	}
	WRITE_ONCE(stream.at, at + n);
	if (stream.at < stream.total)
		rt_timer_start(timer, timer->expires + stream.period);
}

static int stream_start(const char *line)
{
	char what[16];
	int period_us;

	rt_timer_cancel(&stream.timer);
	if (sscanf(line, "%15s %u %u %d %u", what, &stream.fifo, &stream.chunk, &period_us,
		   &stream.total) != 5 || !stream.chunk || stream.chunk > sizeof(stream.bytes))
		return -EINVAL;
	stream.out = what[0] == 'o';
	stream.over = !strcmp(what, "overstream");
	stream.period = period_us * 1000LL;
	stream.at = 0;
	stream.wrong = 0;
	stream.timer.fn = stream_fn;
	return rt_timer_start(&stream.timer, rt_get_time() + stream.period);
}

/* One put that takes long. */
static struct {
	struct rt_timer timer;
	unsigned int fifo;
	int bytes;
	char *from;
	bool inside;
} longest;

static void long_fn(struct rt_timer *timer)
{
	WRITE_ONCE(longest.inside, true);
	rtf_put(longest.fifo, longest.from, longest.bytes);
	WRITE_ONCE(longest.inside, false);
}

static int long_start(const char *line)
{
	if (sscanf(line, "long %u %d", &longest.fifo, &longest.bytes) != 2 || longest.bytes < 1)
		return -EINVAL;
	rt_timer_cancel(&longest.timer);
	vfree(longest.from);
	longest.from = vzalloc(longest.bytes);
	if (!longest.from)
		return -ENOMEM;
	longest.timer.fn = long_fn;
	return rt_timer_start(&longest.timer, rt_get_time() + 30000000);
}

/* "CONTEXT WHAT FIFO REST": fill cmd and have it executed. */
static int execute_line(char *line, size_t len)
{
	char context[8], rest[64] = "";
	int at = 0;

	if (sscanf(line, "%7s %15s %u%n", context, cmd.what, &cmd.fifo, &at) != 3)
		return -EINVAL;
	if (line[at] == ' ')
		at++;
	strscpy(rest, line + at, sizeof(rest));
	cmd.arg = 0;
	if (!strcmp(cmd.what, "put") || !strcmp(cmd.what, "rtput") || !strcmp(cmd.what, "over")) {
		cmd.arg = len - at;
		memcpy(cmd.bytes, line + at, cmd.arg);
	} else if (!strcmp(cmd.what, "named") || !strcmp(cmd.what, "find")) {
		strscpy(cmd.name, rest, sizeof(cmd.name));
	} else if (!strcmp(cmd.what, "handler")) {
		int kind = match_string(kind_names, KINDS, rest);

		if (kind < 0)
			return kind;
		cmd.kind = handler_kind = kind;
	} else if (rest[0]) {
		if (kstrtoint(rest, 0, &cmd.arg))
			return -EINVAL;
		if (!strcmp(cmd.what, "fill"))
			memset(cmd.bytes, 'x', MAX_BYTES);
	}
	return execute_in(context);
}

struct reply {
	size_t len;
	char text[16 + MAX_BYTES];
};

static ssize_t control_write(struct file *file, const char __user *buf, size_t len, loff_t *off)
{
	struct reply *reply = file->private_data;
	char *line;
	int ret = 0;

	if (len > MAX_BYTES)
		return -E2BIG;
	line = memdup_user_nul(buf, len);
	if (IS_ERR(line))
		return PTR_ERR(line);

	mutex_lock(&command_lock);
	cmd.got = 0;
	if (!strcmp(line, "calls")) {
		cmd.ret = atomic_xchg(&handler_calls, 0);
	} else if (!strcmp(line, "inside")) {
		cmd.ret = handler_inside;
	} else if (!strcmp(line, "filtered")) {
		cmd.ret = xchg(&filtered, 0);
	} else if (!strcmp(line, "watched")) {
		cmd.ret = atomic_xchg(&watched, 0);
	} else if (!strcmp(line, "rtdata")) {
		cmd.ret = atomic_xchg(&rt_data, 0);
	} else if (!strcmp(line, "rtspace")) {
		cmd.ret = atomic_xchg(&rt_space, 0);
	} else if (!strcmp(line, "rtwrong")) {
		cmd.ret = atomic_xchg(&rt_wrong, 0);
	} else if (!strncmp(line, "out ", 4) || !strncmp(line, "in ", 3) ||
		   !strncmp(line, "overstream ", 11)) {
		cmd.ret = stream_start(line);
	} else if (!strncmp(line, "long ", 5)) {
		cmd.ret = long_start(line);
	} else if (!strcmp(line, "inlong")) {
		cmd.ret = READ_ONCE(longest.inside);
	} else if (!strcmp(line, "streamed")) {
		cmd.ret = stream.wrong ? -1 : READ_ONCE(stream.at);
	} else if (!strcmp(line, "stop")) {
		rt_timer_cancel(&stream.timer);
		cmd.ret = 0;
	} else {
		ret = execute_line(line, len);
	}
	if (!ret) {
		reply->len = sprintf(reply->text, "%d ", cmd.ret);
		if (cmd.got > 0) {
			memcpy(reply->text + reply->len, cmd.bytes, cmd.got);
			reply->len += cmd.got;
		}
	}
	mutex_unlock(&command_lock);
	kfree(line);
	return ret ?: len;
}

static ssize_t control_read(struct file *file, char __user *buf, size_t len, loff_t *off)
{
	struct reply *reply = file->private_data;
	loff_t from = 0;

	/* Always from the beginning: the next read is of the next command's result. */
	return simple_read_from_buffer(buf, len, &from, reply->text, reply->len);
}

static int control_open(struct inode *inode, struct file *file)
{
	file->private_data = kvzalloc(sizeof(struct reply), GFP_KERNEL);
	return file->private_data ? 0 : -ENOMEM;
}

static int control_release(struct inode *inode, struct file *file)
{
	kvfree(file->private_data);
	return 0;
}

static const struct proc_ops control_ops = {
	.proc_open = control_open,
	.proc_release = control_release,
	.proc_read = control_read,
	.proc_write = control_write,
};

static int __init fifo_test_init(void)
{
	int ret;

	cmd.bytes = kvmalloc(MAX_BYTES, GFP_KERNEL);
	if (!cmd.bytes)
		return -ENOMEM;
	ret = rt_task_init(&command_task, task_fn, 0, 8192, 1);
	if (ret)
		goto err_bytes;
	ret = -ENOMEM;
	if (!proc_create("fifo_test", 0600, NULL, &control_ops))
		goto err_task;
	return 0;

err_task:
	rt_task_delete(&command_task);
err_bytes:
	kvfree(cmd.bytes);
	return ret;
}

/* Leaves FIFOs behind, if it has any: rtfifo has to cope. */
static void __exit fifo_test_exit(void)
{
	remove_proc_entry("fifo_test", NULL);
	rt_timer_cancel(&stream.timer);
	rt_timer_cancel(&command_timer);
	rt_timer_cancel(&longest.timer);
	vfree(longest.from);
	rt_task_delete(&command_task);
	kvfree(cmd.bytes);
}

module_init(fifo_test_init);
module_exit(fifo_test_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tactus: RT side of the FIFO tests");
