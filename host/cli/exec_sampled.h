#ifndef HOST_CLI_EXEC_SAMPLED_H
#define HOST_CLI_EXEC_SAMPLED_H
/* The runs of a CUDA program for `heddle exec --sampled` that come before the run that the user sees. */
#include "cmd.h"

/* Does nothing without --sampled. Otherwise runs the program with hidden output: once, or with --error until the
 * interval is narrow enough. Requires the options of Heddle's library in the environment. Sets the environment so that
 * the caller's next run completes the plan. Prints a message and returns false on an error. */
bool exec_sampled(const struct cli *c, const char *path, char *const *argv, const char *model, double error);
#endif
