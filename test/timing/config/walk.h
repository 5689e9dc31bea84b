#ifndef TEST_TIMING_CONFIG_WALK_H
#define TEST_TIMING_CONFIG_WALK_H
/* Runs test/kernels/spaces.ptx, which uses every memory and every pipe, under any configuration. */
#include "timing/config/config.h"

/* Runs the kernel in the functional model, and keeps its memory contents as the expected result. */
void walk_begin(void);
/* Runs the kernel in a separate process with a limit of processor time. Returns NULL if the memory contents are
 * right or the run was refused with a message; otherwise returns the error, in a static buffer. `set` is a
 * NULL-terminated list of "key=value". */
const char *walk_run(const char *model, const char *config, const char *const *set);
/* The number of runs so far, and the number of runs that ended with the right memory contents. */
struct walk_counts {
    int runs, ended;
};
struct walk_counts walk_counts(void);

extern const char *const walk_configs[];
enum { WALK_CONFIGS = 6 };

/* Writes the n-th value to try for an option, as text. Values are both ends of its range, the value next to each
 * end, the default, unusual values, and every choice. Returns false after the last value. */
bool walk_value(const struct opt *o, int n, char *out, size_t size);
#endif
