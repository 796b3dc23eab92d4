// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a put and a get of the RT side cost, beside the kernel's kfifo and a bare
 * memcpy of as many bytes.
 *
 * Reading /proc/fifo_bench makes the measurement: one line per operation and size,
 * with the cost of one in ns. Under the bench's --icount that is instructions.
 */
#include <linux/kfifo.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <rt/fifo.h>
#include <rt/time.h>

#define SIZE_BYTES 65536
#define ROUNDS 32	/* as many of the largest fit in */

static unsigned int fifos = 1;
module_param(fifos, uint, 0444);
MODULE_PARM_DESC(fifos, "How many there are; the last one is measured");

static struct kfifo kfifo;
static char from[1024], to[1024];

enum subject { RTF, KFIFO, MEMCPY, SUBJECTS };

static noinline void put(enum subject subject, unsigned int bytes)
{
	switch (subject) {
	case RTF:
		rtf_put(fifos - 1, from, bytes);
		break;
	case KFIFO:
		kfifo_in(&kfifo, from, bytes);
		break;
	default:
		memcpy(to, from, bytes);
		barrier_data(to);
	}
}

static noinline void get(enum subject subject, unsigned int bytes)
{
	switch (subject) {
	case RTF:
		rtf_get(fifos - 1, to, bytes);
		break;
	case KFIFO:
		bytes = kfifo_out(&kfifo, to, bytes);
		break;
	default:
		memcpy(to, from, bytes);
		barrier_data(to);
	}
}

/* ns for ROUNDS calls of @fn, without what the loop and the call cost. */
static RTIME time_of(void (*fn)(enum subject, unsigned int), enum subject subject,
		     unsigned int bytes)
{
	unsigned long flags;
	RTIME begin, empty, full;
	int i;

	local_irq_save(flags);
	begin = rt_get_time();
	for (i = 0; i < ROUNDS; i++)
		fn(MEMCPY, 0);
	empty = rt_get_time() - begin;
	begin = rt_get_time();
	for (i = 0; i < ROUNDS; i++)
		fn(subject, bytes);
	full = rt_get_time() - begin;
	local_irq_restore(flags);
	return full - empty;
}

/*
 * The gets take what Linux wrote to the last FIFO beforehand: 40000 bytes will do. What
 * they get does not matter, and the puts are left unread.
 */
static int bench_show(struct seq_file *m, void *unused)
{
	static const unsigned int sizes[] = { 1, 8, 64, 1024 };
	unsigned int s, subject;

	seq_puts(m, "op\tbytes\trtf\tkfifo\tmemcpy\n");
	for (s = 0; s < ARRAY_SIZE(sizes); s++) {
		RTIME puts[SUBJECTS], gets[SUBJECTS];

		if (rtf_used(fifos - 1) < ROUNDS * sizes[s] ||
		    rtf_free(fifos - 1) < ROUNDS * sizes[s])
			return -ENOSPC;
		kfifo_reset(&kfifo);
		for (subject = 0; subject < SUBJECTS; subject++)
			puts[subject] = time_of(put, subject, sizes[s]);
		for (subject = 0; subject < SUBJECTS; subject++)
			gets[subject] = time_of(get, subject, sizes[s]);
		seq_printf(m, "put\t%u\t%lld\t%lld\t%lld\n", sizes[s], puts[RTF] / ROUNDS,
			   puts[KFIFO] / ROUNDS, puts[MEMCPY] / ROUNDS);
		seq_printf(m, "get\t%u\t%lld\t%lld\t%lld\n", sizes[s], gets[RTF] / ROUNDS,
			   gets[KFIFO] / ROUNDS, gets[MEMCPY] / ROUNDS);
	}
	return 0;
}

static int __init fifo_bench_init(void)
{
	unsigned int made = 0;
	int ret;

	if (!fifos)
		return -EINVAL;
	ret = kfifo_alloc(&kfifo, SIZE_BYTES, GFP_KERNEL);
	if (ret)
		return ret;
	for (; made < fifos; made++) {
		ret = rtf_create(made, SIZE_BYTES);
		if (ret)
			goto err_fifos;
	}
	ret = -ENOMEM;
	if (!proc_create_single("fifo_bench", 0400, NULL, bench_show))
		goto err_fifos;
	return 0;

err_fifos:
	while (made--)
		rtf_destroy(made);
	kfifo_free(&kfifo);
	return ret;
}

static void __exit fifo_bench_exit(void)
{
	remove_proc_entry("fifo_bench", NULL);
	while (fifos--)
		rtf_destroy(fifos);
	kfifo_free(&kfifo);
}

module_init(fifo_bench_init);
module_exit(fifo_bench_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Tactus: cost of the FIFOs' RT side");
