# SPDX-License-Identifier: GPL-2.0-only
# Builds a program written for RTL. In the Kbuild file of the program's directory:
#
#	obj-m := program.o
#	include /path/to/tactus/kernel/include/rtl/rtl.mk
#
# It holds for the whole directory, and needs the module rtl_compat when the program is loaded.

RTL_INCLUDE := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
include $(RTL_INCLUDE)/../v05/flags.mk

ccflags-y += -I$(RTL_INCLUDE) -I$(RTL_INCLUDE)/.. $(OLD_FLAGS) \
	-include $(RTL_INCLUDE)/../v05/old.h -include $(RTL_INCLUDE)/rtl_compat.h
