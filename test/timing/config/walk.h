#ifndef TEST_TIMING_CONFIG_WALK_H
#define TEST_TIMING_CONFIG_WALK_H
/* Runs test/kernels/spaces.ptx under any configuration. This kernel uses every memory and every pipe. */
#include "timing/config/config.h"

/* Runs the kernel in the functional model, and keeps the memory contents as the expected contents. */
void walk_begin(void);
/* Runs the kernel in a separate process, whose processor time is limited. Returns NULL if the memory contents are
 * right, or if heddle refused the run with a message. Otherwise returns the error in a static buffer. `set` is a list
 * of "key=value" that ends with NULL. */
const char *walk_run(const char *model, const char *config, const char *const *set);
/* The number of runs so far, and how many of them ended with the right memory contents. */
struct walk_counts {
    int runs, ended;
};
struct walk_counts walk_counts(void);

extern const char *const walk_configs[];
enum { WALK_CONFIGS = 6 };

/* Writes the n-th value to try for an option, as text. The values are both ends of the option's range, the value next
 * to each end, the default, unusual values, and every choice. Returns false if there are no more values. */
bool walk_value(const struct opt *o, int n, char *out, size_t size);
#endif
