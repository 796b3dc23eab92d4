# SPDX-License-Identifier: GPL-2.0
# bash completion for tactus(1): subcommands and options, asked of the tool itself.
_tactus()
{
	local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}"

	if [[ $previous == --dir ]]; then
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
	elif ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$(tactus --help |
			sed -n 's/^    \([a-z-]*\) .*/\1/p') --version --help" -- "$current")
	else
		mapfile -t COMPREPLY < <(compgen -W "$(tactus "${COMP_WORDS[1]}" --help 2>/dev/null |
			grep -o -- '--[a-z-]*' | sort -u)" -- "$current")
	fi
}
complete -F _tactus tactus
