// SPDX-License-Identifier: GPL-2.0-only
/* The stack: its canary and its size. */
#include "task_test.h"

/*
 * The arrays make the compiler guard these functions: it puts the CPU's canary on the
 * stack on entry and compares on return. In between Linux switches tasks, which changes
 * the CPU's canary. Without the switch taking it along the kernel panics.
 */
static noinline int guarded_inner(int k)
{
	volatile char text[64];

	memset((void *)text, k, sizeof(text));
	rt_task_wait();
	for (int i = 0; i < sizeof(text); i++)
		if (text[i] != (char)k)
			return 1;
	return 0;
}

static noinline int guarded_outer(int rounds)
{
	volatile char text[128];
	int wrong = 0;

	memset((void *)text, 0x77, sizeof(text));
	for (int k = 0; k < rounds; k++) {
		wrong += guarded_inner(k);
		WRITE_ONCE(count, count + 1);
	}
	for (int i = 0; i < sizeof(text); i++)
		wrong += text[i] != 0x77;
	return wrong;
}

static void guarded(int rounds)
{
	results[0] = guarded_outer(rounds);
	note(1);
	rt_task_suspend(rt_task_self());
}

void test_stack_protector(void)
{
	forget();
	EXPECT(IS_ENABLED(CONFIG_STACKPROTECTOR), 1);
	for (int i = 0; i < 3; i++) {
		EXPECT(rt_task_init(&tasks[i], guarded, 300, STACK, 1 + i), 0);
		EXPECT(rt_task_make_periodic(&tasks[i], rt_get_time(), (1 + i) * MS / 3), 0);
	}
	EXPECT(UNTIL(READ_ONCE(ran) == 3), true);
	EXPECT(count, 900);
	EXPECT(results[0], 0);
	delete_all();
}

/* The whole of the stack that was asked for is there. */
static noinline void use_stack(int bytes)
{
	volatile char frame[512];

	memset((void *)frame, bytes, sizeof(frame));
	if (bytes > 1024)
		use_stack(bytes - 768);
	frame[0] = frame[511];
}

static void deep(int bytes)
{
	use_stack(bytes);
	note(1);
}

void test_stack_size(void)
{
	forget();
	EXPECT(rt_task_init(&tasks[0], deep, 65536, 65536, 1), 0);
	EXPECT(rt_task_wakeup(&tasks[0]), 0);
	EXPECT(UNTIL(READ_ONCE(ran) == 1), true);
	rt_task_delete(&tasks[0]);
}
