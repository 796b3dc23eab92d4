# SPDX-License-Identifier: GPL-2.0-only
"""Mutants: the product with one thing broken, for the negative controls of tests.

The product has no switch to break it by. A mutant is a copy of its sources with an edit, built
and run like the product; an edit that no longer applies fails the test.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import TOP, VM

# A text's slots are written in two passes of half a word each, with some time between them, as
# if stores of one CPU could be seen in parts by another; no emulator at hand shows that by itself.
HALF_WRITTEN = {
    "\t/* One store: an NMI on this CPU sees a slot as it was or as it will be. */\n":
    "\tfor (u64 half = ~0U; half; half = half == ~0U ? ~half : 0) {\n",
    "\t\t\t*(volatile u64 *)(alias + slot->addr) ^= slot->old ^ slot->new;\n":
    "\t\t\t*(volatile u64 *)(alias + slot->addr) ^= (slot->old ^ slot->new) & half;\n"
    "\tfor (int turn = 0; turn < 1000; turn++)\n\t\tcpu_relax();\n\t}\n",
}

# What each control leaves out of the product or does wrong: texts that are replaced.
EDITS: dict[str, dict[str, str]] = {
    # Devices' interrupts that find Linux stalled are forgotten.
    "no_replay": {
        "\tack_arrival(cpu, vector);\n\tpl_log(vector);\n":
        "\tack_arrival(cpu, vector);\n"
        "\tif (!pl_may_run(user_mode(regs), !pl_vif(), cpu->oob) &&\n"
        "\t    vector < FIRST_SYSTEM_VECTOR)\n"
        "\t\treturn;\n"
        "\tpl_log(vector);\n",
    },
    # What waits at the switch-off stays where it is.
    "no_hand_over": {
        "\t\tpl_leave_cpu(NULL);\n\t\tpl_hand_over();\n": "\t\tpl_leave_cpu(NULL);\n",
    },
    # An NMI leaves Linux unstalled, whatever it interrupted.
    "nmi_unstalls": {
        "\t__this_cpu_dec(pl_cpu.nmi_depth);\n\tpl_set_vif(vif);\n":
        "\t__this_cpu_dec(pl_cpu.nmi_depth);\n\tpl_set_vif(PL_VIF);\n\t(void)vif;\n",
    },
    "half_written": HALF_WRITTEN,
    # The other CPUs do not wait in an NMI while slots are written.
    "half_written_no_gate": HALF_WRITTEN | {
        "\tif (!pl_nmi_gate_close())\n\t\treturn -EIO;\n": "",
    },
    # A CPU can come between the last look at the CPUs' timers and the switch-off.
    "slow_off": {
        "/* ---- install, remove ---- */\n": "#include <linux/delay.h>\n",
        "\terr = pl_switch_over(false);\n": "\tmsleep(3000);\n\terr = pl_switch_over(false);\n",
    },
    # The highest vectors are used up, as in KVM guests of today.
    "class_e": {"if (vector > LOCAL_TIMER_VECTOR) {\n":
                "if (vector > LOCAL_TIMER_VECTOR && vector < 0xf0) {\n"},
    # The kernel is said to have been built in another way.
    "config_cfi": {"#define CLOCK_WAIT_MS 5000\n":
                   "#undef CONFIG_CFI\n#define CONFIG_CFI 1\n#define CLOCK_WAIT_MS 5000\n"},
    "config_kvm": {"#define CLOCK_WAIT_MS 5000\n":
                   "#undef CONFIG_KVM\n#define CONFIG_KVM 1\n#define CLOCK_WAIT_MS 5000\n"},
    # Six races, all in one build, as each takes a while: "planted" says which is there.
    "races": {
        "module_param(mode, charp, 0444);":
        "int tactus_planted;\nmodule_param_named(planted, tactus_planted, int, 0644);\n"
        "module_param(mode, charp, 0444);",
        "struct hardlock {\n":
        "extern int tactus_planted;\n\nstruct hardlock {\n",
        # 1: a cancel does not wait for the function that runs.
        "\t\tfiring = rt_timer_is_firing(timer);\n\t\thardunlock(&cpu->lock);\n":
        "\t\tfiring = rt_timer_is_firing(timer);\n\t\thardunlock(&cpu->lock);\n"
        "\t\tif (tactus_planted == 1)\n\t\t\tfiring = false;\n",
        # 2: a task's stack is freed while its CPU is still on it: as if on_cpu had no barriers. Its
        # pages are somebody else's at once, and the CPU takes a while to leave it.
        "\twhile (smp_load_acquire(&task->frame.on_cpu))\n":
        "\twhile (tactus_planted != 2 && smp_load_acquire(&task->frame.on_cpu))\n",
        "\tvfree(task->stack);\n\ttask->stack = NULL;\n":
        "\tif (tactus_planted == 2)\n\t\tmemset(task->stack, 0, task->stack_bytes);\n"
        "\tvfree(task->stack);\n\ttask->stack = NULL;\n",
        "static __always_inline struct rt_frame *frame_of(":
        "extern int tactus_planted;\n\n"
        "static noinline void linger(void)\n{\n\tcpu_relax();\n}\n\n"
        "static __always_inline struct rt_frame *frame_of(",
        "\t/* Back to Linux's for a task":
        "\tif (tactus_planted == 2 && prev)\n\t\tlinger();\n"
        "\t/* Back to Linux's for a task",
        # 3: a call on a task of one's own CPU looks whether it is alive, and a while later it has
        # the lock.
        "static __always_inline bool rt_call_lock(":
        "extern int tactus_planted;\n\nstatic __always_inline bool rt_call_lock(",
        "\thardlock(&cpu->lock);\n\t/* A task changes CPU under both locks. */\n":
        "\tbool alive = READ_ONCE(task->state) != CORE_DEAD;\n\n"
        "\tif (tactus_planted == 3)\n\t\tcpu_relax();\n"
        "\thardlock(&cpu->lock);\n\t/* A task changes CPU under both locks. */\n",
        "task->cpu == cpu->rq.cpu && task->state != CORE_DEAD))":
        "task->cpu == cpu->rq.cpu &&\n"
        "\t\t   (tactus_planted == 3 ? alive : task->state != CORE_DEAD)))",
        # 5: hosted, two CPUs that find a third one's call_single_data free use it at once; Linux's
        # own look and use, with a while between them.
        "\tif (xchg(&target->sent, 1))\n":
        "\tif (tactus_planted == 5) {\n"
        "\t\tbool used = READ_ONCE(target->ipi.node.u_flags) & CSD_FLAG_LOCK;\n\n"
        "\t\tcpu_relax();\n\t\tif (used)\n\t\t\treturn;\n"
        "\t\tWRITE_ONCE(target->ipi.node.u_flags, 0);\n"
        "\t} else if (xchg(&target->sent, 1))\n",
        "#define RESOLUTION_POLL_MS 50\n":
        "#define RESOLUTION_POLL_MS 50\nextern int tactus_planted;\n",
        # 6: a timer's function is said to run after the lock is given up, and a while later: as if
        # without a barrier.
        "\tWRITE_ONCE(cpu->firing, timer);\n\thardunlock(&cpu->lock);\n":
        "\tif (tactus_planted != 6)\n\t\tWRITE_ONCE(cpu->firing, timer);\n"
        "\thardunlock(&cpu->lock);\n"
        "\tif (tactus_planted == 6) {\n\t\tcpu_relax();\n"
        "\t\tWRITE_ONCE(cpu->firing, timer);\n\t}\n",
        # 4: a post of a semaphore takes no lock.
        "\thardlock(&sync_lock);\n\tcall->error = is_object":
        "\tbool locks = tactus_planted != 4;\n\n\tif (locks)\n\t\thardlock(&sync_lock);\n"
        "\tcall->error = is_object",
        "\t\tcall->caller->wait_result = call->error;\n\thardunlock(&sync_lock);\n":
        "\t\tcall->caller->wait_result = call->error;\n"
        "\tif (locks)\n\t\thardunlock(&sync_lock);\n",
    },
    # KVM's modules get a soft cli like all others.
    "soft_kvm": {'\treturn mod && strstarts(mod->name, "kvm");': "\treturn false;"},
    # Linux does not find logged interrupts in the APIC.
    "log_hidden": {
        "\tif (pl_core.active && reg - APIC_IRR <": "\tif (!pl_core.active && reg - APIC_IRR <",
    },
    # Exceptions of RT code in ring 3 are taken for those of RT code in the kernel.
    "ring3_is_kernel": {
            "\tif (unlikely(plan.task)) {\n": "\tif (plan.task && !pl_core.active) {\n"},
    # Linux's entry code puts ring 3's registers on the interrupted thread's stack.
    "linux_stack_in_ring3": {
        "\t\tthis_cpu_write(*(unsigned long __percpu *)top_of_stack, value);\n": "",
    },
    # After sysenter in RT mode the thread goes on with the flags that the CPU left; Linux's own
    # sysenter gets to the function of another way; selectors stay as RT code left them.
    "careless_32": {
        "\tregs->flags |= X86_EFLAGS_IF;\n\tregs->ip = 0;\n": "\tregs->ip = 0;\n",
        "pl_kcall_bind_jump(stub, callees[gate].at);":
        "pl_kcall_bind_jump(stub, callees[gate == PL_SYS_SYSENTER ? PL_SYS_FAST32 : gate].at);",
        "\tring3_restore_selectors(cpu);\n": "",
    },
    # A table of the kernel's that RT mode's page tables let ring 3 read.
    "kernel_in_ring3": {
        "/* A CPU may be using them: entries come,":
        "/* Tables of our own on the way to the kernel's page, huge ones in small pieces. */\n"
        "static void expose(struct shadow *s, unsigned long addr)\n{\n"
        "\tu64 *table = s->pgd;\n\n"
        "\tfor (int level = levels() - 1; level; level--) {\n"
        "\t\tu64 *entry = &table[addr >> shift_of(level) & 511], was = *entry;\n\n"
        "\t\ttable = new_table(s);\n"
        "\t\tif (!(was & _PAGE_PSE))\n"
        "\t\t\tmemcpy(table, below(was), PAGE_SIZE);\n"
        "\t\tfor (u64 i = 0; was & _PAGE_PSE && i < 512; i++)\n"
        "\t\t\ttable[i] = (level > 1 ? was : was & ~(u64)_PAGE_PSE) +\n"
        "\t\t\t\t   (i << shift_of(level - 1));\n"
        "\t\t*entry = __sme_pa(table) | _PAGE_TABLE;\n"
        "\t}\n"
        "\ttable[addr >> PAGE_SHIFT & 511] |= _PAGE_USER;\n}\n\n"
        "/* A CPU may be using them: entries come,",
        "\t\t\tWRITE_ONCE(s->pgd[512 + i], READ_ONCE(theirs[512 + i]));\n\t}\n":
        "\t\t\tWRITE_ONCE(s->pgd[512 + i], READ_ONCE(theirs[512 + i]));\n\t}\n"
        "\texpose(s, (unsigned long)_ctype);\n",
        '#include "compat/pages.h"\n#include "user.h"\n\n#define USER_ENTRIES':
        '#include <linux/ctype.h>\n#include "compat/pages.h"\n#include "user.h"\n\n'
        "#define USER_ENTRIES",
    },
    # RT mode has the process's own page tables: whatever Linux does with them is RT code's matter.
    "direct_tables": {"cr3 = __sme_pa(t->shadow->pgd);": "cr3 = __sme_pa(current->mm->pgd);"},
    # RT code in ring 3 has what the process that it interrupts may and may not do.
    "careless": {
        "\tring3_write(RING3_IO, m->io_none);\n\tif (cpu->dr7)\n": "\tif (0)\n",
        "\tif (cpu->cr4 & (RING3_CR4_TSD | RING3_CR4_PCE))\n"
        "\t\tring3_write(RING3_CR4, cpu->cr4 & ~(RING3_CR4_TSD | RING3_CR4_PCE));\n": "",
    },
    # Pages stay pinned when nobody uses them any more.
    "shadow_leaks": {
        "\tports_give(t);\n\tshadow_put(t->shadow);\n\ttell(": "\tports_give(t);\n\ttell("},
    # Pages are entered that were thrown away since they were pinned.
    "fill_deaf": {"\t\tc->hit = true;\n": "\t\tc->hit = false;\n"},
    # A thread that is back in Linux leaves its task behind.
    "tasks_stay": {"\trt_task_delete(&t->task);\n\tshare_give(t);\n": "\tshare_give(t);\n"},
    # RT calls reach the kernel's memory by addresses that are not the program's.
    "calls_reach_kernel": {
        "\tif (addr >= TASK_SIZE_MAX)\n\t\treturn NULL;\n\tentry = *find(":
        "\tif (addr >= TASK_SIZE_MAX)\n\t\treturn (void *)addr;\n\tentry = *find(",
    },
    # A process may pin a page more than RLIMIT_MEMLOCK says.
    "a_page_more": {"<= limit || capable(CAP_IPC_LOCK)": "<= limit + 1 || capable(CAP_IPC_LOCK)"},
    # RT calls take a page of 2 MiB for its first 4 KiB; pages that only begin as one are one.
    "huge_offset": {"(addr & (BIT(shift_of(level)) - 1))": "offset_in_page(addr)"},
    "huge_at_once": {"\tfor (long i = 1; i < count; i++)\n\t\tif (page_to_pfn(pages[i])":
                     "\tfor (long i = 1; i < 2; i++)\n\t\tif (page_to_pfn(pages[i])"},
    # Pages stay in RT mode's tables when the process's memory is other memory.
    "shadow_stays": {
        "\t\tp->shadow->stale = true;\n": "",
        "\t\t\tif (t->shadow == p->shadow)\n": "\t\t\tif (t->shadow != p->shadow)\n",
    },
    # Who goes to RT mode does not wait for those who still have the memory of before.
    "pins_not_awaited": {"\tif (err != -EAGAIN || !stale_ones)\n": "\tif (err || !stale_ones)\n"},
    # A change of memory does not wait until RT code has stopped.
    "late_recall": {"\trecall_now(t);\n\tcomplete(&t->done);\n": "\tcomplete(&t->done);\n"},
    # A switch between two of the kernel's tasks does what only one to or from a program has to.
    "ring3_always": {"\tif (unlikely((prev && prev->ring3) || (next && next->ring3)))\n": ""},
    # The timer is set too soon; and nobody waits for the rest.
    "too_much_gravity": {"\trt_exec_set_gravity(of_all);\n":
                         "\tof_all.timer += 1000;\n\tof_all.job += 1000;\n"
                         "\trt_exec_set_gravity(of_all);\n"},
    "nobody_waits": {"\trt_exec_set_gravity(of_all);\n":
                     "\tof_all.timer += 1000;\n\tof_all.job += 1000;\n"
                     "\trt_exec_set_gravity(of_all);\n",
                     "unlikely(late < 0 && late > -RT_GRAVITY_MOST_NS)": "0"},
    # The page that an RT call was at last is still there the next time in RT mode; or is written
    # to since it was read.
    "view_stays": {"\tt->view = (struct view) {};\n": ""},
    "view_written": {" &&\n\t\t   t->view.write >= write": ""},
    # A CPU that goes takes what it has logged along, and Linux does not find it in the APIC.
    "no_cpu_dies": {
        "\t\tpl_core.hooks->cpu_dies();\n": "",
        "\tif (pl_core.active && reg - APIC_IRR <": "\tif (!pl_core.active && reg - APIC_IRR <",
    },
}


def sources(top: Path) -> dict[Path, str]:
    """The files that mutants are made of."""
    return {path: path.read_text(encoding="utf-8")
            for path in sorted((top / "kernel").rglob("*.[ch]"))}


def edit(text: Mapping[Path, str], old: str, new: str) -> tuple[Path, str]:
    """The one file that holds `old`, once, and its text with `new` instead."""
    places = [path for path, body in text.items() for _ in range(body.count(old))]
    if len(places) != 1:
        raise AssertionError(f"{old!r} is in the sources {len(places)} times, not once")
    return places[0], text[places[0]].replace(old, new)


def _build(folder: Path, kbuild: str, name: str, kernel: tuple[str, str],
           make: Sequence[str] = ()) -> dict[str, Path]:
    shutil.copytree(TOP / "kernel", folder / "kernel")
    (folder / "Kbuild").write_text(kbuild, encoding="utf-8")
    for old, new in (EDITS[name] if name else {}).items():
        path, text = edit(sources(folder), old, new)
        path.write_text(text, encoding="utf-8")
    words = [f"--make={word}" for word in make]
    done = subprocess.run([VM, "build", "--kernel", kernel[0], "--flavour", kernel[1], *words,
                           "--alone", "--json", folder], stdout=subprocess.PIPE, check=True)
    return {Path(path).stem: path for path in json.loads(done.stdout)["modules"]}


def build(folder: Path, name: str, kernel: tuple[str, str] = ("6.1", "cloud"),
          make: Sequence[str] = ()) -> str:
    """Builds tactus_core and tactus with the edits of that name, or with none, and such words for
    make; for `with_modules=`."""
    kbuild = (TOP / "Kbuild").read_text(encoding="utf-8").partition("# Scheduling policies.")[0]
    modules = _build(folder, kbuild, name, kernel, make)
    return f"{modules['tactus_core']} {modules['tactus']}"


def build_one(folder: Path, module: str, name: str,
              kernel: tuple[str, str] = ("6.1", "cloud")) -> Path:
    """Builds another module of the tree, alone, with the edits of that name."""
    flags, _, rest = (TOP / "Kbuild").read_text(encoding="utf-8").partition(
        "# The resident half of the pipeline.")
    own = [part for part in rest.split("\n\n") if f"{module}.o" in part]
    return _build(folder, "\n".join([flags, *own]), name, kernel)[module]
