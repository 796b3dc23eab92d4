// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the manner of RTAI's examples: what tests call and rtai_more.c does not. One task drives, the
 * others answer; each part says a line, and the test compares them.
 */
#include <linux/module.h>
#include <rtai.h>
#include <rtai_sched.h>
#include <rtai_sem.h>
#include <rtai_msg.h>
#include <rtai_mbx.h>
#include <rtai_bits.h>
#include <rtai_rwl.h>
#include <rtai_spl.h>
#include <rtai_malloc.h>
#include <rtai_leds.h>

MODULE_LICENSE("GPL");
EXPORT_NO_SYMBOLS;

#define MS 1000000
#define SAY(...) rt_printk("calls: " __VA_ARGS__)
#define PARTIES 3

static RT_TASK driver, servant, blocked[2], crowd[PARTIES], reader, worker;
static SEM barrier, mutex, plain, never;
static CND cond;
static MBX mbx;
static RWL rwl;
static SPL spl;
static BITS bits;
static int cpu_used[NR_RT_CPUS];
static int together, woken, wakes, read_in;
static RTIME first_resume;

/* Answers every letter with its letters turned round, until one is empty. */
static void serve(long unused)
{
	char text[16];
	RT_TASK *from;
	int length, i;

	for (;;) {
		memset(text, 0, sizeof(text));
		from = rt_receivex(0, text, sizeof(text), &length);
		if (!from || !length)
			break;
		if (!rt_isrpcx(from)) {
			SAY("sent %s\n", text);
			continue;
		}
		for (i = 0; i < length / 2; i++)
			swap(text[i], text[length - 1 - i]);
		rt_returnx(from, text, length);
	}
	SAY("served\n");
}

static void block(long n)
{
	int left = n ? rt_mbx_receive_timed(&mbx, &woken, 4, nano2count(5 * MS))
		     : rt_mbx_receive(&mbx, &woken, 4);

	SAY("no letter, %d left, task %ld\n", left, n);
}

static void come_together(long unused)
{
	rt_sem_wait_barrier(&barrier);
	together++;
}

static void wait_for_it(long unused)
{
	rt_mutex_lock(&mutex);
	rt_mutex_lock(&mutex);		/* it is given up whole */
	while (!woken)
		rt_cond_wait(&cond, &mutex);
	wakes++;
	rt_mutex_unlock(&mutex);
	rt_mutex_unlock(&mutex);
	rt_rwl_rdlock(&rwl);
	read_in++;
	rt_sleep(nano2count(2 * MS));
	read_in--;
	rt_rwl_unlock(&rwl);
}

/* A period of 1 ms, made one of 3 ms by itself. */
static void work(long unused)
{
	RTIME before;

	rt_task_wait_period();
	before = rt_get_time();
	rt_task_set_resume_end_times(-nano2count(3 * MS), -nano2count(2 * MS));
	SAY("resumed after %lld ms, deadline %lld ms\n", (rt_get_time() - before + MS / 2) / MS,
	    rt_whoami()->task.relative_deadline / MS);
	first_resume = rt_whoami()->resume_time;
	rt_set_period(rt_whoami(), nano2count(2 * MS));
	rt_task_wait_period();
	rt_task_wait_period();
	rt_task_suspend(rt_whoami());
}

static void messages(void)
{
	char reply[8] = "";
	unsigned int word;

	rt_rpcx(&servant, "straw", reply, 5, 5);
	SAY("turned %s\n", reply);
	rt_sendx(&servant, "once", 4);
	SAY("nobody receives %d %d\n", !rt_send_if(&worker, 1),
	    !rt_rpc_timed(&worker, 1, &word, nano2count(MS)));
	SAY("nobody sends %d %d\n", !rt_receive_if(0, &word),
	    !rt_receive_timed(&servant, &word, nano2count(MS)));
	rt_sendx(&servant, "", 0);
}

static void conditions(void)
{
	int spun[5], i;

	rt_sem_wait(&plain);
	SAY("timed out %d\n", rt_cond_timedwait(&cond, &plain, rt_get_time() + nano2count(MS)));
	rt_sem_signal(&plain);
	rt_mutex_lock(&mutex);
	woken = 1;
	rt_cond_signal(&cond);
	rt_mutex_unlock(&mutex);
	rt_sleep(nano2count(MS));
	SAY("woken %d, readers %d, write %d\n", wakes, read_in,
	    rt_rwl_wrlock_if(&rwl) == SEM_TIMOUT);
	SAY("written %d\n", rt_rwl_wrlock_timed(&rwl, nano2count(5 * MS)));
	SAY("again %d\n", rt_rwl_wrlock(&rwl));
	SAY("read %d\n", rt_rwl_rdlock_if(&rwl) == SEM_TIMOUT);
	rt_rwl_unlock(&rwl);
	SAY("unlocked %d\n", rt_rwl_unlock(&rwl));
	SAY("not mine %d\n", rt_rwl_unlock(&rwl) != 0);
	for (i = 0; i < 5; i++)
		spun[i] = i == 0 ? rt_spl_lock(&spl) : i == 1 ? rt_spl_lock_if(&spl)
						     : rt_spl_unlock(&spl);
	SAY("spin %d %d %d %d %d\n", spun[0], spun[1], spun[2], spun[3], spun[4]);
}

static void drive(long unused)
{
	unsigned long got;
	char peek[4] = "";
	int *piece;
	SEM *named;
	MBX box;
	int i;

	cpu_used[hard_cpu_id()]++;
	messages();
	conditions();
	rt_sleep(nano2count(MS));
	SAY("deleted %d\n", rt_mbx_delete(&mbx));
	for (i = 0; i < PARTIES; i++) {
		SAY("together %d\n", together);
		rt_task_resume(&crowd[i]);
		rt_sleep(nano2count(MS));
	}
	SAY("together %d\n", together);
	SAY("unset %d\n", rt_bits_wait_if(&bits, ALL_SET, 3, CLR_BITS, 3, &got) == BITS_TIMOUT);
	rt_bits_signal(&bits, SET_BITS, 2);
	i = rt_bits_wait(&bits, ALL_SET, 3, CLR_BITS, 3, &got);
	SAY("set %d left %lx\n", i, got);
	named = rt_named_sem_init("NAMED", 1);
	SAY("named %d %d %d\n", named == rt_get_adr(nam2num("NAMED")),
	    named == rt_named_sem_init("NAMED", 5), rt_sem_count(named));
	rt_named_sem_delete(named);
	SAY("still %d\n", rt_get_adr(nam2num("NAMED")) == named);
	rt_named_sem_delete(named);
	SAY("gone %d\n", !rt_get_adr(nam2num("NAMED")));
	piece = rt_malloc(1000);
	SAY("heap %d %d\n", piece && !rt_malloc(RTAI_HEAP_BYTES), !rt_malloc(0));
	rt_free(piece);
	rt_sched_lock();
	rt_task_resume(&reader);
	SAY("locked\n");
	rt_sched_unlock();
	SAY("state %d\n", rt_get_task_state(&reader) & SEMAPHORE);
	SAY("suspended %d\n", rt_task_suspend_timed(rt_whoami(), nano2count(MS)) == RTE_TIMOUT);
	box = *(MBX *)rt_get_adr(nam2num("BOX"));
	rt_mbx_send(rt_get_adr(nam2num("BOX")), "abc", 3);
	rt_mbx_ovrwr_send(rt_get_adr(nam2num("BOX")), "de", 2);
	rt_mbx_evdrp(rt_get_adr(nam2num("BOX")), peek, 3);
	SAY("box of %d has %s\n", box.size, peek);
	rt_task_suspend(rt_whoami());
}

static void read(long unused)
{
	rt_sem_wait(&never);
}

int init_module(void)
{
	int i;

	rt_mount_rtai();
	rt_set_oneshot_mode();
	start_rt_timer_cpuid(nano2count(MS), 0);
	rt_assign_irq_to_cpu(TIMER_8254_IRQ, 0);
	printk("calls: numbers %lld %d %lld\n", llimd(-3000000000LL, 1000, 3), imuldiv(100000, 30000, 7),
	       llimd(CPU_FREQ, 100, CPU_FREQ));
	rt_sem_init(&barrier, PARTIES);
	rt_typed_sem_init(&plain, 1, BIN_SEM);
	rt_sem_init(&never, 0);
	rt_mutex_init(&mutex);
	rt_cond_init(&cond);
	rt_mbx_init(&mbx, 5);
	rt_rwl_init(&rwl);
	rt_spl_init(&spl);
	rt_bits_init(&bits, 5);
	if (!rt_named_mbx_init("BOX", 4))
		return -ENOMEM;
	rt_task_init(&driver, drive, 0, 8000, 5, 0, 0);
	rt_task_init(&servant, serve, 0, 4000, 4, 0, 0);
	rt_task_init(&worker, work, 0, 4000, 3, 0, 0);
	rt_task_init(&reader, read, 0, 4000, 2, 0, 0);
	for (i = 0; i < 2; i++) {
		rt_task_init(&blocked[i], block, i, 4000, 6, 0, 0);
		rt_task_resume(&blocked[i]);
	}
	for (i = 0; i < PARTIES; i++)
		rt_task_init(&crowd[i], come_together, 0, 4000, 6, 0, 0);
	if (!rt_named_task_init("WAITS", wait_for_it, 0, 4000, 1, 0, 0))
		return -ENOMEM;
	rt_task_resume(rt_get_adr(nam2num("WAITS")));
	rt_task_resume(&servant);
	rt_task_make_periodic(&worker, rt_get_time() + nano2count(50 * MS), nano2count(MS));
	rt_task_resume(&driver);
	return 0;
}

void cleanup_module(void)
{
	int i;

	stop_rt_timer();
	rt_task_delete(&driver);
	rt_task_delete(&servant);
	rt_task_delete(&worker);
	rt_task_delete(&reader);
	for (i = 0; i < 2; i++)
		rt_task_delete(&blocked[i]);
	for (i = 0; i < PARTIES; i++)
		rt_task_delete(&crowd[i]);
	printk("calls: box deleted twice %d\n", rt_mbx_delete(&mbx));
	/* Names are left for whoever cleans up behind a program. */
}
