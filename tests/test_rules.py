# SPDX-License-Identifier: GPL-2.0-only
"""The rules of the architecture (docs/overview.md), checked over the sources.

Each rule is a function from {path: text} to a list of complaints, so that it can be
shown to see a breach planted in a tree of one file.
"""
from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[1]
Tree = dict[str, str]
# In two parts, so that no tool takes it for this file's own.
TAG = "SPDX-" "License-Identifier: "
Rule = Callable[[Tree], list[str]]

# Lower layers know nothing of higher ones. The longest matching prefix counts.
LAYERS = {
    "kernel/compat": 0, "kernel/include/uapi": 0, "kernel/include/rt": 0,
    "kernel/sched": 1, "kernel/pipeline": 1, "kernel/exec": 2, "kernel/policy": 3, "kernel": 3,
    "rtfifo": 4, "kernel/user": 5, "examples": 5,
    "kernel/include/rtl": 5, "kernel/include/rtai": 5, "skins": 5,
}
# What a layer shows to those above it; everything else in it is its own affair.
PIPELINE_FRONT = {"kernel/pipeline/pipeline.h", "kernel/pipeline/control.h",
                  "kernel/pipeline/ring3.h", "kernel/pipeline/shot.h",
                  "kernel/pipeline/x86/patch/symbols.h"}


def sources() -> Tree:
    found: Tree = {}
    for folder in ("kernel", "rtfifo", "skins", "examples", "userland"):
        for path in sorted((TOP / folder).rglob("*.[chS]")):
            below = path.relative_to(TOP)
            if "tests" not in below.parts and not path.name.endswith(".mod.c"):  # kbuild's
                found[str(below)] = path.read_text()
    return found


def code(text: str) -> str:
    """@text with its comments blanked, line by line as before."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]", " ", m[0]), text,
                  flags=re.DOTALL)


def includes(text: str) -> list[tuple[str, bool]]:
    """(name, quoted) of each include of @text."""
    found = re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)', code(text), re.MULTILINE)
    return [(name, mark == '"') for mark, name in found]


def resolve(path: str, name: str, quoted: bool, tree: Tree) -> str | None:
    """The file of the tree that an include means; None if it is not one of ours."""
    folders = [str(Path(path).parent)] if quoted else []
    for folder in (*folders, "kernel", "kernel/include", "."):
        target = str(Path(folder) / name)
        if target in tree:
            return target
    return None


def layer(path: str) -> int:
    prefixes = [prefix for prefix in LAYERS if path.startswith(prefix)]
    return LAYERS[max(prefixes, key=len)]


def arrows_point_down(tree: Tree) -> list[str]:
    complaints = []
    for path, text in tree.items():
        if path.startswith(("userland", "kernel/include/v05", "kernel/include/rtl",
                            "kernel/include/rtai")):
            continue
        for name, quoted in includes(text):
            target = resolve(path, name, quoted, tree)
            if target is None:
                continue
            if layer(target) > layer(path):
                complaints.append(f"{path} includes {target}, which is above it")
            inside = path.startswith("kernel/pipeline")
            if target.startswith("kernel/pipeline") and not inside \
                    and layer(path) > 1 and target not in PIPELINE_FRONT:
                complaints.append(f"{path} includes {target}, which is the pipeline's own")
    return complaints


DEFINITION = re.compile(
    r"^(?!static\b|typedef\b|#)[\w][\w \t*]*?\b(\w+)\([^;{}]*\)\s*\n\{", re.MULTILINE)


def calls_point_down(tree: Tree) -> list[str]:
    """No file calls a function that only higher layers define, whatever header declares it.

    A seam is the exception that says so: a layer's own header declares, in a comment with the
    word "seam", what the layer above must supply.
    """
    sources = {path: code(text) for path, text in tree.items()
               if path.endswith(".c") and path.startswith(("kernel/", "rtfifo/"))}
    defined: dict[str, list[str]] = {}
    for path, text in sources.items():
        for name in DEFINITION.findall(text):
            defined.setdefault(name, []).append(path)
    seams = {(layer(path), name) for path, text in tree.items() if path.endswith(".h")
             for part in re.findall(r"/\*[^/]*?\bseam\b.*?\*/(.*?)\n\n", text, re.DOTALL)
             for name in re.findall(r"\b(\w+)\(", part)}
    return [f"{path} calls {name}(), which {defined[name][0]} above it defines"
            for path, text in sources.items()
            for name in sorted(set(re.findall(r"\b(\w+)\s*\(", text)) & set(defined))
            if all(layer(target) > layer(path) for target in defined[name])
            and (layer(path), name) not in seams]


def examples_use_public_headers(tree: Tree) -> list[str]:
    complaints = []
    for path, text in tree.items():
        if not path.startswith("examples/"):
            continue
        for name, quoted in includes(text):
            near = os.path.normpath(Path(path).parent / name)
            if quoted and near in tree and near.startswith("examples/"):
                continue  # its own, or another example's
            # Of libc: parts that run on the host, and programs for user space.
            of_libc = not quoted and ("/" not in name or name.startswith("sys/"))
            public = ("linux/", "asm/", "sound/", "rt/", "uapi/tactus/", "tactus/rt.h")
            if not of_libc and not name.startswith(public):
                complaints.append(f"{path} includes {name}, which is not public")
    return complaints


def userland_uses_uapi_only(tree: Tree) -> list[str]:
    return [f"{path} includes {name}"
            for path, text in tree.items() if path.startswith("userland/")
            for name, quoted in includes(text)
            if name.startswith(("rt/", "kernel/", "pipeline/", "sched/"))
            or (resolve(path, name, quoted, tree) or path).startswith("kernel/")
            and not name.startswith("uapi/tactus/")]


def breaches(tree: Tree, pattern: str, allowed: tuple[str, ...]) -> list[str]:
    complaints = []
    for path, text in tree.items():
        if path.startswith(allowed):
            continue
        for number, line in enumerate(code(text).splitlines(), 1):
            if re.search(pattern, line):
                complaints.append(f"{path}:{number}: {line.strip()}")
    return complaints


def versions_in_compat_only(tree: Tree) -> list[str]:
    return breaches(tree, r"LINUX_VERSION_CODE|KERNEL_VERSION|linux/version\.h|UTS_RELEASE",
                    ("kernel/compat/",))


def interrupt_flag_in_pipeline_only(tree: Tree) -> list[str]:
    """The instructions themselves: in assembly files, and in the strings of asm()."""
    complaints = breaches(tree, r"\bnative_irq_(enable|disable)\b|\braw_local_irq_\w+",
                          ("kernel/pipeline/x86/", "kernel/pipeline/pipeline.h"))
    for path, text in tree.items():
        if path.startswith(("kernel/pipeline/x86/", "kernel/pipeline/pipeline.h")):
            continue
        plain = code(text)
        parts = [plain] if path.endswith(".S") else re.findall(
            r"\basm\b[\s\w]*\((.*?)\);", plain, re.DOTALL)
        complaints += [f"{path}: {part.strip()}" for part in parts
                       if re.search(r"\b(cli|sti)\b", part)]
    return complaints


def apic_in_pipeline_only(tree: Tree) -> list[str]:
    return breaches(tree, r"asm/apic\.h|\bapic_(read|write|eoi)\b|\bAPIC_[A-Z]+|asm/desc\.h|"
                    r"\bidt_\w+", ("kernel/pipeline/", "kernel/compat/"))


def every_file_names_its_licence(tree: Tree) -> list[str]:
    verbatim = "examples/appendix_b/appendix_b.c"  # the thesis's text, to the letter
    return [path for path, text in tree.items() if path != verbatim
            and not re.search(TAG + "(L?GPL-2.[01]-)", text.split("\n", 1)[0])]


def no_bug_and_no_stub(tree: Tree) -> list[str]:
    return breaches(tree, r"\bBUG(_ON)?\(", ()) + [
        f"{path}: {word}" for path, text in tree.items()
        for word in re.findall(r"\b(?:TODO|FIXME|XXX)\b(?!L)", text)]


def labels_of_errors_say_so(tree: Tree) -> list[str]:
    """What an error jumps to is err_x; out is what both ways share."""
    return breaches(tree, r"\bgoto (?!err_|out\b|out_|sleep\b)\w+;", ())


RULES: list[tuple[Rule, Tree]] = [  # a rule, and a tree that breaks it
    (arrows_point_down, {"kernel/sched/queue.c": '#include "exec/cpu.h"\n',
                         "kernel/exec/cpu.h": ""}),
    (arrows_point_down, {"rtfifo/main.c": '#include "pipeline/x86/resident/tactus_core.h"\n',
                         "kernel/pipeline/x86/resident/tactus_core.h": ""}),
    (calls_point_down, {"kernel/pipeline/x.c": "void f(void)\n{\n\trt_context();\n}\n",
                        "kernel/exec/y.c": "int rt_context(void)\n{\n}\n",
                        "kernel/include/rt/context.h": "int rt_context(void);\n"}),
    (examples_use_public_headers, {"examples/x/x.c": '#include "pipeline/pipeline.h"\n'}),
    (examples_use_public_headers, {"kernel/exec/task.h": "", "examples/x/x.c":
                                   '#include "../../kernel/exec/task.h"\n'}),
    (userland_uses_uapi_only, {"userland/librtf/rtf.c": "#include <rt/fifo.h>\n"}),
    (versions_in_compat_only, {"rtfifo/main.c": "#if LINUX_VERSION_CODE < 7\n"}),
    (interrupt_flag_in_pipeline_only, {"kernel/exec/t.c": 'asm volatile("pushf; cli");\n'}),
    (interrupt_flag_in_pipeline_only, {"kernel/exec/switch.S": "\tsti\n"}),
    (apic_in_pipeline_only, {"kernel/exec/lapic.c": "x = apic_read(APIC_TMCCT);\n"}),
    (every_file_names_its_licence, {"rtfifo/main.c": "int x;\n"}),
    (no_bug_and_no_stub, {"rtfifo/main.c": "BUG_ON(x);\n"}),
    (no_bug_and_no_stub, {"rtfifo/main.c": "/* TODO */\n"}),
    (labels_of_errors_say_so, {"rtfifo/main.c": "\tgoto free;\n"}),
]


def name_of(rule: object) -> str | None:
    return getattr(rule, "__name__", None)


@pytest.mark.parametrize("rule", list(dict.fromkeys(rule for rule, _ in RULES)), ids=name_of)
def test_the_tree_keeps_the_rule(rule: Rule) -> None:
    assert rule(sources()) == []


@pytest.mark.parametrize(("rule", "tree"), RULES, ids=name_of)
def test_the_rule_sees_a_breach(rule: Rule, tree: Tree) -> None:
    assert rule(tree), "a planted breach was not seen"


def test_a_comment_is_no_breach() -> None:
    tree = {"rtfifo/main.c": f"/* {TAG}GPL-2.0-only */\n// apic_read() and\n"
            '/* "cli" are the pipeline\'s\n * KERNEL_VERSION too */\n'}
    assert [rule(tree) for rule, _ in RULES if rule is not no_bug_and_no_stub] == [
        [] for rule, _ in RULES if rule is not no_bug_and_no_stub]


def test_nothing_that_is_built_is_kept() -> None:
    done = subprocess.run(["git", "ls-files", "--cached", "--ignored", "--exclude-standard"],
                          cwd=TOP, text=True, capture_output=True, check=True)
    assert done.stdout == ""
