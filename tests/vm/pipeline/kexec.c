// SPDX-License-Identifier: GPL-2.0-only
/*
 * kexec IMAGE COMMAND_LINE [crash]: loads another kernel, without an initrd, and starts it; with
 * "crash" only loads it, for the kernel to start when it panics.
 */
#include <fcntl.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned long flags = KEXEC_FILE_NO_INITRAMFS;
	int image;

	if (argc < 3) {
		fprintf(stderr, "usage: kexec IMAGE COMMAND_LINE [crash]\n");
		return 2;
	}
	if (argc > 3 && !strcmp(argv[3], "crash"))
		flags |= KEXEC_FILE_ON_CRASH;
	image = open(argv[1], O_RDONLY);
	if (image < 0) {
		perror(argv[1]);
		return 1;
	}
	if (syscall(SYS_kexec_file_load, image, -1, strlen(argv[2]) + 1, argv[2], flags)) {
		perror("kexec_file_load");
		return 1;
	}
	if (flags & KEXEC_FILE_ON_CRASH)
		return 0;
	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL);
	perror("reboot");
	return 1;
}
