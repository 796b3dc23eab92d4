# SPDX-License-Identifier: GPL-2.0-only
# LinuxCNC's halcmd, halsampler, halstreamer and module helper on Tactus, of its sources in the folder
# src, where tools/linuxcnc puts both, and the file tactus.mk, which says where Tactus is. They are
# linked statically, so that any machine or guest can run them.

include tactus.mk

flags := -O2 -w -DULAPI -DRTAI=5 -D_GNU_SOURCE -Isrc -Isrc/rtapi -Isrc/hal -Isrc/libnml/inifile \
	-I$(TACTUS)/userland/skins -I$(TACTUS)/userland/libtactus -I$(TACTUS)/kernel/include \
	-include stdint.h -include time.h
hal := src/rtapi/rtai_ulapi.o src/hal/hal_lib.user.o shm.o
halcmd := $(addprefix src/hal/utils/,halcmd.o halcmd_commands.o halcmd_main.o) \
	src/libnml/inifile/inifile.o completion.o
programs := halcmd halsampler halstreamer linuxcnc_module_helper

all: $(programs)

halcmd: $(halcmd) $(hal)
	$(CXX) -static -o $@ $^
halsampler: src/hal/components/sampler_usr.o $(hal)
	$(CC) -static -o $@ $^
halstreamer: src/hal/components/streamer_usr.o $(hal)
	$(CC) -static -o $@ $^
linuxcnc_module_helper: src/module_helper/module_helper.o
	$(CC) -static -o $@ $^

%.user.o: %.c
	$(CC) $(flags) -c -o $@ $<
shm.o: $(TACTUS)/userland/libtactus/shm.c
	$(CC) $(flags) -c -o $@ $<
%.o: %.c
	$(CC) $(flags) -c -o $@ $<
%.o: %.cc
	$(CXX) $(flags) -c -o $@ $<

.PHONY: all
