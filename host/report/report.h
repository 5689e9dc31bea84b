#ifndef HOST_REPORT_H
#define HOST_REPORT_H
/* A self-contained HTML page about runs of a database. */
#include "chart.h"
#include "results_view.h"

struct report {
    struct results_db *db;
    struct result_set *set;
    const struct result_row **rows; /* sorted (rows_sort()) */
    int n;
    const char *title;
    FILE *out;
    char err[1024];
};
/* Writes the page. If the page is incomplete, returns false with the reason in r->err. */
bool report_write(struct report *r);

/* Draws a chart, unless it has no values. On failure returns false with the reason in r->err. */
bool report_chart(struct report *r, const struct chart *c);
/* Writes the table and frees it. If out of memory, returns false with the reason. */
bool report_table(struct report *r, struct table *t);
/* report_roof.c: writes the roofline by level of memory. */
bool report_roofs(struct report *r);
/* Draws the points of all rows by level of memory, and writes their table. */
bool report_roof_rows(struct report *r);
/* Adds the options that determine the roofs to the set, so that copies of its rows stay valid. */
void report_roof_options(const struct report *r);
/* report_roof_parts.c: write the roofline by kernel, if a run has several, and by line, for runs with a profile. */
bool report_kernel_roofs(struct report *r);
bool report_line_roofs(struct report *r);
/* report_operations.c: writes the roofline by kind of operation. */
bool report_operations(struct report *r);
/* report_lines.c: return a member of a profile; 0 and "" if it is missing or has another type. */
double report_number(const cJSON *o, const char *name);
const char *report_text(const cJSON *o, const char *name);
/* report_lines.c: writes the lines with the most issue slots, for runs with a profile. */
bool report_lines(struct report *r);
/* report_source.c: writes every line of the kernels, with the runs of a program side by side, from their profiles. */
bool report_source(struct report *r);
/* report_paths.c: draws the paths of one warp of each kernel, for runs with a profile. */
bool report_paths(struct report *r);
/* Returns a line of text that distinguishes the run from the others; the caller frees it. Returns NULL if out of
 * memory. */
char *report_name(const struct report *r, const struct result_row *row);
#endif
