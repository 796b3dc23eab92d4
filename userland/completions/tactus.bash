# SPDX-License-Identifier: GPL-2.0
# bash completion for tactus(1): subcommands and options, asked of the tool itself.
_tactus()
{
	local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}"

	if [[ $previous == --dir || $previous == --out ]]; then
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
	elif [[ ${COMP_WORDS[1]} == tap && $COMP_CWORD -gt 1 && $current != -* ]]; then
		mapfile -t COMPREPLY < <(compgen -f -X '!*.@(ftap|records)' -- "$current"
			compgen -d -- "$current")
	elif [[ ${COMP_WORDS[1]} == play && $COMP_CWORD -gt 1 && $current != -* ]]; then
		if [[ $previous == --mode ]]; then
			mapfile -t COMPREPLY < <(compgen -W "auto slope sigma pwm" -- "$current")
		else
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -f -- "$current")
		fi
	elif ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$(tactus --help |
			sed -n 's/^    \([a-z-]*\) .*/\1/p') --version --help" -- "$current")
	else
		mapfile -t COMPREPLY < <(compgen -W "$(tactus "${COMP_WORDS[1]}" --help 2>/dev/null |
			grep -o -- '--[a-z-]*' | sort -u)" -- "$current")
	fi
}
complete -F _tactus tactus
