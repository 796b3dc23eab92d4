/* SPDX-License-Identifier: GPL-2.0 */
/* The tap loop without its hardware, in one piece. */
#include "examples/tap/beats.c"
#include "examples/tap/engine.c"
#include "examples/tap/feedback.c"
#include "examples/tap/midi.c"
#include "examples/tap/params.c"
#include "examples/tap/queue.c"
#include "examples/tap/random.c"
#include "examples/tap/triggers.c"
