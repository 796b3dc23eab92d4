# SPDX-License-Identifier: GPL-2.0-only
"""Plain English: turns of phrase that no page, comment or message may have, and long sentences."""
from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]

# What stands there, and what to write instead.
BANNED = {
    r"\bhow many it were\b": "returns the number",
    r"\b(is|are|was|were) told of\b": "is reported, gets",
    r"\brather not\b": "say what is done instead",
    r"\bwhat there is\b": "name it",
    r"\b(he|him|his|himself)\b": "it, they",
    r"\bWho (does|is|waits|reads|has|plays|sleeps|gets|wants|asks|looks|uses|comes|calls|holds|"
    r"frees|wakes|runs)\b(?![^\n]*\?)": "a noun: a reader, the caller",
    r"\bNobody has\b": "passive voice is fine here: was not ...",
    r"\bso many (bytes|seconds|times|schedules|reads)\b": "that many",
}
SOURCES = ("*.c", "*.h", "*.S", "*.py", "*.md", "*.[1-8]", "tests/vm/vm", "Makefile")
# The thesis's text to the letter, its speech, and this list.
LEFT_OUT = ("examples/appendix_b/", "tests/rules/")

MOST_WORDS = 35


def files() -> list[str]:
    done = subprocess.run(["git", "ls-files", *SOURCES], cwd=TOP, text=True, capture_output=True,
                          check=True)
    return [name for name in done.stdout.split()
            if not name.startswith(LEFT_OUT) and (TOP / name).is_file()]


def banned(text: str) -> list[str]:
    """Each banned turn of phrase in @text, with what to write instead."""
    return [f"line {text.count(chr(10), 0, match.start()) + 1}: {match[0]!r}: {instead}"
            for pattern, instead in BANNED.items() for match in re.finditer(pattern, text)]


def paragraphs(page: str) -> list[str]:
    """The prose of a Markdown page: no code, no tables, no headings, nothing generated."""
    found, lines = [], []
    prose = re.sub(r"```.*?```|<!-- figures: .*?<!-- end -->", "", page, flags=re.DOTALL)
    for line in [*prose.split("\n"), ""]:
        begins = re.match(r"\s*([-*]|\d+\.) ", line)
        if lines and (begins or not line.strip() or line.startswith(("    ", "|", "#"))):
            found.append(" ".join(lines))
            lines = []
        if line.strip() and not line.startswith(("    ", "|", "#", "\t")):
            lines.append(line.strip())
    return found


def long_sentences(page: str) -> list[str]:
    sentences = [sentence for paragraph in paragraphs(page)
                 for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`*\[])", paragraph)]
    return [sentence for sentence in sentences
            if len(re.sub(r"\]\([^)]*\)", "]", sentence).split()) > MOST_WORDS]


def test_no_banned_phrase() -> None:
    found = [f"{name}: {text}" for name in files()
             for text in banned((TOP / name).read_text(errors="replace"))]
    assert found == []


@pytest.mark.parametrize("text", [
    "Copies; how many it were.", "The reader is told of it.", "then rather not",
    "gets what there is", "as he likes", "Who waits is served.", "Nobody has tried it.",
    "after so many seconds"])
def test_a_banned_phrase_is_seen(text: str) -> None:
    assert banned(text)


def test_sentences_are_short() -> None:
    found = {name: long for name in files() if name.endswith(".md")
             if (long := long_sentences((TOP / name).read_text()))}
    assert not found


def test_a_long_sentence_is_seen() -> None:
    page = "Short.\n\n" + "word " * 36 + "end. " + "One more.\n"
    assert len(long_sentences(page)) == 1
    assert long_sentences("    " + "code " * 40) == []
