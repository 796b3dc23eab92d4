// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the manner of RTLinux 3: shared memory, soft interrupts, FIFOs read as files by RT code, a pair
 * of FIFOs for processes, a handler in RT code. Each part says a line; the test compares them.
 */
#include <linux/module.h>
#include <rtl.h>
#include <rtl_fifo.h>
#include <rtl_sched.h>
#include <rtl_posixio.h>
#include <rtl_mutex.h>
#include <mbuff.h>
#include <pthread.h>
#include <unistd.h>
#include <fcntl.h>

MODULE_LICENSE("GPL");

struct shared { int from_kernel, from_process; char text[32]; };

static pthread_t thread;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct shared *shared;
static int soft, asked, handled;

static void on_soft(int irq, void *data, struct pt_regs *regs)
{
	asked++;
}

static int on_rt(unsigned int fifo)
{
	handled++;
	return 0;
}

static void *run(void *unused)
{
	char text[16] = "";
	int fd = open("/dev/rtf1", O_NONBLOCK), n;

	rtl_printf("more: bad names %d %d\n", open("/dev/rtf99999", 0), open("/dev/null", 0));
	n = pthread_mutex_trylock(&mutex);
	rtl_printf("more: trylock %d %d\n", n, pthread_mutex_trylock(&mutex) == EBUSY);
	pthread_mutex_unlock(&mutex);
	n = read(fd, text, sizeof(text));
	rtl_printf("more: nothing to read %d\n", n);
	rtf_put(3, "rt", 2);
	rtl_global_pend_irq(soft);
	while (!(n = read(fd, text, sizeof(text) - 1)))
		usleep(1000);
	rtl_printf("more: read %d %s", n, text);
	write(fd, "answer\n", 7);
	while (!(n = rtf_get(4, text, sizeof(text) - 1)))
		usleep(1000);
	text[n] = 0;
	rtl_printf("more: pair %s", text);
	shared->from_kernel = 4711;
	rtl_printf("more: closed %d %d %ld\n", close(fd), close(0), (long)read(-1, text, 1));
	return 0;
}

int init_module(void)
{
	pthread_attr_t attr;

	shared = mbuff_alloc("more", sizeof(*shared));
	if (!shared || mbuff_attach("none", 1) || mbuff_alloc("more", 1 << 20) ||
	    mbuff_alloc("a/b", 1))
		return -ENOMEM;
	strcpy(shared->text, "of the kernel");
	rtf_create(1, 100);
	rtf_create(3, 100);
	rtf_create(4, 100);
	rtf_create(5, 100);
	rtf_create_rt_handler(3, on_rt);
	rtf_make_user_pair(5, 4);
	soft = rtl_get_soft_irq(on_soft, "more");
	pthread_attr_init(&attr);
	return pthread_create(&thread, &attr, run, NULL);
}

void cleanup_module(void)
{
	pthread_delete_np(thread);
	printk("more: soft %d handled %d\n", asked, handled);
	printk("more: process said %s %d\n", shared->text, shared->from_process);
	rtl_free_soft_irq(soft);
	mbuff_free("more", shared);
	rtf_destroy(1);
	rtf_destroy(3);
	rtf_destroy(4);
	rtf_destroy(5);
}
