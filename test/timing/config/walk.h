#ifndef TEST_TIMING_CONFIG_WALK_H
#define TEST_TIMING_CONFIG_WALK_H
/* Runs test/kernels/spaces.ptx, which goes to every memory and every pipe, under any configuration. */
#include "timing/config/config.h"

/* The kernel's own launch leaves the right memory in the functional model, and the walk knows it from there on. */
void walk_begin(void);
/* One run in a process of its own, under a limit of processor time. NULL when it ends with the right memory, or is
 * refused with a message; else what is wrong with it, in a buffer. `set`: "key=value", NULL-terminated. */
const char *walk_run(const char *model, const char *config, const char *const *set);
/* Runs so far, and how many of them were not refused. */
struct walk_counts {
    int runs, ended;
};
struct walk_counts walk_counts(void);

extern const char *const walk_configs[];
enum { WALK_CONFIGS = 6 };

/* The n-th value worth trying for an option, as text: both ends of its range, one inside of either, the default, odd
 * values, every choice. False after the last. */
bool walk_value(const struct opt *o, int n, char *out, size_t size);
#endif
