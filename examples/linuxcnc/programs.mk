# SPDX-License-Identifier: GPL-2.0-only
# LinuxCNC's programs and scripts on Tactus, of its sources in the folders src and scripts, where
# tools/linuxcnc puts all, and the file tactus.mk, which says where Tactus is. Programs are linked
# statically, so that any machine or guest can run them.
#
#	make install LIBM=DIR [DESTDIR=DIR]	also the modules; LIBM is where rt_libm.ko was built
#	make uninstall [DESTDIR=DIR]

include tactus.mk

flags := -O2 -w -DULAPI -DRTAI=5 -D_GNU_SOURCE -Isrc -Isrc/rtapi -Isrc/hal -Isrc/libnml/inifile \
	-I$(TACTUS)/userland/skins -I$(TACTUS)/userland/libtactus -I$(TACTUS)/kernel/include \
	-include stdint.h -include time.h
hal := src/rtapi/rtai_ulapi.o src/hal/hal_lib.user.o shm.o
halcmd := $(addprefix src/hal/utils/,halcmd.o halcmd_commands.o halcmd_main.o) \
	src/libnml/inifile/inifile.o completion.o
programs := halcmd halsampler halstreamer pyvcp linuxcnc_module_helper
scripts := halrun realtime latency-test runtests

# The places that its configure would fill in. The device of RTAI's shared memory is Tactus's.
lib := /usr/lib/linuxcnc
places := s|@EMC2_BIN_DIR@|/usr/bin|; s|@EMC2_RTLIB_DIR@|$(lib)/modules|; s|@REALTIME@|$(lib)/realtime|; \
	s|@EMC2_HOME@|/usr|; s|@GREP@|grep|; s|@PS@|ps|; s|@LSMOD@|lsmod|; s|@FUSER@|fuser|; \
	s|@INSMOD@|/sbin/insmod|; s|@RMMOD@|/sbin/rmmod|; s|@RUN_IN_PLACE@|no|; s|@KERNEL_VERS@||; \
	s|@prefix@|/usr|; s|@exec_prefix@|/usr|; s|@sysconfdir@|/etc|; s|/dev/rtai_shm|/dev/rtshmctl|

all: $(programs) $(scripts)

halcmd: $(halcmd) $(hal)
	$(CXX) -static -o $@ $^
halsampler: src/hal/components/sampler_usr.o $(hal)
	$(CC) -static -o $@ $^
halstreamer: src/hal/components/streamer_usr.o $(hal)
	$(CC) -static -o $@ $^
pyvcp: pyvcp.o $(hal)
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

%: scripts/%.in
	sed '$(places)' $< > $@ && chmod +x $@
latency-test: scripts/latency-test
	cp $< $@

bin := $(filter-out realtime runtests,$(programs) $(scripts))
modules := $(wildcard *.ko) $(LIBM)/rt_libm.ko
install: all
	@[ -f "$(LIBM)/rt_libm.ko" ] && [ -f hal_lib.ko ] || { \
		echo "install: build the modules, and say where rt_libm.ko is: LIBM=DIR" >&2; exit 1; }
	install -d $(DESTDIR)/usr/bin $(DESTDIR)$(lib)/modules $(DESTDIR)/etc/linuxcnc
	install $(bin) $(DESTDIR)/usr/bin
	chmod u+s $(DESTDIR)/usr/bin/linuxcnc_module_helper
	install realtime $(DESTDIR)$(lib)
	install -m 644 $(modules) $(DESTDIR)$(lib)/modules
	install -m 644 rtapi.conf $(DESTDIR)/etc/linuxcnc
uninstall:
	rm -f $(addprefix $(DESTDIR)/usr/bin/,$(bin)) $(DESTDIR)/etc/linuxcnc/rtapi.conf
	rm -rf $(DESTDIR)$(lib)

.PHONY: all install uninstall
