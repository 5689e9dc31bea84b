#ifndef HOST_AXES_H
#define HOST_AXES_H
/* Options with several values: -s KEY=VALUE,VALUE or -s KEY=FROM:TO:STEP. */
#include "cmd.h"

struct axes {
    struct axis {
        char **values; /* assignments, "l1.size=8K" */
        int n;
    } * axis;
    int n;
};

enum { AXIS_VALUES = 1000 };
/* All that were given with an option ("set"). False after a message; free in any case. */
bool axes_read(struct axes *a, const struct cli *c, const char *option);
/* Has each of them one value? False after a message. */
bool axes_single(const struct axes *a, const struct cli *c, const char *option);
/* Is it the axis of this name? */
bool axis_is(const struct axis *a, const char *name);
void axes_free(struct axes *a);
/* How many combinations they make, from 1; UINT64_MAX when they are more than `most`. */
uint64_t axes_product(const struct axes *a, uint64_t most);
/* The assignments of combination `at`, from 0, the last axis running fastest: a->n texts, which stay the axes'. Returns
 * what is left of `at` above them. */
uint64_t axes_combination(const struct axes *a, uint64_t at, const char **out);
/* One of them from an assignment as written; false with the reason in `err`. Free in any case. */
bool axis_read(struct axis *a, const char *text, char *err, size_t err_size);
#endif
