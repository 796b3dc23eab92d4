// SPDX-License-Identifier: GPL-2.0-only
/* A process of the skins' shared memory: "skin_shm mbuff" or "skin_shm rtai". */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <mbuff.h>
#include <rtai_shm.h>

struct shared { int from_kernel, from_process; char text[32]; };

int main(int argc, char **argv)
{
	int rtai = argc > 1 && !strcmp(argv[1], "rtai");
	volatile struct shared *shared = rtai ?
		rt_shm_alloc(nam2num("more"), sizeof(*shared), USE_VMALLOC) :
		mbuff_attach("more", sizeof(*shared));

	if (!shared)
		return 1;
	printf("kernel said %s\n", (char *)shared->text);
	shared->from_process = 42;
	while (shared->from_kernel != 4711)
		usleep(1000);
	strcpy((char *)shared->text, "of the process");
	if (rtai)
		rtai_free(nam2num("more"), (void *)shared);
	else
		mbuff_detach("more", (void *)shared);
	return 0;
}
