#ifndef TEST_TIMING_CONFIG_WALK_H
#define TEST_TIMING_CONFIG_WALK_H
/* Runs test/kernels/spaces.ptx, which uses every memory and every pipe, under any configuration. */
#include "timing/config/config.h"

/* Runs the kernel in the functional model, and keeps its memory as the expected one. */
void walk_begin(void);
/* Runs in a process of its own, with a limit of processor time. NULL: right memory, or refused with a message; else the
 * error, in a static buffer. `set`: "key=value", NULL-terminated. */
const char *walk_run(const char *model, const char *config, const char *const *set);
/* Runs so far, and runs that ended with the right memory. */
struct walk_counts {
    int runs, ended;
};
struct walk_counts walk_counts(void);

extern const char *const walk_configs[];
enum { WALK_CONFIGS = 6 };

/* Writes the n-th value to try for an option, as text: both ends of its range, a value inside each end, the default,
 * odd values, every choice. False after the last. */
bool walk_value(const struct opt *o, int n, char *out, size_t size);
#endif
