# SPDX-License-Identifier: GPL-2.0-only
# What rtl.mk and rtai.mk have in common; `vm build` uses it by its own words for make.
#
# Files that name float or double are compiled with floating point, and with stacks that Linux
# aligns to 8 bytes only. What has no floating point in it is kept off those registers: init code
# and handlers run on the registers of a process.

OLD_FP := $(shell cd $(src) && grep -lwE 'float|double' *.c 2>/dev/null)
OLD_FP_FLAGS := -mhard-float -msse -msse2 -mpreferred-stack-boundary=4 -mincoming-stack-boundary=3 \
	-fno-tree-vectorize -fno-tree-slp-vectorize \
	-mtune-ctrl=^sse_unaligned_load_optimal,^sse_unaligned_store_optimal
$(foreach file,$(OLD_FP:.c=),$(eval CFLAGS_$(file).o += $(OLD_FP_FLAGS))$(eval \
	CFLAGS_REMOVE_$(file).o += $(CC_FLAGS_NO_FPU) -mno-sse -mno-sse2 -msoft-float))

OLD_FLAGS := -fsigned-char -fno-ipa-reference-addressable -Wno-missing-prototypes \
	-Wno-missing-declarations -Wno-strict-prototypes -Wno-unused-function -Wno-old-style-definition \
	-Wno-unused-variable -Wno-declaration-after-statement -Wno-error=implicit-int \
	-Wno-implicit-fallthrough -Wno-error=return-type -Wno-return-type -Wno-return-mismatch
