#ifndef HOST_BREAKDOWN_H
#define HOST_BREAKDOWN_H
/* Statistics that are the parts of a whole, of each run: where the issue slots went, and the energy. */
#include "results_view.h"

struct breakdown {
    const char *name; /* "issue", "energy": what the parts' statistics begin with */
    const char *title;
    const char *unit;         /* of the values, for people */
    const char *end;          /* what the parts' statistics end with */
    bool shares;              /* the values are shares of the parts' sum, in percent; else as they are */
    const char *const *parts; /* ends with NULL */
};
/* NULL when there is none of this name; `n` from 0 gives all of them. */
const struct breakdown *breakdown_find(const char *name);
const struct breakdown *breakdown_at(int n);

/* A row for each value of the fields, a column for each part that any row has. Two runs in one row are a mistake, as in
 * a pivot. False with the reason; free in any case. */
bool breakdown_fill(const struct breakdown *b, struct pivot_values *out, const struct result_set *set,
                    const struct result_row *const *rows, int n, const struct field *by, int n_by, int *older,
                    char *err, size_t err_size);
/* The fields in which the rows differ: program, and those that tell them apart. */
int fields_that_differ(const struct result_set *set, const struct result_row *const *rows, int n, struct field *out,
                       int max);
#endif
