# SPDX-License-Identifier: GPL-2.0-only
# LinuxCNC's RTAPI, HAL and components as kernel modules on Tactus, of its sources in the folder src,
# where tools/linuxcnc puts both. Needs the modules rtai_compat and rt_libm.

include $(TACTUS)/kernel/include/v05/flags.mk

components := debounce encoder hal_parport pid pwmgen sampler siggen sim_encoder stepgen streamer \
	supply threads weighted_sum
# Those of the user that tools/linuxcnc was given.
-include $(src)/own.mk
components += $(own)

obj-m := rtapi.o hal_lib.o $(components:=.o)
rtapi-y := src/rtapi/rtai_rtapi.o
hal_lib-y := src/hal/hal_lib.o
$(foreach name,$(components),$(eval $(name)-y := src/hal/components/$(name).o))
hal_parport-y := src/hal/drivers/hal_parport.o
CFLAGS_src/hal/drivers/hal_parport.o := -include $(src)/parport.h

# All of HAL has floating point in it, by names of its own.
ccflags-remove-y := $(CC_FLAGS_NO_FPU) -mno-sse -mno-sse2 -msoft-float
ccflags-y := $(OLD_FP_FLAGS) -I$(TACTUS)/kernel/include/rtai -I$(TACTUS)/kernel/include \
	-include $(TACTUS)/kernel/include/v05/entry.h \
	-include $(TACTUS)/kernel/include/rtai/rtai_compat.h -I$(src)/src -I$(src)/src/rtapi \
	-I$(src)/src/hal -DRTAPI -D__MODULE__ -DRTAI=5 -D_GNU_SOURCE -Drealtime \
	-fno-builtin-sin -fno-builtin-cos -fno-builtin-sincos -fno-strict-aliasing -fwrapv -w \
	-idirafter $(shell $(CC) -print-file-name=include)
