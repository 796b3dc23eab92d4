/* SPDX-License-Identifier: GPL-2.0-only */
/* RTLinux's tracer: its calls do nothing. `tactus trace` needs none. */
#ifndef _RTL_TRACER_H
#define _RTL_TRACER_H

#include <rtl_compat.h>

#define RTL_TRACE_USER 256
#define RTL_TRACE_FINALIZE 9
#define rtl_trace(event) ((void)(event))
#define rtl_trace2(event, value) ((void)(event), (void)(value))

#endif
