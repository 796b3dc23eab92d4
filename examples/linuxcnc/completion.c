// SPDX-License-Identifier: GPL-2.0-only
/* Without readline, halcmd completes no words: nothing for its option -C. */
#include <stddef.h>

char **halcmd_completer(const char *text, int start, int end, void *generate, char *line)
{
	return NULL;
}
