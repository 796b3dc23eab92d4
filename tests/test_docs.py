# SPDX-License-Identifier: GPL-2.0-only
"""The documentation against the sources: error tables, links, the README's example."""
from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import state_rows

TOP = Path(__file__).resolve().parents[1]
PUBLIC = TOP / "kernel/include/rt"
Errors = dict[str, set[str]]

# Static inlines over Linux's own functions, and what a policy is given: no misuse to list.
NOT_LISTED = re.compile(r"rt_post|rt_rq_|rt_get_time|rt_ns_to|rt_ticks_to|rt_to_mono|rt_from_mono|"
                        r"rt_context|rt_task_self")


def kernel_docs() -> dict[str, str]:
    """Function -> its kernel-doc, for all functions of the public headers."""
    found: dict[str, str] = {}
    for header in sorted(PUBLIC.glob("*.h")):
        for match in re.finditer(r"/\*\*\n \* (\w+) - (.*?)\*/\n(?!struct)", header.read_text(),
                                 re.DOTALL):
            following = header.read_text()[match.end():].split(";", 1)[0]
            if re.search(rf"\b{match[1]}\(", following):
                found[match[1]] = match[2]
    return found


def errors_in(text: str) -> set[str]:
    return set(re.findall(r"-E[A-Z0-9]+", text))


def documented_in_headers() -> Errors:
    docs = kernel_docs()
    errors = {name: errors_in(text.partition("Return:")[2]) for name, text in docs.items()}
    # "Return: as rtf_create_for(), ..."
    for name, text in docs.items():
        if other := re.search(r"Return: as (\w+)\(\)", text):
            errors[name] = errors[other[1]]
    return {name: found for name, found in errors.items() if not NOT_LISTED.match(name)}


def documented_in_table(page: str) -> Errors:
    section = page.split("## What each misuse returns", 1)[1].split("\n## ", 1)[0]
    errors: Errors = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        for name in re.findall(r"`(\w+)`", cells[0]):
            errors.setdefault(name, set()).update(errors_in(cells[-1]))
    return errors


def test_the_table_and_the_headers_name_the_same_errors() -> None:
    assert documented_in_table((TOP / "docs/api.md").read_text()) == documented_in_headers()


def test_a_lost_error_would_be_seen() -> None:
    page = (TOP / "docs/api.md").read_text()
    without = re.sub(r"\| `rtf_resize` \|[^\n]*-ENOSPC \|\n", "", page)
    assert without != page
    assert documented_in_table(without) != documented_in_headers()


@pytest.mark.parametrize("name", sorted(kernel_docs()))
def test_every_public_function_says_its_context(name: str) -> None:
    assert "Context:" in kernel_docs()[name]


def test_every_public_function_is_documented() -> None:
    declared = set()
    for header in PUBLIC.glob("*.h"):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)
        declared |= set(re.findall(r"^[\w *]*?\b(\w+)\([^;{}]*\)(?:;|\n\{)", text, re.MULTILINE))
    macros = {"rt_sched_module", "module_init", "module_exit"}
    declared = {name for name in declared - macros if not name.startswith("__")}  # attributes
    assert declared - set(kernel_docs()) == set()


@pytest.mark.parametrize("page", sorted(
    str(path.relative_to(TOP)) for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md")
    for path in TOP.glob(pattern)))
def test_links_lead_somewhere(page: str) -> None:
    path = TOP / page
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text()):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), f"{page} links to {target}"


def readme_example() -> str:
    match = re.search(r"```c\n(.*?)```", (TOP / "README.md").read_text(), re.DOTALL)
    assert match
    return match[1]


def test_the_readme_example_builds(tmp_path: Path) -> None:
    (tmp_path / "beat.c").write_text(readme_example())
    (tmp_path / "Kbuild").write_text("obj-m := beat.o\n")
    done = subprocess.run([TOP / "tests/vm/vm", "build", tmp_path], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    assert "warning" not in done.stdout
    assert (tmp_path / "beat.ko").exists()


def beats(command: str, folder: Path) -> list[int]:
    """What README's command prints, its folder ~/beat being @folder."""
    done = subprocess.run(["sh", "-c", command.replace("$HOME/beat", str(folder))], cwd=TOP,
                          text=True, capture_output=True, check=True)
    return [int(line) for line in done.stdout.split()]


def test_the_readme_example_keeps_time(tmp_path: Path) -> None:
    """The block is run as it stands; its nanoseconds are those printed, to a microsecond."""
    (tmp_path / "beat.c").write_text(readme_example())
    (tmp_path / "Kbuild").write_text("obj-m := beat.o\n")
    subprocess.run([TOP / "tests/vm/vm", "build", tmp_path], check=True, stdout=subprocess.DEVNULL)
    page = (TOP / "README.md").read_text()
    command = re.search(r"^    (tests/vm/vm run .*\n(?: {8}.*\n)*)", page, re.MULTILINE)
    shown = re.search(r"nanoseconds between beats:\n\n((?:    \d+\n)+)", page)
    assert command and shown
    expected = [int(line) for line in shown[1].split()]
    found = beats(command[1], tmp_path)
    assert len(found) == len(expected) == 9
    assert all(abs(a - b) < 1000 for a, b in zip(found, expected, strict=True)), found
    # Without virtual time the same command shows the host's: the flags matter.
    assert "--icount --busy" in command[1]


def test_the_states_tests_go_by_are_those_of_the_page() -> None:
    made = state_rows.header((TOP / "docs/pipeline.md").read_text())
    assert made == (TOP / "tests/unit/state_rows.h").read_text(), \
        "run tests/unit/state_rows.py > tests/unit/state_rows.h"


def test_a_changed_state_would_be_seen() -> None:
    page = (TOP / "docs/pipeline.md").read_text()
    changed = page.replace("| kernel | yes | is logged |", "| kernel | yes | runs now |")
    assert changed != page
    assert state_rows.header(changed) != state_rows.header(page)


def test_the_tap_language_is_that_of_the_loop() -> None:
    subprocess.run(["make", "-s", "-C", TOP, "tapfile"], check=True)
    done = subprocess.run([TOP / "build/host/tactus-tapfile", "--reference"], text=True,
                          capture_output=True, check=True)
    page = (TOP / "docs/tap-language.md").read_text()
    section = page.split("## All parameters\n", 1)[1].split("\n## ", 1)[0]
    assert "###" + section.split("###", 1)[1] == done.stdout, \
        "put what build/host/tactus-tapfile --reference prints there"


def test_the_example_of_the_tap_language_is_right(tmp_path: Path) -> None:
    page = (TOP / "docs/tap-language.md").read_text()
    section = page.split("## Example\n", 1)[1].split("\n## ", 1)[0]
    example = tmp_path / "example.ftap"
    example.write_text("".join(re.findall(r"^    (.*\n)", section, re.MULTILINE)))
    subprocess.run(["make", "-s", "-C", TOP, "tapfile"], check=True)
    done = subprocess.run([TOP / "build/host/tactus-tapfile", example], text=True,
                          capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "END_EXP" in example.read_text()


def functions_asked_for(page: str) -> list[tuple[str, str, str]]:
    """(folder, file, function) of each row of docs/finding.md."""
    return re.findall(r"\| `([\w/]+)` \| `(\w+\.\w+):(\w+)` \|$", page, re.M)


def missing_functions(page: str) -> list[str]:
    """Those that their file does not define."""
    return [f"{folder}/{file}:{name}" for folder, file, name in functions_asked_for(page)
            if not (TOP / folder / file).is_file()
            or not re.search(rf"^[a-z][^;]*\b{name}\([^;]*?\)\n\{{",
                             (TOP / folder / file).read_text(), re.M)]


def test_the_ten_ways_lead_somewhere() -> None:
    page = (TOP / "docs/finding.md").read_text()
    assert len(functions_asked_for(page)) == 10
    assert missing_functions(page) == []
    assert missing_functions(page.replace("rtside.c:rtf_kick", "rtside.c:rtf_kicks"))
