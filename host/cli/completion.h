#ifndef HOST_COMPLETION_H
#define HOST_COMPLETION_H
/* Completions for shells, from the tables that --help is made from. */
#include "cmd.h"

void completion_bash(const struct command *const *commands, int n, FILE *out);
void completion_zsh(const struct command *const *commands, int n, FILE *out);
#endif
