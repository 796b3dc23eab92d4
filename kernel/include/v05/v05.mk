# SPDX-License-Identifier: GPL-2.0-only
# Builds a program written for Real-Time Linux 0.5 (thesis, Appendices A and B) unchanged.
# In the Kbuild file of the program's directory:
#
#	obj-m := program.o
#	include /path/to/tactus/kernel/include/v05/v05.mk
#
# It holds for the whole directory. What it sets:
#   - the old headers: <linux/rtf.h>, <linux/rt_sched.h>, <asm/rt_irq.h>
#   - char is unsigned, as the samples of Appendix B's filter need it and as Linux itself is
#     built from 6.2 on; on 6.1 it would be signed
#   - the program's "#define MODULE" is no redefinition (v05.h)
#   - no warning that functions have no prototype: those programs make them global

V05_INCLUDE := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))

ccflags-y += -I$(V05_INCLUDE) -I$(V05_INCLUDE)/.. -funsigned-char \
	-Wno-missing-prototypes -Wno-missing-declarations \
	-include $(V05_INCLUDE)/v05.h
