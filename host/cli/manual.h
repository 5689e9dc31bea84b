#ifndef HOST_MANUAL_H
#define HOST_MANUAL_H
/* Manual pages and completions for shells, from the tables that --help is made from. */
#include "cmd.h"

/* heddle(1) when `command` is NULL, else heddle-COMMAND(1). */
void manual_page(const struct command *const *commands, int n, const struct command *command, FILE *out);
void manual_bash(const struct command *const *commands, int n, FILE *out);
void manual_zsh(const struct command *const *commands, int n, FILE *out);
#endif
