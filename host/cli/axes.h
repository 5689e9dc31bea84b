#ifndef HOST_AXES_H
#define HOST_AXES_H
/* Options with several values, the axes of a sweep: -s KEY=VALUE,VALUE or -s KEY=FROM:TO:STEP. */
#include "cmd.h"

struct axes {
    struct axis {
        char **values; /* assignments such as "l1.size=8K" */
        int n;
    } * axis;
    int n;
};

enum { AXIS_VALUES = 1000000 };
/* Reads one axis from each use of an option (such as "set", for -s). Prints a message and returns false on an error.
 * Call axes_free() in either case. */
bool axes_read(struct axes *a, const struct cli *c, const char *option);
/* Returns true if each axis has a single value. Prints a message and returns false on an error. */
bool axes_single(const struct axes *a, const struct cli *c, const char *option);
/* Returns true if the axis has this name. */
bool axis_is(const struct axis *a, const char *name);
void axes_free(struct axes *a);
/* Returns the number of combinations, at least 1; UINT64_MAX: more than `most`. */
uint64_t axes_product(const struct axes *a, uint64_t most);
/* Writes the a->n assignments of combination `at` (from 0, the last axis varies fastest). The axes own the texts.
 * Returns `at` divided by the number of combinations. */
uint64_t axes_combination(const struct axes *a, uint64_t at, const char **out);
/* Returns false with an explanation in `err` if `text` sets several options, as "a=1,b=2" does. One -s sets one
 * option. */
bool assignment_is_one(const char *text, char *err, size_t err_size);
/* Reads an axis from one assignment. Returns false with the reason in `err`. The caller frees the axis in either
 * case. */
bool axis_read(struct axis *a, const char *text, char *err, size_t err_size);
#endif
