#ifndef HOST_CLI_EXEC_SAMPLED_H
#define HOST_CLI_EXEC_SAMPLED_H
/* The runs of a CUDA program for `heddle exec --sampled` that come before the run that the user sees. */
#include "cmd.h"

/* Without --sampled, does nothing. Otherwise runs the program without output: once, and with
 * --error until the interval is narrow enough. The environment has the options of Heddle's library already. Sets the
 * environment so that the next run, which the caller starts, completes the plan. Prints a message and returns false on
 * an error. */
bool exec_sampled(const struct cli *c, const char *path, char *const *argv, const char *model, double error);
#endif
