# SPDX-License-Identifier: GPL-2.0-only
# Builds a program written for RTAI. In the Kbuild file of the program's directory:
#
#	obj-m := program.o
#	include /path/to/tactus/kernel/include/rtai/rtai.mk
#
# It holds for the whole directory, and needs the module rtai_compat when the program is loaded.

RTAI_INCLUDE := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
include $(RTAI_INCLUDE)/../v05/flags.mk

ccflags-y += -I$(RTAI_INCLUDE) -I$(RTAI_INCLUDE)/.. $(OLD_FLAGS) \
	-include $(RTAI_INCLUDE)/../v05/old.h -include $(RTAI_INCLUDE)/rtai_compat.h
