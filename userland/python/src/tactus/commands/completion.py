# SPDX-License-Identifier: GPL-2.0-only
"""Print the completion script of a shell, made from the commands' own parsers.

    tactus completion bash > /etc/bash_completion.d/tactus
    tactus completion zsh > "${fpath[1]}/_tactus"
    tactus completion fish > ~/.config/fish/completions/tactus.fish

Packages and `make install-userland` install all three.
"""
from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from tactus.errors import ToolError
from tactus.machine import Machine

HELP = "print the completion script of bash, zsh or fish"

# What a value may be, by the name that the help gives it; the shells look when it is wanted.
FIFOS = "FIFO"
POLICIES = "NAME"
FOLDERS = ("DIR",)
FIND_FIFOS = "ls /dev/rtf 2>/dev/null; ls -d /dev/rtf[0-9]* 2>/dev/null"
FIND_POLICIES = ("echo fixed_priority; ls /lib/modules/\"$(uname -r)\"/updates /lib/modules/\""
                 "$(uname -r)\"/updates/* 2>/dev/null |"
                 " sed -n 's/^tactus_\\([a-z0-9_]*\\)\\.ko.*/\\1/p' | grep -vx 'core\\|user'")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", nargs="?", choices=sorted(SCRIPTS),
                        help="which shell's script to print")
    parser.add_argument("--json", action="store_true",
                        help="the commands and their options as one JSON object, for other shells")


def subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """Name -> parser of each subcommand."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def summaries(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Name -> one line of help of each subcommand."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return {choice.dest: choice.help or "" for choice in action._choices_actions}
    return {}


def options(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The actions with an option string, help included."""
    yield from (action for action in parser._actions if action.option_strings)


def positional_words(parser: argparse.ArgumentParser) -> list[str]:
    """The choices of the first positional argument; empty: files."""
    for action in parser._actions:
        if not action.option_strings and action.choices:
            return [str(choice) for choice in action.choices]
    return []


def takes_fifo(parser: argparse.ArgumentParser) -> bool:
    return any(not action.option_strings and action.dest == "fifo" for action in parser._actions)


def first_line(text: str | None) -> str:
    """Help for a menu: one line, nothing that a shell would expand."""
    line = (text or "").replace("%%", "%").split("; ")[0].split("\n")[0]
    return line.replace("'", "").replace("[", "(").replace("]", ")").replace(":", " -")


def value_kind(action: argparse.Action) -> str:
    """How the value of an option is completed: none, words, folder, policy or file."""
    if action.nargs == 0:
        return "none"
    if action.choices:
        return "words"
    if action.metavar in FOLDERS:
        return "folder"
    if "--policy" in action.option_strings:
        return "policy"
    return "file"


def bash(parser: argparse.ArgumentParser) -> str:
    commands = subparsers(parser)
    lines = ["# bash completion for tactus(1); made by `tactus completion bash`", "_tactus()", "{",
             '\tlocal current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}"',
             "\tif ((COMP_CWORD == 1)); then",
             f'\t\tmapfile -t COMPREPLY < <(compgen -W "{" ".join(sorted(commands))} --version'
             ' --help" -- "$current")', "\t\treturn", "\tfi", '\tcase "${COMP_WORDS[1]}" in']
    for name, sub in sorted(commands.items()):
        words = " ".join(text for action in options(sub) for text in action.option_strings)
        lines += [f"\t{name})", '\t\tcase "$previous" in']
        for action in options(sub):
            kind = value_kind(action)
            if kind == "none":
                continue
            how = {"words": f'compgen -W "{" ".join(map(str, action.choices or ()))}"',
                   "folder": "compgen -d", "file": "compgen -f",
                   "policy": f"compgen -W \"$({FIND_POLICIES})\""}[kind]
            lines += [f"\t\t{'|'.join(action.option_strings)})",
                      f'\t\t\tmapfile -t COMPREPLY < <({how} -- "$current")', "\t\t\treturn ;;"]
        lines += ["\t\tesac", '\t\tif [[ $current == -* ]]; then',
                  f'\t\t\tmapfile -t COMPREPLY < <(compgen -W "{words}" -- "$current")']
        chosen = positional_words(sub)
        if chosen:
            how = f'compgen -W "{" ".join(chosen)}"'
        elif takes_fifo(sub):
            how = f'compgen -W "$({FIND_FIFOS})"'
        else:
            how = "compgen -f"
        lines += ["\t\telse", "\t\t\tcompopt -o filenames 2>/dev/null" if how == "compgen -f" else
                  "\t\t\t:", f'\t\t\tmapfile -t COMPREPLY < <({how} -- "$current")', "\t\tfi ;;"]
    return "\n".join([*lines, "\tesac", "}", "complete -F _tactus tactus", ""])


def zsh(parser: argparse.ArgumentParser) -> str:
    lines = ["#compdef tactus", "# zsh completion for tactus(1); made by `tactus completion zsh`",
             "_tactus_fifos() { compadd -- ${(f)\"$(" + FIND_FIFOS + ")\"} }",
             "_tactus_policies() { compadd -- ${(f)\"$(" + FIND_POLICIES + ")\"} }",
             "local -a commands", "commands=("]
    lines += [f"\t'{name}:{first_line(text)}'" for name, text in sorted(summaries(parser).items())]
    lines += [")", "if (( CURRENT == 2 )); then", "\t_describe command commands", "\treturn", "fi",
              'local command="$words[2]"', "shift words", "(( CURRENT-- ))", 'case "$command" in']
    for name, sub in sorted(subparsers(parser).items()):
        lines += [f"{name})", "\t_arguments \\"]
        for action in options(sub):
            kind = value_kind(action)
            what = {"none": "", "words": f":value:({' '.join(map(str, action.choices or ()))})",
                    "folder": ":folder:_files -/", "file": ":value:_files",
                    "policy": ":policy:_tactus_policies"}[kind]
            lines += [f"\t\t'{text}[{first_line(action.help)}]{what}' \\"
                      for text in action.option_strings]
        chosen = positional_words(sub)
        rest = f"({' '.join(chosen)})" if chosen else \
            "_tactus_fifos" if takes_fifo(sub) else "_files"
        lines += [f"\t\t'*:argument:{rest}' ;;"]
    return "\n".join([*lines, "esac", ""])


def fish(parser: argparse.ArgumentParser) -> str:
    lines = ["# fish completion for tactus(1); made by `tactus completion fish`"]
    for name, text in sorted(summaries(parser).items()):
        lines.append(f"complete -c tactus -f -n __fish_use_subcommand -a {name}"
                     f" -d '{first_line(text)}'")
    for name, sub in sorted(subparsers(parser).items()):
        when = f"-n '__fish_seen_subcommand_from {name}'"
        for action in options(sub):
            flags = " ".join(f"-l {text[2:]}" if text.startswith("--") else f"-s {text[1:]}"
                             for text in action.option_strings)
            kind = value_kind(action)
            what = {"none": "", "words": f" -x -a '{' '.join(map(str, action.choices or ()))}'",
                    "folder": " -x -a '(__fish_complete_directories)'", "file": " -r",
                    "policy": " -x"}[kind]
            lines.append(f"complete -c tactus {when} {flags}{what} -d '{first_line(action.help)}'")
        chosen = positional_words(sub)
        if chosen:
            lines.append(f"complete -c tactus -f {when} -a '{' '.join(chosen)}'")
        elif takes_fifo(sub):
            lines.append(f"complete -c tactus {when} -a '(ls /dev/rtf 2>/dev/null)'")
    return "\n".join([*lines, ""])


SCRIPTS = {"bash": bash, "zsh": zsh, "fish": fish}


def run(args: argparse.Namespace, machine: Machine) -> int:
    from tactus.cli import build_parser, find_commands

    if bool(args.shell) == args.json:
        raise ToolError(f"name one shell ({', '.join(sorted(SCRIPTS))}), or --json", 2)
    parser = build_parser(find_commands())
    if args.json:
        print(json.dumps({name: {"help": text, "options": [
            {"flags": list(action.option_strings), "help": first_line(action.help),
             "value": value_kind(action)} for action in options(subparsers(parser)[name])]}
            for name, text in sorted(summaries(parser).items())}, indent=2))
        return 0
    sys.stdout.write(SCRIPTS[args.shell](parser))
    return 0
