# SPDX-License-Identifier: GPL-2.0-only
# The kernel is built without floating point. Tasks that use it (rt_use_fp()) have their code
# in files of their own, compiled with it. In the Kbuild file of the module's directory:
#
#	include /path/to/tactus/kernel/include/rt/fp.mk
#	obj-m := module.o
#	module-y := main.o control.o
#	CFLAGS_control.o += $(RT_FP_CFLAGS)
#	CFLAGS_REMOVE_control.o += $(RT_FP_CFLAGS_REMOVE)
#
# Everything in such a file may use floating point, also where the source has none in it: so
# nothing of it may run outside of a task that has said rt_use_fp().
#
# From 6.10 on the kernel says itself which flags these are; on older ones they are the same.

RT_FP_CFLAGS := $(or $(CC_FLAGS_FPU),-mhard-float -msse -msse2)
RT_FP_CFLAGS_REMOVE := $(CC_FLAGS_NO_FPU)
