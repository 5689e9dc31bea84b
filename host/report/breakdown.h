#ifndef HOST_BREAKDOWN_H
#define HOST_BREAKDOWN_H
/* Breakdowns: statistics of a run that are parts of a whole, such as issue slots by cause and energy by component. */
#include "results_view.h"

struct breakdown {
    const char *name;
    const char *group; /* common prefix of the statistics of the parts: "issue" or "energy" */
    const char *title;
    const char *unit;         /* unit of the values, for people */
    const char *end;          /* suffix of the names of the parts' statistics */
    bool shares;              /* true if values are percentages of the sum; false if absolute */
    const char *const *parts; /* ends with NULL */
};
/* Return a breakdown by name, or by number from 0; NULL if there is none. */
const struct breakdown *breakdown_find(const char *name);
const struct breakdown *breakdown_at(int n);

/* Fills a table with a row for each value of the fields and a column for each part that occurs. Two runs in one row
 * are an error, as in a pivot. On failure returns false with the reason. The caller frees `out` in either case. */
bool breakdown_fill(const struct breakdown *b, struct pivot_values *out, const struct result_set *set,
                    const struct result_row *const *rows, int n, const struct field *by, int n_by, int *older,
                    char *err, size_t err_size);
/* Returns the fields that distinguish the rows: program, and all fields in which the rows differ. */
int fields_that_differ(const struct result_set *set, const struct result_row *const *rows, int n, struct field *out,
                       int max);
#endif
