#ifndef CLI_MODULE_ARG_H
#define CLI_MODULE_ARG_H
/* Finds the module and the kernel that a command line names. */
#include "cmd.h"

/* Finds the kernel that --kernel names, or the file's only kernel. Returns its module, and its name in *kernel. Returns
 * NULL after a message on `say` if there is no such kernel. */
struct heddle_module *cli_module(const struct cli *c, struct heddle *h, const char *file, const char **kernel,
                                 FILE *say);
/* Calls heddle_module_part() for a file that may be a pipe (input.h). */
struct heddle_module *cli_module_part(const struct cli *c, struct heddle *h, const char *file, int n);
#endif
