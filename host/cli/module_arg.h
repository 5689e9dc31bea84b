#ifndef CLI_MODULE_ARG_H
#define CLI_MODULE_ARG_H
/* The module and kernel that a command line means. */
#include "cmd.h"

/* The kernel of the file that --kernel names, or its only one: its name in *kernel, and its module. NULL after a
 * message on `say`. */
struct heddle_module *cli_module(const struct cli *c, struct heddle *h, const char *file, const char **kernel,
                                 FILE *say);
/* heddle_module_part() of a file that may be a pipe (input.h). */
struct heddle_module *cli_module_part(const struct cli *c, struct heddle *h, const char *file, int n);
#endif
