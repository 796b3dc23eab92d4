/* SPDX-License-Identifier: GPL-2.0-only */
/* The tap loop without its hardware, in one piece. */
#include "examples/tap/kernel/beats.c"
#include "examples/tap/kernel/engine.c"
#include "examples/tap/kernel/feedback.c"
#include "examples/tap/kernel/midi.c"
#include "examples/tap/kernel/params.c"
#include "examples/tap/kernel/queue.c"
#include "examples/tap/kernel/random.c"
#include "examples/tap/kernel/triggers.c"
