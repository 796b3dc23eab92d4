# SPDX-License-Identifier: GPL-2.0-only
#
# `make help` lists the targets. The modules are built in build/, never among the sources, so that
# several kernels can be served from one checkout; Kbuild says what they are made of.

KDIR    ?= /lib/modules/$(shell uname -r)/build
DESTDIR ?=
KERNEL  ?= 6.1
FLAVOUR ?= cloud

# Debian's own Python and its packages: what tools/setup installs.
PYTHON  ?= /usr/bin/python3
JOBS    ?= $(shell nproc)
VM      := tests/vm/vm
PYTEST   = $(PYTHON) -m pytest -p no:cacheprovider

# W=1 and C=1 mean to kbuild what they mean in the kernel's tree.
KBUILD_WORDS := $(foreach v,W C,$(if $($(v)),--make $(v)=$($(v))))

.PHONY: all analysis tapfile tapuser measure modules vm-modules modules_install install uninstall install-userland uninstall-userland userland deb test-packages iso test-iso demo demo-cnc test test-quick test-long explore \
	twice test-matrix test-platforms test-parallel unit kunit fuzz bench bench-check bench-long figures clean \
	distclean help setup-demo setup-test setup-check setup-docs check docs

all: modules

# What a machine installs; the bench builds the tests' modules as well, when it needs them.
modules:
	@test -e "$(KDIR)/Makefile" || { \
		echo "no kernel headers in $(KDIR): install linux-headers-$$(uname -r)," \
		     "or name a folder with KDIR=, or try 'make vm-modules'" >&2; exit 1; }
	@$(VM) build --product --kdir "$(KDIR)" $(KBUILD_WORDS)

# For the bench's kernel, which need not be the machine's.
vm-modules:
	@$(VM) build --kernel $(KERNEL) --flavour $(FLAVOUR) $(KBUILD_WORDS)

# By kbuild's own rule, so INSTALL_MOD_PATH, INSTALL_MOD_STRIP, compression and signing work.
INSTALL_MOD_PATH ?= $(DESTDIR)
INSTALL_MOD_DIR  ?= updates/tactus
INSTALL_MOD_STRIP ?= 1
modules_install: modules
	@folder=$$($(VM) build --product --kdir "$(KDIR)" --folder) || exit; \
	$(MAKE) --no-print-directory -C "$(KDIR)" M="$$folder" TACTUS_PARTS=product \
		INSTALL_MOD_PATH="$(INSTALL_MOD_PATH)" INSTALL_MOD_DIR="$(INSTALL_MOD_DIR)" \
		INSTALL_MOD_STRIP="$(INSTALL_MOD_STRIP)" modules_install

install: modules_install

# Needs no headers: of the running kernel, of RELEASE=, or of RELEASE='*', every kernel.
RELEASE ?= $(shell uname -r)
uninstall:
	@found=; for folder in "$(INSTALL_MOD_PATH)"/lib/modules/$(RELEASE)/$(INSTALL_MOD_DIR); do \
		[ -d "$$folder" ] || continue; \
		found=yes; rm -rf "$$folder"; echo "removed $$folder"; \
		release=$${folder%/$(INSTALL_MOD_DIR)}; release=$${release##*/}; \
		test -n "$(INSTALL_MOD_PATH)" || depmod "$$release"; \
	done; test -n "$$found" || echo "nothing of tactus is installed for $(RELEASE)"

# What programs need, and the commands; nothing of the kernel. librtf and libtactus for C, and the Python package
# for the commands' own use (`pip install userland/python` for yours). tools/userland has the list.
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
# For these alone: what a test installs from within `make test` goes where the test says.
install-userland uninstall-userland userland: export PREFIX := $(PREFIX)
install-userland uninstall-userland userland: export LIBDIR := $(LIBDIR)
install-userland uninstall-userland userland: export DESTDIR := $(DESTDIR)
install-userland: userland
	@tools/userland install

uninstall-userland:
	@tools/userland uninstall

userland: analysis tapfile measure $(addprefix build/host/tactus.,bash zsh fish)
	@$(MAKE) --no-print-directory -s -C userland/librtf BUILD=$(CURDIR)/build/librtf
	@$(MAKE) --no-print-directory -s -C userland/libtactus BUILD=$(CURDIR)/build/libtactus

build/host/tactus.%: $(wildcard userland/python/src/tactus/*.py userland/python/src/tactus/*/*.py)
	@mkdir -p $(@D)
	@PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=userland/python/src $(PYTHON) -m tactus completion $* > $@

# The packages on a Debian machine of their own, in QEMU: install, boot, second kernel, purge. Then
# the RPM and Arch packages, built and unpacked.
test-packages:
	@tools/setup deb
	@tests/packages/run
	@$(PYTEST) -q -m long tests/packages

# Debian packages, into out/deb.
deb:
	@tools/setup deb
	@tools/deb

# A stick to try Tactus from, out/tactus.iso: docs/stick.md.
iso:
	@tools/setup iso
	@tests/vm/python -m iso.build --kernel $(KERNEL)

test-iso: iso
	@$(PYTEST) -q -m long packaging/iso

demo: setup-demo
	@tests/demo/run

# LinuxCNC's HAL moves a machine on a stock kernel; beside it Linux's own timers. 77: not to be had.
demo-cnc: setup-demo
	@tests/vm/python examples/linuxcnc/demo || [ $$? = 77 ]

# All of it runs even when a part fails, so that one run shows everything; pytest comes last, and
# runs the KUnit suites too where the debug kernel is there (tests/kunit/test_kunit.py). The budget
# is in seconds of CPU time: what a fresh clone took with nothing cached, 3,600 without what is made
# for good, and half as much again where others share the host's cores. Whoever adds a test that
# breaks it makes another shorter.
CPU_BUDGET ?= 5500
# Runs of the same guest share one boot; `make test TACTUS_STATE=` boots each, as `make test-long` does.
test test-quick: export TACTUS_STATE ?= keep
# Those of our own kernels that are there are tested; to build one takes a fifth of what all tests take.
test test-quick: export TACTUS_NO_KERNEL_BUILDS ?= 1
test: setup-test
	@failed=0; \
	$(MAKE) --no-print-directory -j$(JOBS) unit || failed=1; \
	$(PYTEST) -v -n $(JOBS) --dist loadfile -m "not long" --cpu-budget=$(CPU_BUDGET) \
		$(PYTEST_ARGS) || failed=1; \
	exit $$failed

test-quick: setup-test
	@$(MAKE) --no-print-directory -j$(JOBS) unit
	@$(PYTEST) -v -n $(JOBS) --dist loadfile -m "not slow and not long" $(PYTEST_ARGS)

# Hours: what `make test` leaves out. docs/testing.md lists it, with its last run.
test-long: setup-test
	@failed=0; \
	TACTUS_THOROUGH=1 $(PYTEST) -v -n $(JOBS) --dist load -m long --note-runs $(PYTEST_ARGS) || failed=1; \
	$(MAKE) --no-print-directory kunit || failed=1; \
	$(MAKE) --no-print-directory explore || failed=1; \
	$(MAKE) --no-print-directory twice || failed=1; \
	exit $$failed

# What several CPUs do, under many schedules; --planted is the control.
SEEDS ?= 1000
explore: setup-test
	@tests/vm/explore --planted --seeds 1000
	@tests/vm/explore --all --seeds $(SEEDS)

# Each guest with several CPUs in virtual time runs twice, and nothing may differ.
twice: setup-test
	@tests/vm/python -m harness.twice -n $(JOBS) -m "not long" $(PYTEST_ARGS)

# Every stock kernel there is: prints a table, keeps the figures in out/matrix.json.
test-matrix: setup-test
	@tests/vm/python -m harness.matrix

# Machine models of QEMU, and CPUs in Bochs: prints a table, keeps it in out/platforms.json.
test-platforms: setup-test
	@tests/vm/python -m harness.platforms

# Several CPUs at the same time, in the host's time: races that turns do not show.
PARALLEL := tests/vm/exec/test_task.py tests/vm/fifo/test_fifo.py tests/vm/pipeline/test_hotplug.py \
	tests/vm/pipeline/test_pipeline.py tests/vm/harness/test_parallel.py
test-parallel: setup-test
	@TACTUS_PARALLEL=1 $(PYTEST) -v -k "cpus or 2cpu or dying or parallel" $(PARALLEL) \
		$(PYTEST_ARGS)

# Static checks: 0 complaints wanted; CHECK="ruff mypy" for some of them.
check: setup-check
	@tests/check/run $(CHECK)

setup-demo:
	@tools/setup demo

setup-test:
	@tools/setup test

# The site, offline: out/docs/index.html.
docs: setup-docs
	@tools/docs

setup-docs:
	@tools/setup docs

setup-check:
	@tools/setup check

# Host tests of the parts without hardware in them. Names ending in _tsan run under the thread
# sanitizer, the rest under the address and undefined behaviour ones.
UNIT_DIRS   := tests/unit examples/speaker/tests examples/tap/tests
UNIT_TESTS  := $(patsubst test_%.c,%,$(sort $(notdir $(wildcard $(UNIT_DIRS:%=%/test_*.c)))))
UNIT_CFLAGS := -std=gnu11 -Wall -Wextra -Wno-missing-field-initializers -Werror -g -O1 \
	-fno-omit-frame-pointer -I. -Ikernel -Ikernel/include -Itests/unit
vpath test_%.c $(UNIT_DIRS)
sanitizers   = $(if $(filter %_tsan,$(1)),thread,address$(comma)undefined -fno-sanitize-recover=all)
comma       := ,

unit: $(UNIT_TESTS:%=build/unit/%.passed)
	@echo "unit: $(words $(UNIT_TESTS)) programs passed"

# The oracle of budgets about 10^5 random sets under either policy: some ten seconds.
.PHONY: unit-long
unit-long:
	@mkdir -p build/unit
	@$(CC) $(UNIT_CFLAGS) -O2 -DBUDGET_SETS=100000 -fsanitize=address,undefined \
		-fno-sanitize-recover=all -o build/unit/sched_long tests/unit/test_sched.c
	@build/unit/sched_long
	@echo "unit-long: passed"

build/unit/%: test_%.c
	@mkdir -p build/unit
	@$(CC) $(UNIT_CFLAGS) -fsanitize=$(call sanitizers,$*) -MMD -MP -MF $@.d -o $@ $< -lpthread -lm

build/unit/%.passed: build/unit/%
	@echo "unit: $*"
	@rm -f $@
	@timeout 300 $< > $@.log 2>&1 || { cat $@.log; echo "unit: $* failed" >&2; exit 1; }
	@touch $@

.PRECIOUS: build/unit/%
-include $(wildcard build/unit/*.d)

# A distribution's CPPFLAGS, CFLAGS and LDFLAGS count; warnings are errors for `make test` alone.
CFLAGS ?= -O2 -g
HOST_CFLAGS = -std=gnu11 -Wall -Wextra $(CPPFLAGS) $(CFLAGS)

# The arithmetic of `tactus analyze`: the kernel's own files, on the host.
ANALYSIS := build/host/tactus-analysis
analysis: $(ANALYSIS)
$(ANALYSIS): tools/analyze/analysis.c $(wildcard kernel/sched/*.[ch] kernel/policy/*.c \
		kernel/include/rt/*.h)
	@mkdir -p $(@D)
	@$(CC) $(HOST_CFLAGS) -Ikernel -Ikernel/include $(LDFLAGS) -o $@ $<

# The checker of `tactus tap`: the tap loop's own table of parameters and engine, on the host.
TAP_PARTS := $(addprefix examples/tap/kernel/,beats.c engine.c feedback.c midi.c params.c queue.c \
	random.c triggers.c)
TAPFILE   := build/host/tactus-tapfile
tapfile: $(TAPFILE)
$(TAPFILE): $(wildcard examples/tap/host/*.[ch] examples/tap/kernel/*.h) $(TAP_PARTS) \
		kernel/include/rt/pure.h
	@mkdir -p $(@D)
	@$(CC) $(HOST_CFLAGS) -Ikernel/include $(LDFLAGS) -o $@ \
		$(wildcard examples/tap/host/*.c) $(TAP_PARTS)

# The tap loop as a program in RT mode, for the bench: all of it in one file.
TAPUSER := build/host/tap
tapuser: $(TAPUSER)
$(TAPUSER): $(wildcard examples/tap/user/*.c examples/tap/host/*.[ch] examples/tap/kernel/*.h) \
		$(TAP_PARTS) $(wildcard userland/libtactus/*.c userland/libtactus/tactus/*.h)
	@mkdir -p $(@D)
	@$(CC) $(HOST_CFLAGS) -static -Ikernel/include -Iuserland/libtactus $(LDFLAGS) -o $@ \
		examples/tap/user/tap.c examples/tap/host/tapfile.c examples/tap/host/print.c \
		$(TAP_PARTS) userland/libtactus/rt.c

# What `tactus measure` runs.
MEASURE := build/host/tactus-measure
measure: $(MEASURE)
$(MEASURE): $(wildcard tools/measure/*.[ch] userland/libtactus/rt.c userland/libtactus/tactus/rt.h)
	@mkdir -p $(@D)
	@$(CC) $(HOST_CFLAGS) -Ikernel/include -Iuserland/libtactus $(LDFLAGS) -o $@ \
		$(filter %.c,$^)

# Any bytes into what reads bytes from outside; `make test` has the same in tests/fuzz/test_fuzz.py.
FUZZ_RUNS ?= 100000
fuzz: setup-test
	@tests/fuzz/run -r $(FUZZ_RUNS)

# Each kernel is built once, in some ten minutes; KUNIT=plain for the fast one alone.
KUNIT ?= plain debug kcsan

kunit: setup-test
	@failed=0; for kernel in $(KUNIT); do \
		tests/kunit/run --kernel $$kernel --together || failed=1; \
	done; exit $$failed

# The classic tables on Linux, PREEMPT_RT and Linux with Tactus: out/bench/report.html, and
# report-6.12.html. The check compares with the committed references; figures makes new ones from the
# last bench, and the kernels' pages.
BENCH_KERNELS := 6.1 6.12

bench: setup-test
	@for kernel in $(BENCH_KERNELS); do \
		tests/vm/measure/run systems --kernel $$kernel || exit 1; \
		tests/vm/measure/run backup --kernel $$kernel || exit 1; done

bench-check: setup-test
	@for kernel in $(BENCH_KERNELS); do \
		tests/vm/measure/run systems --kernel $$kernel --system tactus --check || exit 1; done

figures:
	@tests/vm/python -m measure.systems
	@tests/vm/python -m measure.pages

# The measurements of 10 virtual seconds each; `make demo` has the short ones.
bench-long: setup-test
	@tools/setup bench
	@tests/vm/measure/run all --long

clean:
	rm -rf build

# What `clean` removes and what the demo wrote. The kernels stay in their cache.
distclean: clean
	rm -rf out

help:
	@echo 'make demo             the main job, end to end, in QEMU; report in out/demo/'
	@echo 'make demo-cnc         LinuxCNC'"'"'s HAL draws a path through a parallel port; picture in out/cnc/'
	@echo 'make test             the tests; make test-quick leaves the slow ones out'
	@echo 'make test-packages    the Debian packages on a machine of their own: install, boot, upgrade, purge'
	@echo 'make test-long        what takes hours: long storms, more kernels, schedules'
	@echo 'make explore          races of two CPUs under many schedules (SEEDS=N)'
	@echo 'make twice            each guest with several CPUs in virtual time, twice: nothing may differ'
	@echo 'make test-matrix      every stock kernel: a table of what works on which'
	@echo 'make test-parallel    several CPUs at the same time, in the newest QEMU'
	@echo 'make test-platforms   machine models: a table of what works on which'
	@echo 'make                  the modules for KDIR (default: the running kernel), W=1 and C=1 as usual'
	@echo 'make install          the same as modules_install: into /lib/modules, or DESTDIR'
	@echo 'make uninstall        takes them away again'
	@echo 'make install-userland librtf, libtactus, the command tactus, manual pages, into PREFIX'
	@echo 'make uninstall-userland   takes those away again'
	@echo 'make deb              Debian packages, into out/deb'
	@echo 'make iso              a stick that a PC boots to try Tactus: out/tactus.iso'
	@echo 'make test-iso         boots it by a BIOS, by UEFI and as a CD'
	@echo 'make vm-modules       the modules for the bench'"'"'s kernel (KERNEL=6.1 FLAVOUR=cloud)'
	@echo 'make check            static checks: checkpatch, sparse, coccinelle, clang, ruff, mypy and more'
	@echo 'make docs             the site, with search: out/docs/index.html'
	@echo 'make unit             host unit tests under sanitizers; make unit-long: 10^5 sets of tasks'
	@echo 'make analysis         what `tactus analyze` computes with'
	@echo 'make tapfile          what `tactus tap` checks parameter files with'
	@echo 'make measure          what `tactus measure` runs'
	@echo 'make fuzz             random input to what reads MIDI and parameter files (FUZZ_RUNS=N)'
	@echo 'make kunit            KUnit suites in kernels of our own (KUNIT="plain debug kcsan")'
	@echo 'make bench            the classic tables on Linux, PREEMPT_RT and Tactus; report in out/bench/'
	@echo 'make bench-check      has a maximum of Tactus grown against the committed reference?'
	@echo 'make figures          a new reference from the last bench, and the tables of the pages'
	@echo 'make bench-long       the measurements of 10 virtual seconds each'
	@echo 'make clean, distclean what was built; also out/'
	@echo 'tests/vm/vm --help    the bench, for your own modules too'
